// Play a game of a WebAssembly module in Node, the network against greedy play:
//
//     garden export cacti build/cacti
//     node examples/wasm_in_node.mjs build/cacti cacti
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const [folder, name, seed = "0"] = process.argv.slice(2);
const { load } = await import(resolve(folder, "game.js"));
const Game = await load(name, async (file) => readFileSync(resolve(folder, file)));

const game = new Game();
game.reset(Number(seed));
const agents = [await game.agent("network"), await game.agent("greedy", { seed: 1 })];
while (!game.over) game.apply(agents[game.currentPlayer].act());
console.log(game.points().join(" : "));
