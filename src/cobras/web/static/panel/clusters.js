/** The list of clusters: size, name, marks, typical and unusual items, and what can be done to each. */

import { afterPaint, byId, counted, el, percent } from "../page/dom.js";
import { onTheme } from "../page/palette.js";
import { clusters, focus, isHidden, onQuestion } from "../session/state.js";
import { change } from "../session/sync.js";
import { showNotice } from "../page/notices.js";
import { tip } from "../page/tips.js";
import { numberOf, openMerge, version } from "./acts.js";
import { hideAskedMembers, profileBox, profileButton, redrawProfiles, refreshProfiles, toggleProfile } from "./profile.js";
import { tag, thumbButton } from "../cards/thumbs.js";

const SHOWN = 100; // more are listed on request
const PICTURES = 5; // typical and unusual items of a cluster
const LINES = 3; // the same where they are words

/** @typedef {import("../session/types.js").Cluster} Cluster */

let limit = SHOWN;
/** The lines that are shown, by the id of the cluster, and what each was made from.
 * @type {Map<number, {item: HTMLElement, from: string}>} */
const lines = new Map();
let pressed = false; // whether a press in the list has begun: its target must not be replaced before the click

export function startClusters() {
  clusters.on(show);
  focus.on(showFocus);
  onQuestion(() => afterPaint(hideAsked));
  onTheme(() => {
    lines.clear();
    show();
    redrawProfiles();
  });
  byId("cluster-list").addEventListener("pointerdown", () => (pressed = true));
  for (const end of ["pointerup", "pointercancel"])
    document.addEventListener(end, () => {
      if (pressed) setTimeout(show);
      pressed = false;
    });
}

/** Open or close the profile of the cluster in focus, or of the first one. */
export function toggleFocusedProfile() {
  const colour = focus.value && "colour" in focus.value ? focus.value.colour : null;
  const found = [...(clusters.value?.clusters ?? [])].sort((a, b) => a.id - b.id);
  const cluster = found.find((other) => other.colour === colour) ?? found[0];
  if (cluster) toggleProfile(cluster.id);
}

/** Show one cluster in colour and the others in grey, or all of them in colour again. @param {number} colour */
export function toggleFocus(colour) {
  const isFocused = focus.value && "colour" in focus.value && focus.value.colour === colour;
  focus.set(isFocused ? null : { colour });
}

function show() {
  if (pressed) return;
  endSplitNotice();
  const list = byId("cluster-list");
  const found = [...(clusters.value?.clusters ?? [])].sort((a, b) => a.id - b.id);
  const wanted = found.slice(0, limit).map(lineOf);
  if (found.length > limit) wanted.push(moreButton(found.length));
  for (const id of lines.keys()) if (!found.some((cluster) => cluster.id === id)) lines.delete(id);
  // Lines that stay are not touched, so that the focus stays where it is.
  for (const item of [...list.children]) if (!wanted.includes(item)) item.remove();
  wanted.forEach((item, k) => list.children[k] !== item && list.insertBefore(item, list.children[k] ?? null));
  showFocus();
  refreshProfiles();
  hideAsked();
}

function endSplitNotice() {
  const cluster = clusters.value?.clusters.find((found) => found.id === splitNotice?.id);
  if (!splitNotice || cluster?.to_split) return;
  splitNotice.notice.remove();
  splitNotice = null;
}

/** The line of a cluster: the one that is there, unless it says something else now. @param {Cluster} cluster */
function lineOf(cluster) {
  const { can_mark, can_split, clusters: all } = /** @type {import("../session/types.js").Clusters} */ (clusters.value);
  const from = JSON.stringify([cluster, can_mark, can_split, all.length > 1]);
  const known = lines.get(cluster.id);
  // A line is not replaced while a name is typed into it.
  const typing = known?.item.contains(document.activeElement) && document.activeElement?.matches("input");
  if (known && (known.from === from || typing)) return known.item;
  const item = line(cluster);
  lines.set(cluster.id, { item, from });
  if (known?.item.isConnected) replaceLine(known.item, item);
  return item;
}

/** Put a line in the place of its older self, with the profile, the form and the focus that were in it.
 * @param {HTMLElement} old @param {HTMLElement} item */
function replaceLine(old, item) {
  const active = document.activeElement;
  const { key, row } = active instanceof HTMLElement && old.contains(active) ? active.dataset : {};
  const kept = [old.querySelector(".profile"), old.querySelector(".act")].filter((part) => part !== null);
  const inside = kept.some((part) => part.contains(active));
  item.append(...kept);
  old.replaceWith(item);
  if (inside && active instanceof HTMLElement) active.focus({ preventScroll: true });
  if (key) item.querySelector(`[data-key="${key}"]`)?.focus();
  else if (row && !inside) item.querySelector(`.thumb[data-row="${row}"]`)?.focus();
}

/** @param {number} n */
function moreButton(n) {
  const more = () => {
    limit += SHOWN;
    show();
  };
  return el("li", {}, el("button", { class: "quiet", onclick: more }, `Show more of ${n} clusters`));
}

