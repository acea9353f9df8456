/** Messages: a banner while the server does not reply, and notices that go away by themselves and cover nothing. */

import { byId, el } from "./dom.js";

const SECONDS = { plain: 8, problem: 20 };
/** What entries of the history are called that have no number. @type {Record<string, string>} */
const NAMES = { entry: "an entry", known: "what was known" };
const ROOM = 160; // pixels of the panel that must be in view for a notice to be shown there

/** Shown above everything until called with an empty text. @param {string} text */
export function showBanner(text) {
  const banner = byId("banner");
  banner.hidden = !text;
  if (banner.textContent !== text) banner.textContent = text;
}

/** Show a notice beside what the person looks at: in the panel where it is in view, else under the answers.
 * @param {string} text
 * @param {"plain" | "problem"} [tone]
 * @param {...(Node | string)} more what follows the text
 */
export function showNotice(text, tone = "plain", ...more) {
  return putNotice(isPanelInView() ? "panel-notices" : "question-notices", text, tone, more);
}

/** @param {string} place @param {string} text @param {"plain" | "problem"} tone @param {(Node | string)[]} more */
function putNotice(place, text, tone, more) {
  const close = el("button", { class: "icon", "aria-label": "Close", onclick: () => notice.remove() }, "×");
  const notice = el("div", { class: `notice ${tone}` }, el("div", {}, text, more), close);
  clearNotices();
  byId(place).replaceChildren(notice);
  notice.scrollIntoView({ block: "nearest" });
  setTimeout(() => notice.remove(), 1000 * SECONDS[tone]);
  return notice;
}

/** Take away what was said before: after another change it may not be true any more. */
export function clearNotices() {
  for (const place of document.querySelectorAll(".notices")) place.replaceChildren();
}

/** Whether a notice fits into the panel, where it only makes a list shorter; elsewhere it moves the numbers. */
function isPanelInView() {
  const { top, bottom } = byId("panel").getBoundingClientRect();
  return Math.min(bottom, innerHeight) - Math.max(top, 0) >= ROOM;
}

/** @param {import("../session/types.js").Refusal} refusal */
export function showRefusal(refusal) {
  if (refusal.error === "stale") {
    // Beside the cards, where another question stands now.
    const words = "This was answered already, perhaps in another tab or just before the program ended. Here is what is open now.";
    putNotice("question-notices", words, "plain", []);
  } else if (refusal.error === "contradiction") {
    const links = refusal.chain.filter((link) => link.index !== null);
    const chain = links.map((link) => el("li", {}, recordLink(link.index ?? 0, link.number), ` said ${link.answer}`));
    showNotice(refusal.message, "problem", el("ul", {}, chain));
  } else {
    showNotice(refusal.message, refusal.error === "nothing" ? "plain" : "problem");
  }
}

/**
 * A button that shows one entry of the history.
 * @param {number} index
 * @param {number | null} number that the history shows, if it has one
 * @param {string} [kind] what it is else
 */
export function recordLink(index, number, kind = "entry") {
  const show = () => document.dispatchEvent(new CustomEvent("show-record", { detail: index }));
  return el("button", { class: "link", onclick: show }, number ? `answer ${number}` : NAMES[kind] ?? `a ${kind}`);
}
