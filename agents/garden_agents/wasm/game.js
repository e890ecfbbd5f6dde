// Plays a game that `garden export` wrote, in browsers and in Node. It imports nothing.

const TYPES = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
  i8: BigInt64Array, u8: BigUint64Array, f4: Float32Array, f8: Float64Array, record: Uint8Array,
};
const LAST = 2n ** 64n - 1n;
const FORMAT = 0; // of the description; export.py fills it in

/**
 * Load a game; return its class. `read(name)` returns a promise of the bytes of a file that `garden export` wrote.
 */
export async function load(name, read) {
  const [text, code] = await Promise.all([read(`${name}.json`), read(`${name}.wasm`)]);
  const description = JSON.parse(new TextDecoder().decode(text));
  if (description.format !== FORMAT) throw new Error(`${name}.json has format ${description.format}, not ${FORMAT}`);
  const { instance } = await WebAssembly.instantiate(code, {});
  const module = new Module(description, instance.exports, read);
  return class extends Game {
    static description = description;

    constructor(options = {}) {
      super(module, options);
    }
  };
}

/** Return a `read` for `load` that fetches files from a folder; its address ends with "/". */
export const fetched = (folder) => async (name) => {
  const answer = await fetch(folder + name);
  if (!answer.ok) throw new Error(`${folder}${name}: ${answer.status}`);
  return answer.arrayBuffer();
};

/** The functions and the memory that all games of a page share, and the networks. */
class Module {
  constructor(description, exports, read) {
    const top = (exports.__heap_base.value + 15) & ~15;
    Object.assign(this, { description, exports, read, networks: new Map(), top, gaps: [] }); // gaps below the top, by address
  }

  /** Reserve memory, in the first gap that is large enough; return its address. */
  reserve(size) {
    const wanted = (size + 15) & ~15, found = this.gaps.findIndex((gap) => gap.size >= wanted);
    if (found >= 0) {
      const gap = this.gaps[found], { at } = gap;
      if (gap.size === wanted) this.gaps.splice(found, 1);
      else Object.assign(gap, { at: at + wanted, size: gap.size - wanted });
      return at;
    }
    const at = this.top, { memory } = this.exports, lacking = at + wanted - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / 65536));
    this.top = at + wanted;
    return at;
  }

  /** Give reserved memory back. */
  release(at, size) {
    this.gaps.push({ at, size: (size + 15) & ~15 });
    this.gaps.sort((a, b) => a.at - b.at);
    this.gaps = this.gaps.reduce((merged, gap) => {
      const last = merged.at(-1);
      if (last && last.at + last.size === gap.at) last.size += gap.size;
      else merged.push(gap);
      return merged;
    }, []);
    const last = this.gaps.at(-1);
    if (last.at + last.size === this.top) this.top = this.gaps.pop().at;
  }

  /** Return the pretrained network for a number of players; its file is read once. */
  network(players) {
    if (!this.networks.has(players)) {
      this.networks.set(players, this.#readNetwork(players).catch((error) => { this.networks.delete(players); throw error; }));
    }
    return this.networks.get(players);
  }

  async #readNetwork(players) {
    const { name, networks } = this.description;
    if (!networks[players]) throw new Error(`${name} has no network for ${players} players; known: ${Object.keys(networks).join(", ") || "none"}`);
    const network = networks[players];
    return { ...network, values: weightsOf(await this.read(network.file), network.weights) };
  }
}

/** Return numbers of half precision as a Float32Array: 1 bit sign, 5 bits exponent, 10 bits fraction. */
function fromHalf(buffer) {
  return Float32Array.from(new Uint16Array(buffer), (bits) => {
    const exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
    return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  });
}

/** Types of numbers in a network's file, with their bytes; its weights are finite. */
const NUMBERS = { F32: [4, (buffer) => new Float32Array(buffer)], F16: [2, fromHalf] };

