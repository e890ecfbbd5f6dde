// Makes wrong calls of everything in game.d.ts: each throws an Error, and nothing changes. Prints how many were made, or what was wrong.
import { readFileSync } from "node:fs";

const [folder, name, first, count] = process.argv.slice(2);
const { load } = await import(`${folder}/game.js`);
const read = async (file) => readFileSync(`${folder}/${file}`);
const Game = await load(name, read);
let random = Number(first) + 1;
/** Return a whole number below n. */
const below = (n) => ((random = (random * 48271) % 2147483647), random % n);
const one = (values) => values[below(values.length)];

const ODD = [undefined, null, NaN, Infinity, -1, -0.5, 1.5, 2 ** 31, 2 ** 32 + 5, 2 ** 53, -(2 ** 63), 1e300, "", "x", "0", "__proto__", "constructor",
  true, Symbol("s"), 1n, -1n, 2n ** 64n, [], [0], {}, { length: 3 }, () => 0, new Uint8Array(3), new Date(0), "mcts:0", "mcts:-1", "mcts:100000", "ppo", "network-greedy"];
const isSeed = (value) => (typeof value === "bigint" || Number.isSafeInteger(value)) && value >= 0 && BigInt(value) < 2n ** 64n;
const isStep = (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 31;
const isSeat = (game, value) => Number.isInteger(value) && value >= 0 && value < game.options.num_players;
const not = (right, ...more) => one([...ODD, ...more].filter((value) => !right(value)));
const fileOf = (head, data) => { // a network's file
  const text = new TextEncoder().encode(JSON.stringify(head)), bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
};

/** Everything that a call could change. */
const content = (game) => JSON.stringify([game.dealt ? [...game.state] : null, game.history.length, game.options, [...game.params]]);
const dealt = (seed) => { const game = new Game(); game.reset(seed); return game; };
const game = dealt(5), freed = dealt(6), fresh = new Game(), over = dealt(7);
while (!over.over) over.apply(over.legal()[0]);
const agents = {};
for (const kind of ["random", "greedy", "mcts:5", "network", "network-mcts:3"]) agents[kind] = await game.agent(kind, { seed: 1 });
const ofFreed = await Promise.all(["random", "mcts:5", "network"].map((kind) => freed.agent(kind)));
const gone = await game.agent("mcts:4");
gone.free();
freed.free();
freed.free();
const ofFresh = await Promise.all(Object.keys(agents).map((kind) => fresh.agent(kind))), ofOver = await Promise.all(Object.keys(agents).map((kind) => over.agent(kind)));
const network = Object.values(Game.description.networks)[0], whole = new Uint8Array(await read(network.file));
const headLength = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(0, true));
const head = JSON.parse(new TextDecoder().decode(whole.subarray(8, 8 + headLength))), weights = whole.subarray(8 + headLength);
const loadWith = async (file) => (await new (await load(name, async (each) => (each === network.file ? file : read(each))))()).agent("network");

const notLegal = (value) => !game.legal().includes(value);
const calls = {
  options: () => new Game(one([null, "x", 3, [1], { num_players: not((v) => v === undefined || (Number.isInteger(v) && v > 0 && v < 6)) }, { nothing: 1 }, { max_decisions: not((v) => v === undefined || (Number.isInteger(v) && v > 0 && v < 2 ** 31)) }])),
  reset: () => game.reset(not(isSeed)),
  dealSeed: () => game.dealSeed(not(isSeed)),
  deal: () => game.deal(not(isSeed)),
  apply: () => game.apply(one([...ODD, below(1000), -below(9)].filter(notLegal))),
  state: () => { game.state = one([...ODD, new Int8Array(game.state.length), new Uint8Array(game.state.length + 1)]); },
  field: () => game.field(one([...ODD, "toString", "hasOwnProperty"])),
  observe: () => game.observe(not((v) => isSeat(game, v))),
  ofSeats: () => game.ofSeats(not((v) => ["points", "public_points", "standings"].includes(v), "deal", "apply_action", "random_play")),
  resample: () => (below(2) ? game.resample(0, not(isSeed)) : game.resample(not((v) => isSeat(game, v)), 1)),
  randomPlay: () => (below(2) ? game.randomPlay(not(isStep)) : game.randomPlay(3, not((v) => v === undefined || isSeed(v)))),
  agent: () => (below(2) ? game.agent(one([...ODD, ..."random greedy".split(" ").map((kind) => `${kind}:3`), "mcts", "MCTS:3", " mcts:3", "mcts:3\n"])) : game.agent(one(["random", "mcts:3"]), { seed: not((v) => v === undefined || isSeed(v)) })),
  freedGame: () => one([() => freed.legal(), () => freed.reset(1), () => freed.apply(0), () => freed.state, () => freed.over, () => freed.observe(0), () => freed.points(), () => freed.randomPlay(3), () => freed.agent("mcts:3"), () => freed.rewards, () => freed.params, () => { freed.state = game.state; }, () => freed.resample(0, 1), () => freed.dealSeed(1)])(),
  agentOfFreedGame: () => one(ofFreed)[one(["act", "evaluate"])](),
  freedAgent: () => gone[one(["act", "evaluate"])](),
  notDealt: () => one([() => fresh.legal(), () => fresh.apply(0), () => fresh.state, () => fresh.over, () => fresh.currentPlayer, () => fresh.observe(0), () => fresh.points(), () => fresh.standings(), () => fresh.randomPlay(3), () => fresh.undo(), () => fresh.resample(0, 1), () => fresh.field("decisions"), () => one(ofFresh).act(), () => one(ofFresh).evaluate()])(),
  over: () => one([() => over.apply(0), () => over.randomPlay(3), () => one(ofOver).act(), () => one(ofOver).evaluate()])(),
  evaluate: () => agents[one(["random", "greedy"])].evaluate(),
  cutOff: () => loadWith(whole.slice(0, below(whole.length))),
  offsets: () => {
    const changed = structuredClone(head), each = one(Object.keys(changed).filter((key) => key !== "__metadata__")), [from, to] = changed[each].data_offsets;
    changed[each].data_offsets = one([[from, to + 4], [from + 4, to], [-4, to - from - 4], [from, 2 ** 40], [weights.length, weights.length + to - from], ["0", "4"], null, [from], [1e300, 1e300], [NaN, NaN]]);
    return loadWith(fileOf(changed, weights));
  },
};
const names = Object.keys(calls);
let made = 0;
for (let k = 0; k < Number(count); k++) {
  // files take a millisecond each, so they are drawn less often
  const which = below(20) ? one(names.slice(0, -2)) : one(names);
  const before = [game, fresh, over].map(content).join();
  let thrown = null;
  try {
    await calls[which]();
  } catch (error) {
    thrown = error;
  }
  const wrong = !(thrown instanceof Error) ? `threw ${String(thrown)}` : thrown instanceof WebAssembly.RuntimeError ? `trapped: ${thrown.message}` : before !== [game, fresh, over].map(content).join() ? "changed something" : null;
  if (wrong) {
    console.log(`${which}, case ${first} + ${k}: ${wrong}`);
    process.exit(1);
  }
  made++;
  if (k % 50 === 0) { // the game goes on
    const [kind, agent] = one(Object.entries(agents)), action = agent.act();
    if (notLegal(action)) throw new Error(`${kind} chose ${action}`);
    game.apply(action);
    if (game.over) game.reset(k);
  }
}
console.log(made);
