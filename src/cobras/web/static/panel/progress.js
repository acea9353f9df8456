/** How far the session has come: numbers, their charts, and the hint that one may stop. */

import { get } from "../session/api.js";
import { drawChart } from "./chart.js";
import { afterPaint, byId, el, percent } from "../page/dom.js";
import { showHistory } from "./history.js";
import { question, settings } from "../session/state.js";
import { isShown, onTab } from "./tabs.js";

export function startProgress() {
  question.on(show);
  question.on(() => isShown("progress") && afterPaint(load));
  onTab("progress", load);
  settings.on(showNotes);
  byId("n-unsatisfied").addEventListener("click", () => showHistory("unsatisfied"));
  byId("n-aside").addEventListener("click", () => showHistory("aside"));
}

function show() {
  const progress = question.value?.progress;
  if (!progress) return;
  const { stable_share, window: last } = progress;
  set("n-answers", progress.n_answers, "answer");
  set("n-clusters", progress.n_clusters, "cluster");
  set("stable", stable_share === null ? "–" : percent(stable_share));
  byId("stable").title = stable_share === null ? `Known after ${last} answers` : "";
  byId("stable-words").textContent = `stable, last ${last}`;
  set("n-unsatisfied", progress.unsatisfied.length);
  set("n-aside", progress.n_set_aside);
  byId("hint").hidden = !progress.may_stop;
  byId("hint-reason").textContent = progress.reason;
  byId("far").hidden = progress.n_left === null;
  byId("far").textContent = `About ${progress.n_left} more questions until little changes.`;
}

/** @param {string} id @param {number | string} value @param {string} [noun] */
function set(id, value, noun) {
  if (noun) byId(id).querySelector("span").textContent = value === 1 ? noun : `${noun}s`;
  byId(id).querySelector("b").textContent = typeof value === "number" ? value.toLocaleString("en") : value;
}

async function load() {
  const found = await get("progress").catch(() => null);
  if (!found) return;
  const { series, progress } = found;
  byId("charts").replaceChildren(
    drawChart("Clusters", series.n_clusters, (value) => String(Math.round(value))),
    drawChart(
      `Items that stayed in their cluster over the last ${progress.window} answers`,
      series.stable_share,
      percent,
      [0, 1],
    ),
    ...(series.expected_ari.some((/** @type {number | null} */ value) => value !== null)
      ? [drawChart(agreement(progress), series.expected_ari, (value) => value.toFixed(2), [0, 1])]
      : []),
  );
}

/** @param {import("../session/types.js").Progress} progress */
function agreement({ ari_range }) {
  const range = ari_range ? `; now probably between ${ari_range[0].toFixed(2)} and ${ari_range[1].toFixed(2)}` : "";
  return `How well the clusters are expected to agree with what you mean (adjusted Rand index: 1 is all right)${range}`;
}

/** @param {import("../session/types.js").Settings | null} value */
function showNotes(value) {
  if (!value) return;
  const where = el("p", {}, "Every answer is kept in ", el("code", {}, value.session_file), ".");
  byId("notes").replaceChildren(where, ...value.notes.map((note) => el("p", {}, note)));
}
