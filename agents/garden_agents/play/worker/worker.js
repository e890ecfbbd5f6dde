// Plays games for page.js without a server. local.py, which Pyodide runs, answers its messages.
import { fetched, load } from "./game.js";
import { loadPyodide } from "../PYODIDE/pyodide.mjs";

const indexURL = new URL("../PYODIDE/", import.meta.url).href;
const read = fetched("./"), kinds = new Map();

/** What local.py asks of JavaScript. */
const tools = {
  load(name) {
    if (!kinds.has(name)) kinds.set(name, load(name, read).catch((error) => { kinds.delete(name); throw error; }));
    return kinds.get(name);
  },
  make: (Kind, options) => new Kind(JSON.parse(options)),
  random: () => crypto.getRandomValues(new BigUint64Array(1))[0],
  post: (text) => postMessage(text),
};

async function start() {
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); // throws at once where a policy forbids it
  const [python, files, games] = await Promise.all([loadPyodide({ indexURL }), read("python.zip"), read("games.json")]);
  python.unpackArchive(files, "zip", { extractDir: "/page" });
  python.runPython("import sys; sys.path.insert(0, '/page'); import stand_ins; stand_ins.install('/page/garden_core')");
  return python.pyimport("local").Page(tools, new TextDecoder().decode(games));
}

const page = start();
page.catch((error) => postMessage(JSON.stringify({ type: "failed", text: String(error).slice(-300) })));
let line = Promise.resolve(); // one message after another
onmessage = ({ data }) => {
  line = line.then(async () => (await page.catch(() => null))?.handle(data)).catch((error) => postMessage(JSON.stringify({ type: "error", text: String(error).slice(-300) })));
};
