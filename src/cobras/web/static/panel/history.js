/** The history: every answer with both items. Any answer can be changed, and a pair that was set aside be settled. */

import { get } from "../session/api.js";
import { byId, counted, el, fillList } from "../page/dom.js";
import { recordLink, showNotice } from "../page/notices.js";
import { question } from "../session/state.js";
import { change } from "../session/sync.js";
import { isShown, onTab, showTab } from "./tabs.js";
import { thumbButton } from "../cards/thumbs.js";

const SHOWN = 100; // more are listed on request

/** @typedef {import("../session/types.js").HistoryRecord} HistoryRecord */

/** @type {Record<string, (record: HistoryRecord) => boolean>} */
const FILTERS = {
  all: () => true,
  unsatisfied: (record) => !record.satisfied,
  aside: (record) => record.set_aside,
};

/** @type {HistoryRecord[]} */
let records = [];
let version = -1;
let run = "";
let filter = "all";
let limit = SHOWN;
/** @type {number | null} */
let open = null;

export function startHistory() {
  for (const name of Object.keys(FILTERS))
    byId(`filter-${name}`).addEventListener("click", () => showHistory(name));
  onTab("history", load);
  question.on(() => isShown("history") && load());
  document.addEventListener("show-record", (event) => {
    const index = /** @type {CustomEvent} */ (event).detail;
    open = index;
    limit = Math.max(limit, records.length - index);
    showHistory("all");
  });
}

/** Open the tab with all records, or only some. @param {string} name one of `FILTERS` @param {boolean} [settle] whether
 * to go on with the choices of the first */
export async function showHistory(name, settle = false) {
  filter = name;
  showTab("history");
  show();
  if (!settle) return;
  await load();
  open = records.filter(FILTERS[filter]).at(-1)?.index ?? null;
  show();
  byId("record-list").querySelector(".open .choices button")?.focus();
}

async function load() {
  const current = question.value;
  if (!current || (current.versions.session === version && current.run === run)) return;
  const found = await get("history").catch(() => null);
  if (!found) return;
  [version, run, records] = [found.version, current.run, found.records];
  show();
}

function show() {
  for (const name of Object.keys(FILTERS)) {
    const button = byId(`filter-${name}`);
    button.setAttribute("aria-pressed", String(name === filter));
    button.querySelector("span").textContent = records.filter(FILTERS[name]).length;
  }
  const matching = records.filter(FILTERS[filter]).reverse();
  const list = byId("record-list");
  const more = () => {
    limit += SHOWN;
    show();
  };
  fillList(list, matching, line, limit, `Show earlier ones of ${matching.length}`, more);
  if (!matching.length)
    list.append(
      el(
        "li",
        { class: "empty" },
        {
          all: "No answers yet.",
          unsatisfied: "The clustering agrees with every answer.",
          aside: "No pair is set aside.",
        }[filter],
      ),
    );
  list.querySelector(".open")?.scrollIntoView({ block: "nearest" });
}

/** @param {HistoryRecord} record */
function line(record) {
  const toggle = () => {
    open = open === record.index ? null : record.index;
    show();
    byId("record-list").querySelector(`[data-index="${record.index}"] .answer`)?.focus();
  };
  const title = record.number === null ? "+" : String(record.number);
  const word = record.answer ?? record.kind;
  const button = el(
    "button",
    {
      class: `answer ${word}`,
      "aria-expanded": String(open === record.index),
      "aria-label": `${word}: change this`,
      onclick: toggle,
    },
    word,
  );
  const taken = record.kind !== "answer" && record.kind !== "constraint" && record.answer === "unsure";
  const remark = taken ? `${record.kind} that says nothing now` : remarks(record).join(", ");
  const isVoid = record.n_pairs > 0 && record.n_void === record.n_pairs;
  const when = el("time", { datetime: new Date(1000 * record.at).toISOString() }, timeOf(record.at));
  return el(
    "li",
    {
      class: [open === record.index && "open", isVoid && "void"].filter(Boolean).join(" "),
      "data-index": record.index,
    },
    el("span", { class: "number" }, title),
    record.left ? thumbButton(record.left) : el("span"),
    button,
    record.right ? thumbButton(record.right) : el("span"),
    el("span", { class: "remark" }, remark),
    when,
    open === record.index && choices(record),
  );
}

/** What is not as it was said; of a board, for how many of its pairs. @param {HistoryRecord} record */
function remarks(record) {
  const { n_pairs, n_void, n_set_aside } = record;
  const one = n_pairs <= 1;
  return [
    n_void && (one || n_void === n_pairs ? "no longer applies" : `${n_void} of ${counted(n_pairs, "pair")} no longer ${n_void === 1 ? "applies" : "apply"}`),
    n_set_aside && (one ? "set aside" : `${counted(n_set_aside, "pair")} set aside`),
    !record.satisfied && "not satisfied now",
  ].filter((remark) => typeof remark === "string");
}

/** @param {HistoryRecord} record */
function choices(record) {
  const wanted = /** @type {import("../session/types.js").Answer[]} */ (
    record.set_aside ? ["different", "same"] : ["different", "unsure", "same"]
  );
  if (record.kind !== "answer" && record.kind !== "constraint") return takeBack(record);
  const buttons = wanted
    .filter((answer) => answer !== record.answer)
    .map((answer) => el("button", { class: "quiet", onclick: () => revise(record, answer) }, answer));
  return el(
    "div",
    { class: "choices" },
    el("span", {}, record.set_aside ? "Settle it as" : "Change it to"),
    buttons,
  );
}

/** A board, a move or a merge can be taken back, whatever came after it. @param {HistoryRecord} record */
function takeBack(record) {
  const pairs = record.n_pairs > 1 ? `It says something about ${counted(record.n_pairs, "pair")}.` : "";
  const button = el("button", { class: "quiet", onclick: () => revise(record, "unsure") }, "Take it back");
  return el("div", { class: "choices" }, el("span", {}, pairs), record.answer === null && button);
}

/** @param {HistoryRecord} record @param {import("../session/types.js").Answer} answer */
async function revise(record, answer) {
  const revision = question.value?.versions.session;
  open = null;
  if (record.set_aside && record.kind === "answer" && record.left && record.right) {
    const done = await change("revisit", { i: record.left.i, j: record.right.i, answer, revision });
    if (done) showNotice(`Settled: ${answer}.`);
    return;
  }
  const result = await change("revise", { index: record.index, answer, revision });
  if (!result) return show();
  const lost = result.no_longer_apply;
  const unasked = result.no_longer_asked;
  const what = record.kind === "answer" ? `Answer ${record.number}` : `The ${record.kind}`;
  const words = [record.answer === null ? `${what} is taken back.` : `${what} is now ${answer}.`];
  words.push(
    lost.length
      ? `${counted(lost.length, "later answer")} no longer ${lost.length === 1 ? "applies" : "apply"}:`
      : "All later answers still apply.",
  );
  const links = lost
    .slice(0, 12)
    .map((/** @type {HistoryRecord} */ later) => [" ", recordLink(later.index, later.number)])
    .flat();
  const tail = unasked.length
    ? ` ${counted(unasked.length, "question")} would not come up any more; what you said stays in force.`
    : "";
  return showNotice(words.join(" "), "plain", ...links, tail);
}

/** @param {number} seconds */
function timeOf(seconds) {
  const date = new Date(1000 * seconds);
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString();
}