/** Return the weights in a file, in the form of the compiled forward pass: one vector, with each matrix transposed. */
function weightsOf(file, named) {
  const buffer = file.buffer ?? file, start = file.byteOffset ?? 0; // Node's files are views
  const whole = file.byteLength, length = whole < 8 ? whole : Number(new DataView(buffer, start).getBigUint64(0, true));
  if (8 + length > whole) throw new Error("the network's file is cut off");
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, start + 8, length)));
  const parts = named.map(([name, shape]) => {
    const { dtype, data_offsets: [from, to] = [], shape: found } = head[name] ?? {};
    if (!Object.hasOwn(NUMBERS, dtype) || String(found) !== String(shape)) throw new Error(`the network's file has another ${name}`);
    const [bytes, read] = NUMBERS[dtype], first = start + 8 + length;
    const fits = Number.isInteger(from) && from >= 0 && to === from + shape.reduce((a, b) => a * b, bytes) && 8 + length + to <= whole;
    if (!fits) throw new Error(`the network's file lacks ${name}, or is cut off`);
    const part = read(buffer.slice(first + from, first + to));
    if (!part.every(Number.isFinite)) throw new Error(`the network's file has a ${name} that is not finite`);
    if (shape.length < 2) return part;
    const [rows, columns] = shape, turned = new Float32Array(part.length);
    for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) turned[c * rows + r] = part[r * columns + c];
    return turned;
  });
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const SHARED = new Set(["root", "root_params", "mask", "observation"]); // arrays of the game that its agents use

/** Arrays in the module's memory, by the names of functions' arguments. */
class Arrays {
  /** `described`: type, bytes of an entry, and shape of each; a word in a shape is one of `sizes`. `shared`: other arrays. */
  constructor(module, described, sizes, shared = null) {
    Object.assign(this, { module, described, sizes, shared, places: new Map(), freed: false });
  }

  /** Return address and lengths of an array. */
  place(name) {
    if (this.freed) throw new Error("it was freed");
    if (this.shared && SHARED.has(name)) return this.shared.place(name);
    const same = this.described[name][3];
    if (same) return { ...this.place(same), lengths: this.#lengths(name) };
    const lengths = this.#lengths(name), size = lengths.reduce((a, b) => a * b, this.described[name][1]);
    let place = this.places.get(name);
    if (!place || place.size < size) {
      if (place) this.module.release(place.at, place.size);
      this.places.delete(name); // there may be no room for the new one
      this.places.set(name, (place = { at: this.module.reserve(size), size }));
    }
    return { at: place.at, lengths };
  }

  #lengths(name) {
    return this.described[name][2].map((length) => (typeof length === "string" ? this.sizes[length] : length));
  }

  /** Return a view of an array, which is valid until the next call of anything. */
  view(name) {
    const { at, lengths } = this.place(name), [type, bytes] = this.described[name];
    const Type = TYPES[type];
    return new Type(this.module.exports.memory.buffer, at, lengths.reduce((a, b) => a * b, bytes) / Type.BYTES_PER_ELEMENT);
  }

  /** Call a function: arrays are passed by name, other arguments from `given`. */
  call([name, named], given = {}) {
    if (this.freed) throw new Error("it was freed");
    const values = [];
    for (const argument of named) {
      if (argument in given) values.push(given[argument]);
      else if (argument === "state" || argument === "params") values.push(this.place(argument === "state" ? "root" : "root_params").at);
      else {
        const { at, lengths } = this.place(argument);
        values.push(at, ...lengths);
      }
    }
    return this.module.exports[name](...values);
  }

  /** Give the memory back; the arrays cannot be used any more. */
  release() {
    this.freed = true;
    for (const { at, size } of this.places.values()) this.module.release(at, size);
    this.places.clear();
  }
}

/** One game; see game.d.ts. */
class Game {
  constructor(module, options) {
    const { description } = module;
    this.options = checkedOptions(description, options);
    const listed = description.options.filter((option) => option.values).map(({ name }) => this.options[name]);
    const setting = description.settings[JSON.stringify(listed)];
    if (!setting) throw new Error(`${description.name} does not allow these options together: ${JSON.stringify(options)}`);
    this.module = module;
    this.kind = description.kinds[setting.kind];
    this.tables = setting.tables;
    Object.assign(this, description.spaces[setting.space]);
    const size = this.observation_shape.reduce((a, b) => a * b, 1), a = this.num_actions;
    const arrays = { ...this.kind.arrays };
    const withLast = (name, length) => { arrays[name] = [...arrays[name].slice(0, 2), [...arrays[name][2].slice(0, -1), length], arrays[name][3]]; };
    withLast("observation", size);
    for (const name of ["mask", "results_visits", "results_shares", "results_scores", "scratch_action_values", "scratch_masks", "trees_considered"]) withLast(name, a);
    this.arrays = new Arrays(module, arrays, { nodes: 2, players: this.options.num_players });
    this.arrays.view("root_params").set(Uint8Array.from(atob(setting.params), (letter) => letter.charCodeAt(0)));
    for (const { name, values } of description.options) {
      if (values) continue;
      const [offset, type] = description.params.fields[name];
      new TYPES[type](module.exports.memory.buffer, this.arrays.place("root_params").at + offset, 1)[0] = this.options[name];
    }
    this.history = [];
    this.dealt = false;
  }

