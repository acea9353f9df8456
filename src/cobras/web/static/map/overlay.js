/** What is drawn over the points: the ids of the clusters, the asked pair, the item under the pointer, the lasso. */

import { colourOf, styleOf } from "../page/palette.js";
import { clusterOf, focus, labels, layout, mode, pointed, question } from "../session/state.js";

const MAX_TITLE = 20; // characters of a name that stand on the map
const HALF = 11; // half the height of a number, in pixels
const DISC = 9; // radius of the two ends of the pair, in pixels
const AWAY = [0, -2.1, 2.1, -4.2, 4.2]; // half heights by which a number may be moved up or down

/** @typedef {import("./map.js").MapView} MapView */
/** @typedef {CanvasRenderingContext2D} Pen */

/** @param {MapView} map */
export function drawOverlay(map) {
  const pen = map.overlay.getContext("2d");
  pen.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  pen.clearRect(0, 0, map.width, map.height);
  if (!map.xy || layout.value?.layout === "none") return;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const ends = pairEnds(map);
  drawLine(pen, ends);
  drawNumbers(map, pen, ends);
  drawEnds(pen, ends);
  drawPointed(map, pen);
  if (map.lasso.length > 1) drawLasso(map, pen);
}

/**
 * Draw the numbers and names; they are moved so as not to cover the ends of the pair and each other.
 *
 * @param {MapView} map
 * @param {Pen} pen
 * @param {[number, number][]} ends
 */
function drawNumbers(map, pen, ends) {
  const focused = focus.value && "colour" in focus.value ? focus.value.colour : null;
  const colours = labels.value?.colours ?? [];
  pen.font = "600 12px system-ui, sans-serif";
  /** @type {[number, number, number, number][]} middle and half width and height of what must stay free */
  const taken = ends.map(([x, y]) => [x, y, DISC, DISC]);
  map.anchors.forEach((row, number) => {
    if (row < 0) return;
    const name = clusterOf(colours[number])?.name ?? "";
    const title = name.length > MAX_TITLE ? `${name.slice(0, MAX_TITLE - 1)}…` : name;
    const id = labels.value?.ids[number] ?? number;
    // A name in another direction is kept apart from the id.
    const text = title ? `${id} \u2068${title}\u2069` : String(id);
    const half = Math.max(HALF, pen.measureText(text).width / 2 + 7);
    const [middleX, middleY] = map.spot(row);
    const x = Math.max(half, Math.min(map.width - half, middleX));
    const isFree = (/** @type {number} */ y) =>
      taken.every(([a, b, w, h]) => Math.abs(a - x) > half + w || Math.abs(b - y) > HALF + h);
    const inside = (/** @type {number} */ y) => Math.max(HALF + 1, Math.min(map.height - HALF - 1, y));
    const y = AWAY.map((by) => inside(middleY + by * HALF)).find(isFree) ?? inside(middleY);
    taken.push([x, y, half, HALF]);
    pen.globalAlpha = focused === null || focused === colours[number] ? 0.94 : 0.35;
    pen.fillStyle = styleOf("--card");
    pen.strokeStyle = colourOf(colours[number]);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.roundRect(x - half, y - HALF, 2 * half, 2 * HALF, HALF);
    pen.fill();
    pen.stroke();
    pen.fillStyle = styleOf("--ink");
    pen.fillText(text, x, y + 0.5);
  });
  pen.globalAlpha = 1;
}

/** @param {Pen} pen @param {[number, number][]} ends */
function drawLine(pen, ends) {
  for (const [style, width] of /** @type {[string, number][]} */ ([
    ["--card", 4],
    ["--ink", 1.5],
  ])) {
    pen.strokeStyle = styleOf(style);
    pen.lineWidth = width;
    pen.beginPath();
    for (const end of ends) pen.lineTo(...end);
    pen.stroke();
  }
}

/** Blind: both ends are black, whatever their clusters are. @param {Pen} pen @param {[number, number][]} ends */
function drawEnds(pen, ends) {
  const [ink, paper] = [styleOf("--ink"), styleOf("--card")];
  pen.font = "700 11px system-ui, sans-serif";
  pen.lineWidth = 2;
  ends.forEach(([x, y], side) => {
    pen.beginPath();
    pen.arc(x, y, DISC, 0, 7);
    pen.fillStyle = ink;
    pen.strokeStyle = paper;
    pen.fill();
    pen.stroke();
    pen.fillStyle = paper;
    pen.fillText("AB"[side], x, y + 0.5);
  });
}

/** Where the two asked items are on the screen, if there are any. @param {MapView} map */
function pairEnds(map) {
  const pair = mode.value === "pairs" ? question.value?.pair : null;
  const ends = pair ? [map.place(pair.i), map.place(pair.j)] : [];
  return ends.every(Boolean) ? /** @type {[number, number][]} */ (ends) : [];
}

/** @param {MapView} map @param {Pen} pen */
function drawPointed(map, pen) {
  const row = pointed.value;
  const at = row === null ? null : map.place(row);
  if (!at) return;
  pen.beginPath();
  pen.arc(...at, map.radius + 4, 0, 7);
  pen.strokeStyle = styleOf("--ink");
  pen.lineWidth = 2;
  pen.stroke();
}

/** @param {MapView} map @param {Pen} pen */
function drawLasso(map, pen) {
  pen.beginPath();
  for (const corner of map.lasso) pen.lineTo(...map.toScreen(...corner));
  pen.closePath();
  pen.strokeStyle = pen.fillStyle = styleOf("--accent");
  pen.lineWidth = 1.5;
  pen.setLineDash([4, 4]);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 0.08;
  pen.fill();
  pen.globalAlpha = 1;
}
