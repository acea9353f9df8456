/** The panel under the map: one tab at a time, with the arrow keys between them as usual. */

import { byId } from "../page/dom.js";

const NAMES = ["clusters", "items", "history", "progress", "data"];

/** @type {Record<string, () => void>} */
const listeners = {};

export function startTabs() {
  for (const name of NAMES) byId(`tab-${name}`).addEventListener("click", () => showTab(name));
  byId("tabs").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = NAMES[(NAMES.findIndex(isShown) + step + NAMES.length) % NAMES.length];
    showTab(next);
    byId(`tab-${next}`).focus();
  });
}

/** @param {string} name */
export function showTab(name) {
  setLargeMap(false);
  for (const other of NAMES) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(`panel-${other}`).hidden = other !== name;
  }
  listeners[name]?.();
}

/** @param {string} name */
export function isShown(name) {
  return byId(`tab-${name}`).getAttribute("aria-selected") === "true";
}

/** Call when a tab is opened. @param {string} name @param {() => void} listener */
export function onTab(name, listener) {
  listeners[name] = listener;
}

/** Show the map in the place of the panel as well, or the panel again. @param {boolean} on */
export function setLargeMap(on) {
  document.body.classList.toggle("large-map", on);
  byId("large").setAttribute("aria-pressed", String(on));
}

export function isLargeMap() {
  return document.body.classList.contains("large-map");
}