  #call(name, given) {
    return this.arrays.call(this.kind.functions[name], given);
  }

  /** Return the array "root", which holds the state. */
  #root() {
    const root = this.arrays.view("root");
    if (!this.dealt) throw new Error("the game was not dealt: call reset(seed)");
    return root;
  }

  reset(seed) {
    this.deal(this.dealSeed(seed));
  }

  dealSeed(seed) {
    return BigInt.asUintN(64, this.#call("game_seed", { seed: wide(seed), row: 0n, episode: 0n }));
  }

  deal(seed) {
    this.#call("deal", { seed: wide(seed) });
    this.dealt = true;
    this.history = [];
  }

  get params() {
    return this.arrays.view("root_params").slice();
  }

  get state() {
    return this.#root().slice();
  }

  set state(bytes) {
    const root = this.arrays.view("root");
    if (!(bytes instanceof Uint8Array) || bytes.length !== root.length) throw new Error(`a state is a Uint8Array of ${root.length} bytes`);
    root.set(bytes);
    this.dealt = true;
  }

  field(name) {
    if (!Object.hasOwn(this.kind.state.fields, name)) throw new Error(`a state has no field ${String(name)}`);
    const [offset, type, shape] = this.kind.state.fields[name];
    const count = shape.reduce((a, b) => a * b, 1), bytes = this.state;
    const values = Array.from(new TYPES[type](bytes.buffer.slice(offset, offset + count * TYPES[type].BYTES_PER_ELEMENT)));
    return shape.length ? values : values[0];
  }

  get currentPlayer() {
    return this.field("current_player");
  }

  get over() {
    return this.field("terminated") !== 0 || this.field("truncated") !== 0;
  }

  get rewards() {
    return this.field("rewards").slice(0, this.options.num_players);
  }

  legal() {
    this.#root();
    this.#call("legal_actions");
    const actions = [];
    this.arrays.view("mask").forEach((legal, action) => legal && actions.push(action));
    return actions;
  }

  apply(action) {
    if (!this.legal().includes(action)) throw new Error(`${String(action)} is not a legal action${this.over ? ": the game is over" : ""}`);
    this.history.push({ state: this.state, player: this.currentPlayer, action });
    this.#call("apply_action", { action });
  }

  undo() {
    const last = this.history.pop();
    if (!last) throw new Error("there is nothing to undo");
    this.state = last.state;
  }

  observe(seat) {
    this.#root();
    this.#call("observe", { player: this.#seat(seat) });
    return this.arrays.view("observation").slice();
  }

  #seat(seat) {
    if (!Number.isInteger(seat) || seat < 0 || seat >= this.options.num_players) throw new Error(`there is no seat ${String(seat)}`);
    return seat;
  }

  /** Return a number of each seat: "points", "public_points" or "standings". */
  ofSeats(name) {
    this.#root();
    this.#call(name);
    return Array.from(this.arrays.view("seat_points")).slice(0, this.options.num_players);
  }

  points() {
    return this.ofSeats("points");
  }

  standings() {
    return this.ofSeats("standings");
  }

  resample(seat, seed) {
    this.#root();
    this.#call("resample", { player: this.#seat(seat), seed: wide(seed) });
  }

  randomPlay(steps, seed = 0) {
    if (!Number.isInteger(steps) || steps < 0 || steps >= 2 ** 31) throw new Error(`steps must be a whole number from 0 to 2 ** 31 - 1, not ${String(steps)}`);
    if (this.over) throw new Error("the game is over");
    this.arrays.view("rng_state").set(this.stream("random", seed));
    return this.#call("random_play", { seed: wide(seed), steps });
  }

  free() {
    this.arrays.release();
  }

  /** Return a generator as row 0 of an agent in Python has it. */
  stream(purpose, seed) {
    const start = this.#call("game_seed", { seed: wide(seed), row: 0n, episode: LAST - BigInt(this.module.description.streams[purpose]) });
    this.#call("seed_rng", { seed: start });
    return this.arrays.view("rng_state").slice();
  }

  async agent(name, settings = {}) {
    if (typeof settings !== "object" || settings === null || Object.keys(settings).some((key) => key !== "seed")) throw new Error("the settings of an agent are { seed }");
    const { seed = 0 } = settings;
    const [, kind, simulations] = /^(random|greedy|network|mcts|network-mcts)(?::([1-9]\d{0,4}))?$/.exec(name) ?? [];
    if (!kind || kind.endsWith("mcts") !== (simulations !== undefined)) throw new Error(`${String(name)} is not random, greedy, network, mcts:N or network-mcts:N`);
    const network = kind.startsWith("network") ? await this.module.network(this.options.num_players) : null;
    if (network && network.tables !== this.tables) throw new Error(`the network of ${this.module.description.name} was trained with other options`);
    return new Agent(this, kind, Number(simulations ?? 0), network, seed);
  }
}

