/** Time series as lines: side by side on the same scale, or both in one drawing. */

import { el, svg } from "./dom.js";
import { colourOf } from "./palette.js";

const WIDTH = 600;
const HEIGHT = 300;
const ROOM = 8; // above and below the lines

/**
 * @param {import("./types.js").SeriesCard} a
 * @param {import("./types.js").SeriesCard} b
 * @returns {Node[]} both drawings, and the button that lays them over each other
 */
export function pairSeries(a, b) {
  const scale = scaleOf([a, b]);
  const button = el(
    "button",
    { class: "quiet overlay-series", "aria-pressed": String(together) },
    "Both in one drawing",
  );
  const drawings = [el("div", { class: "drawing" }), el("div", { class: "drawing" })];
  const show = () => {
    button.setAttribute("aria-pressed", String(together));
    drawings[0].replaceChildren(draw(together ? [a, b] : [a], scale));
    drawings[1].replaceChildren(draw(together ? [b, a] : [b], scale));
  };
  button.addEventListener("click", () => {
    together = !together;
    show();
  });
  show();
  return [...drawings, button];
}

let together = false; // kept from one question to the next

/** @param {import("./types.js").SeriesCard} card */
export function singleSeries(card) {
  return el("div", { class: "drawing" }, draw([card], scaleOf([card])));
}

/** @param {import("./types.js").SeriesCard[]} cards @returns {[number, number]} */
function scaleOf(cards) {
  let [low, high] = [Infinity, -Infinity];
  for (const card of cards) {
    for (const value of card.channels.flat()) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 1, high + 1] : [low, high];
}

/**
 * The first series strong, the others thin behind it.
 *
 * @param {import("./types.js").SeriesCard[]} cards
 * @param {[number, number]} scale
 */
function draw(cards, [low, high]) {
  const longest = Math.max(...cards.map((card) => card.length));
  const lines = cards.flatMap((card, k) =>
    card.channels.map((values, channel) => {
      const line = svg("path", {
        class: k ? "series-line behind" : "series-line",
        d: path(values, card.length / longest, low, high),
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
      "aria-label": `A series of ${cards[0].length} values from ${short(low)} to ${short(high)}`,
    },
    axis,
    lines.reverse(),
  );
  return el(
    "div",
    { class: "plot" },
    el("span", { class: "high" }, short(high)),
    el("span", { class: "low" }, short(low)),
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
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
