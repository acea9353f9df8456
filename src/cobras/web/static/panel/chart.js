/** A small chart of one number over the answers. */

import { counted, el, svg } from "../page/dom.js";

const WIDTH = 600;
const HEIGHT = 110;

/**
 * @param {string} title
 * @param {(number | null)[]} values one per number of answers, from 0
 * @param {(value: number) => string} format
 * @param {[number, number]} [range] from the values when left out
 */
export function drawChart(title, values, format, range) {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  const head = el("figcaption", {}, title, el("b", {}, last === undefined ? "–" : format(last)));
  if (known.length < 2) {
    const words = known.length ? "The first value; a line follows." : "Not enough answers yet.";
    return el("figure", { class: "chart" }, head, el("p", { class: "empty" }, words));
  }
  const [low, high] = range ?? [0, Math.max(...known)];
  const x = (/** @type {number} */ k) => (WIDTH * k) / Math.max(1, values.length - 1);
  const y = (/** @type {number} */ value) => HEIGHT - 4 - ((value - low) / (high - low || 1)) * (HEIGHT - 8);
  let path = "";
  values.forEach((value, k) => {
    if (value !== null)
      path +=
        path && values[k - 1] !== null
          ? `H${x(k).toFixed(1)}V${y(value).toFixed(1)}`
          : `M${x(k).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  const label = `${title}: ${format(known[0])} at first, ${format(known.at(-1) ?? 0)} now`;
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path", { class: "axis", d: `M0 ${y(low)}H${WIDTH}M0 ${y(high)}H${WIDTH}` }),
    svg("path", { class: "series-line", d: path }),
  );
  const scale = [el("span", { class: "high" }, format(high)), el("span", { class: "low" }, format(low))];
  const foot = el(
    "p",
    { class: "foot" },
    el("span", {}, "0"),
    el("span", {}, counted(values.length - 1, "answer")),
  );
  return el("figure", { class: "chart" }, head, el("div", { class: "plot" }, scale, drawing), foot);
}
