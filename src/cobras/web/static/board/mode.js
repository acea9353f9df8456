/** Pairs or boards: what the person chose is remembered; before that, boards come once there are a few clusters. */

import { byId } from "../page/dom.js";
import { showNotice } from "../page/notices.js";
import { mode, question, settings } from "../session/state.js";

/** @typedef {"pairs" | "board"} Mode */

const KEY = "cobras-mode";
const FEW = 3; // clusters up to which a pair is as good as a board
const FIRST = 10; // answers to pairs, which are quick to understand, before a board comes by itself

let choice = stored();
/** The session, by its version, for which there is no board. */
let noBoardAt = "";

export function startMode() {
  question.on(decide);
  mode.on(show);
  byId("mode-pairs").addEventListener("click", () => choose("pairs"));
  byId("mode-board").addEventListener("click", () => choose("board"));
  show();
}

export function toggleMode() {
  choose(mode.value === "pairs" ? "board" : "pairs");
}

/** Show the pair, since nothing is left that a board could ask now. */
export function showPairInstead() {
  noBoardAt = versionNow();
  mode.set("pairs");
}

/** @param {Mode} wanted */
function choose(wanted) {
  choice = wanted;
  try {
    localStorage.setItem(KEY, wanted);
  } catch {
    // Some browsers keep nothing for a page; then the choice is good until it is closed.
  }
  if (wanted === "board" && noBoardAt === versionNow())
    showNotice("No board can be made of what is open now. It comes back with the next question.");
  else if (wanted !== mode.value) mode.set(wanted);
}

/** @param {import("../session/types.js").Question | null} value @param {unknown} before */
function decide(value, before) {
  const { n_clusters = 0, n_answers = 0 } = value?.progress ?? {};
  const many = n_clusters > FEW && n_answers >= FIRST;
  // A board stays when clusters become fewer again: the page must not go to and fro.
  const wanted = choice ?? (settings.value?.boards && (many || mode.value === "board") ? "board" : "pairs");
  if (wanted === mode.value || (wanted === "board" && noBoardAt === versionNow())) return;
  mode.set(wanted);
  if (before && !choice)
    showNotice("There are several clusters now, so you can sort a few items at once. B goes back to pairs.");
}

function show() {
  byId("mode-pairs").setAttribute("aria-pressed", String(mode.value === "pairs"));
  byId("mode-board").setAttribute("aria-pressed", String(mode.value === "board"));
}

function versionNow() {
  return `${question.value?.run} ${question.value?.versions.session}`;
}

/** @returns {Mode | null} */
function stored() {
  try {
    const found = localStorage.getItem(KEY);
    return found === "pairs" || found === "board" ? found : null;
  } catch {
    return null;
  }
}
