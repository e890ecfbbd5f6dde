// Answers questions about games in WebAssembly: a JSON array on standard input, a JSON array on standard output.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [folder, name] = process.argv.slice(2);
const { load } = await import(`${folder}/game.js`);
const Game = await load(name, async (file) => readFileSync(`${folder}/${file}`));

const questions = {
  /** The digest of all masks, states, observations and rewards of a game. */
  digest({ options, seed, actions }) {
    const game = new Game(options), hash = createHash("sha256");
    game.reset(BigInt(seed));
    for (const action of [...actions, null]) {
      const legal = game.legal(), mask = new Int8Array(game.num_actions);
      for (const each of legal) mask[each] = 1;
      hash.update(mask).update(game.state).update(new Float32Array(game.rewards));
      for (let seat = 0; seat < game.options.num_players; seat++) hash.update(game.observe(seat));
      hash.update(new Int32Array([...game.points(), ...game.standings()]));
      if (action !== null) game.apply(action);
    }
    return { digest: hash.digest("hex"), over: game.over };
  },

  /** The actions that an agent chooses in the positions of a game. */
  async choices({ options, seed, actions, agent }) {
    const game = new Game(options);
    game.reset(BigInt(seed));
    const player = await game.agent(agent, { seed });
    return actions.map((action) => {
      const choice = player.act();
      game.apply(action);
      return choice;
    });
  },

  /** The logits and values of a network in the positions of a game. */
  async outputs({ options, seed, actions }) {
    const game = new Game(options);
    game.reset(BigInt(seed));
    const player = await game.agent("network");
    return actions.map((action) => {
      const { values } = player.evaluate(), logits = Array.from(player.arrays.view("net_logits"));
      game.apply(action);
      return { logits, values };
    });
  },

  /** The message of the error that a call raises. */
  async error({ code }) {
    try {
      await new AsyncFunction("Game", code)(Game);
    } catch (error) {
      return error.message;
    }
    return null;
  },
};

const AsyncFunction = (async () => {}).constructor;
const asked = JSON.parse(readFileSync(0, "utf-8"));
const answers = [];
for (const { question, ...about } of asked) answers.push(await questions[question](about));
console.log(JSON.stringify(answers));
