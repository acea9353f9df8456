/** What lies on a board: its cards and its piles, as they are drawn and called. */

import { preview, tag } from "../cards/thumbs.js";
import { byId, counted, el } from "../page/dom.js";
import { labelOf } from "../page/keys.js";
import { board, pointed, settings } from "../session/state.js";

/** @typedef {import("./placement.js").Placement} Placement */
/** @typedef {import("../session/types.js").Item} Item */

export const LETTERS = "ABCDEFGHIJKL"; // of the cards
const KEYS = "123456789"; // for the first nine piles; others are reached by Tab, click or drag

/** @param {Item} item @param {number} k its place @param {Node[]} parts what it shows */
export function cardElement(item, k, parts) {
  const caption = el(
    "div",
    { class: "caption" },
    el("b", { class: "letter" }, LETTERS[k]),
    el("span", { class: "id", title: item.id }, el("bdi", {}, item.id)),
    el("span", { class: "where" }),
  );
  const listeners = {
    onpointerenter: () => pointed.set(item.i),
    onpointerleave: () => pointed.set(null),
  };
  return el(
    "div",
    { class: "card board-card", role: "option", "data-row": item.i, ...listeners },
    caption,
    el("div", { class: "card-body" }, parts),
  );
}

/** A card whose content is longer than it can be scrolled by a finger; then it is carried by its title. */
export function markLong() {
  for (const body of byId("board-cards").querySelectorAll(".card-body"))
    body.classList.toggle("long", body.scrollHeight > body.clientHeight + 1);
}

/**
 * Draw all piles, with as many of their members as there is room for.
 *
 * @param {Placement} placement
 * @param {boolean} joining whether two of them are to be put together
 * @param {(slot: number | null) => void} put what a click on a pile does; null is a new one
 */
export function showPiles(placement, joining, put) {
  const list = byId("board-piles");
  const focused = list.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement).dataset.slot
    : null;
  list.classList.toggle("joining", joining);
  // Words take a line each; a phone, where the page scrolls and not the list, has room for two of many piles.
  const inLines = board.value?.cards[0].card.kind.match(/text|table/);
  for (let most = inLines && placement.n_slots > 3 ? 2 : 4; most > 0; most--) {
    const piles = placement.together.map((slots) => pileElement(slots, placement, most, put));
    list.replaceChildren(...piles, newPile(put));
    if (!inLines || list.scrollHeight <= list.clientHeight) break;
  }
  if (focused) list.querySelector(`[data-slot="${focused}"]`)?.focus();
}

/**
 * @param {number[]} slots of one pile; several where some were put together
 * @param {Placement} placement
 * @param {number} most members to show, with the cards that were placed there
 * @param {(slot: number) => void} put
 */
function pileElement(slots, placement, most, put) {
  const found = board.value;
  const [slot] = slots;
  const piles = slots.flatMap((k) => found?.piles.slice(k, k + 1) ?? []);
  const cards = placement.on(slot);
  const names = slots.map((k) => `Pile ${k + 1}: ${titleOf(k)}`).join(", ");
  const label = `${names}, ${counted(cards.length, "card")} placed here`;
  const titles = slots.map((k) => {
    const pile = found?.piles[k];
    const title = pile ? tag(pile.colour, titleOf(k)) : el("span", { class: "tag" }, titleOf(k));
    return [KEYS[k] ? el("kbd", {}, KEYS[k]) : el("b", {}, String(k + 1)), title];
  });
  const members = piles
    .flatMap((pile) => pile.members)
    .slice(0, Math.max(1, most - cards.length)).map((item) => el("span", { class: "member" }, preview(item)));
  const here = cards.map((row) => el("span", { class: "member here" }, preview(itemOf(row))));
  return el(
    "button",
    { class: "pile", "data-slot": slot, "aria-label": label, onclick: () => put(slot) },
    el("span", { class: "pile-head" }, titles.flat()),
    el("span", { class: "members" }, here, members),
  );
}

/** @param {(slot: null) => void} put */
function newPile(put) {
  const keys = (settings.value?.keys.new_pile ?? []).slice(0, 1).map((key) => el("kbd", {}, labelOf(key)));
  return el("button", { class: "pile new", "data-slot": "new", onclick: () => put(null) }, keys, "New pile");
}

/** What a pile is called; no two that the board came with are called the same.
 * @param {number} slot @param {{name: string, cluster: number}[]} [piles] */
export function titleOf(slot, piles = board.value?.piles ?? []) {
  const pile = piles[slot];
  if (!pile) return "new";
  const { name, cluster } = pile;
  const isShared = piles.some((other) => other.name === name && other.cluster !== cluster);
  const title = !name ? `Cluster ${cluster}` : isShared ? `${name} (${cluster})` : name;
  const parts = piles.filter((other) => other.cluster === cluster);
  return parts.length > 1 ? `${title}, part ${parts.indexOf(pile) + 1}` : title;
}

/**
 * Piles in an order in which those that were shown before keep their numbers, as far as there are as many piles.
 * After a board with fewer piles, they get back the numbers that they had.
 *
 * @template {{row: number, cluster: number}} P
 * @param {P[]} piles @param {number[][]} before the rows of each pile of the last board @param {P[]} shown its piles
 * @param {Map<number, number>} kept the place of each cluster, which is noted here
 */
export function inPlace(piles, before, shown, kept = new Map()) {
  const slotOf = (/** @type {P} */ { row, cluster }) => {
    const known = kept.get(cluster) ?? -1;
    if (known >= shown.length) return known; // the last board was too small for it
    const slot = before.findIndex((rows) => rows.includes(row));
    if (slot >= 0) return slot;
    const same = shown.findIndex((pile) => pile.cluster === cluster);
    return same >= 0 ? same : known;
  };
  /** @type {(P | undefined)[]} */
  const placed = piles.map(() => undefined);
  const others = piles.filter((pile) => {
    const slot = slotOf(pile);
    if (slot < 0 || slot >= placed.length || placed[slot]) return true;
    placed[slot] = pile;
    return false;
  });
  const found = placed.map((pile) => pile ?? /** @type {P} */ (others.shift()));
  for (const [slot, { cluster }] of found.entries())
    if ((kept.get(cluster) ?? -1) < found.length) kept.set(cluster, slot);
  return found;
}

/** A card of the board, by its row. @param {number} row @returns {Item} */
export function itemOf(row) {
  return /** @type {any} */ (board.value?.cards.find((card) => card.i === row));
}
