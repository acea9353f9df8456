/** The table of items: those that a search finds, those of one cluster or of a lasso, a page at a time. */

import { get } from "../session/api.js";
import { byId, counted, el } from "../page/dom.js";
import { clusterOf, clusters, focus, opened, pointed, question, settings } from "../session/state.js";
import { isShown, onTab, showTab } from "./tabs.js";
import { preview, rowTag } from "../cards/thumbs.js";

const PAGE = 50;
const CELLS = 4; // columns besides id and cluster
const MOST = 200; // rows that the server takes in one request
const PAUSE = 150; // milliseconds after the last key before the search begins

let offset = 0;
let stale = true;
let n_asked = 0;

export function startItems() {
  let timer = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(startOver, PAUSE);
  });
  byId("in-cluster").addEventListener("change", (/** @type {any} */ event) => {
    const colour = event.target.value;
    focus.set(colour === "" ? null : { colour: Number(colour) });
  });
  byId("drop-focus").addEventListener("click", () => focus.set(null));
  byId("earlier").addEventListener("click", () => turn(-PAGE));
  byId("later").addEventListener("click", () => turn(PAGE));
  clusters.on(showClusters);
  focus.on((value) => {
    startOver();
    if (value && "rows" in value) showTab("items");
  });
  clusters.on(refresh);
  question.on(refresh);
  onTab("items", () => stale && load());
}

function startOver() {
  offset = 0;
  showClusters();
  refresh();
}

function refresh() {
  stale = true;
  if (isShown("items")) load();
}

/** @param {number} by */
function turn(by) {
  offset = Math.max(0, offset + by);
  byId("item-rows").closest(".scroll").scrollTop = 0;
  refresh();
}

async function load() {
  stale = false;
  const asked = ++n_asked;
  const page = await fetchPage().catch(() => null);
  if (!page || asked !== n_asked) return;
  const head = ["", "Item", "Cluster", ...page.columns.slice(0, CELLS)];
  byId("item-head").replaceChildren(...head.map((name) => el("th", { scope: "col" }, name)));
  byId("item-rows").replaceChildren(...page.items.map((item) => line(item)));
  const last = Math.min(page.total, offset + PAGE);
  byId("item-count").textContent = page.total
    ? `${(offset + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${counted(page.total, "item")}${origin(page.total)}`
    : "No item matches";
  byId("earlier").disabled = offset === 0;
  byId("later").disabled = last >= page.total;
}

/** @returns {Promise<import("../session/types.js").Items>} */
async function fetchPage() {
  const search = byId("search").value.trim();
  const focused = focus.value;
  if (!focused || "colour" in focused) {
    const cluster = focused ? clusterOf(focused.colour)?.number : null;
    return get("items", { offset, limit: PAGE, search, cluster });
  }
  const rows = search ? await searchRows(search, focused.rows) : focused.rows;
  const shown = rows.slice(offset, offset + PAGE);
  if (!shown.length) return { version: 0, total: 0, offset, columns: [], items: [] };
  const page = await get("items", { rows: shown.join(","), limit: PAGE });
  return { ...page, total: rows.length };
}

/** Say that only some of very many items are listed; a search and a lasso list all of theirs.
 * @param {number} n_listed */
function origin(n_listed) {
  const focused = focus.value;
  if (byId("search").value.trim() || (focused && "rows" in focused)) return "";
  const all = focused ? clusterOf(focused.colour)?.size : settings.value?.n_items;
  return all && n_listed < all ? `, chosen at random from ${all.toLocaleString("en")}` : "";
}

/** The rows of a lasso that match. @param {string} search @param {Int32Array} rows */
async function searchRows(search, rows) {
  const asked = n_asked;
  const matches = [];
  for (let start = 0; start < rows.length && asked === n_asked; start += MOST) {
    const some = rows.slice(start, start + MOST).join(",");
    const page = await get("items", { rows: some, search, limit: MOST });
    for (const item of page.items) matches.push(item.i);
  }
  return matches;
}

/** @param {import("../session/types.js").ListedItem} item */
function line(item) {
  const open = el("button", { class: "link", onclick: () => opened.set(item.i) }, item.id);
  const cells = item.cells.slice(0, CELLS).map((cell) => el("td", { title: cell }, cell ?? "–"));
  const picture = item.image || item.line ? preview(item) : null;
  const listeners = { onpointerenter: () => pointed.set(item.i), onpointerleave: () => pointed.set(null) };
  return el(
    "tr",
    listeners,
    el("td", { class: "preview" }, picture),
    el("td", {}, open),
    el("td", {}, rowTag(item.i, item.cluster, item.colour)),
    cells,
  );
}

/** The choice of clusters, and what a lasso holds. */
function showClusters() {
  const focused = focus.value;
  const choice = byId("in-cluster");
  const options = (clusters.value?.clusters ?? []).map((cluster) =>
    el(
      "option",
      { value: cluster.colour },
      cluster.name ? `${cluster.number} ${cluster.name}` : `Cluster ${cluster.number}`,
    ),
  );
  if (document.activeElement !== choice)
    choice.replaceChildren(el("option", { value: "" }, "All clusters"), ...options);
  choice.value = focused && "colour" in focused ? String(focused.colour) : "";
  const drop = byId("drop-focus");
  drop.hidden = !focused || !("rows" in focused);
  if (focused && "rows" in focused) drop.textContent = `${counted(focused.rows.length, "item")} in the lasso ×`;
}
