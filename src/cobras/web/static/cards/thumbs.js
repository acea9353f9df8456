/** Items in brief: a small picture, a small line or a few words. */

import { get, showPicture } from "../session/api.js";
import { el, svg } from "../page/dom.js";
import { colourOf } from "../page/palette.js";
import { clusterTitle, isHidden, labels, opened, placeOf, pointed, question, settings } from "../session/state.js";

const TINY = 64; // pictures up to this many pixels wide are not enlarged to fill their card
const KEPT = 2000; // thumbnails kept in memory

/** @type {Map<number, Promise<import("../session/types.js").Thumbnail>>} */
const known = new Map();
question.on((value, before) => value?.run !== before?.run && known.clear());

/** @param {number} row @returns {Promise<import("../session/types.js").Thumbnail>} */
export function fetchThumbnail(row) {
  const found = known.get(row) ?? get("items", { rows: row }).then((page) => page.items[0]);
  found.catch(() => known.delete(row));
  known.set(row, found);
  if (known.size > KEPT) known.delete(/** @type {number} */ (known.keys().next().value));
  return found;
}

/** The picture, line or words of an item. @param {import("../session/types.js").Thumbnail} item */
export function preview(item) {
  if (item.image) return picture(item.image, item.id);
  if (item.line) return spark(item.line);
  const named = settings.value?.kind === "table" && el("b", {}, el("bdi", {}, item.id), " ");
  return el("span", { class: "words" }, named, el("bdi", {}, item.text));
}

/** The same as a button that opens the item; pointing at it shows where it lies.
 * @param {import("../session/types.js").Thumbnail} item */
export function thumbButton(item) {
  const listeners = {
    onclick: () => opened.set(item.i),
    onpointerenter: () => pointed.set(item.i),
    onpointerleave: () => pointed.set(null),
  };
  const kind = item.image ? "picture" : item.line ? "series" : "text";
  const named = { title: item.id, "aria-label": `Item ${item.id}`, "data-row": item.i };
  return el("button", { class: `thumb ${kind}`, ...named, ...listeners }, preview(item));
}

/** A picture that is marked when it is tiny. @param {string} src @param {string} id */
export function picture(src, id) {
  const image = el("img", { alt: `Item ${id}`, decoding: "sync", draggable: "false" });
  showPicture(image, src);
  const markTiny = () => image.classList.toggle("tiny", image.naturalWidth <= TINY);
  if (image.complete) markTiny();
  image.addEventListener("load", markTiny);
  return image;
}

/** The cluster of an item on the map; the asked pair shows none. @param {number} row */
export function clusterTag(row) {
  const found = labels.value;
  const number = found?.of[placeOf(row)];
  if (!found || number === undefined) return el("span", { class: "tag" });
  return rowTag(row, found.ids[number], found.colours[number]);
}

/** @param {number} row @param {number} id of its cluster @param {number} colour */
export function rowTag(row, id, colour) {
  return isHidden(row)
    ? el("span", { class: "tag" }, "asked now")
    : tag(colour, clusterTitle(id));
}

/** @param {number} colour @param {string} text */
export function tag(colour, text) {
  const dot = el("i", { class: "dot" });
  dot.style.background = colourOf(colour);
  return el("span", { class: "tag" }, dot, el("bdi", {}, text));
}

/** @param {(number | null)[]} line */
function spark(line) {
  let drawing = "";
  let pen = "M";
  line.forEach((value, k) => {
    if (value !== null)
      drawing += `${pen}${((100 * k) / Math.max(1, line.length - 1)).toFixed(1)} ${(36 - 32 * value).toFixed(1)}`;
    pen = value === null ? "M" : "L";
  });
  const path = svg("path", { d: drawing, class: "series-line" });
  return svg(
    "svg",
    { viewBox: "0 0 100 40", preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" },
    path,
  );
}
