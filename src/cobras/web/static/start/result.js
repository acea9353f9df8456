/** What stands in the place of a pair when nothing is left to ask: what came out, how to get it, and how to go on. */

import { byId, counted, el, percent } from "../page/dom.js";
import { showHistory } from "../panel/history.js";
import { showTab } from "../panel/tabs.js";
import { toggleFocus } from "../panel/clusters.js";
import { preview, tag } from "../cards/thumbs.js";
import { clusters, question, settings } from "../session/state.js";

const EXAMPLES = 7; // typical items of a cluster
const WORDS = 2; // the same where they are words

/** @type {HTMLElement | null} the list of clusters that is shown */
let list = null;

clusters.on(() => list?.isConnected && fillClusters());

/** The result, ready to be put on the page. @returns {HTMLElement} */
export function resultView() {
  list = el("ol", { class: "result-clusters" });
  fillClusters();
  const { n_set_aside = 0, n_items = 0, n_answers = 0, n_clusters = 0 } = question.value?.progress ?? {};
  const lead = `${counted(n_items, "item")} in ${counted(n_clusters, "cluster")}, after ${counted(n_answers, "answer")}. Everything is saved.`;
  return el(
    "div",
    { class: "card result", role: "group", "aria-label": "Result" },
    el("p", { class: "lead" }, lead),
    el("div", { class: "result-scroll", tabindex: "0", role: "group", "aria-label": "Clusters of the result" }, list),
    el(
      "div",
      { class: "result-acts" },
      el("a", { class: "button main", href: "api/export?format=csv", download: true }, "Table (CSV)"),
      el("a", { class: "button main", href: "api/export?format=html", download: true }, "Report (HTML)"),
      el("button", { onclick: showExport }, "Other files …"),
    ),
    el("p", { class: "go-on" }, el("b", {}, "Go on: "), goOn(n_set_aside)),
  );
}

/** What can still be done, as buttons. @param {number} n_aside */
function goOn(n_aside) {
  const unsure = document.getElementById("least-sure");
  const least = () => {
    showTab("items");
    if (unsure?.getAttribute("aria-pressed") !== "true") unsure?.click();
  };
  return [
    n_aside > 0 && el("button", { onclick: () => showHistory("aside", true) }, "settle what you set aside"),
    unsure && el("button", { onclick: least }, "look at the items that are least sure"),
    el("button", { onclick: nameClusters }, "name the clusters, split or merge them"),
    el("button", { onclick: () => showHistory("all") }, "change an answer"),
  ];
}

function fillClusters() {
  const found = [...(clusters.value?.clusters ?? [])].sort((a, b) => b.size - a.size);
  const largest = found[0]?.size ?? 1;
  list?.replaceChildren(
    ...found.map((cluster) => {
      const bar = el("i", { class: "size-bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", String(cluster.size / largest));
      const look = () => {
        showTab("clusters");
        toggleFocus(cluster.colour);
      };
      const words = cluster.name ? null : cluster.suggestion;
      return el(
        "li",
        {},
        el(
          "button",
          { class: "result-cluster", onclick: look },
          tag(cluster.colour, cluster.name || `Cluster ${cluster.id}`),
          el("span", { class: "suggestion" }, words && el("bdi", {}, words)),
          bar,
          el("span", { class: "size" }, `${counted(cluster.size, "item")} · ${percent(cluster.share)}`),
          el("span", { class: "examples", "aria-hidden": "true" }, cluster.representatives.slice(0, settings.value?.kind.match(/image|series/) ? EXAMPLES : WORDS).map(preview)),
        ),
      );
    }),
  );
}

/** @param {Event} event */
function showExport(event) {
  event.stopPropagation();
  byId("export").open = true;
  byId("export").querySelector("a")?.focus();
}

function nameClusters() {
  showTab("clusters");
  byId("cluster-list").querySelector("input")?.focus();
}
