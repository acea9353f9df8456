/** The board: a card is put on a pile by key, by a click on the pile or by dragging. */

import { groupBodies, picturesReady } from "../cards/cards.js";
import { unusedWords } from "../cards/table.js";
import { preview } from "../cards/thumbs.js";
import { afterPaint, byId, counted, el } from "../page/dom.js";
import { showNotice } from "../page/notices.js";
import { onTheme } from "../page/palette.js";
import { get } from "../session/api.js";
import { signal } from "../session/signal.js";
import { board, mode, question } from "../session/state.js";
import { busy, change, retry } from "../session/sync.js";
import { startDrag } from "./drag.js";
import { showPairInstead } from "./mode.js";
import { cardElement, inPlace, itemOf, LETTERS, markLong, showPiles, titleOf } from "./pieces.js";
import { Placement, UNSURE } from "./placement.js";

const SEEN = 300; // milliseconds that a person needs to see a board that another tab put there

/** How many placements can be taken back. */
export const n_placed = signal(0);

let placement = new Placement([], []);
/** The chosen card, by its row. */
let chosen = -1;
let sent = false;
/** What was saved last: it stays on the page until the next board is there, and nothing more is placed on it.
 * @type {Placement | null} */
let finished = null;
let n_loads = 0;
let usableFrom = 0;
/** The piles in the order of the server, which knows the board by it. @type {number[]} */
let posed = [];
/** The place of each cluster on boards, by its id. @type {Map<number, number>} */
const slots = new Map();
/** The piles that are to be put together, while their numbers are typed. @type {number[] | null} */
let joining = null;

export function startBoard() {
  question.on(load);
  mode.on(load);
  mode.on(() => say(""));
  onTheme(show);
  byId("card-unsure").addEventListener("click", markUnsure);
  byId("finish").addEventListener("click", finish);
  byId("board-unused").addEventListener("click", toggleUnused);
  const cards = byId("board-cards");
  cards.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const card = event.target instanceof Element && event.target.closest(".board-card");
    if (card instanceof HTMLElement) choose(Number(card.dataset.row));
  });
  cards.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
    const card = event.target instanceof Element && event.target.closest(".board-card");
    if (card instanceof HTMLElement && Number(card.dataset.row) !== chosen) choose(Number(card.dataset.row));
  });
  startDrag(byId("board"), {
    sources: ".board-card, .pile:not(.new)",
    targets: ".pile, .board-card, #board-cards",
    look,
    drop,
  });
}

/** Choose another card. @param {KeyboardEvent} event an arrow key */
export function chooseByArrow(event) {
  const cards = placement.cards;
  const columns = getComputedStyle(byId("board-cards")).gridTemplateColumns.split(" ").length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key] ?? 0;
  const row = cards[cards.indexOf(chosen) + by];
  if (row === undefined) return;
  choose(row);
  cardOf(row)?.focus({ preventScroll: false });
}

/** Put the chosen card on a pile, or two piles together. @param {KeyboardEvent} event a digit */
export function placeByKey(event) {
  const slot = Number(event.key) - 1;
  if (slot < 0 || slot >= placement.n_slots) say(`There is no pile ${slot + 1}.`);
  else if (!joining) place(slot);
  else if (joining.push(slot) === 2) join(joining[0], joining[1]);
  else say(`Put pile ${slot + 1} together with: the number of another pile.`);
}

/** Take the next two digits as piles that are one; a second time, do not. */
export function startJoin() {
  joining = joining ? null : [];
  say(joining ? "Put two piles together: their numbers." : "The piles stay as they are.");
  show();
}

export function placeOnNew() {
  place(placement.freeSlot());
}

export function markUnsure() {
  place(UNSURE);
}

/** Take back the last placement; false where there is none. */
export function takeBack() {
  if (mode.value !== "board" || isClosed() || !placement.n_steps) return false;
  const [row] = placement.undo();
  say(row === undefined ? "The two piles are apart again." : `Taken back: card ${letterOf(row)}.`);
  choose(row ?? chosen);
  return true;
}

