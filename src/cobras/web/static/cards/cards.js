/** What an item looks like: two side by side for a question, or one alone. */

import { groupSeries, pairSeries, singleSeries } from "./series.js";
import { comparison, fieldList } from "./table.js";
import { groupTexts, pairTexts } from "./text.js";
import { el } from "../page/dom.js";
import { decode, showPicture } from "../session/api.js";
import { question, settings } from "../session/state.js";
import { picture } from "./thumbs.js";

const SOON = 300; // milliseconds after which a pair is shown even if a picture is still on its way

/**
 * Both items of a question, ready to be put on the page.
 *
 * @param {import("../session/types.js").Question} question
 * @returns {Promise<HTMLElement>}
 */
export async function pairCards(question) {
  const left = /** @type {import("../session/types.js").Item} */ (question.left);
  const right = /** @type {import("../session/types.js").Item} */ (question.right);
  const columns = question.columns ?? [];
  if (left.card.kind === "table") return el("div", { class: "pair table" }, comparison(left, right, columns));
  const bodies = pairBodies(left.card, right.card, left.id, right.id);
  const cards = [left, right].map((item, side) => frame(item, side, bodies[side]));
  const more = columns.length ? comparison(left, right, columns, false) : null;
  const pair = el(
    "div",
    { class: `pair ${left.card.kind}${more ? " with-columns" : ""}` },
    cards,
    bodies[2],
    more,
  );
  await picturesReady(pair);
  return pair;
}

/**
 * What the cards of a board show, the columns that differ most first; those that are not used are of a class of theirs.
 *
 * @param {import("../session/types.js").Item[]} items
 * @param {string[]} columns
 * @param {string[]} unused
 * @returns {Node[][]} the parts of each item
 */
export function groupBodies(items, columns, unused) {
  const place = new Map(columns.map((name, k) => [name, k]));
  const order = (/** @type {import("../session/types.js").Cell} */ cell) => place.get(cell.name) ?? Infinity;
  const cards = /** @type {any[]} */ (items.map((item) => item.card));
  const [kind] = cards.map((card) => card.kind);
  const bodies =
    kind === "image"
      ? items.map((item, k) => picture(cards[k].src, item.id))
      : kind === "text"
        ? groupTexts(cards)
        : kind === "series"
          ? groupSeries(cards)
          : [];
  return cards.map((card, k) => {
    /** @type {import("../session/types.js").Cell[]} */
    const fields = [...card.fields].sort((a, b) => order(a) - order(b));
    const [used, others] = [false, true].map((no) => fields.filter((field) => unused.includes(field.name) === no));
    return [bodies[k], used.length && fieldList(used), others.length && fieldList(others, "unused")].filter(Boolean);
  });
}

/** The pictures that the next question may show, fetched while the person looks at this one.
 * @type {HTMLImageElement[]} */
let ahead = [];

/** @param {number[]} rows */
export function fetchAhead(rows) {
  if (settings.value?.kind !== "image") return;
  const run = question.value?.run;
  ahead = rows.map((row) => {
    const image = new Image();
    showPicture(image, `api/image/${row}?size=large&run=${run}`);
    return image;
  });
}

/** One item in full. @param {import("../session/types.js").Item} item @returns {HTMLElement} */
export function singleCard({ card, id }) {
  const fields = card.fields.length ? fieldList(card.fields) : null;
  if (card.kind === "image") return el("div", { class: "single image" }, picture(card.src, id), fields);
  if (card.kind === "text")
    return el("div", { class: "single text" }, el("p", { class: "prose", dir: "auto" }, card.text), fields);
  if (card.kind === "series") return el("div", { class: "single series" }, singleSeries(card), fields);
  return el("div", { class: "single table" }, fields);
}

/**
 * @param {import("../session/types.js").Card} a
 * @param {import("../session/types.js").Card} b
 * @param {string} idA
 * @param {string} idB
 * @returns {Node[]} both bodies, and what is shown below them
 */
function pairBodies(a, b, idA, idB) {
  if (a.kind === "image" && b.kind === "image") return [picture(a.src, idA), picture(b.src, idB)];
  if (a.kind === "text" && b.kind === "text") return pairTexts(a, b);
  if (a.kind === "series" && b.kind === "series") return pairSeries(a, b);
  throw new Error(`No card shows ${a.kind} beside ${b.kind}.`);
}

/** @param {import("../session/types.js").Item} item @param {number} side @param {Node} body */
function frame(item, side, body) {
  const name = el("figcaption", {}, el("b", { class: "letter" }, "AB"[side]), el("span", {}, el("bdi", {}, item.id)));
  const text = item.card.kind === "text";
  // A long text can be reached and scrolled without a mouse.
  const content = el(
    "div",
    {
      class: "card-body",
      tabindex: text ? "0" : null,
      role: text ? "group" : null,
      "aria-label": text ? `Text ${"AB"[side]}` : null,
    },
    body,
  );
  return el("figure", { class: "card", "data-row": item.i }, name, content);
}

/** Wait until pictures are decoded, so that they do not flicker, but not long for a slow one. @param {HTMLElement} pair */
export async function picturesReady(pair) {
  const images = [...pair.querySelectorAll("img")];
  if (!images.length) return;
  const decoded = Promise.all(images.map((image) => decode(image).catch(() => {})));
  await Promise.race([decoded, new Promise((resolve) => setTimeout(resolve, SOON))]);
}
