/** What a cluster is like: the columns, words, curves or pictures that tell it apart, and some of its members. */

import { get } from "../session/api.js";
import { counted, el, percent } from "../page/dom.js";
import { clusters, isHidden, opened, pointed, settings } from "../session/state.js";
import { change } from "../session/sync.js";
import { colourOf } from "../page/palette.js";
import { numberOf, plainText, version } from "./acts.js";
import { bars, drawCurve, drawDistribution, key } from "./drawings.js";
import { thumbButton } from "../cards/thumbs.js";

/** @typedef {import("../session/types.js").Cluster} Cluster */
/** @typedef {import("../session/types.js").Profile} Profile */
/** @typedef {import("../session/types.js").Member} Member */

const SLIGHT = 0.02; // share of missing values that is worth a remark

/** The boxes of the clusters whose profile is open, by id. @type {Map<number, HTMLElement>} */
const boxes = new Map();

/** The button that opens the profile of a cluster, and closes it. @param {Cluster} cluster */
export function profileButton(cluster) {
  const press = () => toggleProfile(cluster.id);
  return el(
    "button",
    {
      class: "mark",
      "data-key": "profile",
      "aria-expanded": String(boxes.has(cluster.id)),
      "aria-controls": boxes.has(cluster.id) ? `profile-${cluster.id}` : null,
      title: "Profile: what tells this cluster apart",
      onclick: press,
    },
    "profile",
  );
}

/** The box of a cluster whose profile is open; null where it is closed. @param {Cluster} cluster */
export function profileBox(cluster) {
  return boxes.get(cluster.id) ?? null;
}

/** Open or close the profile of a cluster. @param {number} id */
export function toggleProfile(id) {
  const item = document.querySelector(`#cluster-list [data-cluster="${id}"]`);
  const cluster = clusters.value?.clusters.find((other) => other.id === id);
  if (!item || !cluster) return;
  const button = item.querySelector('[data-key="profile"]');
  const before = boxes.get(id);
  if (before) {
    before.remove();
    boxes.delete(id);
    button?.removeAttribute("aria-controls");
  } else {
    const box = el("div", { class: "profile", id: `profile-${id}`, role: "group", "aria-label": `Profile of cluster ${id}` });
    boxes.set(id, box);
    item.append(box);
    button?.setAttribute("aria-controls", box.id);
    load(cluster, box).then(() => item.scrollIntoView({ block: "nearest" }));
  }
  item.classList.toggle("profiled", !before);
  button?.setAttribute("aria-expanded", String(!before));
}

/** Fetch again what is open, once the clusters have changed. */
export function refreshProfiles() {
  for (const [id, box] of boxes) {
    const cluster = clusters.value?.clusters.find((other) => other.id === id);
    if (!cluster) boxes.delete(id);
    else if (box.dataset.version !== String(clusters.value?.version)) load(cluster, box);
  }
}

/** Draw what is open once more: colours have changed. */
export function redrawProfiles() {
  for (const box of boxes.values()) delete box.dataset.version;
  refreshProfiles();
}

/** Hide the items that are asked about. */
export function hideAskedMembers() {
  for (const box of boxes.values())
    for (const item of box.querySelectorAll("[data-row]"))
      if (item instanceof HTMLElement) item.hidden = isHidden(Number(item.dataset.row));
}

/** @param {Cluster} cluster @param {HTMLElement} box */
async function load(cluster, box) {
  box.dataset.version = String(clusters.value?.version);
  /** @type {Profile | null} */
  const found = await get(`profile/${cluster.id}`).catch(() => null);
  if (!found || boxes.get(cluster.id) !== box) return;
  box.style.setProperty("--own", colourOf(cluster.colour));
  const focused = box.contains(document.activeElement);
  box.replaceChildren(...parts(cluster, found).filter((part) => part !== null));
  hideAskedMembers();
  if (focused) {
    const taken = box.querySelector('[data-key="suggested"]');
    (taken ?? document.querySelector(`[data-cluster="${cluster.id}"] [data-key="profile"]`))?.focus();
  }
}

