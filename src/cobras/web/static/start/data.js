/**
 * What the data is taken for: one line for each column, and by what items are compared. While nothing has been said, a
 * click changes it at once; later, changes are collected, and all answers are carried over.
 */

import { get } from "../session/api.js";
import { byId, counted, el, percent } from "../page/dom.js";
import { labels, question, settings } from "../session/state.js";
import { change } from "../session/sync.js";
import { isShown, onTab, showTab } from "../panel/tabs.js";

/** @typedef {import("../session/types.js").Data} Data */
/** @typedef {import("../session/types.js").DataColumn} DataColumn */
/** @typedef {import("../session/types.js").DataChoices} DataChoices */
/** @typedef {"used" | "name" | "dropped"} Use */

const SHOWN = 60; // more columns are listed on request
/** On the buttons, and what each means. @type {Record<Use, [string, string]>} */
const USES = {
  used: ["use", "compare items by it"],
  name: ["name", "it names the items"],
  dropped: ["leave out", "neither compare by it nor show it"],
};
/** What a column is, where it is more than one of the uses. @type {Record<string, string>} */
const STATES = { used: "used", name: "name", label: "label: never used, never shown", ignored: "not used", dropped: "left out" };

/** What a type is called where its own name does not do. @type {Record<string, string>} */
const TYPES = { "day-first": "date, day first", "month-first": "date, month first" };
const WEIGHTS = [0.25, 0.5, 1, 2, 4];

/** @type {Data | null} */
let data = null;
/** The choices that are to be made; null where they are those of the data. @type {DataChoices | null} */
let wanted = null;
let applying = false; // while the data is read again
let limit = SHOWN;
let opened = false; // whether the page opened the tab by itself

export function startData() {
  onTab("data", load);
  question.on((value, before) => {
    if (value && before && value.run !== before.run) reload();
    if (!value || !opened) return;
    // Who has begun to answer wants to see what comes of it.
    if ((value.progress?.n_answers ?? 0) > 0 && isShown("data")) showTab("clusters");
    if ((value.progress?.n_answers ?? 0) > 0) opened = false;
  });
  // At the first visit the data is what one wants to know about, as long as there is nothing else.
  labels.on(() => {
    if (opened || byId("welcome").hidden || question.value?.can_undo || data) return;
    if (settings.value?.name === "Handwritten digits") return;
    opened = true;
    showTab("data");
  });
  byId("data-apply").addEventListener("click", apply);
  byId("data-cancel").addEventListener("click", () => {
    wanted = null;
    show();
  });
}

function reload() {
  if (applying) return;
  data = wanted = null;
  if (isShown("data")) load();
}

async function load() {
  if (data && data.run === question.value?.run) return show();
  const found = await get("data").catch(() => null);
  if (!found) return;
  data = found;
  show();
}

function show() {
  if (!data) return;
  const { columns, notes } = data;
  showComparison(data);
  const list = byId("data-columns");
  const key = focusedKey(list);
  list.hidden = !columns.length;
  list.replaceChildren(...columns.slice(0, limit).map(line));
  if (columns.length > limit) list.append(el("li", {}, more(columns.length)));
  if (key) list.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  byId("data-notes").replaceChildren(...notes.map((note) => el("li", {}, note)));
  byId("data-bar").hidden = !wanted || applying;
  const n = question.value?.progress?.n_answers ?? 0;
  byId("data-carried").textContent = n
    ? `${counted(n, "answer")} and everything else you said ${n === 1 ? "is" : "are"} carried over; the session as it is now is kept in a file of its own.`
    : "What you did so far is carried over; the session as it is now is kept in a file of its own.";
}

/** @param {Data} found */
function showComparison({ by, columns, quality, advice, ways, can_change }) {
  const now = ways.find((way) => way.is_now);
  const choice = ways.length
    ? el(
        "select",
        { "aria-label": "Compare by", "data-key": "way", onchange: () => chooseWay(ways[choice.selectedIndex]) },
        ways.map((way) => el("option", { selected: isWanted(way, now) }, way.words)),
      )
    : null;
  const used = columns.filter((column) => column.use === "used").length;
  const table = by === "the columns";
  const remark = table
    ? `${used} of ${counted(columns.length, "column")} ${used === 1 ? "is" : "are"} used.`
    : el("span", { class: `quality ${quality}` }, `${quality} quality`);
  const words = el("p", {}, "Items are compared by ", el("b", {}, by), ". ", remark);
  const fixed = !can_change && !ways.length ? null : choice && el("label", { class: "way" }, "Compare by ", choice);
  const box = byId("data-comparison");
  const focused = box.contains(document.activeElement);
  box.replaceChildren(...[words, advice && quality !== "good" ? el("p", { class: "advice" }, advice) : null, fixed].filter((part) => part !== null));
  if (focused) choice?.focus();
}

