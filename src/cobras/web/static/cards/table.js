/** Two rows of a table as one comparison: what differs most comes first, what is equal is pale. */

import { counted, el } from "../page/dom.js";

const NOTABLE = 0.1; // share of a column's range from which on a difference is set in bold
const SLIGHT = 0.03; // and below which it is pale
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/i; // what begins with other zeros is a name
const WHOLE = 9e15; // from here on a number may be a name that rounding would spoil
const LONG = 24; // letters from which on a value of one row stands under the name of its column

/**
 * @param {import("../session/types.js").Item} left
 * @param {import("../session/types.js").Item} right
 * @param {import("../session/types.js").Column[]} columns
 * @param {boolean} [titled] whether the ids are shown above; other cards have them already
 */
export function comparison(left, right, columns, titled = true) {
  const head = (/** @type {import("../session/types.js").Item} */ item, /** @type {string} */ letter) =>
    el("th", { scope: "col" }, el("b", { class: "letter" }, letter), el("bdi", {}, item.id));
  const names = el(
    "tr",
    {},
    head(left, "A"),
    el("th", { scope: "col" }, el("span", { class: "unseen" }, "Column")),
    head(right, "B"),
  );
  // What items are not compared by is there on request; beside a text or a picture there is nothing else.
  const used = columns.filter((column) => column.used);
  const [shown, folded] = used.length ? [used, columns.filter((column) => !column.used)] : [columns, []];
  const table = el(
    "table",
    { class: "comparison" },
    titled && el("thead", {}, names),
    el("tbody", {}, shown.map(line)),
  );
  const words = unusedWords(folded.map((column) => column.name));
  const more = el("details", { class: "unused", open: unfolded }, el("summary", {}, words), el("table", { class: "comparison" }, el("tbody", {}, folded.map(line))));
  more.addEventListener("toggle", () => (unfolded = more.open));
  const card = el(
    "div",
    { class: "card scrolls", tabindex: "0", role: "group", "aria-label": "Both items, column by column" },
    table,
    folded.length > 0 && more,
  );
  card.style.setProperty("--rows", String(shown.length + (titled ? 1 : 0) + (folded.length ? 1 : 0)));
  return card;
}

let unfolded = false; // kept from one question to the next

/** @param {import("../session/types.js").Column} column */
function line(column) {
  const equal = column.missing || (column.difference === 0 && (!column.measured || column.left === column.right));
  const bar = el("i", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", String(column.measured ? column.difference : equal ? 0 : 1));
  if (!column.measured) bar.classList.add("unmeasured");
  const [a, b] = formatPair(column.left, column.right);
  // Where a value is missing, there is no difference to be drawn.
  const name = el("th", { scope: "row" }, el("bdi", {}, column.name), !column.missing && bar);
  const weight = equal ? "equal" : column.difference >= NOTABLE ? "notable" : column.difference < SLIGHT ? "slight" : null;
  return el("tr", { class: weight }, value(a), name, value(b));
}

/** @param {string | null} text */
function value(text) {
  return text === null || text === "" ? el("td", { class: "gap" }, "–") : el("td", {}, el("bdi", {}, text));
}

/** @param {string[]} names of columns that items are not compared by */
export function unusedWords(names) {
  return `${counted(names.length, "column")} not used: ${names.join(", ")}`;
}

/** One row alone. @param {import("../session/types.js").Cell[]} fields @param {string} [kind] */
export function fieldList(fields, kind = "") {
  const lines = fields.map((field) => {
    const [text] = formatPair(field.value, null);
    const long = text && text.length >= LONG ? { class: "long" } : {};
    return [el("dt", long, el("bdi", {}, field.name)), el("dd", long, el("bdi", {}, text || "–"))];
  });
  const list = el("dl", { class: `fields ${kind}` }, lines.flat());
  list.style.setProperty("--rows", String(fields.length));
  return list;
}

/**
 * Numbers with as many digits as tell the two apart, and thousands set apart; all else as it is.
 *
 * @param {string | null} a
 * @param {string | null} b
 * @returns {[string | null, string | null]}
 */
export function formatPair(a, b) {
  const numbers = [a, b].map((text) => (text !== null && NUMBER.test(text) ? Number(text) : null));
  if (numbers.some((n) => n !== null && Math.abs(n) > WHOLE)) return [a, b];
  if (numbers.some((n, k) => n === null && [a, b][k] !== null)) return [a, b];
  for (let digits = 4; digits < 17; digits++) {
    const [x, y] = numbers.map((n) => (n === null ? null : formatNumber(n, digits)));
    if (x !== y || a === b) return [x, y];
  }
  return [a, b];
}

/** @type {Map<string, Intl.NumberFormat>} made once: making one takes longer than formatting a card */
const formats = new Map();

/** @param {number} n @param {number} digits significant ones */
function formatNumber(n, digits) {
  const size = Math.abs(n);
  if (Number.isInteger(n) && size < 10000) return String(n);
  if (size !== 0 && (size < 1e-4 || size >= 1e9) && !Number.isInteger(n)) return n.toExponential(digits - 1);
  // At least two digits after the point: 821.96 is not 822.
  const shown = Math.max(digits, Math.ceil(Math.log10(size + 1)) + 2);
  const key = `${shown},${size >= 10000}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat("en", { maximumSignificantDigits: shown, useGrouping: size >= 10000 });
  formats.set(key, format);
  // By narrow blanks: beside 3.501,37, in a file with decimal commas, 33,254 would be read as 33.
  return format.format(n).replaceAll(",", "\u202f");
}
