"use strict";
// A page for every game: a server, or a worker of the page, sends a picture whose parts carry the numbers of actions, and the
// actions in words.

const find = id => document.getElementById(id);
const query = new URLSearchParams(location.search);
const narrow = matchMedia("(max-width: 600px)"), dark = matchMedia("(prefers-color-scheme: dark)");
const BUTTONS = 12; // on a narrow screen, where the board can be longer than the screen, so many choices are buttons too
const local = document.documentElement.dataset.worker; // the worker's script; undefined with a server
const LEVELS = { human: "a person", random: "random (no plan)", greedy: "greedy (easy)", "mcts:100": "search (medium)", network: "network (hard)", "network-mcts:100": "network and search (hardest)" };
let addressed = 0, timerOfAddress = null;
let stored; // what the browser keeps; nothing where that is forbidden
try { stored = localStorage; } catch { stored = {}; }
let socket, game = null, now = null, playing = false, timer = null, waiting = 500, names = false;

// --- the connection ---

function connect() {
  if (local) return connectWorker();
  const at = new URL("socket", location.href);
  at.protocol = location.protocol.replace("http", "ws");
  at.search = location.search;
  socket = new WebSocket(at);
  socket.onopen = () => { waiting = 500; look(); };
  socket.onmessage = event => receive(event.data);
  socket.onclose = event => {
    if (event.code === 4404) return say("This game was deleted: no page was open for an hour, or the server was restarted.");
    say("Connection lost; trying again …");
    setTimeout(connect, waiting);
    waiting = Math.min(2 * waiting, 10000);
  };
}

function connectWorker() {
  const worker = new Worker(local, { type: "module" });
  worker.onmessage = event => receive(event.data);
  worker.onerror = event => failed({ text: event.message ?? "is there a network?" });
  socket = { readyState: WebSocket.OPEN, send: text => worker.postMessage(text) };
  say("Loading …");
  look();
  send({ type: "open", link: location.hash.slice(1) });
  navigator.serviceWorker?.register("service.js").catch(() => {}); // then it needs a network the next time, too
}

function receive(text) {
  const message = JSON.parse(text);
  ({ welcome, position, hint, opened, saved, error, failed })[message.type](message);
}
const send = message => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };
const look = () => send({ type: "look", dark: dark.matches, compact: narrow.matches, names });
const say = words => { find("status").textContent = words; };

function error(message) {
  find(find("new").open ? "refused" : "error").textContent = message.text;
  if (playing) play();
}

/** Without a server: the page's program does not start. */
function failed({ text }) {
  say("This page cannot play here.");
  const policy = /unsafe-eval|Content Security Policy/.test(text) ? " The server of this page forbids WebAssembly: its policy (Content-Security-Policy) needs 'wasm-unsafe-eval'." : "";
  error({ text: `The page's program cannot be loaded: ${text}${policy}` });
}

// --- the game ---

function welcome(message) {
  game = message;
  now = null;
  document.title = find("title").textContent = message.title;
  find("rules").innerHTML = message.rules;
  find("new").close();
  if (playing) play();
  const key = query.get("seat");
  find("save").href = local ? "#" : `replay.json?seat=${key}`;
  find("link").hidden = !local;
  find("pace").hidden = message.people.length > 0;
  find("new-button").hidden = !message.games.length;
  find("links-button").hidden = message.links.length < 2;
  find("hint").hidden = find("undo").hidden = message.seat === null;
  fillForm();
  if (message.seat !== null && !stored.guided) guide(0);
  const list = find("links").querySelector("ul");
  list.replaceChildren(...message.links.map(({ seat, key }) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = link.textContent = new URL(`?seat=${key}`, location.href);
    item.append(`player_${seat}: `, link);
    return item;
  }));
}