/** @param {import("../session/types.js").Way} way @param {import("../session/types.js").Way | undefined} now */
function isWanted(way, now) {
  if (!wanted) return way === now;
  return way.kind === wanted.kind && way.text === wanted.text && way.image === wanted.image && way.features === wanted.features;
}

/** @param {number} n */
function more(n) {
  const press = () => {
    limit += SHOWN;
    show();
  };
  return el("button", { class: "quiet", onclick: press }, `Show more of ${counted(n, "column")}`);
}

/** @param {string} reason may say itself that a column is not used */
function unusedState(reason) {
  return !reason || reason.endsWith(STATES.ignored) ? reason || STATES.ignored : `${STATES.ignored}: ${reason}`;
}

/** @param {DataColumn} column */
function line(column) {
  const use = useNow(column);
  const changed = use !== column.use || typeNow(column) !== typeNow(column, data?.choices) || weightNow(column) !== column.weight;
  const missing = column.share_missing > 0 && `${percent(column.share_missing)} missing`;
  const gaps = column.missing.length ? ` (also ${column.missing.map((word) => `“${word}”`).join(", ")})` : "";
  const examples = column.examples.flatMap((text, k) => [k ? ", " : "", el("bdi", {}, text)]);
  const state = use !== column.use ? `will be: ${STATES[use]}` : use === "ignored" ? unusedState(column.reason) : STATES[use];
  return el(
    "li",
    { class: `${use}${changed ? " changed" : ""}`, "data-column": column.name },
    el("b", {}, el("bdi", {}, column.name)),
    data?.can_change && column.types.length && use !== "dropped" && use !== "name" ? typeSelect(column) : el("span", { class: "kind" }, column.type),
    el("span", { class: "state" }, state),
    data?.can_change
      ? el(
          "span",
          { class: "uses", role: "group", "aria-label": `Use of ${column.name}` },
          column.types.length && use === "used" && typeNow(column) !== "text" ? weightSelect(column) : null,
          column.uses.map((name) => useButton(column, name, use)),
        )
      : null,
    el("span", { class: "examples" }, examples.length ? el("span", { class: "values" }, examples) : null, missing && el("span", { class: "missing" }, `${missing}${gaps}`)),
  );
}

/** @param {DataColumn} column @param {Use} name @param {string} use of now */
function useButton(column, name, use) {
  const [title, words] = USES[name];
  const press = () => use !== name && choose(withUse(column, name));
  return el(
    "button",
    {
      "aria-pressed": String(use === name),
      "aria-label": `${title}: ${words}`,
      "data-key": `${column.name} ${name}`,
      onclick: press,
    },
    title,
  );
}

/** @param {DataColumn} column */
function typeSelect(column) {
  const { name, type, types } = column;
  const now = typeNow(column);
  const isGuess = !(name in (wanted ?? /** @type {Data} */ (data).choices).types);
  // What was guessed may be more than one of the types: yes/no. To guess again is a choice as well.
  const [first, words] = isGuess ? [now, TYPES[now] ?? type] : ["", "guess the type"];
  const others = types.filter((other) => other !== first);
  const choice = el(
    "select",
    { class: "kind", "aria-label": `Type of ${name}`, "data-key": `${name} type`, onchange: () => choose(withType(column, choice.value)) },
    el("option", { value: first, selected: isGuess }, words),
    others.map((other) => el("option", { value: other, selected: other === now }, TYPES[other] ?? other)),
  );
  return choice;
}

/** @param {DataColumn} column */
function weightSelect(column) {
  const now = weightNow(column);
  const press = () => choose(withWeight(column, Number(choice.value)));
  const weights = WEIGHTS.includes(now) ? WEIGHTS : [...WEIGHTS, now].sort((a, b) => a - b);
  const choice = el(
    "select",
    { class: "weight", "aria-label": `Weight of ${column.name}: how much differences in it count`, "data-key": `${column.name} weight`, onchange: press },
    weights.map((weight) => el("option", { value: weight, selected: weight === now }, `× ${weight}`)),
  );
  return choice;
}

