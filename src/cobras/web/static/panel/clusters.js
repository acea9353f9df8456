/** The list of clusters: size, name, marks, typical and unusual items. */

import { afterPaint, byId, counted, el, fillList, percent } from "../page/dom.js";
import { onTheme } from "../page/palette.js";
import { clusters, focus, isHidden, question } from "../session/state.js";
import { change } from "../session/sync.js";
import { tag, thumbButton } from "../cards/thumbs.js";

const SHOWN = 100; // more are listed on request
const PICTURES = 5; // typical and unusual items of a cluster
const LINES = 3; // the same where they are words

/** @typedef {import("../session/types.js").Cluster} Cluster */

let limit = SHOWN;

export function startClusters() {
  clusters.on(show);
  focus.on(showFocus);
  question.on(() => afterPaint(hideAsked));
  onTheme(show);
}

/** Show one cluster in colour and the others in grey, or all of them in colour again. @param {number} colour */
export function toggleFocus(colour) {
  const isFocused = focus.value && "colour" in focus.value && focus.value.colour === colour;
  focus.set(isFocused ? null : { colour });
}

function show() {
  const list = byId("cluster-list");
  // The list is not replaced while a name is typed into it.
  if (list.contains(document.activeElement) && document.activeElement?.matches("input[type=text]")) return;
  const found = clusters.value?.clusters ?? [];
  const more = () => {
    limit += SHOWN;
    show();
  };
  fillList(list, found, line, limit, `Show more of ${found.length} clusters`, more);
  showFocus();
  hideAsked();
}

/** Hide the asked items in the lists, where they would give away their cluster; others fill the gap. */
function hideAsked() {
  for (const strip of byId("cluster-list").querySelectorAll(".strip")) {
    let n_left = strip.querySelector(".words") ? LINES : PICTURES;
    for (const thumb of strip.querySelectorAll(".thumb")) {
      thumb.hidden = isHidden(Number(thumb.dataset.row)) || n_left === 0;
      if (!thumb.hidden) n_left -= 1;
    }
  }
}

/** @param {Cluster} cluster */
function line(cluster) {
  const look = el(
    "button",
    {
      class: "look",
      onclick: () => toggleFocus(cluster.colour),
      "aria-label": `Look at cluster ${cluster.number}`,
    },
    tag(cluster.colour, String(cluster.number)),
  );
  const name = el("input", {
    type: "text",
    maxlength: 200,
    value: cluster.name,
    placeholder: cluster.suggestion || "Name",
    "aria-label": `Name of cluster ${cluster.number}`,
    autocomplete: "off",
    spellcheck: "false",
    onchange: () => rename(cluster, name.value),
    onblur: () => setTimeout(show),
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && name.blur(),
  });
  const size = el("span", { class: "size" }, `${counted(cluster.size, "item")} · ${percent(cluster.share)}`);
  const marks = clusters.value?.can_mark
    ? el("span", { class: "marks" }, markButton(cluster, "pure"), markButton(cluster, "complete"))
    : null;
  return el(
    "li",
    { "data-colour": cluster.colour, "data-cluster": cluster.number },
    el("div", { class: "line" }, look, name, size, marks),
    el(
      "div",
      { class: "strips" },
      strip("typical", cluster.representatives),
      strip("unusual", cluster.unusual),
    ),
  );
}

/** @param {string} title @param {import("../session/types.js").Thumbnail[]} items */
function strip(title, items) {
  return items.length ? el("div", { class: "strip" }, el("span", {}, title), items.map(thumbButton)) : null;
}

const MARKS = {
  pure: "Pure: all of it belongs together. It is not split any more.",
  complete: "Complete: nothing is missing either. No more questions about it.",
};

/** @param {Cluster} cluster @param {"pure" | "complete"} which */
function markButton(cluster, which) {
  const on = cluster[which];
  const press = () => {
    // What is complete is pure as well; the server keeps the stronger promise.
    const body = {
      cluster: cluster.number,
      pure: which === "pure" && !on,
      complete: which === "complete" && !on,
    };
    change("mark", { ...body, version: question.value?.versions.labels });
  };
  return el(
    "button",
    { class: "mark", "aria-pressed": String(on), title: MARKS[which], onclick: press },
    which,
  );
}

/** @param {Cluster} cluster @param {string} text */
function rename(cluster, text) {
  if (text.trim() === cluster.name) return;
  change("name", { cluster: cluster.number, text: text.trim(), version: question.value?.versions.labels });
}

function showFocus() {
  const colour = focus.value && "colour" in focus.value ? String(focus.value.colour) : null;
  for (const item of byId("cluster-list").children) {
    const isFocused = item.dataset.colour === colour;
    item.classList.toggle("in-focus", isFocused);
    item.querySelector(".look")?.setAttribute("aria-pressed", String(isFocused));
    if (isFocused) item.scrollIntoView({ block: "nearest" });
  }
}
