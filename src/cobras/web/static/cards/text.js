/** Two texts, with the words marked that tell them apart. */

import { el } from "../page/dom.js";

const ALIKE = 0.5; // share of its words a text must share with the other for the differing ones to be marked
const SHORT = 280; // characters up to which a text is set larger
const LONG = 4; // letters from which on a shared word is worth a mark

/**
 * @param {import("../session/types.js").TextCard} a
 * @param {import("../session/types.js").TextCard} b
 * @returns {Node[]} both texts, and a line that says what is marked
 */
export function pairTexts(a, b) {
  const words = [a, b].map((card) => new Set(wordsOf(card.text)));
  const shared = [...words[0]].filter((word) => words[1].has(word)).length;
  const alike = shared >= ALIKE * Math.min(words[0].size, words[1].size);
  // Two texts on different matters differ in nearly every word: there the few shared ones say more.
  const marked = (/** @type {number} */ side) => (/** @type {string} */ word) =>
    alike ? !words[1 - side].has(word) : word.length >= LONG && words[1 - side].has(word);
  const texts = [prose(a, marked(0)), prose(b, marked(1))];
  const any = texts.some((text) => text.querySelector("mark"));
  const legend = alike
    ? "Marked: words that only one of the two has."
    : "Marked: longer words that both have.";
  return [...texts, el("p", { class: "legend" }, any && legend)];
}

/**
 * Several texts, with the longer words marked that some of them share, but not most.
 *
 * @param {import("../session/types.js").TextCard[]} cards
 * @returns {Node[]}
 */
export function groupTexts(cards) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const card of cards)
    for (const word of new Set(wordsOf(card.text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  const marked = (/** @type {string} */ word) => {
    const count = counts.get(word) ?? 0;
    return word.length >= LONG && count > 1 && count <= Math.max(2, cards.length / 2);
  };
  return cards.map((card) => prose(card, marked));
}

/** @param {import("../session/types.js").TextCard} card @param {(word: string) => boolean} isMarked */
function prose(card, isMarked) {
  const paragraph = el("p", { class: card.text.length < SHORT ? "prose short" : "prose", dir: "auto" });
  // The text in pieces, words at odd places; neighbours of one kind are joined, so that few elements arise.
  let run = "";
  let runMarked = false;
  const flush = () => {
    if (run) paragraph.append(runMarked ? el("mark", {}, run) : run);
    run = "";
  };
  card.text.split(/([\p{L}\p{N}]+)/u).forEach((piece, k) => {
    const mark = k % 2 === 1 && isMarked(piece.toLowerCase());
    if (mark !== runMarked) flush();
    runMarked = mark;
    run += piece;
  });
  flush();
  if (card.cut) paragraph.append(el("span", { class: "cut" }, " … the rest is left out"));
  return paragraph;
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
