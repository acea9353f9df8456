/** Dragging cards, piles and items by pointer events, so that mouse, pen and finger do the same. */

import { el } from "../page/dom.js";

const FAR = 6; // pixels from which on a press is a drag
const EDGE = 80; // pixels from the edge of the window, or of a list, within which it scrolls

/**
 * @typedef {object} Dragging
 * @property {string} sources what can be carried, as a selector
 * @property {string} targets and onto what
 * @property {(carried: HTMLElement) => Node | string} look what is seen of it
 * @property {(carried: HTMLElement, target: HTMLElement) => void} drop
 */

/**
 * Let things in an area be carried; returns a function that begins to carry something else.
 *
 * @param {HTMLElement} area @param {Dragging} dragging
 * @returns {(carried: HTMLElement, event: PointerEvent) => void}
 */
export function startDrag(area, { sources, targets, look, drop }) {
  /** @type {{card: HTMLElement, id: number, x: number, y: number, ghost: HTMLElement | null} | null} */
  let drag = null;
  /** @type {Element | null} */
  let target = null;

  area.addEventListener("pointerdown", (event) => {
    const card = event.target instanceof Element && event.target.closest(sources);
    if (!(card instanceof HTMLElement) || event.button !== 0 || drag) return;
    drag = { card, id: event.pointerId, x: event.clientX, y: event.clientY, ghost: null };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR) return;
      drag.ghost = el("div", { class: "ghost", "aria-hidden": "true" }, look(drag.card));
      document.body.append(/** @type {HTMLElement} */ (drag.ghost));
      drag.card.classList.add("carried");
      drag.card.dispatchEvent(new Event("carry"));
    }
    event.preventDefault();
    drag.ghost?.style.setProperty("translate", `${event.clientX + 6}px ${event.clientY + 6}px`);
    const near = document.elementFromPoint(event.clientX, event.clientY)?.closest(".scroll, #board-piles");
    const list = near && near.scrollHeight > near.clientHeight ? near : null;
    const { top, bottom } = list?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
    const edge = Math.min(EDGE, (bottom - top) / 5);
    if (event.clientY > bottom - edge) (list ?? window).scrollBy(0, 14);
    else if (event.clientY < top + edge) (list ?? window).scrollBy(0, -14);
    // After the scrolling: what is marked is what gets the card.
    aim(targetAt(event, targets));
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const [carried, found] = [drag, targetAt(event, targets)];
    end();
    if (!carried.ghost) return;
    // The release of a drag is not a click on what lies there.
    area.addEventListener("click", stop, { capture: true, once: true });
    setTimeout(() => area.removeEventListener("click", stop, { capture: true }));
    if (found && found !== carried.card) drop(carried.card, found);
  });
  document.addEventListener("pointercancel", (event) => drag?.id === event.pointerId && end());
  // A text must not be selected while a card is carried.
  area.addEventListener("selectstart", (event) => drag && event.preventDefault());

  return (card, event) => {
    if (!drag) drag = { card, id: event.pointerId, x: event.clientX, y: event.clientY, ghost: null };
  };

  function end() {
    drag?.ghost?.remove();
    drag?.card.classList.remove("carried");
    drag = null;
    aim(null);
  }

  /** @param {Element | null} found */
  function aim(found) {
    if (found === target) return;
    target?.classList.remove("aimed");
    target = found;
    target?.classList.add("aimed");
  }
}

/** @param {Event} event */
function stop(event) {
  event.stopPropagation();
}

/** @param {PointerEvent} event @param {string} targets @returns {HTMLElement | null} */
function targetAt(event, targets) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest(targets) ?? null;
}
