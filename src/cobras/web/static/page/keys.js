/** Keys, by the character that they type, so that every keyboard layout works; off while a text is typed. */

import { byId, el } from "./dom.js";
import { mode, settings } from "../session/state.js";

const LABELS = {
  " ": "Space",
  ArrowRight: "→",
  ArrowLeft: "←",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Backspace: "⌫",
  Escape: "Esc",
  Enter: "⏎",
};

/** What the legend says, in its order. */
const WORDS = {
  same: "the two belong together",
  different: "they do not",
  unsure: "cannot say: try another pair, or set it aside",
  undo: "close a form, take back a card, or undo, any number of times (also Ctrl+Z)",
  redo: "redo",
  history: "history of answers",
  map: "large map, and back",
  profile: "profile of the cluster that is looked at",
  why: "what the answer decides, and back",
  board: "boards in place of pairs, and back",
  new_pile: "board: put the chosen card on a new pile",
  join: "board, then two numbers: these piles belong together; if not joined, a card on one is different from the other",
  finish: "board: save it; cards that lie nowhere are unsure",
  help: "this list",
};

/** What has a meaning only where pairs are asked, and only on a board. @type {Record<string, string[]>} */
const ONLY = { pairs: ["same", "different"], board: ["new_pile", "join", "finish"] };

/** @typedef {(event: KeyboardEvent) => void} Action */

/**
 * @param {Record<string, Action>} actions by name; `cluster` gets the digit keys, on a board `pile` gets them and
 *   `choose` the arrow keys
 */
export function startKeys(actions) {
  settings.on(showLegend);
  document.addEventListener("keydown", (event) => {
    const name = actionOf(event);
    if (!name || !actions[name]) return;
    event.preventDefault();
    actions[name](event);
  });
  // After a click the space bar is the key for unsure again, and does not press the same button once more.
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button, summary");
    if (event.detail > 0 && button instanceof HTMLElement) button.blur();
  });
}

/** How a key is printed. @param {string} key */
export function labelOf(key) {
  const label = /** @type {Record<string, string>} */ (LABELS)[key];
  if (label) return label;
  return key.length === 1 && key !== key.toLowerCase()
    ? `⇧${key}`
    : key.length === 1
      ? key.toUpperCase()
      : key;
}

export function toggleLegend() {
  const legend = byId("legend");
  if (legend.open) legend.close();
  else legend.showModal();
}

/** @param {KeyboardEvent} event @returns {string | null} */
function actionOf(event) {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.key === "Escape") return "escape";
  if (isTyping(target) || belongsTo(target, event.key)) return null;
  if (event.altKey || event.metaKey || event.ctrlKey) return withControl(event);
  const name = boardKey(event) ?? bound(event);
  if (name !== "help" && document.querySelector("dialog[open]")) return null;
  // A key that is held down must not answer questions that nobody has seen.
  if (event.repeat && name !== "undo" && name !== "redo" && name !== "choose") return null;
  return name ?? (/^[0-9]$/.test(event.key) ? "cluster" : null);
}

/** @param {KeyboardEvent} event */
function boardKey(event) {
  if (mode.value !== "board") return null;
  if (event.key.startsWith("Arrow")) return "choose";
  return /^[0-9]$/.test(event.key) ? "pile" : null;
}

/** @param {KeyboardEvent} event */
function withControl(event) {
  if (event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? "redo" : "undo";
  return key === "y" ? "redo" : null;
}

/** @param {KeyboardEvent} event */
function bound(event) {
  const without = ONLY[mode.value === "board" ? "pairs" : "board"];
  const all = Object.entries(settings.value?.keys ?? {})
    .filter(([name]) => !without.includes(name))
    .flatMap(([name, keys]) => keys.map((key) => /** @type {const} */ ([name, key])));
  let key = event.key;
  if (key.length === 1) {
    // The shift key decides about capitals: caps lock must not turn undo into redo.
    key = event.shiftKey ? key.toUpperCase() : key.toLowerCase();
    const exact = all.find(([, candidate]) => candidate === key);
    if (exact) return exact[0];
  }
  return all.find(([, candidate]) => candidate.toLowerCase() === key.toLowerCase())?.[0] ?? null;
}

/** @param {Element} target */
function isTyping(target) {
  if (target instanceof HTMLInputElement)
    return !["range", "checkbox", "radio", "button"].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}

/** Keys that the focused element itself understands. @param {Element} target @param {string} key */
function belongsTo(target, key) {
  if (target.closest('input[type="range"], [role="tablist"]')) return key.startsWith("Arrow") || key === " ";
  if (target.closest("button, summary, a, input")) return key === " " || key === "Enter";
  return false;
}

/** @param {import("../session/types.js").Settings | null} value */
function showLegend(value) {
  const lines = Object.entries(WORDS).map(([name, words]) => {
    const caps = (value?.keys[name] ?? []).map((key) => el("kbd", {}, labelOf(key)));
    return caps.length ? [el("dt", {}, caps), el("dd", {}, words)] : [];
  });
  const digits = [
    el("dt", {}, el("kbd", {}, "0"), " … ", el("kbd", {}, "9")),
    el("dd", {}, "look at a cluster, and back; board, from 1: put the chosen card on this pile"),
  ];
  const arrows = ["←", "→", "↑", "↓"].map((key) => el("kbd", {}, key));
  const choose = [el("dt", {}, arrows), el("dd", {}, "board: choose a card")];
  const escape = [el("dt", {}, el("kbd", {}, "Esc")), el("dd", {}, "look at everything again")];
  byId("legend-keys").replaceChildren(...lines.flat(), ...digits, ...choose, ...escape);
}
