"use strict";
const find = id => document.getElementById(id);
let shown = "", network = "", scrolled = 0;

/** Ask every few seconds whether the run's files have changed, and show them again if so. */
async function look() {
  try {
    const state = await (await fetch(`/state${location.search}`)).json();
    find("state").textContent = state.words;
    if (state.files !== shown) {
      const frame = find("report");
      scrolled = frame.contentWindow?.scrollY ?? 0;
      frame.src = `/report${location.search}&at=${state.files}`;
      shown = state.files;
    }
    if (state.network !== network && find("game").hidden) find("game").removeAttribute("src");
    network = state.network;
  } catch {
    find("state").textContent = "The training has ended, or its page was stopped: `garden report` makes a page of its run.";
  }
  setTimeout(look, 3000);
}

function show(name) {
  for (const each of ["report", "game"]) {
    find(each).hidden = each !== name;
    find(`to-${each}`).setAttribute("aria-pressed", String(each === name));
  }
  if (name === "game" && !find("game").getAttribute("src")) find("game").src = `/game${location.search}&at=${network}`;
}

find("report").onload = () => find("report").contentWindow.scrollTo(0, scrolled);
find("to-report").onclick = () => show("report");
find("to-game").onclick = () => show("game");
look();
