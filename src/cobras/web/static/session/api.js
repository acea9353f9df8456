/** Calls to the server: JSON both ways, refusals as errors, pictures, files and the stream of events.
 *
 * In a notebook there is no server. The page is in a frame, and the widget around it takes the same requests to Python.
 */

/**
 * @typedef {object} Widget what `notebook/widget.js` offers
 * @property {(path: string, options?: RequestInit) => Promise<Response>} fetch
 * @property {(listeners: Listeners, onConnection: (connected: boolean) => void) => void} listen
 * @property {string} lost what is said while Python does not reply
 *
 * @typedef {Record<string, (data: any) => void>} Listeners by the name of the event
 */

const KEPT = 500; // pictures kept in memory in a notebook, where the browser keeps none

/** @type {Widget | null} */
const widget = /** @type {any} */ (frameElement)?.cobras ?? null;

/** What is said while no answer comes. */
export const LOST = widget?.lost ?? "The server does not answer. Reconnecting …";

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

/** @param {string} path @param {RequestInit} [options] */
function request(path, options) {
  return widget ? widget.fetch(path, options) : fetch(path, options);
}

/** @param {string} path @param {RequestInit} options */
async function call(path, options) {
  let response, text;
  try {
    response = await request(`api/${path}`, { ...options, cache: "no-store", credentials: "same-origin" });
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
 * @param {Listeners} listeners
 * @param {(connected: boolean) => void} onConnection
 */
export function listen(listeners, onConnection) {
  if (widget) return widget.listen(listeners, onConnection);
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

/** @type {Map<string, Promise<string>>} addresses of pictures in memory, by those on the server */
const pictures = new Map();

/** @type {WeakMap<HTMLImageElement, Promise<void>>} */
const coming = new WeakMap();

/** Let an image show a picture of the server. @param {HTMLImageElement} image @param {string} src */
export function showPicture(image, src) {
  if (!widget) image.src = src;
  else coming.set(image, kept(src).then((address) => void (image.src = address)));
}

/** Wait until an image can be painted at once. @param {HTMLImageElement} image */
export async function decode(image) {
  await coming.get(image);
  await image.decode();
}

/** @param {string} src */
function kept(src) {
  const found = pictures.get(src) ?? request(src).then((response) => response.blob()).then(URL.createObjectURL);
  pictures.set(src, found);
  if (pictures.size > KEPT) {
    const [[oldest, address]] = pictures;
    pictures.delete(oldest);
    address.then(URL.revokeObjectURL);
  }
  return found;
}

/** Let links to files work where no server sends them. */
export function startDownloads() {
  if (!widget) return;
  document.addEventListener("click", async (event) => {
    const link = event.target instanceof Element && event.target.closest("a[download]");
    if (!link || link.getAttribute("href")?.startsWith("blob:")) return;
    event.preventDefault();
    const response = await request(link.getAttribute("href") ?? "");
    const file = document.createElement("a");
    file.href = URL.createObjectURL(await response.blob());
    const [, name] = /''([^;]*)$/.exec(response.headers.get("content-disposition") ?? "") ?? [];
    file.download = decodeURIComponent(name ?? "cobras");
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
  });
}

/** Bytes of a base64 text. @param {string} text @returns {ArrayBuffer} */
export function bytes(text) {
  const characters = atob(text);
  const array = new Uint8Array(characters.length);
  for (let k = 0; k < array.length; k++) array[k] = characters.charCodeAt(k);
  return array.buffer;
}
