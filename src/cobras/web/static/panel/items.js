/** The table of items: those that a search finds, those of one cluster or of a lasso, a page at a time. */

import { Refused, get } from "../session/api.js";
import { byId, counted, el, percent } from "../page/dom.js";
import { showNotice } from "../page/notices.js";
import { clusterOf, clusters, focus, isHidden, labels, onQuestion, opened, placeOf, pointed, settings } from "../session/state.js";
import { isShown, onTab, showTab } from "./tabs.js";
import { preview, rowTag } from "../cards/thumbs.js";
import { MOST as MOST_MOVED, closeForm, openMove, titleOf } from "./acts.js";

const PAGE = 50;
const CELLS = 4; // columns besides id and cluster
const MOST = 200; // rows that the server takes in one request
const PAUSE = 150; // milliseconds after the last key before the search begins

let offset = 0;
let leastSure = false; // whether the items that are least sure come first
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
  byId("least-sure").addEventListener("click", () => setLeastSure(!leastSure));
  byId("together").addEventListener("click", openTogether);
  byId("earlier").addEventListener("click", () => turn(-PAGE));
  byId("later").addEventListener("click", () => turn(PAGE));
  clusters.on(showClusters);
  focus.on((value) => {
    if (byId("panel-items").querySelector(".act")) closeForm();
    startOver();
    if (value && "rows" in value) showTab("items");
  });
  clusters.on(refresh);
  onQuestion(refresh);
  onTab("items", () => stale && load());
}

/** @param {boolean} on */
function setLeastSure(on) {
  leastSure = on;
  byId("least-sure").setAttribute("aria-pressed", String(on));
  startOver();
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
  const page = await fetchPage().catch((error) => {
    // How sure it is of a row is not known for every kind of data.
    if (leastSure && error instanceof Refused) {
      showNotice(error.message, "problem");
      setLeastSure(false);
    }
    return null;
  });
  if (!page || asked !== n_asked) return;
  const sure = page.items.some((item) => item.confidence !== null) ? ["Sure"] : [];
  const head = ["", "Item", "Cluster", ...sure, ...page.columns.slice(0, CELLS)];
  byId("item-head").replaceChildren(...head.map((name) => (name ? el("th", { scope: "col" }, name) : el("td"))));
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
    return get(leastSure ? "unsure" : "items", { offset, limit: PAGE, search, cluster });
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
  const open = el("button", { class: "link", onclick: () => opened.set(item.i) }, el("bdi", {}, item.id));
  const cells = item.cells.slice(0, CELLS).map((cell) => el("td", { title: cell }, el("bdi", {}, cell ?? "–")));
  const picture = item.image || item.line ? preview(item) : null;
  const listeners = { onpointerenter: () => pointed.set(item.i), onpointerleave: () => pointed.set(null) };
  return el(
    "tr",
    { "data-row": item.i, ...listeners },
    el("td", { class: "preview" }, picture),
    el("td", {}, open),
    el("td", {}, rowTag(item.i, item.cluster_id, item.colour)),
    item.confidence === null ? null : el("td", { class: "sure" }, isHidden(item.i) ? "" : percent(item.confidence)),
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
      titleOf(cluster),
    ),
  );
  if (document.activeElement !== choice)
    choice.replaceChildren(el("option", { value: "" }, "All clusters"), ...options);
  choice.value = focused && "colour" in focused ? String(focused.colour) : "";
  const drop = byId("drop-focus");
  drop.hidden = !focused || !("rows" in focused);
  if (focused && "rows" in focused) drop.textContent = `${counted(focused.rows.length, "item")} in the lasso ×`;
  byId("least-sure").hidden = !drop.hidden; // the items of a lasso are listed by number
  const together = byId("together");
  together.hidden = drop.hidden || focused.rows.length < 2;
  const few = !together.hidden && focused.rows.length <= MOST_MOVED;
  together.setAttribute("aria-disabled", String(!few));
  together.title = few ? "Say that they are one thing" : `At most ${MOST_MOVED} items can be moved at once`;
}

/** Ask where the items of the lasso belong; the cluster that holds most of them is offered first. */
function openTogether() {
  const focused = focus.value;
  const found = labels.value;
  if (!focused || !("rows" in focused) || !found || focused.rows.length > MOST_MOVED) return;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const row of focused.rows) {
    const id = found.ids[found.of[placeOf(row)]];
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const ids = [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  openMove(byId("lasso-acts"), [...focused.rows], ids, byId("together"));
}
