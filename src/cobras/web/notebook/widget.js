/** The widget in a notebook: the page in a frame, whose requests go to Python as messages. */

const PATIENCE = 4000; // milliseconds without a word from Python after which the page says so
const LATER = 100; // milliseconds in which the next pair is shown before cells run
const MARGIN = 40; // pixels that a notebook may leave above and below
const LOST =
  "Python does not reply. While it runs another cell, wait; if it was started again, run the cell of this widget again.";

export default { render };

/** @param {{model: any, el: HTMLElement}} given by anywidget */
function render({ model, el }) {
  const link = connect(model);
  const frame = document.createElement("iframe");
  frame.title = "cobras";
  frame.style.cssText = "display: block; box-sizing: border-box; width: 100%; border: 1px solid #8884; border-radius: 8px;";
  /** @type {any} */ (frame).cobras = link;
  el.append(frame);
  const setHeight = () => (frame.style.height = `${Math.min(model.get("height"), room(el))}px`);
  setHeight();
  requestAnimationFrame(setHeight); // once it is in the notebook: before, nothing is around it
  model.on("change:height", setHeight);
  link
    .fetch("")
    .then((response) => response.text())
    .then((text) => {
      // The colours are those of the notebook, whatever those of the system are.
      const [scheme, media] = isDark(el) ? ["dark", "all"] : ["light", "not all"];
      frame.srcdoc = text.replaceAll("light dark", scheme).replaceAll("(prefers-color-scheme: dark)", media);
    });
  return () => {
    link.close();
    model.off("change:height", setHeight);
  };
}

/** The styles of all that is around an element. @param {HTMLElement} el @returns {CSSStyleDeclaration[]} */
function stylesAround(el) {
  const found = [];
  for (let at = /** @type {any} */ (el); at; at = at.parentElement ?? at.getRootNode().host)
    found.push(getComputedStyle(at));
  return found;
}

/** How high an element may be until something around it scrolls, in pixels. @param {HTMLElement} el */
function room(el) {
  // VS Code cuts off what is higher than it last measured, and measures again; only what scrolls is a limit.
  const limits = stylesAround(el).map(({ maxHeight, overflowY }) =>
    maxHeight.endsWith("px") && /auto|scroll/.test(overflowY) ? parseFloat(maxHeight) : Infinity,
  );
  return Math.min(...limits) - MARGIN;
}

/** Whether a notebook is dark behind an element. @param {HTMLElement} el */
function isDark(el) {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  for (const { backgroundColor } of stylesAround(el)) {
    if (!pen) break;
    // Painted, because a colour can be written in many ways.
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = backgroundColor;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    if (alpha > 128) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return false;
}

/** What the page uses in place of a server. @param {any} model */
function connect(model) {
  const view = Math.random().toString(36).slice(2); // the same model may be shown twice
  let n_sent = 0;
  let heard = 0;
  let connected = true;
  let noting = 0;
  /** @type {Map<number, (response: Response) => void>} */
  const waiting = new Map();
  /** @type {Record<string, (data: any) => void>} */
  let listeners = {};
  let onConnection = (/** @type {boolean} */ _) => {};

  /** @param {boolean} value */
  function setConnected(value) {
    if (value !== connected) onConnection((connected = value));
  }

  function watch() {
    if (!waiting.size) return;
    if (Date.now() - heard >= PATIENCE) setConnected(false);
    setTimeout(watch, PATIENCE / 4);
  }

  /** Write back what is shown, so that marimo runs the cells that use the widget again. @param {number} version */
  function note(version) {
    model.set("version", version);
    model.save_changes();
  }

  /** @param {any} message @param {DataView[]} buffers */
  function receive(message, buffers) {
    heard = Date.now();
    setConnected(true);
    if (message.event) {
      listeners[message.event]?.(message.data);
      if (message.event === "question") {
        clearTimeout(noting);
        noting = setTimeout(note, LATER, message.data.versions.session);
      }
    } else if (message.view === view) {
      const { number, status, headers } = message;
      waiting.get(number)?.(new Response(buffers[0], { status, headers }));
      waiting.delete(number);
    }
  }

  model.on("msg:custom", receive);
  return {
    lost: LOST,
    /** @param {string} path @param {RequestInit} [options] @returns {Promise<Response>} */
    fetch(path, { method = "GET", body = "" } = {}) {
      return new Promise((resolve) => {
        const number = n_sent++;
        if (!waiting.size) {
          heard = Date.now();
          setTimeout(watch, PATIENCE / 4);
        }
        waiting.set(number, resolve);
        model.send({ view, number, method, path, body });
      });
    },
    /** @param {typeof listeners} others @param {typeof onConnection} notice */
    listen(others, notice) {
      [listeners, onConnection] = [others, notice];
      onConnection(connected);
    },
    close() {
      model.off("msg:custom", receive);
    },
  };
}
