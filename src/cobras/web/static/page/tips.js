/**
 * Short explanations of words, beside what is pointed at or reached by Tab. They stay while the pointer is on them, Esc
 * hides them, and a screen reader reads them as the description of the button.
 */

import { byId, el } from "./dom.js";

const WORDS = {
  pure: "Pure: everything in it belongs together. It is not split any more.",
  complete: "Complete: it is pure, and nothing that belongs to it is elsewhere. No more questions about it.",
  split: "Split: these are two things. The next questions are inside this cluster.",
  merge: "Merge: this cluster and another one are the same.",
  unsatisfied: "Not satisfied: answers of yours that the present clusters do not agree with. Click to see them.",
  aside: "Set aside: answers and boards with pairs that you were unsure about and that nothing has settled since. Click to see them.",
};

/** What an element needs to have an explanation. @param {keyof typeof WORDS} name */
export function tip(name) {
  return { "data-tip": name, "aria-describedby": `tip-${name}` };
}

export function startTips() {
  const words = Object.entries(WORDS).map(([name, text]) => el("span", { id: `tip-${name}` }, text));
  document.body.append(el("div", { hidden: true }, words), el("div", { id: "tip", role: "tooltip", hidden: true }));
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch" && event.target instanceof Element) point(event.target);
  });
  document.addEventListener("focusin", (event) => {
    const target = event.target instanceof Element && event.target.closest("[data-tip]");
    if (target && target.matches(":focus-visible")) show(target);
  });
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, { capture: true, passive: true });
}

/** Hide it; whether there was one. */
export function hideTip() {
  const box = byId("tip");
  const was = !box.hidden;
  box.hidden = true;
  return was;
}

/** @param {Element} target */
function point(target) {
  if (target.closest("#tip")) return;
  const found = target.closest("[data-tip]");
  if (found) show(found);
  else if (!document.activeElement?.matches("[data-tip]:focus-visible")) hideTip();
}

/** @param {Element} target */
function show(target) {
  const box = byId("tip");
  const name = /** @type {keyof typeof WORDS} */ (target.getAttribute("data-tip"));
  box.textContent = WORDS[name];
  box.hidden = false;
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const x = Math.max(6, Math.min(innerWidth - width - 6, (left + right - width) / 2));
  // Close to its word, so that the pointer can go there.
  const y = bottom + 4 + height <= innerHeight ? bottom + 4 : top - height - 4;
  box.style.translate = `${Math.round(x)}px ${Math.round(y)}px`;
}