/** @param {Cluster} cluster @param {Profile} found @returns {(Node | null)[]} */
function parts(cluster, found) {
  const plots = [
    ...found.columns.map((column) => columnPlot(column)),
    ...found.curves.map((curve, k) => curvePlot(curve, found.curves.length > 1 ? `Channel ${k + 1}` : "Mean curve")),
  ];
  const told = plots.length > 0 || found.words.length > 0;
  const table = settings.value?.kind === "table";
  return [
    suggestion(cluster, found),
    told ? key(rest(found)) : null,
    !told && table ? el("p", { class: "quiet" }, found.n_outside ? "No column tells it apart from the rest." : "There is no other cluster yet.") : null,
    plots.length ? el("div", { class: "plots" }, plots) : null,
    found.words.length ? wordList(found) : null,
    found.pictures.length ? el("div", { class: "sheet" }, found.pictures.map(thumbButton)) : null,
    found.typical.length ? members(found) : null,
  ];
}

/** @param {Profile} found */
function rest(found) {
  const sampled = found.n_inside < found.size ? ", sampled" : "";
  return `the other ${counted(found.n_outside, "item")}${sampled}`;
}

/** The name that the content suggests, to be taken with one press. @param {Cluster} cluster @param {Profile} found */
function suggestion(cluster, found) {
  if (!found.suggestion || cluster.name) return null;
  const text = plainText(found.suggestion); // it goes into files
  const take = () => change("name", { cluster: numberOf(cluster.id), text, version: version() });
  return el(
    "p",
    { class: "suggestion" },
    el("span", { class: "quiet" }, "Could be called "),
    el("b", {}, el("bdi", {}, found.suggestion)),
    " ",
    el("button", { class: "link", "data-key": "suggested", onclick: take }, "Use this name"),
  );
}

/** @param {import("../session/types.js").ColumnProfile} column */
function columnPlot(column) {
  const title = el("bdi", {}, column.name);
  const gone = missing(column.missing, column.missing_outside);
  if (column.kind === "category")
    return el("figure", {}, el("figcaption", {}, el("b", {}, title)), bars(column.values), gone);
  const middles = el("span", {}, el("i", {}, column.middle), ` · rest ${column.middle_outside}`);
  const ends = el("p", { class: "ends" }, el("span", {}, column.low), el("span", {}, column.high));
  return el("figure", {}, el("figcaption", {}, el("b", {}, title), middles), drawDistribution(column), ends, gone);
}

/** @param {import("../session/types.js").CurveProfile} curve @param {string} title */
function curvePlot(curve, title) {
  const band = el("span", {}, "band: 80 % of the series");
  return el("figure", { class: "wide" }, el("figcaption", {}, el("b", {}, title), band), drawCurve(curve, title));
}

/** @param {number} inside @param {number} outside */
function missing(inside, outside) {
  if (Math.max(inside, outside) < SLIGHT) return null;
  return el("p", { class: "gone" }, `not known: ${percent(inside)} · rest ${percent(outside)}`);
}

/** @param {Profile} found */
function wordList(found) {
  return el("figure", { class: "wide" }, el("figcaption", {}, el("b", {}, "Words"), el("span", {}, "share of the texts that have them")), bars(found.words));
}

/** Typical and unusual members with the columns that tell the cluster apart first. @param {Profile} found */
function members(found) {
  const only = settings.value?.kind === "text";
  const heads = ["Item", ...found.headers.map((name) => (only ? "Text" : name))];
  const head = el("tr", {}, heads.map((name) => el("th", { scope: "col" }, el("bdi", {}, name))));
  const words = only ? new Set(found.words.map((word) => word.value)) : new Set();
  const group = (/** @type {string} */ title, /** @type {Member[]} */ items) =>
    items.length
      ? el(
          "tbody",
          {},
          el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: heads.length }, title)),
          items.map((item) => memberLine(item, words)),
        )
      : null;
  return el(
    "div",
    { class: "members", tabindex: "0", role: "group", "aria-label": "Members" },
    el("table", { class: "items" }, el("thead", {}, head), group("Typical", found.typical), group("Unusual", found.unusual)),
  );
}

/** @param {Member} item @param {Set<string>} words that are marked */
function memberLine(item, words) {
  const open = el("button", { class: "link", onclick: () => opened.set(item.i) }, el("bdi", {}, item.id));
  const listeners = { onpointerenter: () => pointed.set(item.i), onpointerleave: () => pointed.set(null) };
  const cells = item.cells.map((cell) => el("td", { title: cell }, el("bdi", {}, cell === null ? "–" : marked(cell, words))));
  return el("tr", { "data-row": item.i, ...listeners }, el("td", {}, open), cells);
}

/** A text with some words marked. @param {string} text @param {Set<string>} words */
function marked(text, words) {
  if (!words.size) return text;
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((piece, k) => (k % 2 && words.has(piece.toLowerCase()) ? el("mark", {}, piece) : piece));
}
