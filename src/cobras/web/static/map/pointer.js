/**
 * Mouse and fingers on the map: drag to move, wheel or two fingers to zoom, lasso to choose a region, hover to see an
 * item; drag an item, by a finger after it was held for a moment, to carry it onto a cluster.
 */

import { byId } from "../page/dom.js";
import { carryRow } from "../panel/carry.js";
import { Nearest, rowsInside } from "./geometry.js";
import { focus, layout, opened, pointed, rowAt as rowOf } from "../session/state.js";

const REACH = 12; // pixels within which an item counts as pointed at
const GRIP = 6; // and within which a drag carries it
const HOLD = 400; // milliseconds for which a finger holds it first
const STEP = 1.6; // how much a press of + or − zooms
const SLACK = 4; // pixels that the pointer may move during a click

/** @typedef {import("./map.js").MapView} MapView */

/** @param {MapView} map */
export function startPointer(map) {
  const frame = map.frame;
  const tool = byId("lasso-tool");
  /** @type {Nearest | null} */
  let nearest = null;
  /** @type {{x: number, y: number, moved: boolean, lasso: boolean, carries: boolean} | null} */
  let drag = null;
  let hold = 0; // the timer of a finger that rests
  /** @type {Map<number, [number, number]>} where the fingers are that touch the map */
  const fingers = new Map();

  layout.on(() => (nearest = null));

  /** @param {PointerEvent | WheelEvent} event @returns {[number, number]} */
  const place = (event) => {
    const box = frame.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** @param {PointerEvent} event */
  const rowAt = (event, reach = REACH) => {
    if (!map.goal || layout.value?.layout === "none") return null;
    nearest ??= new Nearest(map.goal);
    const [px, py] = place(event);
    const [[x, y], [x2, y2]] = [map.toMap(px, py), map.toMap(px + reach, py + reach)];
    const found = nearest.find(x, y, x2 - x, y2 - y);
    return found === null ? null : rowOf(found);
  };

  const setTool = (/** @type {boolean} */ on) => {
    tool.setAttribute("aria-pressed", String(on));
    frame.classList.toggle("lasso", on);
    if (on) opened.set(null); // its card would be in the way
  };

  const stop = () => {
    clearTimeout(hold);
    drag = null;
    map.lasso = [];
    map.draw(false);
  };

  /** Zoom and move as two fingers do. @param {number} finger @param {[number, number]} to */
  const pinch = (finger, to) => {
    const [a, b] = [...fingers.values()];
    fingers.set(finger, to);
    const [c, d] = [...fingers.values()];
    const [x, y] = [(c[0] + d[0]) / 2, (c[1] + d[1]) / 2];
    map.moveBy(x - (a[0] + b[0]) / 2, y - (a[1] + b[1]) / 2);
    const before = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (before > SLACK) map.zoomBy(Math.hypot(c[0] - d[0], c[1] - d[1]) / before, x, y);
  };

  /** A finger has rested on an item. @param {number} row @param {PointerEvent} event */
  const take = (row, event) => {
    if (!drag || drag.moved) return;
    drag.carries = carryRow(row, event);
    pointed.set(drag.carries ? row : null);
  };

  frame.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0 || event.target !== map.overlay) return;
    const [x, y] = place(event);
    if (event.pointerType === "touch") fingers.set(event.pointerId, [x, y]);
    if (fingers.size > 1) return stop();
    const lasso = event.shiftKey || tool.getAttribute("aria-pressed") === "true";
    drag = { x, y, moved: false, lasso, carries: false };
    const row = lasso ? null : rowAt(event, event.pointerType === "mouse" ? GRIP : REACH);
    if (row !== null && event.pointerType === "mouse") drag.carries = carryRow(row, event);
    else if (row !== null) hold = setTimeout(() => take(row, event), HOLD);
    map.lasso = drag.lasso ? [map.toMap(x, y)] : [];
    if (drag.lasso) pointed.set(null);
    if (drag.lasso || event.pointerType === "mouse") frame.setPointerCapture(event.pointerId);
    return undefined;
  });

  frame.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const [x, y] = place(event);
    if (fingers.size > 1 && fingers.has(event.pointerId)) return pinch(event.pointerId, [x, y]);
    if (!drag) return pointed.set(event.target === map.overlay ? rowAt(event) : null);
    drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > SLACK;
    if (!drag.moved || drag.carries) return undefined;
    clearTimeout(hold);
    if (drag.lasso) {
      map.lasso.push(map.toMap(x, y));
      return map.draw(false);
    }
    map.moveBy(x - drag.x, y - drag.y);
    [drag.x, drag.y] = [x, y];
    return undefined;
  });

  frame.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    clearTimeout(hold);
    const done = drag;
    drag = null;
    if (!done) return;
    if (!done.moved) {
      const row = rowAt(event);
      opened.set(row);
      if (row === null) focus.set(null);
    } else if (done.lasso && map.goal) {
      const rows = rowsInside(map.goal, map.lasso).map(rowOf);
      focus.set(rows.length ? { rows } : null);
      setTool(false);
    }
    map.lasso = [];
    map.draw(false);
  });

  frame.addEventListener("pointercancel", (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    stop();
  });

  // One finger scrolls the page; two are meant for the map, and so is one that carries an item.
  const keep = (/** @type {TouchEvent | MouseEvent} */ event) => {
    if (drag?.carries || ("touches" in event && event.touches.length > 1)) event.preventDefault();
  };
  frame.addEventListener("touchstart", keep, { passive: false });
  frame.addEventListener("touchmove", keep, { passive: false });
  frame.addEventListener("contextmenu", keep);

  frame.addEventListener("pointerleave", () => pointed.set(null));

  const onWheel = (/** @type {WheelEvent} */ event) => {
    // Where the page scrolls, the wheel belongs to the page.
    if (!event.ctrlKey && document.documentElement.scrollHeight > window.innerHeight + 1) return;
    event.preventDefault();
    map.zoomBy(Math.exp(-event.deltaY * 0.002), ...place(event));
  };
  frame.addEventListener("wheel", onWheel, { passive: false });

  frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "+" || event.key === "=") map.zoomBy(STEP);
    if (event.key === "-") map.zoomBy(1 / STEP);
  });
  tool.addEventListener("click", () => setTool(tool.getAttribute("aria-pressed") !== "true"));
  byId("zoom-in").addEventListener("click", () => map.zoomBy(STEP));
  byId("zoom-out").addEventListener("click", () => map.zoomBy(1 / STEP));
  byId("zoom-all").addEventListener("click", () => map.zoomBy(0));
}