function position(message) {
  now = message;
  if (local) arrive(message);
  find("error").textContent = find("advice").textContent = "";
  say(message.status);
  const focused = document.activeElement?.dataset?.action, inBoard = find("table").contains(document.activeElement);
  drawBoard(message);
  drawChoices(message);
  drawPoints(message);
  drawMoves(message);
  find("hint").disabled = !message.mine;
  find("undo").disabled = !message.undo;
  find("step").disabled = find("play").disabled = message.over;
  find("film").href = `replay.html?seat=${query.get("seat")}&dark=${+dark.matches}`;
  find("film").hidden = Boolean(local) || (!message.over && game.people.length > 1);
  find("save").hidden = !local && !message.over && game.people.length > 1;
  if (inBoard && message.mine) (target(focused) ?? targets()[0])?.focus({ preventScroll: true });
  if (message.mine && narrow.matches && message.legal.length > BUTTONS) targets()[0]?.scrollIntoView({ block: "nearest" });
  if (playing) next();
}

/** Without a server: the address holds the game, and people at one screen take turns. */
function arrive({ seat, hand_over }) {
  game.seat = seat;
  if (Date.now() - addressed > 500) address();
  else timerOfAddress ??= setTimeout(address, 500);
  if (!hand_over) return;
  find("hand-over").querySelector("h2").textContent = `It is the turn of ${hand_over}.`;
  find("hand-over").showModal();
}

/** Put the game into the address; not for every move, as some browsers refuse more than 100 changes in 30 seconds. */
function address() {
  clearTimeout(timerOfAddress);
  [addressed, timerOfAddress] = [Date.now(), null];
  try {
    history.replaceState(null, "", `#${now.link}`);
  } catch { /* the next change comes soon */ }
}

function drawBoard(message) {
  const board = find("board");
  if (message.svg) board.innerHTML = message.svg;
  else {
    const words = document.createElement("pre");
    words.textContent = message.text;
    board.replaceChildren(words);
  }
  const svg = board.querySelector("svg");
  svg?.setAttribute("role", message.mine ? "group" : "img");
  svg?.setAttribute("aria-label", `${game.title}, ${message.status}`);
  for (const { action, text } of message.legal) board.querySelector(`[data-action="${action}"]`)?.setAttribute("aria-label", text);
}

function drawChoices(message) {
  const board = find("board");
  const all = narrow.matches && message.legal.length <= BUTTONS;
  find("choices").replaceChildren(...message.legal.filter(({ action }) => all || !board.querySelector(`[data-action="${action}"]`)).map(({ action, text }) => {
    const button = document.createElement("button");
    button.dataset.action = action;
    button.textContent = text;
    return button;
  }));
}

function drawPoints(message) {
  const rows = message.over ? message.places : message.points.map((score, seat) => ({ seat, score, sheet: {} }));
  const mover = message.over ? null : message.mover;
  find("points").querySelector("caption").textContent = message.over ? "Result" : "Public points";
  find("points").querySelector("tbody").replaceChildren(...rows.map(({ seat, place, tied, score, sheet }) => {
    const row = document.createElement("tr"), who = document.createElement("th"), points = document.createElement("td");
    who.scope = "row";
    const parts = Object.entries(sheet).filter(([name]) => name !== "score").map(([name, n]) => `${name.replaceAll("_", " ")} ${n}`);
    who.textContent = (place && !game.cooperative ? `${place}.${tied ? " (tied)" : ""} ` : "") + game.names[seat];
    if (parts.length) who.append(document.createElement("br"), parts.join(", "));
    if (seat === mover) row.setAttribute("aria-current", "true");
    points.textContent = score;
    row.append(who, points);
    return row;
  }));
}

function drawMoves(message) {
  const moves = find("moves");
  while (moves.children.length > message.first) moves.lastChild.remove();
  for (const { seat, text, estimate } of message.moves) {
    const item = document.createElement("li");
    item.textContent = `${game.names[seat]}: ${text}`;
    if (estimate) item.append(Object.assign(document.createElement("small"), { textContent: estimate }));
    moves.append(item);
  }
  moves.scrollTop = moves.scrollHeight;
}

// --- choosing ---

const targets = () => [...find("table").querySelectorAll("[data-action]")];
const target = action => action === undefined ? null : find("table").querySelector(`[data-action="${CSS.escape(action)}"]`);

function choose(element) {
  if (now?.mine && element) send({ type: "act", at: now.at, action: +element.dataset.action });
}