/** Send the board as it is sorted; cards that lie nowhere are unsure. */
export async function finish() {
  if (isClosed() || performance.now() < usableFrom) return;
  if (!placement.n_steps) {
    say("Place a card first, or say with Space that you cannot tell.");
    showNotice("Place a card first, or say that you are unsure about it.");
    return;
  }
  sent = true;
  byId("saved").textContent = "Saving …";
  show();
  const done = placement;
  const result = await change("sort", { cards: done.cards, piles: posed, groups: done.groups() });
  sent = false;
  if (result) finished = done;
  else byId("saved").textContent = "";
  say(result ? result.message : "");
  show();
}

/** Fetch the board of the open question, unless it is there. */
async function load() {
  const now = question.value;
  const asked = mode.value === "board" && now?.state === "asking";
  byId("board").hidden = byId("sorting").hidden = !asked;
  byId("answers").hidden = mode.value === "board" && now?.state !== "done" && now?.state !== "failed";
  document.querySelector(".skip")?.setAttribute("href", asked ? "#board-cards" : "#different");
  if (!now || !asked) return;
  const shown = board.value;
  if (shown && shown.run === now.run && shown.version === now.versions.session && placement.cards.length) {
    byId("words").textContent = shown.words;
    return;
  }
  const number = ++n_loads;
  const mine = busy.value; // what the person just did leads to this board
  byId("board").setAttribute("aria-busy", "true");
  const found = /** @type {import("../session/types.js").Board} */ (await retry(() => get("board")));
  if (number !== n_loads || mode.value !== "board") return;
  posed = found.piles.map((pile) => pile.row);
  found.piles = inPlace(found.piles, placement.rowsBySlot(), shown?.piles ?? [], slots);
  if (!found.cards.length) {
    placement = new Placement([], []);
    showPairInstead();
    return;
  }
  await take(found, number, mine);
}

/** Show a board; cards that are the same as before stay where they were put.
 * @param {import("../session/types.js").Board} found @param {number} number @param {boolean} mine */
async function take(found, number, mine) {
  const cards = found.cards.map((card) => card.i);
  const piles = found.piles.map((pile) => pile.row);
  const isSame = finished !== placement && same(cards, placement.cards) && same(piles, placement.piles);
  if (!isSame || !board.value) {
    const bodies = groupBodies(found.cards, found.columns, found.unused);
    const fresh = found.cards.map((item, k) => cardElement(item, k, bodies[k]));
    const holder = el("div", {}, fresh);
    await picturesReady(holder);
    if (number !== n_loads) return; // another board came while a picture was loading
    const unexpected = placement.n_steps > 0 && !mine && finished !== placement;
    if (unexpected) showNotice("This was answered already, perhaps in another tab or just before the program ended. Here is the board that is open now.");
    usableFrom = unexpected ? performance.now() + SEEN : 0;
    if (finished !== placement) say(""); // what it says is about another board, unless that was just saved
    placement = new Placement(cards, piles);
    joining = null;
    chosen = cards[0];
    byId("board-cards").replaceChildren(...fresh);
  }
  board.set(found);
  byId("board").className = found.cards[0].card.kind;
  byId("board-marked").hidden = !byId("board-cards").querySelector("mark");
  byId("board-unused").hidden = !found.unused.length;
  byId("board-unused").textContent = unusedWords(found.unused);
  byId("board").dataset.board = `${cards}|${piles}`;
  byId("board").setAttribute("aria-busy", "false");
  byId("words").textContent = found.words;
  byId("spoken").textContent = `${counted(cards.length, "card")}, ${counted(piles.length, "pile")}. ${found.words}`;
  show();
  if (!isSame && byId("board").contains(document.activeElement)) cardOf(chosen)?.focus();
  afterPaint(markLong);
}

/** What is carried: a card in brief, or the title of a pile. @param {HTMLElement} carried */
function look(carried) {
  const slot = carried.dataset.slot;
  return slot ? `Pile ${Number(slot) + 1}` : preview(itemOf(Number(carried.dataset.row)));
}

