/** The map: every item a point, its cluster a colour and a number, the asked pair joined by a line. */

import { byId, counted } from "../page/dom.js";
import { anchors } from "./geometry.js";
import { drawOverlay } from "./overlay.js";
import { onTheme, pixelOf, pixelOfStyle } from "../page/palette.js";
import { Points, mix } from "./points.js";
import { clusters, focus, labels, layout, mode, placeOf, pointed, question } from "../session/state.js";
import { busy } from "../session/sync.js";

const MOVE = 900; // milliseconds from one layout to the next
const FADE = 260; // milliseconds from one colour to the next
const STEP = 50; // milliseconds of a movement per frame at the most
const MANY = 50000; // points from which on colours change at once, so that the next answer does not wait
const MARGIN = 26; // pixels around the map
const STRETCH = 3; // how many times a flat map may be stretched
const TOP = 44; // pixels above the map, for the tools

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class MapView {
  constructor() {
    this.frame = byId("map-frame");
    this.points = new Points(byId("points"));
    this.overlay = byId("overlay");
    this.width = this.height = this.ratio = 1;
    this.zoom = 1;
    this.left = this.top = 0; // how far the map is moved, in widths and heights of the frame
    /** @type {Float32Array | null} where the points are now, in [0, 1], y downwards */
    this.xy = null;
    /** @type {Float32Array | null} where they are going */
    this.goal = null;
    /** From a place as the server gives it to one on the map. @type {(x: number, y: number) => [number, number]} */
    this.fit = (x, y) => [x, y];
    /** @type {Float32Array} */
    this.from = new Float32Array();
    this.colours = this.colourGoal = this.colourFrom = new Uint32Array();
    /** @type {Uint8Array | null} 1 for rows out of focus */
    this.faded = null;
    this.anchors = new Int32Array();
    this.movedFor = this.fadedFor = 0; // milliseconds of movement so far
    this.frameAt = 0;
    /** @type {[number, number][]} corners of the lasso, in map units */
    this.lasso = [];
    this.pointsDue = this.due = false;

    layout.on(() => this.setLayout());
    labels.on(() => this.setColours());
    focus.on(() => this.setColours());
    for (const shown of [question, clusters, pointed, mode]) shown.on(() => this.draw(false));
    busy.on((isBusy) => isBusy || this.draw(false));
    onTheme(() => this.setColours(true));
    new ResizeObserver(() => this.resize()).observe(this.frame);
  }

  /** Draw with the next frame; the points only where they changed. */
  draw(points = true) {
    this.pointsDue ||= points;
    if (this.due) return;
    this.due = true;
    requestAnimationFrame((now) => {
      this.due = false;
      // An answer that was sent comes first: nothing moves until the next pair is there.
      const moving = !busy.value && this.advance(Math.min(STEP, now - this.frameAt));
      this.frameAt = now;
      if (this.pointsDue || moving) this.drawPoints();
      this.pointsDue = false;
      drawOverlay(this);
      if (moving) this.draw();
    });
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = this.frame.clientWidth;
    this.height = this.frame.clientHeight;
    if (!this.width || !this.height) return;
    this.ratio = ratio;
    this.points.resize(Math.round(this.width * ratio), Math.round(this.height * ratio));
    this.overlay.width = this.points.canvas.width;
    this.overlay.height = this.points.canvas.height;
    // At once, since a canvas of another size is black until it is drawn.
    this.drawPoints();
    drawOverlay(this);
  }

  setLayout() {
    const next = layout.value;
    if (!next) return;
    this.frame.dataset.layout = next.pending ? "pending" : next.layout;
    // Until the server knows where the points lie, they stay where they were.
    if (next.layout === "none") return;
    this.fit = fitToFrame(next.xy);
    const goal = new Float32Array(next.xy.length);
    for (let k = 0; k < goal.length; k += 2) goal.set(this.fit(next.xy[k], next.xy[k + 1]), k);
    const jump = !this.xy || this.xy.length !== goal.length || still.matches;
    this.from = jump || !this.xy ? goal : this.xy.slice();
    this.xy = this.from.slice();
    this.goal = goal;
    this.movedFor = 0;
    this.setColours(jump);
  }

  /** @param {boolean} [atOnce] */
  setColours(atOnce = false) {
    if (!this.goal) return;
    const n = this.goal.length / 2;
    const grey = pixelOfStyle("--point");
    const found = labels.value?.of.length === n ? labels.value : null;
    const pixels = found ? found.colours.map(pixelOf) : [grey];
    this.faded = fadedRows(n);
    const goal = new Uint32Array(n);
    for (let row = 0; row < n; row++)
      goal[row] = this.faded?.[row] ? grey : pixels[found ? found.of[row] : 0];
    const jump = atOnce || this.colours.length !== n || n > MANY || still.matches;
    this.colourFrom = jump ? goal : this.colours.slice();
    this.colours = this.colourFrom.slice();
    this.colourGoal = goal;
    this.fadedFor = 0;
    const clusters = found ? ` in ${counted(found.colours.length, "cluster")}` : "";
    const total = layout.value?.n_items ?? n;
    const shown = total > n ? `${n.toLocaleString("en")} of ${counted(total, "item")}` : counted(n, "item");
    byId("map-note").textContent = total > n ? `${shown}, chosen at random` : "";
    this.frame.setAttribute("aria-label", `Map of ${shown}${clusters}`);
    this.anchors = found ? anchors(this.goal, found.of, found.colours.length) : new Int32Array();
    this.draw();
  }

  /** Move points and colours on by so many milliseconds; whether there was anything to move. @param {number} by */
  advance(by) {
    const { goal, xy, from, colours, colourFrom, colourGoal } = this;
    if (!goal || !xy || (from === goal && colourFrom === colourGoal)) return false;
    this.movedFor += by;
    this.fadedFor += by;
    const way = ease(this.movedFor / MOVE);
    if (from !== goal) for (let k = 0; k < goal.length; k++) xy[k] = from[k] + way * (goal[k] - from[k]);
    if (way === 1) this.from = goal;
    const share = Math.round(256 * ease(this.fadedFor / FADE));
    if (colourFrom !== colourGoal) {
      for (let k = 0; k < colourGoal.length; k++) {
        colours[k] =
          colourFrom[k] === colourGoal[k] ? colourGoal[k] : mix(colourFrom[k], colourGoal[k], share);
      }
    }
    if (share === 256) this.colourFrom = colourGoal;
    return true;
  }

  /** Width and height of the map without its margins. */
  get size() {
    return [Math.max(1, this.width - 2 * MARGIN), Math.max(1, this.height - TOP - MARGIN)];
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  toScreen(x, y) {
    const [w, h] = this.size;
    return [MARGIN + w * (x * this.zoom + this.left), TOP + h * (y * this.zoom + this.top)];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} */
  toMap(px, py) {
    const [w, h] = this.size;
    return [((px - MARGIN) / w - this.left) / this.zoom, ((py - TOP) / h - this.top) / this.zoom];
  }

  /**
   * Zoom so that a place on the screen stays where it is.
   *
   * @param {number} factor
   * @param {number} px
   * @param {number} py
   */
  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toMap(px, py);
    this.zoom = Math.max(1, Math.min(200, this.zoom * factor));
    const [nowX, nowY] = this.toScreen(x, y);
    this.moveBy(px - nowX, py - nowY);
  }

  /** @param {number} dx @param {number} dy */
  moveBy(dx, dy) {
    const [w, h] = this.size;
    const slack = 1 - this.zoom; // the map always fills its frame
    this.left = Math.max(slack, Math.min(0, this.left + dx / w));
    this.top = Math.max(slack, Math.min(0, this.top + dy / h));
    this.frame.classList.toggle("zoomed", this.zoom > 1);
    this.draw();
  }

  get radius() {
    const n = (this.xy?.length ?? 2) / 2;
    return Math.max(1.1, Math.min(5, 26 / n ** 0.27)) * Math.min(2.2, this.zoom ** 0.35);
  }

  drawPoints() {
    const { ratio, xy } = this;
    const at = new Float32Array(xy?.length ?? 0);
    const [x0, y0] = this.toScreen(0, 0);
    const [x1, y1] = this.toScreen(1, 1);
    for (let k = 0; xy && k < at.length; k += 2) {
      at[k] = ratio * (x0 + (x1 - x0) * xy[k]);
      at[k + 1] = ratio * (y0 + (y1 - y0) * xy[k + 1]);
    }
    this.points.setRadius(this.radius * ratio);
    this.points.clear(pixelOfStyle("--card"));
    if (this.faded) this.points.add(at, this.colours, this.faded, 1);
    this.points.add(at, this.colours, this.faded, 0);
    this.points.show();
  }

  /** Where a point is on the screen. @param {number} k @returns {[number, number]} */
  spot(k) {
    const xy = /** @type {Float32Array} */ (this.xy);
    return this.toScreen(xy[2 * k], xy[2 * k + 1]);
  }

  /** Where a row is on the screen; null where it is neither shown nor asked about. @param {number} row */
  place(row) {
    const k = placeOf(row);
    if (k >= 0) return this.xy && 2 * k < this.xy.length ? this.spot(k) : null;
    const { left, right } = question.value ?? {};
    const at = [left, right].find((item) => item?.i === row)?.at;
    return at ? this.toScreen(...this.fit(...at)) : null;
  }
}

