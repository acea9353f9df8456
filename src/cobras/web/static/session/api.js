/** Calls to the server: JSON both ways, refusals as errors, and the stream of events. */

/** The server could not be reached; nothing is known about what it did. */
export class Unreachable extends Error {}

/** The server refused; `status` and, where it sent one, `refusal` say why. */
export class Refused extends Error {
  /** @param {number} status @param {string} message @param {import("./types.js").Refusal | null} refusal */
  constructor(status, message, refusal) {
    super(message);
    this.status = status;
    this.refusal = refusal;
  }
}

/** @param {string} path @param {Record<string, any>} [query] @returns {Promise<any>} */
export function get(path, query = {}) {
  const used = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const search = new URLSearchParams(used.map(([name, value]) => [name, String(value)]));
  return call(used.length ? `${path}?${search}` : path, {});
}

/** @param {string} path @param {object} body @returns {Promise<any>} */
export function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return call(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** @param {string} path @param {RequestInit} options */
async function call(path, options) {
  let response, text;
  try {
    response = await fetch(`api/${path}`, { ...options, cache: "no-store", credentials: "same-origin" });
    text = await response.text();
  } catch (error) {
    throw new Unreachable(String(error));
  }
  const body = readJson(text);
  if (response.ok && body !== undefined) return body;
  const message = body?.message ?? `The server answered ${response.status}.`;
  throw new Refused(response.status, message, body?.question ? body : null);
}

/** @param {string} text */
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Listen to the server for as long as the page lives. A lost stream is opened again every second.
 *
 * @param {Record<string, (data: any) => void>} listeners by the name of the event
 * @param {(connected: boolean) => void} onConnection
 */
export function listen(listeners, onConnection) {
  const source = new EventSource("api/events");
  source.addEventListener("open", () => onConnection(true));
  source.addEventListener("error", () => {
    onConnection(false);
    // The browser tries again by itself only while the answer is not an error page.
    source.close();
    setTimeout(() => listen(listeners, onConnection), 1000);
  });
  for (const [name, listener] of Object.entries(listeners)) {
    source.addEventListener(name, (event) => listener(JSON.parse(event.data)));
  }
}

/** Bytes of a base64 text. @param {string} text @returns {ArrayBuffer} */
export function bytes(text) {
  const characters = atob(text);
  const array = new Uint8Array(characters.length);
  for (let k = 0; k < array.length; k++) array[k] = characters.charCodeAt(k);
  return array.buffer;
}
