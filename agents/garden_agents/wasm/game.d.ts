/** An option of a game: its allowed values, or the smallest and largest whole number. */
export interface Option {
  name: string;
  default: number | boolean | string;
  help: string;
  note: string;
  values?: (number | boolean | string)[];
  low?: number;
  high?: number | null;
}

/** What GAME.json says; docs/webassembly.md lists all of it. */
export interface Description {
  format: number;
  name: string;
  title: string;
  version: number;
  summary: string;
  max_players: number;
  options: Option[];
  [more: string]: unknown;
}

/** Options by name; those left out have their defaults. */
export type Options = Record<string, number | boolean | string>;

/** A seed: a whole number from 0 to 2 ** 64 - 1. */
export type Seed = number | bigint;

/** A game's class, with its description. */
export interface GameClass {
  new (options?: Options): Game;
  description: Description;
}

/** Load a game; `read(name)` gives the bytes of a file that `garden export` wrote. */
export function load(name: string, read: (name: string) => Promise<ArrayBuffer | Uint8Array>): Promise<GameClass>;

/** Return a `read` that fetches from a folder, whose address ends with "/". */
export function fetched(folder: string): (name: string) => Promise<ArrayBuffer>;

/**
 * One game. Wrong arguments, and calls before `reset` or after `free`, throw an Error, and nothing changes. The content of a
 * state that is set is trusted: it must be one of a game with the same options.
 */
export interface Game {
  readonly options: Options;
  readonly num_actions: number;
  readonly labels: string[];
  readonly observation_shape: number[];
  /** The decisions so far: the state before each, and the action. */
  readonly history: { state: Uint8Array; action: number }[];
  /** The bytes of the state record, the same as in Python; can be set, which keeps the history. */
  state: Uint8Array;
  readonly currentPlayer: number;
  readonly over: boolean;
  /** The rewards of each seat for the last decision. */
  readonly rewards: number[];

  /** Deal the game that PettingZoo's `env.reset(seed)` deals. */
  reset(seed: Seed): void;
  /** Return the seed of the deal of `reset(seed)`, which replays have. */
  dealSeed(seed: Seed): bigint;
  deal(seed: Seed): void;
  /** Return the legal actions of the player to move. */
  legal(): number[];
  /** Take a legal action of the player to move. */
  apply(action: number): void;
  /** Take back the last decision, whoever made it. */
  undo(): void;
  /** Return what a seat sees. */
  observe(seat: number): Int8Array;
  /** Return a field of the state by its name in Python. */
  field(name: string): number | bigint | (number | bigint)[];
  points(): number[];
  /** Return the standings: higher is better, and equal is a tie. */
  standings(): number[];
  /** Redraw what a seat cannot see. */
  resample(seat: number, seed: Seed): void;
  /** Play random decisions, with a new game after each end; return the number of games that ended. */
  randomPlay(steps: number, seed?: Seed): number;
  /** Return an agent for this game: "random", "greedy", "network", "mcts:N" or "network-mcts:N". */
  agent(name: string, settings?: { seed?: Seed }): Promise<Agent>;
  /** Give the memory back; the game and its agents cannot be used any more. A module has 256 MB. */
  free(): void;
}

/** An agent, which decides as the agent of the same name and seed does in Python. */
export interface Agent {
  /** Return an action for the player to move. */
  act(): number;
  /** Return the same with the probability of each action, and the expected results of the seats from the player to move on. */
  evaluate(): { action: number; chances: number[]; values: number[] };
  /** Give the memory back; the agent cannot be used any more. */
  free(): void;
}