/**
 * How the map is stretched so that it fills a frame, with y downwards. Its axes mean nothing, but a very flat map
 * stays flat.
 *
 * @param {Float32Array} xy
 * @returns {(x: number, y: number) => [number, number]}
 */
function fitToFrame(xy) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let k = 0; k < xy.length; k++) {
    low[k % 2] = Math.min(low[k % 2], xy[k]);
    high[k % 2] = Math.max(high[k % 2], xy[k]);
  }
  const widest = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  const middle = [0, 1].map((axis) => (low[axis] + high[axis]) / 2);
  const extent = [0, 1].map((axis) => Math.max(high[axis] - low[axis], widest / STRETCH));
  return (x, y) => [0.5 + (x - middle[0]) / extent[0], 0.5 - (y - middle[1]) / extent[1]];
}

/** 1 for every point out of focus; null when there is no focus. @param {number} n */
function fadedRows(n) {
  const focused = focus.value;
  if (!focused) return null;
  const faded = new Uint8Array(n).fill(1);
  if ("rows" in focused) for (const row of focused.rows) faded[placeOf(row)] = 0;
  else {
    const number = labels.value?.colours.indexOf(focused.colour) ?? -1;
    labels.value?.of.forEach((label, row) => (faded[row] = label === number ? 0 : 1));
  }
  return faded;
}

/** From 0 to 1, slow at both ends. @param {number} share */
function ease(share) {
  const t = Math.max(0, Math.min(1, share));
  return t * t * (3 - 2 * t);
}
