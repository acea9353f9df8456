/** Makes elements. Text becomes text nodes, never markup, so that the content of a cell is never run. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/**
 * Make an element: `el("button", {class: "quiet", onclick: go}, "Go")`.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes] functions named on... are listeners, true and false set and leave out
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same for a part of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Fill a list with a line for each of the first items, and a button that shows more of them.
 *
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => Node} line
 * @param {number} limit
 * @param {string} words on the button
 * @param {() => void} more
 */
export function fillList(list, items, line, limit, words, more) {
  list.replaceChildren(...items.slice(0, limit).map(line));
  if (items.length > limit) list.append(el("li", {}, el("button", { class: "quiet", onclick: more }, words)));
}

/** @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}.`);
  return found;
}

/** A count with its noun: `counted(2, "answer")` is "2 answers".
 * @param {number} n @param {string} noun */
export function counted(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** @param {number} share */
export function percent(share) {
  // 99.96 % must not read as 100 %: that would say that nothing moved.
  const text = (100 * share).toFixed(share > 0.9 && share < 1 ? 1 : 0);
  // Nor may a little read as nothing.
  if (share > 0 && Number(text) === 0) return "< 1 %";
  return `${share < 1 && Number(text) === 100 ? "99.9" : text} %`;
}

/** Run after the browser has painted what was just changed. @param {() => void} work */
export function afterPaint(work) {
  requestAnimationFrame(() => setTimeout(work));
}

/** @param {any} element @param {Record<string, any>} attributes @param {(Child | Child[])[]} children */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
  return element;
}
