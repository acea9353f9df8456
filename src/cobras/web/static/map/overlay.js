/** What is drawn over the points: the ids of the clusters, the asked pair, the item under the pointer, the lasso. */

import { colourOf, styleOf } from "../page/palette.js";
import { clusterOf, focus, labels, layout, mode, pointed, question } from "../session/state.js";
import { placeLabels } from "./geometry.js";

const MAX_TITLE = 20; // characters of a name that stand on the map
const HALF = 11; // half the height of a number, in pixels
const DISC = 9; // radius of the two ends of the pair, in pixels

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
 * Draw the numbers and names; they are placed so as not to cover the ends of the pair and each other.
 *
 * @param {MapView} map
 * @param {Pen} pen
 * @param {[number, number][]} ends
 */
function drawNumbers(map, pen, ends) {
  const focused = focus.value && "colour" in focus.value ? focus.value.colour : null;
  const colours = labels.value?.colours ?? [];
  pen.font = "600 12px system-ui, sans-serif";
  const numbers = [...map.anchors.keys()].filter((number) => map.anchors[number] >= 0);
  // The cluster that is looked at comes first, so that there is room for its name.
  numbers.sort((a, b) => Number(colours[b] === focused) - Number(colours[a] === focused));
  const texts = numbers.map((number) => textsOf(number, colours[number]));
  const wanted = numbers.map((number, k) => {
    const [x, y] = map.spot(map.anchors[number]);
    return { x, y, halves: texts[k].map((text) => Math.max(HALF, pen.measureText(text).width / 2 + 7)) };
  });
  const taken = ends.map(([x, y]) => /** @type {import("./geometry.js").Box} */ ([x, y, DISC, DISC]));
  placeLabels(wanted, taken, map, HALF).forEach(({ text, box: [x, y, half] }, k) => {
    const colour = colours[numbers[k]];
    pen.globalAlpha = focused === null || focused === colour ? 0.94 : 0.35;
    pen.fillStyle = styleOf("--card");
    pen.strokeStyle = colourOf(colour);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.roundRect(x - half, y - HALF, 2 * half, 2 * HALF, HALF);
    pen.fill();
    pen.stroke();
    pen.fillStyle = styleOf("--ink");
    pen.fillText(texts[k][text], x, y + 0.5);
  });
  pen.globalAlpha = 1;
}

/** What stands for a cluster: its id and name, or where there is no room its id alone. */
function textsOf(/** @type {number} */ number, /** @type {number} */ colour) {
  const name = clusterOf(colour)?.name ?? "";
  const title = name.length > MAX_TITLE ? `${name.slice(0, MAX_TITLE - 1)}…` : name;
  const id = String(labels.value?.ids[number] ?? number);
  // A name in another direction is kept apart from the id.
  return title ? [`${id} \u2068${title}\u2069`, id] : [id];
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
