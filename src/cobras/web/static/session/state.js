/** What the page knows: one signal per thing, set by sync.js and by the person, read by every view. */

import { unknown } from "./signal.js";

/** @template T @typedef {import("./signal.js").Signal<T>} Signal */

/** @type {Signal<import("./types.js").Settings | null>} */
export const settings = unknown();

/** The state of the session, as the last answer of the server gave it.
 * @type {Signal<import("./types.js").Question | null>} */
export const question = unknown();

/** The cluster of every row that the map shows, now or in the past.
 * @type {Signal<import("./types.js").Labels | null>} */
export const labels = unknown();

/** @type {Signal<import("./types.js").Clusters | null>} */
export const clusters = unknown();

/** Where the rows lie on the map.
 * @type {Signal<import("./types.js").Layout | null>} */
export const layout = unknown();

/** The row that stands at a place of the map. @param {number} place */
export function rowAt(place) {
  const rows = layout.value?.rows;
  return rows ? rows[place] : place;
}

/** The place of a row on the map, or -1 where it is not shown. @param {number} row */
export function placeOf(row) {
  const rows = layout.value?.rows;
  if (!rows) return row;
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row ? low : -1;
}

/** What is looked at: one cluster, or the rows of a lasso; the rest is grey.
 * @type {Signal<import("./types.js").Focus | null>} */
export const focus = unknown();

/** The number of answers after which the map shows the clusters; null for now.
 * @type {Signal<number | null>} */
export const past = unknown();

/** The row that is pointed at somewhere on the page.
 * @type {Signal<number | null>} */
export const pointed = unknown();

/** The row whose card is open beside the map.
 * @type {Signal<number | null>} */
export const opened = unknown();

/** Whether a row is one of the two that are asked about, and must not give its cluster away.
 * @param {number} row */
export function isHidden(row) {
  const pair = question.value?.pair;
  return Boolean(settings.value?.blind && pair && (row === pair.i || row === pair.j));
}

/** The name a person gave to a cluster, or its number.
 * @param {number} number @param {number} colour which finds the name also where numbers were others, in the past */
export function clusterTitle(number, colour) {
  return clusterOf(colour)?.name || `Cluster ${number}`;
}

/** The cluster that has a colour now. @param {number} colour */
export function clusterOf(colour) {
  return clusters.value?.clusters.find((cluster) => cluster.colour === colour);
}
