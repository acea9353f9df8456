/** The question: two items, three answers, and a sign that the last answer is saved. */

import { pairCards } from "../cards/cards.js";
import { byId, el } from "./dom.js";
import { labelOf } from "./keys.js";
import { question, settings } from "../session/state.js";
import { busy, change, computing } from "../session/sync.js";

/** @typedef {import("../session/types.js").Question} Question */

const SEEN = 300; // milliseconds that a person needs to see a pair
const ANSWERS = /** @type {const} */ (["different", "unsure", "same"]);

/** The pair on the page; an answer is always about this one.
 * @type {{i: number, j: number} | null} */
let shown = null;
/** The pair whose answer was sent: a second press is not an answer to the next one.
 * @type {{i: number, j: number} | null} */
let sent = null;
let n_shown = 0;
let answerableFrom = 0; // when the shown pair may be answered

export function startQuestion() {
  for (const answer of ANSWERS) byId(answer).addEventListener("click", () => tell(answer));
  settings.on(showKeys);
  question.on((value) => value && show(value));
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
  const [left, right] = [value.left, value.right];
  if (value.state === "asking" && value.pair && left && right) {
    const { i, j } = value.pair;
    if (shown?.i === i && shown?.j === j) return;
    // A pair that another tab put there must have been seen before a key can be meant for it.
    const unexpected = shown !== null && !busy.value;
    shown = null;
    const pair = await pairCards(value);
    if (number !== n_shown) return; // another question came while a picture was loading
    markArrivals(pair, cards.firstElementChild);
    cards.replaceChildren(pair);
    shown = { i, j };
    answerableFrom = unexpected ? performance.now() + SEEN : 0;
    byId("words").textContent = value.words;
    byId("spoken").textContent = `Item ${left.id} and item ${right.id}. ${value.words}`;
    byId("guess").textContent = value.guess ? `The clustering says: ${value.guess}.` : "";
  } else if (value.state !== "computing") {
    shown = null;
    cards.replaceChildren(ending(value));
  }
  if (value.saved && !sent) {
    const message = value.message.replace(/\.$/, "");
    byId("saved").textContent = message ? `✓ ${message}` : value.can_undo ? "✓ Everything is saved" : "";
  }
  cards.dataset.pair = shown ? `${shown.i},${shown.j}` : value.state;
  enable();
}

/** What is shown in the place of a pair when there is none. @param {Question} value */
function ending(value) {
  const title = value.state === "done" ? "All done" : "Something went wrong";
  const reason = value.progress?.reason || value.message;
  byId("words").textContent = title;
  byId("spoken").textContent = `${title}. ${reason}`;
  const more =
    value.state === "done" && el("p", {}, "You can still undo, change answers and name the clusters.");
  return el("div", { class: "pair empty" }, el("p", {}, reason), more);
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
  byId("words").textContent = value.words;
  for (const answer of [...ANSWERS, "undo", "redo"]) {
    const keys = (value.keys[answer] ?? []).filter(
      (key, k, all) => k === 0 || (key.startsWith("Arrow") && all.indexOf(key) === k),
    );
    const caps = keys.map((key) => el("kbd", {}, labelOf(key)));
    byId(answer)
      .querySelector(".caps")
      .replaceChildren(...caps);
    const spoken = (value.keys[answer] ?? []).map((key) => (key === " " ? "Space" : key));
    byId(answer).setAttribute("aria-keyshortcuts", spoken.join(" "));
  }
}