/** @param {DataColumn} column */
function typeNow({ name, type }, choices = wanted ?? data?.choices) {
  return choices?.types[name] ?? type;
}

/** @param {DataColumn} column */
function weightNow({ name }) {
  return (wanted ?? data?.choices)?.weights[name] ?? 1;
}

/** The choices with another type of one column; none guesses it again. @param {DataColumn} column @param {string} type
 * @returns {DataChoices} */
function withType({ name }, type) {
  const now = wanted ?? /** @type {Data} */ (data).choices;
  const types = without(now.types, name);
  // What is not compared has no weight.
  const weights = type === "text" ? without(now.weights, name) : now.weights;
  return { ...now, types: type ? { ...types, [name]: type } : types, weights };
}

/** @param {DataColumn} column @param {number} weight @returns {DataChoices} */
function withWeight({ name }, weight) {
  const now = wanted ?? /** @type {Data} */ (data).choices;
  const weights = without(now.weights, name);
  return { ...now, weights: weight === 1 ? weights : { ...weights, [name]: weight } };
}

/** @template T @param {Record<string, T>} all @param {string} name @returns {Record<string, T>} */
function without(all, name) {
  return Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
}

/** What a column is, or is to be. @param {DataColumn} column */
function useNow(column) {
  if (!wanted || !data) return column.use;
  const { drop, id, use } = wanted;
  if (drop.includes(column.name)) return "dropped";
  if (id === column.name) return "name";
  if (column.use === "dropped" || column.use === "name" || use.includes(column.name)) return "used";
  return column.use;
}

/** The choices with another use of one column. @param {DataColumn} column @param {Use} use @returns {DataChoices} */
function withUse({ name, use: before, reason }, use) {
  const now = wanted ?? /** @type {Data} */ (data).choices;
  const others = (/** @type {string[]} */ names) => names.filter((other) => other !== name);
  const looksLikeName = before === "name" || (before === "ignored" && Boolean(reason));
  const isUsed = use === "used";
  return {
    ...now,
    types: isUsed ? now.types : without(now.types, name),
    weights: isUsed ? now.weights : without(now.weights, name),
    id: use === "name" ? name : now.id === name ? null : now.id,
    drop: use === "dropped" ? [...others(now.drop), name] : others(now.drop),
    use: isUsed && looksLikeName ? [...others(now.use), name] : others(now.use),
  };
}

/** @param {import("../session/types.js").Way} way */
function chooseWay({ kind, text, image, features }) {
  const now = wanted ?? /** @type {Data} */ (data).choices;
  choose({ ...now, kind, text, image, features, types: {}, weights: {}, id: now.id === text ? null : now.id, use: now.use.filter((name) => name !== text) });
}

/** @param {DataChoices} choices */
function choose(choices) {
  // What is chosen and taken back is no change; while the data is read again, it is one.
  wanted = !applying && data && asText(choices) === asText(data.choices) ? null : choices;
  say("");
  show();
  if (isFree()) return apply();
}

/** The same text for the same choices, in whatever order they were made. @param {DataChoices} choices */
function asText(choices) {
  const { drop, use, types, weights, ...rest } = choices;
  const sets = [drop, use, Object.entries(types), Object.entries(weights)].map((set) => [...set].sort());
  return JSON.stringify([sets, Object.entries(rest).sort()]);
}

/** Whether nothing was said, so that a change needs no second click. */
function isFree() {
  return !question.value?.can_undo && !question.value?.can_redo;
}

async function apply() {
  if (!wanted || applying) return;
  applying = true;
  const sent = wanted;
  byId("data-bar").hidden = true;
  say("Reading the data again …");
  const done = await change("data", { ...sent, revision: question.value?.versions.session });
  await load();
  applying = false;
  // What was chosen meanwhile goes on from what was sent, unless that was refused; a notice says why.
  const goesOn = Boolean(done) && wanted !== sent;
  if (!goesOn) wanted = null;
  show();
  say(done?.message ?? "");
  if (goesOn && isFree()) return apply();
}

/** @param {string} text */
function say(text) {
  byId("data-said").textContent = text;
}

/** @param {HTMLElement} list */
function focusedKey(list) {
  const active = document.activeElement;
  return active instanceof HTMLElement && list.contains(active) ? active.dataset.key : undefined;
}