/** Move the focus to the nearest target in a direction. */
function step(dx, dy) {
  const all = targets(), from = all.includes(document.activeElement) ? document.activeElement : null;
  if (!from) return all[0]?.focus();
  const centre = element => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
  };
  const [x, y] = centre(from);
  let best = null, least = Infinity;
  for (const each of all) {
    const [cx, cy] = centre(each), along = (cx - x) * dx + (cy - y) * dy, aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
    if (each !== from && along > 1 && along + 2 * aside < least) { best = each; least = along + 2 * aside; }
  }
  best?.focus();
  best?.scrollIntoView({ block: "nearest" });
}

function hint(message) {
  if (!now || message.at !== now.at) return;
  const words = action => now.legal.find(one => one.action === action)?.text ?? "";
  const expected = message.value === null ? "; it is the only legal action" : `; it expects ${message.value.toFixed(2)} (from -1, a loss, to 1)`;
  find("advice").textContent = `${message.by} would choose ${words(message.action)}${expected}.`;
  find("board").querySelectorAll(".advice").forEach(each => each.remove());
  for (const [action, share] of Object.entries(message.shares)) {
    const element = target(action), best = +action === message.action;
    if (!element || (share < 0.01 && !best)) continue;
    const percent = `${Math.round(100 * share)} %`;
    if (element.tagName === "BUTTON") {
      const mark = document.createElement("b");
      mark.textContent = ` ${percent}`;
      element.querySelector("b")?.remove();
      element.append(mark);
      element.classList.toggle("best", best);
    } else mark(element, percent, share, best);
  }
}

/** Draw an agent's opinion of an action on its place in the picture. */
function mark(element, percent, share, best) {
  const svg = element.ownerSVGElement, own = element.getBBox(), from = element.getCTM(), draw = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const point = new DOMPoint(own.x + own.width / 2, own.y + own.height / 2).matrixTransform(svg.getCTM().inverse().multiply(from));
  const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width, size = 13 * scale;
  const group = draw("g", { class: "advice" });
  const words = draw("text", { x: point.x, y: point.y + 0.36 * size, "font-size": size, "font-weight": "bold", "text-anchor": "middle", fill: "#ffffff" });
  words.textContent = percent;
  group.append(draw("rect", { x: point.x - 1.7 * size, y: point.y - 0.8 * size, width: 3.4 * size, height: 1.6 * size, rx: 0.8 * size,
    fill: best ? "#7a2e8a" : "#333333", opacity: 0.6 + 0.4 * share, stroke: "#ffffff", "stroke-width": best ? 2 * scale : 0 }), words);
  svg.append(group);
}

// --- the guide through a first game ---

const GUIDE = [
  () => game.goal || game.title,
  () => `You are ${game.names[game.seat]}. The line above the board says who must decide, and what.`,
  () => "An orange edge marks what you can choose: click it, or a button below the board. Pointing at a thing explains it.",
  () => "A dashed blue edge marks what the last move changed. The list of moves says what each move did.",
  () => "Hint shows what a strong agent would choose, Undo takes your last decision back, Rules explains everything.",
];
let guided = 0;

function guide(step) {
  guided = step;
  const over = step >= GUIDE.length;
  find("guide").hidden = over;
  if (over) return void (stored.guided = "1");
  find("guide").querySelector("p").textContent = `${step + 1} of ${GUIDE.length}: ${GUIDE[step]()}`;
  find("guide-next").textContent = step === GUIDE.length - 1 ? "Play" : "Next";
}

// --- watching ---

function next() {
  clearTimeout(timer);
  if (now.over) play();
  else timer = setTimeout(() => now && send({ type: "go", at: now.at }), 1000 * find("seconds").value);
}

function play() {
  clearTimeout(timer);
  playing = !playing;
  find("play").textContent = playing ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(playing));
  if (playing && now) next();
}

// --- a new game ---

function fillForm() {
  find("game").replaceChildren(...game.games.map(({ name, title }) => new Option(title, name, false, name === game.game)));
  fillOptions();
}

