/** What the page knows: one signal per thing, set by sync.js and by the person, read by every view. */

import { signal, unknown } from "./signal.js";

/**
 * @typedef {import("./types.js").Settings} Settings
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Board} Board
 * @typedef {import("./types.js").Labels} Labels
 * @typedef {import("./types.js").Clusters} Clusters
 * @typedef {import("./types.js").Layout} Layout
 * @typedef {import("./types.js").Focus} Focus
 */

/**
 * @template T
 * @typedef {import("./signal.js").Signal<T | null>} Known null until it is known, or where there is nothing
 */

export const settings = /** @type {Known<Settings>} */ (unknown());
// The state of the session, as the server gave it last.
export const question = /** @type {Known<Question>} */ (unknown());
// The cluster of every row that the map shows, now or in the past.
export const labels = /** @type {Known<Labels>} */ (unknown());
export const clusters = /** @type {Known<Clusters>} */ (unknown());
// Where the rows lie on the map.
export const layout = /** @type {Known<Layout>} */ (unknown());
// One cluster, or the rows of a lasso; the rest is grey.
export const focus = /** @type {Known<Focus>} */ (unknown());
// The number of answers after which the map shows the clusters; null for now.
export const past = /** @type {Known<number>} */ (unknown());
// The row under the pointer, anywhere on the page.
export const pointed = /** @type {Known<number>} */ (unknown());
// The row whose card is open beside the map.
export const opened = /** @type {Known<number>} */ (unknown());

// How the person is asked: by pairs, or by boards.
export const mode = signal(/** @type {"pairs" | "board"} */ ("pairs"));
// The board that is to be sorted in place of the open pair.
export const board = /** @type {Known<Board>} */ (unknown());

/** Call a listener when what the person is asked changes, or how. @param {() => void} listener */
export function onQuestion(listener) {
  for (const asked of [question, board, mode]) asked.on(() => listener());
}

/** The row at a place of the map. @param {number} place */
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

/** Whether a row is asked about now, and must not give its cluster away. @param {number} row */
export function isHidden(row) {
  if (!settings.value?.blind) return false;
  if (mode.value === "board") return Boolean(board.value?.cards.some((card) => card.i === row));
  const pair = question.value?.pair;
  return Boolean(pair && (row === pair.i || row === pair.j));
}

/** The name a person gave to a cluster, or its id. @param {number} id */
export function clusterTitle(id) {
  return clusters.value?.clusters.find((cluster) => cluster.id === id)?.name || `Cluster ${id}`;
}

/** The cluster that has a colour now. @param {number} colour */
export function clusterOf(colour) {
  return clusters.value?.clusters.find((cluster) => cluster.colour === colour);
}
