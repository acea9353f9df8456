/** What an item looks like: two side by side for a question, or one alone. */

import { pairSeries, singleSeries } from "./series.js";
import { comparison, fieldList } from "./table.js";
import { pairTexts } from "./text.js";
import { el } from "../page/dom.js";
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

/** The pictures that the next question may show, fetched while the person looks at this one.
 * @type {HTMLImageElement[]} */
let ahead = [];

/** @param {number[]} rows */
export function fetchAhead(rows) {
  if (settings.value?.kind !== "image") return;
  const run = question.value?.run;
  ahead = rows.map((row) => {
    const image = new Image();
    image.src = `api/image/${row}?size=large&run=${run}`;
    return image;
  });
}

/** One item in full. @param {import("../session/types.js").Item} item @returns {HTMLElement} */
export function singleCard({ card, id }) {
  const fields = card.fields.length ? fieldList(card.fields) : null;
  if (card.kind === "image") return el("div", { class: "single image" }, picture(card.src, id), fields);
  if (card.kind === "text")
    return el("div", { class: "single text" }, el("p", { class: "prose" }, card.text), fields);
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
  const name = el("figcaption", {}, el("b", { class: "letter" }, "AB"[side]), el("span", {}, item.id));
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
async function picturesReady(pair) {
  const images = [...pair.querySelectorAll("img")];
  if (!images.length) return;
  const decoded = Promise.all(images.map((image) => image.decode().catch(() => {})));
  await Promise.race([decoded, new Promise((resolve) => setTimeout(resolve, SOON))]);
}
