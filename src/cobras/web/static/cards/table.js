/** Two rows of a table as one comparison: what differs most comes first, what is equal is pale. */

import { el } from "../page/dom.js";

const NOTABLE = 0.1; // share of a column's range from which on a difference is set in bold
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/i; // what begins with other zeros is a name
const WHOLE = 9e15; // from here on a number may be a name that rounding would spoil

/**
 * @param {import("../session/types.js").Item} left
 * @param {import("../session/types.js").Item} right
 * @param {import("../session/types.js").Column[]} columns
 * @param {boolean} [titled] whether the ids are shown above; other cards have them already
 */
export function comparison(left, right, columns, titled = true) {
  const head = (/** @type {import("../session/types.js").Item} */ item, /** @type {string} */ letter) =>
    el("th", { scope: "col" }, el("b", { class: "letter" }, letter), el("span", {}, item.id));
  const names = el(
    "tr",
    {},
    head(left, "A"),
    el("th", { scope: "col" }, el("span", { class: "unseen" }, "Column")),
    head(right, "B"),
  );
  const table = el(
    "table",
    { class: "comparison" },
    titled && el("thead", {}, names),
    el("tbody", {}, columns.map(line)),
  );
  return el(
    "div",
    { class: "card scrolls", tabindex: "0", role: "group", "aria-label": "Both items, column by column" },
    table,
  );
}

/** @param {import("../session/types.js").Column} column */
function line(column) {
  const equal = column.difference === 0 && column.left === column.right;
  const bar = el("i", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", String(column.measured ? column.difference : equal ? 0 : 1));
  if (!column.measured) bar.classList.add("unmeasured");
  const [a, b] = formatPair(column.left, column.right);
  const name = el("th", { scope: "row" }, column.name, bar);
  const weight = equal ? "equal" : column.difference >= NOTABLE ? "notable" : null;
  return el("tr", { class: weight }, value(a), name, value(b));
}

/** @param {string | null} text */
function value(text) {
  return text === null || text === "" ? el("td", { class: "gap" }, "–") : el("td", {}, text);
}

/** One row alone. @param {import("../session/types.js").Cell[]} fields */
export function fieldList(fields) {
  const lines = fields.map((field) => {
    const [text] = formatPair(field.value, null);
    return [el("dt", {}, field.name), el("dd", {}, text === null || text === "" ? "–" : text)];
  });
  return el("dl", { class: "fields" }, lines.flat());
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
  const shown = Math.max(digits, Math.ceil(Math.log10(size + 1)) + 1);
  const key = `${shown},${size >= 10000}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat("en", { maximumSignificantDigits: shown, useGrouping: size >= 10000 });
  formats.set(key, format);
  return format.format(n);
}
