/** Small drawings that compare a cluster with the rest: it is filled, the rest is a line. */

import { el, percent, svg } from "../page/dom.js";

const WIDTH = 240;
const HEIGHT = 56;

/** What the colours mean. @param {string} rest */
export function key(rest) {
  return el("p", { class: "key" }, el("span", { class: "own" }, "this cluster"), el("span", { class: "rest" }, rest));
}

/** Where the numbers of a column lie. @param {import("../session/types.js").DistributionProfile} column */
export function drawDistribution(column) {
  const n = column.inside.length;
  const most = Math.max(...column.inside, ...column.outside, 1e-9);
  const y = (/** @type {number} */ share) => (HEIGHT - (HEIGHT - 3) * (share / most)).toFixed(1);
  const x = (/** @type {number} */ k) => ((WIDTH * k) / n).toFixed(1);
  const steps = (/** @type {number[]} */ shares) => shares.map((share, k) => `V${y(share)}H${x(k + 1)}`).join("");
  const label = `${column.name}: median ${column.middle} in this cluster, ${column.middle_outside} in the rest`;
  const middle = (WIDTH * column.at).toFixed(1);
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("path", { class: "own-area", d: `M0 ${HEIGHT}${steps(column.inside)}V${HEIGHT}Z` }),
    svg("path", { class: "rest-line", d: `M0 ${y(column.outside[0])}${steps(column.outside)}` }),
    svg("path", { class: "axis", d: `M0 ${HEIGHT}H${WIDTH}` }),
    svg("path", { class: "middle", d: `M${middle} ${HEIGHT}V${HEIGHT - 9}` }),
  );
}

/** The mean of series, with its band. @param {import("../session/types.js").CurveProfile} curve @param {string} title */
export function drawCurve(curve, title) {
  const all = [...curve.low, ...curve.high, ...curve.mean, ...curve.rest].filter((value) => value !== null);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const height = 2 * HEIGHT;
  const place = (/** @type {number} */ k, /** @type {number} */ value, /** @type {number} */ n) =>
    `${((WIDTH * k) / Math.max(1, n - 1)).toFixed(1)} ${(height - 3 - ((value - low) / (high - low || 1)) * (height - 6)).toFixed(1)}`;
  const line = (/** @type {(number | null)[]} */ values) => {
    let path = "";
    values.forEach((value, k) => {
      if (value !== null) path += `${path && values[k - 1] !== null ? "L" : "M"}${place(k, value, values.length)}`;
    });
    return path;
  };
  const n = curve.mean.length;
  const known = [...curve.mean.keys()].filter((k) => curve.low[k] !== null && curve.high[k] !== null);
  const edge = [
    ...known.map((k) => place(k, curve.high[k] ?? 0, n)),
    ...known.reverse().map((k) => place(k, curve.low[k] ?? 0, n)),
  ];
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title} of this cluster and of the rest`, class: "tall" },
    edge.length ? svg("path", { class: "own-band", d: `M${edge.join("L")}Z` }) : null,
    svg("path", { class: "rest-line", d: line(curve.rest) }),
    svg("path", { class: "own-line", d: line(curve.mean) }),
  );
}

/** Shares, two bars for each value. @param {import("../session/types.js").Share[]} values */
export function bars(values) {
  const bar = (/** @type {number} */ share, /** @type {string} */ name) => {
    const found = el("i", { class: name });
    found.style.width = `${(100 * share).toFixed(1)}%`;
    return found;
  };
  const lines = values.map(({ value, inside, outside }) => [
    el("dt", {}, el("bdi", { title: value }, value)),
    el("dd", {}, el("span", { class: "track", "aria-hidden": "true" }, bar(inside, "own"), bar(outside, "rest")), el("span", { class: "share" }, percent(inside)), el("span", { class: "share" }, el("span", { class: "unseen" }, "in the rest "), percent(outside))),
  ]);
  return el("dl", { class: "bars" }, lines.flat());
}