/** Hide the asked items in the lists, where they would give away their cluster; others fill the gap. */
function hideAsked() {
  for (const strip of byId("cluster-list").querySelectorAll(".strip")) {
    let n_left = strip.querySelector(".words") ? LINES : PICTURES;
    for (const thumb of strip.querySelectorAll(".thumb")) {
      thumb.hidden = isHidden(Number(thumb.dataset.row)) || n_left === 0;
      if (!thumb.hidden) n_left -= 1;
    }
    strip.hidden = !strip.querySelector(".thumb:not([hidden])");
  }
  hideAskedMembers();
}

/** @param {Cluster} cluster */
function line(cluster) {
  const look = el(
    "button",
    {
      class: "look",
      onclick: () => toggleFocus(cluster.colour),
      "aria-label": `Look at cluster ${cluster.id}`,
      "data-key": "look",
    },
    tag(cluster.colour, String(cluster.id)),
  );
  const name = el("input", {
    type: "text",
    maxlength: 200,
    value: cluster.name,
    dir: "auto",
    placeholder: cluster.suggestion || "Name",
    "aria-label": `Name of cluster ${cluster.id}`,
    "data-key": "name",
    autocomplete: "off",
    spellcheck: "false",
    onchange: () => rename(cluster, name.value),
    onblur: () => setTimeout(show),
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && name.blur(),
  });
  const size = el("span", { class: "size" }, `${counted(cluster.size, "item")} · ${percent(cluster.share)}`);
  const box = profileBox(cluster);
  const marks = clusters.value?.can_mark ? [markButton(cluster, "pure"), markButton(cluster, "complete")] : [];
  const acts = el("span", { class: "marks" }, profileButton(cluster), marks, splitButton(cluster), mergeButton(cluster));
  return el(
    "li",
    { "data-colour": cluster.colour, "data-cluster": cluster.id, class: box ? "profiled" : null },
    el("div", { class: "line" }, look, name, size, acts),
    el(
      "div",
      { class: "strips" },
      strip("typical", cluster.representatives),
      strip("unusual", cluster.unusual),
    ),
    box,
  );
}

/** @param {string} title @param {import("../session/types.js").Thumbnail[]} items */
function strip(title, items) {
  return items.length ? el("div", { class: "strip" }, el("span", {}, title), items.map(thumbButton)) : null;
}

/** @param {Cluster} cluster @param {"pure" | "complete"} which */
function markButton(cluster, which) {
  const on = cluster[which];
  const press = () => {
    // What is complete is pure as well; the server keeps the stronger promise.
    const body = {
      cluster: numberOf(cluster.id),
      pure: which === "pure" && !on,
      complete: which === "complete" && !on,
    };
    change("mark", { ...body, version: version() });
  };
  return el(
    "button",
    { class: "mark", "aria-pressed": String(on), ...tip(which), onclick: press, "data-key": which },
    which,
  );
}

/** What says that the next questions are inside a cluster; it goes when they are not.
 * @type {{id: number, notice: HTMLElement} | null} */
let splitNotice = null;

/** "These are two things": the next questions are inside the cluster. @param {Cluster} cluster */
function splitButton(cluster) {
  if (!clusters.value?.can_split || cluster.size < 2) return null;
  const press = async () => {
    if (cluster.to_split) return showNotice(`The next questions are inside cluster ${cluster.id} already.`);
    const done = await change("split", { cluster: numberOf(cluster.id), version: version() });
    if (done) splitNotice = { id: cluster.id, notice: showNotice(`${done.message} Undo takes it back.`) };
  };
  const words = cluster.to_split ? "splitting" : "split";
  return el(
    "button",
    { class: "mark", "aria-pressed": String(cluster.to_split), ...tip("split"), onclick: press, "data-key": "split" },
    words,
  );
}

/** Make one of this cluster and another. @param {Cluster} cluster */
function mergeButton(cluster) {
  if ((clusters.value?.clusters.length ?? 0) < 2) return null;
  const press = () => openMerge(button.closest("li"), cluster.id, button);
  const button = el("button", { class: "mark", ...tip("merge"), onclick: press, "data-key": "merge" }, "merge …");
  return button;
}

/** @param {Cluster} cluster @param {string} text */
async function rename(cluster, text) {
  const name = text.trim();
  if (name === cluster.name) return;
  const saved = await change("name", { cluster: numberOf(cluster.id), text: name, version: version() });
  const twin = saved && name && clusters.value?.clusters.find((other) => other.id !== cluster.id && other.name === name);
  if (twin) showNotice(`Cluster ${twin.id} is called ${name}, too. If the two are one, merge them.`);
}

function showFocus() {
  const colour = focus.value && "colour" in focus.value ? String(focus.value.colour) : null;
  for (const item of byId("cluster-list").children) {
    const isFocused = item.dataset.colour !== undefined && item.dataset.colour === colour;
    const was = item.classList.contains("in-focus");
    item.classList.toggle("in-focus", isFocused);
    item.querySelector(".look")?.setAttribute("aria-pressed", String(isFocused));
    if (isFocused && !was) item.scrollIntoView({ block: "nearest" });
  }
}
