/** Time series as lines: side by side on the same scale, or both in one drawing. */

import { counted, el, svg } from "../page/dom.js";
import { colourOf } from "../page/palette.js";

const WIDTH = 600;
const HEIGHT = 300;
const ROOM = 8; // above and below the lines

/**
 * @param {import("../session/types.js").SeriesCard} a
 * @param {import("../session/types.js").SeriesCard} b
 * @returns {Node[]} both drawings, and the button that lays them over each other
 */
export function pairSeries(a, b) {
  const axes = axesOf([a, b]);
  const button = el(
    "button",
    { class: "quiet overlay-series", "aria-pressed": String(together) },
    "Both in one drawing",
  );
  const drawings = [el("div", { class: "drawing" }), el("div", { class: "drawing" })];
  const show = () => {
    button.setAttribute("aria-pressed", String(together));
    drawings[0].replaceChildren(draw(together ? [a, b] : [a], axes));
    drawings[1].replaceChildren(draw(together ? [b, a] : [b], axes));
  };
  button.addEventListener("click", () => {
    together = !together;
    show();
  });
  show();
  return [...drawings, button];
}

let together = false; // kept from one question to the next

/** @param {import("../session/types.js").SeriesCard} card */
export function singleSeries(card) {
  return el("div", { class: "drawing" }, draw([card], axesOf([card])));
}

/** Several series on the same scale. @param {import("../session/types.js").SeriesCard[]} cards @returns {Node[]} */
export function groupSeries(cards) {
  const axes = axesOf(cards);
  return cards.map((card) => el("div", { class: "drawing" }, draw([card], axes)));
}

/** What several series share when they are compared: the greatest length, the lowest and the highest value.
 * @typedef {{longest: number, low: number, high: number}} Axes */

/** @param {import("../session/types.js").SeriesCard[]} cards @returns {Axes} */
function axesOf(cards) {
  const longest = Math.max(...cards.map((card) => card.length));
  let [low, high] = [Infinity, -Infinity];
  for (const card of cards) {
    for (const value of card.channels.flat()) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 1, high + 1];
  return { longest, low, high };
}

/**
 * The first series strong, the others thin behind it.
 *
 * @param {import("../session/types.js").SeriesCard[]} cards
 * @param {Axes} axes
 */
function draw(cards, { longest, low, high }) {
  const lines = cards.flatMap((card, k) =>
    card.channels.map((values, channel) => {
      const line = svg("path", {
        class: k ? "series-line behind" : "series-line",
        d: path(values, (card.length - 1) / Math.max(1, longest - 1), low, high),
      });
      if (card.channels.length > 1) line.style.stroke = colourOf(channel);
      return line;
    }),
  );
  const zero = HEIGHT - ROOM - ((0 - low) / (high - low)) * (HEIGHT - 2 * ROOM);
  const axis = low < 0 && high > 0 ? svg("path", { class: "axis", d: `M0 ${zero}H${WIDTH}` }) : null;
  const drawing = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `A series of ${counted(cards[0].length, "value")} from ${short(low)} to ${short(high)}`,
    },
    axis,
    lines.reverse(),
  );
  return el(
    "div",
    { class: "plot" },
    el("span", { class: "high" }, short(high)),
    el("span", { class: "low" }, short(low)),
    el("span", { class: "end" }, counted(cards[0].length, "value")),
    drawing,
  );
}

/** @param {(number | null)[]} values @param {number} share of the width @param {number} low @param {number} high */
function path(values, share, low, high) {
  let drawing = "";
  let pen = "M";
  values.forEach((value, k) => {
    if (value !== null) {
      const x = (WIDTH * share * k) / Math.max(1, values.length - 1);
      const y = HEIGHT - ROOM - ((value - low) / (high - low)) * (HEIGHT - 2 * ROOM);
      drawing += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    pen = value === null ? "M" : "L";
  });
  return drawing;
}

/** @param {number} value */
function short(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 }).replaceAll(",", "\u202f");
}