/** An agent that plays for the player to move in a game. */
class Agent {
  constructor(game, kind, simulations, network, seed) {
    Object.assign(this, { game, kind, simulations, network });
    const purpose = { random: "random", greedy: "greedy", network: "network" }[kind] ?? "search";
    this.generator = game.stream(purpose, seed);
    const { module, arrays } = game;
    const described = network?.arrays ?? arrays.described, [evaluated] = described.leaves_lengths[2];
    const sizes = { nodes: simulations + 2, players: game.options.num_players, past: 0, evaluated };
    this.arrays = new Arrays(module, described, sizes, arrays);
    if (network) this.arrays.view("net_weights").set(network.values);
  }

  act() {
    if (this.game.over) throw new Error("the game is over");
    const { kind, game, arrays } = this, own = game.kind.functions;
    if (kind === "network") return arrays.call(this.network.functions.evaluate);
    const name = kind === "random" || kind === "greedy" ? "rng_state" : "rng_states";
    game.legal();
    arrays.view(name).set(this.generator);
    const { simulations } = this;
    let action;
    if (kind === "random") action = arrays.call(own.random_action);
    else if (kind === "greedy") action = arrays.call(own.greedy);
    else if (kind === "mcts") action = arrays.call(own.search, { simulations });
    else action = this.#searchWithNetwork();
    this.generator = arrays.view(name).slice();
    return action;
  }

  #searchWithNetwork() {
    const { arrays, game, network, simulations } = this;
    const others = arrays.view("leaves_redraws").length ? game.history.filter(({ player }) => player !== game.currentPlayer) : [];
    arrays.sizes.past = others.length;
    arrays.sizes.evaluated = Math.max(arrays.sizes.evaluated, others.length);
    others.forEach(({ state }, k) => arrays.view("past_states").set(state, k * game.kind.state.size));
    arrays.view("past_actions").set(others.map(({ action }) => BigInt(action)));
    return arrays.call(network.functions.network_search, { simulations });
  }

  free() {
    this.arrays.release();
  }

  evaluate() {
    if (this.kind === "random" || this.kind === "greedy") throw new Error(`${this.kind} evaluates nothing`);
    const { arrays, game } = this, action = this.act();
    const [chances, values] = this.kind === "network" ? ["net_chances", "net_estimates"] : ["results_shares", "results_values"];
    const seats = arrays.described[values][2].at(-1); // of an array or of its first row
    return {
      action,
      chances: Array.from(arrays.view(chances).slice(0, game.num_actions)),
      values: Array.from(arrays.view(values).slice(0, typeof seats === "string" ? game.options.num_players : seats)),
    };
  }
}

/** Return a seed as a BigInt. */
function wide(seed) {
  if (!(typeof seed === "bigint" || Number.isSafeInteger(seed)) || seed < 0 || BigInt(seed) > LAST) throw new Error(`a seed is a whole number from 0 to 2 ** 64 - 1, not ${String(seed)}`);
  return BigInt(seed);
}

function checkedOptions(description, options) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw new Error("options are an object: their values by name");
  const names = description.options.map(({ name }) => name);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new Error(`${description.name} has no option ${name}; its options are ${names.join(", ")}`);
  }
  const chosen = {};
  for (const { name, default: usual, values, low, high } of description.options) {
    const value = (chosen[name] = options[name] === undefined ? usual : options[name]);
    const fits = values ? values.includes(value) : Number.isInteger(value) && value >= low && value <= (high ?? 2 ** 31 - 1);
    const allowed = values ? values.map((each) => JSON.stringify(each)).join(" or ") : `a whole number from ${low} on`;
    if (!fits) throw new Error(`${name} must be ${allowed}, not ${JSON.stringify(value)}`);
  }
  return chosen;
}
