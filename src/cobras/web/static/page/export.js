/** The menu of files to download, at any moment. */

import { byId, el } from "./dom.js";
import { startDownloads } from "../session/api.js";
import { settings } from "../session/state.js";

/** @type {Record<string, [string, string]>} */
const WORDS = {
  csv: ["Table (CSV)", "all your columns; cluster_id is the number on this page"],
  parquet: ["Table (Parquet)", "the same, for data frames"],
  answers: ["Answers (JSON)", "everything you said, with your own ids"],
  constraints: ["Constraints (CSV)", "must-links and cannot-links as pairs"],
  html: ["Report (HTML)", "one file to read or send, works offline"],
};

export function startExport() {
  const menu = byId("export");
  startDownloads();
  settings.on((value) => {
    const links = (value?.exports ?? []).map((format) => {
      const [title, words] = WORDS[format] ?? [format, ""];
      return el(
        "a",
        { href: `api/export?format=${format}`, download: true },
        el("b", {}, title),
        el("span", {}, words),
      );
    });
    menu.querySelector("div").replaceChildren(...links);
  });
  const close = () => (menu.open = false);
  menu.addEventListener(
    "click",
    (/** @type {Event} */ event) => event.target instanceof Element && event.target.closest("a") && close(),
  );
  document.addEventListener(
    "pointerdown",
    (event) => event.target instanceof Node && !menu.contains(event.target) && close(),
  );
  byId("hint-export").addEventListener("click", (/** @type {Event} */ event) => {
    event.stopPropagation();
    menu.open = true;
    menu.querySelector("a")?.focus();
  });
}