function fillOptions() {
  const chosen = game.games.find(({ name }) => name === find("game").value);
  find("options").replaceChildren(...(chosen?.options ?? []).map(option => {
    const label = document.createElement("label"), note = document.createElement("small");
    const value = chosen.name === game.game && option.name in game.options ? game.options[option.name] : option.default;
    let input;
    if (option.choices.length) {
      input = document.createElement("select");
      input.append(...option.choices.map(choice => new Option(choice, choice, false, choice === value)));
    } else {
      input = document.createElement("input");
      if (typeof value === "boolean") Object.assign(input, { type: "checkbox", checked: value });
      else Object.assign(input, { type: "number", value, min: option.low ?? "", max: option.high ?? "", required: true });
    }
    input.name = option.name;
    if (option.name === "num_players") input.onchange = fillSeats;
    note.textContent = option.note ? `${option.help} (${option.note})` : option.help;
    label.append(`${option.name.replaceAll("_", " ")} `, input, note);
    return label;
  }));
  fillSeats();
}

function fillSeats() {
  const count = Math.min(Math.max(+optionsChosen().num_players || 2, 1), 20), old = [...find("seats").querySelectorAll("select")].map(each => each.value);
  find("seats").querySelectorAll("label").forEach(each => each.remove());
  for (let seat = 0; seat < count; seat++) {
    const label = document.createElement("label"), select = document.createElement("select");
    select.append(...game.agents.map(agent => new Option(LEVELS[agent] ?? agent, agent)));
    select.value = old[seat] ?? (seat ? "greedy" : "human");
    label.append(`player_${seat} `, select);
    find("seats").append(label);
  }
}

function optionsChosen() {
  const chosen = game.games.find(({ name }) => name === find("game").value), values = {};
  for (const input of find("options").querySelectorAll("[name]")) {
    const option = chosen.options.find(({ name }) => name === input.name);
    values[option.name] = input.type === "checkbox" ? input.checked : typeof option.default === "number" ? +input.value : input.value;
  }
  return values;
}

async function begin(event) {
  event.preventDefault();
  find("refused").textContent = "";
  const file = find("file").files[0];
  if (file && file.size > 3e6) return void (find("refused").textContent = "A saved game has at most 3 MB.");
  send({
    type: "new", game: find("game").value, options: optionsChosen(), seats: [...find("seats").querySelectorAll("select")].map(each => each.value),
    seed: find("seed").value || null, replay: file ? await file.text() : null,
  });
}

function saved({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function opened({ seat }) {
  location.search = new URLSearchParams({ token: query.get("token"), seat });
}

// --- what people do ---

find("table").addEventListener("click", event => choose(event.target.closest("[data-action]")));
find("hint").onclick = () => now && send({ type: "hint", at: now.at });
find("undo").onclick = () => now && send({ type: "undo", at: now.at });
find("save").onclick = event => { if (local) { event.preventDefault(); send({ type: "save" }); } };
find("link").onclick = async () => {
  address();
  await navigator.clipboard?.writeText(location.href);
  find("advice").textContent = "The address of this page, which holds the whole game, was copied.";
};
find("names").onclick = () => { names = !names; find("names").setAttribute("aria-pressed", String(names)); look(); };
find("guide-button").onclick = () => guide(0);
find("guide-next").onclick = () => guide(guided + 1);
find("guide-close").onclick = () => guide(GUIDE.length);
find("rules-button").onclick = () => {
  const shown = find("rules").toggleAttribute("hidden");
  find("rules-button").setAttribute("aria-expanded", String(!shown));
};
find("new-button").onclick = () => find("new").showModal();
find("links-button").onclick = () => find("links").showModal();
find("begin").onclick = event => { if (find("new").querySelector("form").reportValidity()) begin(event); else event.preventDefault(); };
find("game").onchange = fillOptions;
find("step").onclick = () => now && send({ type: "go", at: now.at });
find("play").onclick = play;
narrow.onchange = dark.onchange = look;

document.addEventListener("keydown", event => {
  if (event.target.closest("dialog[open], input, select, #moves, #rules") || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (arrow && now?.mine) step(...arrow);
  else if ((event.key === "Enter" || event.key === " ") && event.target.dataset.action && event.target.tagName !== "BUTTON") choose(event.target);
  else if (event.key === "h" && now?.mine) find("hint").click();
  else if (event.key === "u" && now?.undo) find("undo").click();
  else return;
  event.preventDefault();
});

connect();
