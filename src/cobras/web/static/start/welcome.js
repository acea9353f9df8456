/** Three lines that say what this is: shown until the person has closed them or answered once, then never again. */

import { byId, el } from "../page/dom.js";
import { labelOf } from "../page/keys.js";
import { question, settings } from "../session/state.js";

const KEY = "cobras-welcome";
/** By what items of a kind may be sorted, to show that nobody else knows it. */
const WAYS = {
  digits: "by digit, by slant, by hand",
  image: "by what they show, by colour, by style",
  text: "by subject, by tone, by writer",
  series: "by shape, by level, by what happens",
  table: "by whatever makes two of them the same kind to you",
};

export function startWelcome() {
  const box = byId("welcome");
  box.hidden = wasSeen();
  settings.on((value) => value && byId("welcome-lines").replaceChildren(...lines(value)));
  byId("welcome-close").addEventListener("click", closeWelcome);
  byId("welcome-again").addEventListener("click", () => {
    byId("legend").close();
    box.hidden = false;
    byId("welcome-close").focus();
  });
  let before = -1;
  question.on((value) => {
    const n = value?.progress?.n_answers ?? 0;
    // Who has answered knows what to do.
    if (before >= 0 && n > before) closeWelcome();
    if (value?.progress && value.state !== "computing") before = n;
  });
}

/** Close it for good; whether it was open. */
export function closeWelcome() {
  const box = byId("welcome");
  if (box.hidden) return false;
  const focused = box.contains(document.activeElement);
  box.hidden = true;
  if (focused) byId("different").focus({ preventScroll: true });
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // Without storage it comes again at the next visit.
  }
  return true;
}

/** @param {import("../session/types.js").Settings} value */
function lines({ kind, name, keys }) {
  const ways = name === "Handwritten digits" ? WAYS.digits : WAYS[kind];
  const key = (/** @type {string} */ action) => el("kbd", {}, labelOf(keys[action]?.[0] ?? ""));
  return [
    el("li", {}, el("b", {}, "Sort them any way you like"), ` ${ways}. Only your answers count.`),
    el(
      "li",
      {},
      el("b", {}, "Two keys are enough"),
      el("span", { class: "by-key" }, " ", key("same"), " same, ", key("different"), " different; "),
      el("span", { class: "by-key" }, key("unsure"), " if you cannot tell, ", key("undo"), " takes anything back."),
      el("span", { class: "by-hand" }, " Same or different; Undo takes anything back."),
    ),
    el("li", {}, el("b", {}, "Stop whenever you like"), " Every answer is saved at once, and there is a result after each."),
  ];
}

function wasSeen() {
  try {
    return localStorage.getItem(KEY) === "seen";
  } catch {
    return false;
  }
}
