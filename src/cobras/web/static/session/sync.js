/**
 * Keeps the page equal to the session: changes are sent one at a time, the state that they lead to is shown at once,
 * and what else changed (labels, clusters, map) is fetched after the next pair has been painted.
 */

import { LOST, Refused, Unreachable, bytes, get, listen, post } from "./api.js";
import { fetchAhead } from "../cards/cards.js";
import { afterPaint } from "../page/dom.js";
import { clearNotices, showBanner, showNotice, showRefusal } from "../page/notices.js";
import { signal, unknown } from "./signal.js";
import { clusters, focus, labels, layout, past, question, settings } from "./state.js";

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

/** Whether a change has been sent and not replied to. */
export const busy = signal(false);

/** What the server is computing, while it takes long.
 * @type {import("./signal.js").Signal<import("./types.js").Computing | null>} */
export const computing = unknown();

/** @type {Promise<any>} */
let queue = Promise.resolve();
let n_waiting = 0;
let n_changes = 0; // a question that was fetched before a change must not be shown after it
/** What the last event said.
 * @type {{run: string, versions: import("./types.js").Versions} | null} */
let lastEvent = null;
/** @type {number[]} rows that the next question may show */
let rowsAhead = [];
/** What is said while the server does not answer. */
let lost = LOST;
/** @type {number | null} the last map that an event was about */
let mapAnnounced = null;
/** What goes on when the connection is back. @type {(() => void)[]} */
let waiting = [];

/** Fetch everything, then listen. */
export async function start() {
  listen(
    {
      hello: (event) => {
        onState(event);
        onAhead(event);
      },
      question: onState,
      map: onMap,
      computing: computing.set,
      ahead: onAhead,
    },
    onConnection,
  );
  await retry(async () => {
    settings.set(await get("settings"));
    await refresh();
    fetchAhead(rowsAhead);
  });
}

/** End the server, for which Python waits. */
export async function close() {
  lost = "Closed. Python goes on with the session; this page can be closed.";
  await post("close", {});
}

/**
 * Send a change, after those sent before, and show the state it leads to.
 *
 * @param {string} path
 * @param {object} body
 * @returns {Promise<any>} the answer of the server, or null when nothing was changed
 */
export function change(path, body) {
  n_waiting += 1;
  busy.set(true);
  queue = queue.then(() => send(path, body));
  return queue;
}

/** @param {string} path @param {object} body */
async function send(path, body) {
  try {
    // Only `tell` and `sort` may be sent twice: they name what they are about, so the server takes them once.
    const call = () => post(path, body);
    const result = await (path === "tell" || path === "sort" ? retry(call) : call());
    n_changes += 1;
    // What an answer does not make wrong may be read until it goes by itself.
    if (path !== "tell" && path !== "sort") clearNotices();
    accept(result);
    return result;
  } catch (error) {
    onRefusal(error);
    return null;
  } finally {
    n_waiting -= 1;
    if (n_waiting === 0) {
      computing.set(null);
      busy.set(false);
      if (lastEvent) onState(lastEvent);
    }
  }
}

/** Show the clusters after so many answers; null for now. @param {number | null} at */
export async function showPast(at) {
  past.set(at);
  const found = await get("labels", { at });
  // Labels of the past carry no version, so that they are never taken for those of now.
  if (past.value === at) setLabels(at === null ? found : { ...found, version: -1 });
}

async function refresh() {
  const before = n_changes;
  const fresh = await get("question");
  if (before === n_changes) accept(fresh);
}

/** @param {import("./types.js").Question} fresh */
function accept(fresh) {
  const known = question.value;
  if (known && known.run !== fresh.run) {
    for (const thing of [labels, clusters, layout]) thing.set(null);
    past.set(null);
    // The data may be read in another way by now.
    get("settings").then(settings.set, onRefusal);
  }
  if (fresh.state !== "computing") computing.set(null);
  else if (fresh.computing) computing.set(fresh.computing);
  question.set(fresh);
  afterPaint(fetchChanged);
}

/** Fetch what is older than the question says; one thing at a time, so that an answer never waits for many. */
const fetchChanged = onceAtATime(async () => {
  const { versions } = question.value ?? {};
  if (!versions) return;
  if (layout.value?.version !== versions.map) await fetchMap();
  if (labels.value?.version !== versions.labels && past.value === null) setLabels(await get("labels"));
  if (clusters.value?.version !== versions.clusters) clusters.set(await get("clusters", { n: 7 }));
});

async function fetchMap() {
  const { data, rows, ...rest } = await get("map");
  if (rest.problem && rest.problem !== layout.value?.problem) showNotice(rest.problem, "problem");
  layout.set({ ...rest, rows: rows && new Uint32Array(bytes(rows)), xy: new Float32Array(bytes(data)) });
  // The event about a better one may have come before this one did.
  const announced = mapAnnounced;
  mapAnnounced = null;
  if (announced !== null && announced !== rest.version) return fetchMap();
  // Where a row lies that is not among the points, the question says, and that was by another layout.
  const { left, right } = question.value ?? {};
  if (left?.at || right?.at) await refresh();
}

/** @param {any} body */
function setLabels({ dtype, data, ...rest }) {
  const kind = /** @type {keyof typeof ARRAYS} */ (dtype);
  labels.set({ ...rest, of: new ARRAYS[kind](bytes(data)) });
  const focused = focus.value;
  if (focused && "colour" in focused && !rest.colours.includes(focused.colour)) focus.set(null);
}

/** @param {{run: string, versions: import("./types.js").Versions}} event */
function onState(event) {
  lastEvent = event;
  const known = question.value;
  if (busy.value || !known) return;
  if (known.run !== event.run || known.versions.session !== event.versions.session) {
    lastEvent = null;
    refresh().catch(onRefusal);
  }
}

/** @param {{version: number}} event */
function onMap(event) {
  mapAnnounced = event.version;
  if (busy.value) return; // the reply to the change that was sent says which map there is
  if (layout.value && layout.value.version !== event.version) fetchMap().catch(onRefusal);
}

/** @param {{ahead: number[]}} event */
function onAhead({ ahead }) {
  rowsAhead = ahead;
  if (question.value) fetchAhead(ahead);
}

/** @param {boolean} connected */
function onConnection(connected) {
  showBanner(connected ? "" : lost);
  if (!connected) return;
  for (const go of waiting.splice(0)) go();
}

/** Do something, and after a lost connection do it again. @param {() => Promise<any>} work */
export async function retry(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      showBanner(lost);
      await new Promise((resolve) => waiting.push(() => resolve(null)));
    }
  }
}

/** @param {unknown} error */
function onRefusal(error) {
  if (error instanceof Unreachable) {
    showNotice("The server does not answer; nothing was changed.", "problem");
  } else if (error instanceof Refused && error.refusal) {
    n_changes += 1;
    accept(error.refusal.question);
    showRefusal(error.refusal);
  } else if (error instanceof Refused) {
    const key = "Open the address that cobras prints in the terminal: this page has no valid key.";
    showNotice(error.status === 401 ? key : error.message, "problem");
  } else throw error;
}

/** Return a function that never runs twice at the same time; a call meanwhile makes it run once more.
 * @param {() => Promise<void>} work */
function onceAtATime(work) {
  let running = false;
  let again = false;
  return async function run() {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        await work();
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) onRefusal(error);
    } finally {
      running = false;
    }
  };
}
