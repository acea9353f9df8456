/** The question: two items, three answers, and a sign that the last answer is saved. */

import { pairCards } from "../cards/cards.js";
import { byId, el } from "./dom.js";
import { labelOf } from "./keys.js";
import { resultView } from "../start/result.js";
import { mode, question, settings } from "../session/state.js";
import { busy, change, computing } from "../session/sync.js";

/** @typedef {import("../session/types.js").Question} Question */

const SEEN = 300; // milliseconds that a person needs to see a pair
/** The action of each button that has a key on it. */
const BUTTONS = {
  different: "different",
  unsure: "unsure",
  same: "same",
  undo: "undo",
  redo: "redo",
  finish: "finish",
  "card-unsure": "unsure",
  "mode-board": "board",
  "why-button": "why",
};
const ANSWERS = /** @type {const} */ (["different", "unsure", "same"]);

/** The pair on the page; an answer is always about this one.
 * @type {{i: number, j: number} | null} */
let shown = null;
/** The pair whose answer was sent: a second press is not an answer to the next one.
 * @type {{i: number, j: number} | null} */
let sent = null;
let shownIn = ""; // the run of the server that showed it: another one may read the data in another way
let n_shown = 0;
let answerableFrom = 0; // when the shown pair may be answered

export function startQuestion() {
  for (const answer of ANSWERS) byId(answer).addEventListener("click", () => tell(answer));
  settings.on(showKeys);
  question.on((value) => value && show(value));
  mode.on(() => question.value && show(question.value));
  computing.on(showComputing);
}

/** @param {import("../session/types.js").Answer} answer */
export async function tell(answer) {
  if (!shown || sent === shown || performance.now() < answerableFrom) return;
  sent = shown;
  byId(answer).classList.add("given");
  byId("saved").textContent = "Saving …";
  enable();
  const result = await change("tell", { ...shown, answer });
  byId(answer).classList.remove("given");
  byId("saved").textContent = result ? `✓ Saved: ${answer}` : "";
  sent = null;
  enable();
}

/** @param {Question} value */
async function show(value) {
  const number = ++n_shown;
  const cards = byId("cards");
  showSaved(value);
  const [left, right] = [value.left, value.right];
  const sorting = mode.value === "board" && value.state === "asking"; // board.js shows what is asked
  if (sorting) shown = null;
  else if (value.state === "asking" && value.pair && left && right) {
    const { i, j } = value.pair;
    if (shown?.i === i && shown?.j === j && shownIn === value.run) return;
    // A pair that another tab put there must have been seen before a key can be meant for it.
    const unexpected = shown !== null && !busy.value;
    shown = null;
    const pair = await pairCards(value);
    if (number !== n_shown) return; // another question came while a picture was loading
    markArrivals(pair, cards.firstElementChild);
    cards.replaceChildren(pair);
    shown = { i, j };
    shownIn = value.run;
    answerableFrom = unexpected ? performance.now() + SEEN : 0;
    byId("words").textContent = value.words;
    byId("spoken").textContent = `Item ${left.id} and item ${right.id}. ${value.words}`;
    byId("guess").textContent = value.guess ? `The clustering says: ${value.guess}.` : "";
  } else if (value.state !== "computing") {
    shown = null;
    const focused = byId("answers").contains(document.activeElement);
    cards.replaceChildren(ending(value));
    if (focused) cards.querySelector("a, button")?.focus();
  }
  if (value.state !== "computing") byId("question").dataset.state = value.state;
  cards.dataset.pair = sorting ? "board" : shown ? `${shown.i},${shown.j}` : value.state;
  cards.hidden = sorting;
  enable();
}

/** Say what was done last, also where the question stays the same. @param {Question} value */
function showSaved(value) {
  if (!value.saved || sent) return;
  const message = value.message.replace(/\.$/, "");
  byId("saved").textContent = message ? `✓ ${message}` : value.can_undo ? "✓ Everything is saved" : "";
}

/** What is shown in the place of a pair when there is none. @param {Question} value */
function ending(value) {
  const done = value.state === "done";
  const title = done ? "Nothing is left to ask: your result" : "Something went wrong";
  byId("words").textContent = title;
  byId("spoken").textContent = done ? title : `${title}. ${value.message}`;
  return done ? resultView() : el("div", { class: "pair empty" }, el("p", {}, value.message));
}

/**
 * Only a new card is animated, so that one sees which of the two is new.
 *
 * @param {HTMLElement} pair
 * @param {Element | null} before
 */
function markArrivals(pair, before) {
  const stayed = new Set([...(before?.querySelectorAll("figure") ?? [])].map((card) => card.dataset.row));
  for (const card of pair.querySelectorAll("figure"))
    card.classList.toggle("arrives", !stayed.has(card.dataset.row));
}

/** @param {import("../session/types.js").Computing | null} work */
function showComputing(work) {
  const box = byId("computing");
  box.hidden = !work;
  if (!work) return;
  byId("computing-words").textContent = work.what;
  const bar = byId("computing-bar");
  if (work.share === null) bar.removeAttribute("value");
  else bar.value = work.share;
}

function enable() {
  const open = shown !== null && sent !== shown;
  // Not `disabled`: a button that loses the focus with every answer sends keyboard users to the top of the page.
  for (const answer of ANSWERS) byId(answer).setAttribute("aria-disabled", String(!open));
}

/** @param {import("../session/types.js").Settings | null} value */
function showKeys(value) {
  if (!value) return;
  if (!question.value) byId("words").textContent = value.words;
  for (const [id, action] of Object.entries(BUTTONS)) {
    const keys = (value.keys[action] ?? []).filter(
      (key, k, all) => k === 0 || (key.startsWith("Arrow") && all.indexOf(key) === k),
    );
    const caps = keys.map((key) => el("kbd", {}, labelOf(key)));
    byId(id)
      .querySelector(".caps")
      .replaceChildren(...caps);
    const spoken = (value.keys[action] ?? []).map((key) => (key === " " ? "Space" : key));
    byId(id).setAttribute("aria-keyshortcuts", spoken.join(" "));
  }
}