/** @param {HTMLElement} carried a card or a pile @param {HTMLElement} target */
function drop(carried, target) {
  if (isClosed()) return;
  const other = target.closest(".board-card");
  const slot = Number(target.dataset.slot);
  if (carried.dataset.slot) {
    if (slot >= 0) join(Number(carried.dataset.slot), slot);
    return;
  }
  const row = Number(carried.dataset.row);
  if (other instanceof HTMLElement) {
    after(row, placement.putWith(row, Number(other.dataset.row)));
  } else if (target.dataset.slot === "new") place(placement.freeSlot(), row);
  else if (slot >= 0) place(slot, row);
  else if (placement.put(row, null)) after(row, null);
}

/** @param {number} a @param {number} b */
function join(a, b) {
  joining = null;
  if (!isClosed() && placement.join(a, b)) say(`Piles ${a + 1} and ${b + 1} are one.`);
  show();
}

/** @param {number} slot @param {number} [row] */
function place(slot, row = chosen) {
  if (isClosed() || !placement.cards.includes(row) || performance.now() < usableFrom) return;
  placement.put(row, slot);
  after(row, slot);
}

/** Say and show where a card lies now, and choose the next one. @param {number} row @param {number | null} slot */
function after(row, slot) {
  const left = placement.left.length;
  const where = slot === null ? "taken back" : slot === UNSURE ? "unsure" : `on pile ${slot + 1}, ${titleOf(slot)}`;
  say(`Card ${letterOf(row)}: ${where}. ${left ? `${left} left.` : "All placed: Enter finishes."}`);
  choose(slot === null ? row : placement.next(row));
  const list = byId("board-piles");
  // On a phone the page scrolls, not the list; then the cards stay in sight.
  if (list.scrollHeight > list.clientHeight)
    list.querySelector(`[data-slot="${slot}"]`)?.scrollIntoView({ block: "nearest" });
}

/** @param {number} row */
function choose(row) {
  const focused = document.activeElement?.closest(".board-card");
  chosen = row;
  show();
  if (focused && focused !== cardOf(row)) cardOf(row)?.focus();
}

/** Whether there is no board that takes cards. */
function isClosed() {
  return sent || finished === placement || !placement.cards.length;
}

function show() {
  n_placed.set(mode.value === "board" && !isClosed() ? placement.n_steps : 0);
  const found = board.value;
  if (!found) return;
  for (const card of byId("board-cards").children) {
    const row = Number(card.dataset.row);
    const slot = placement.slotOf(row);
    card.setAttribute("aria-selected", String(row === chosen));
    card.tabIndex = row === chosen ? 0 : -1;
    card.classList.toggle("lies", slot !== undefined);
    const where = slot === undefined ? "" : slot === UNSURE ? "unsure" : `pile ${slot + 1}`;
    card.querySelector(".where").textContent = where;
    const named = `Card ${letterOf(row)}, ${itemOf(row).id}${where && `, ${where}`}`;
    card.setAttribute("aria-label", named);
  }
  showPiles(placement, joining !== null, (slot) => place(slot ?? placement.freeSlot()));
  const n_left = placement.left.length;
  byId("finish").setAttribute("aria-disabled", String(isClosed() || !placement.n_steps));
  byId("finish").classList.toggle("ready", !isClosed() && placement.n_steps > 0 && !n_left);
  byId("n-left").textContent = n_left ? `${n_left} of ${placement.cards.length} left` : "";
  byId("card-unsure").setAttribute("aria-disabled", String(isClosed()));
}

/** Show the columns that items are not compared by, on all cards, or hide them again. */
function toggleUnused() {
  const unfolded = byId("board-cards").classList.toggle("unfolded");
  byId("board-unused").setAttribute("aria-expanded", String(unfolded));
  markLong();
}

/** @param {number} row */
function letterOf(row) {
  return LETTERS[placement.cards.indexOf(row)];
}

/** @param {number} row @returns {HTMLElement | null} */
function cardOf(row) {
  return byId("board-cards").querySelector(`[data-row="${row}"]`);
}

/** @param {string} text */
function say(text) {
  byId("placed").textContent = text;
}

/** @param {number[]} a @param {number[]} b */
function same(a, b) {
  return a.length > 0 && String(a) === String(b);
}
