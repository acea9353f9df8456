/** What a person does to clusters and items: forms that say what would change before anything is saved. */

import { Refused, Unreachable, post } from "../session/api.js";
import { counted, el } from "../page/dom.js";
import { recordLink, showNotice } from "../page/notices.js";
import { clusters } from "../session/state.js";
import { change } from "../session/sync.js";

export const MOST = 5000; // items that the server moves at once
const LISTED = 8; // answers that are named where an act takes back more
const NONE = 2 ** 31 - 1; // no cluster has this number

/** @typedef {import("../session/types.js").Cluster} Cluster */

/**
 * @typedef {object} Act
 * @property {string} words what stands before the choice
 * @property {"move" | "merge"} path
 * @property {() => [string, string][]} choices value and title of each
 * @property {(value: string) => object} body what is sent
 * @property {string} save on the button
 */

/** The form that is open: one at most.
 * @type {{form: HTMLElement, refresh: () => void, origin: Element | null} | null} */
let current = null;

clusters.on(() => {
  // Its place may have gone with the cluster.
  if (current && !current.form.isConnected) current = null;
  current?.refresh();
});

/** Close the open form and give the focus back; whether there was one. */
export function closeForm() {
  const was = current;
  current = null;
  if (!was) return false;
  const focused = was.form.contains(document.activeElement);
  was.form.remove();
  if (focused && was.origin instanceof HTMLElement && was.origin.isConnected) was.origin.focus();
  return true;
}

/**
 * Open a form at the end of an element: a choice, what it would change, and a button that saves it.
 *
 * @param {Element} place
 * @param {Act} act
 * @param {Element | null} origin what gets the focus when it is closed
 */
export function openForm(place, act, origin) {
  closeForm();
  const choice = el("select", { "aria-label": act.words, onchange: () => (forget(), look()) });
  const outcome = el("span", { class: "outcome", role: "status" });
  const save = el("button", { class: "save", "aria-disabled": "true", onclick: () => run() }, act.save);
  const cancel = el("button", { class: "quiet", onclick: closeForm }, "Cancel");
  const label = el("span", { "aria-hidden": "true" }, act.words);
  const form = el("div", { class: "act", role: "group", "aria-label": act.words }, label, choice, save, cancel, outcome);
  let n_looks = 0;
  let anyway = false; // whether answers in the way would be taken back

  const fill = () => {
    const before = choice.options.length ? choice.value : null;
    const options = act.choices().map(([value, title]) => el("option", { value }, title));
    choice.replaceChildren(...options);
    if (options.some((option) => option.value === before)) choice.value = before;
    else forget();
    choice.hidden = options.length < 2;
  };
  const forget = () => {
    save.setAttribute("aria-disabled", "true");
    outcome.replaceChildren("…");
  };
  // What was seen of the same choice stands until the new look arrives: a press of "save" meanwhile is not lost.
  const look = async () => {
    const asked = ++n_looks;
    const found = await preview(act.path, act.body(choice.value));
    if (asked !== n_looks || current?.form !== form) return;
    ({ anyway } = found);
    save.setAttribute("aria-disabled", String(!found.possible));
    save.textContent = anyway ? `${act.save} anyway` : act.save;
    outcome.classList.toggle("problem", anyway || !found.possible);
    outcome.replaceChildren(...found.words);
  };
  const run = async () => {
    if (save.getAttribute("aria-disabled") === "true") return;
    save.setAttribute("aria-disabled", "true");
    const done = await change(act.path, { ...act.body(choice.value), anyway });
    if (!done) return look();
    closeForm();
    return showNotice(`${done.message} Undo takes it back.`);
  };

  place.append(form);
  current = { form, origin, refresh: () => (fill(), look()) };
  fill();
  look();
  (choice.hidden ? save : choice).focus();
  keepInView(form);
}

/** Scroll to a form when its words come, and when what is above it or around it gets another size, as long as a person
 * is in it. @param {HTMLElement} form */
function keepInView(form) {
  const watcher = new ResizeObserver(() => {
    if (!form.isConnected) watcher.disconnect();
    else if (form.contains(document.activeElement)) form.scrollIntoView({ block: "nearest" });
  });
  const list = form.parentElement?.parentElement;
  for (const part of [form, list, form.closest(".scroll")]) if (part) watcher.observe(part);
}

/** Ask in which cluster the items belong. @param {Element} place @param {number[]} rows @param {number[]} from ids of
 * their clusters, which are no choice or, of several, come first @param {Element | null} origin */
export function openMove(place, rows, from, origin) {
  const one = rows.length === 1;
  const others = () => {
    const found = (clusters.value?.clusters ?? []).filter((cluster) => !one || !from.includes(cluster.id));
    found.sort((a, b) => rank(a.id) - rank(b.id) || a.id - b.id);
    return /** @type {[string, string][]} */ (found.map((cluster) => [String(cluster.id), choiceOf(cluster)]));
  };
  const rank = (/** @type {number} */ id) => (from.includes(id) ? from.indexOf(id) : from.length);
  /** @type {[string, string]} */
  const own = ["", "a cluster of their own"];
  openForm(
    place,
    {
      words: one ? "Move to" : "These belong together, in",
      path: "move",
      choices: () => (one ? others() : [...others(), own]),
      body: (value) => ({ rows, to: value === "" ? null : numberOf(Number(value)), version: version() }),
      save: one ? "Move" : "Save",
    },
    origin,
  );
}

/** Ask whether an item that was carried onto a cluster is to be moved there. @param {Element} place @param {number} row
 * @param {string} name @param {Cluster} to */
export function openMoveTo(place, row, name, to) {
  openForm(
    place,
    {
      words: `Move ${name} to ${titleOf(to)}`,
      path: "move",
      choices: () => [["", ""]],
      body: () => ({ rows: [row], to: numberOf(to.id), version: version() }),
      save: "Move",
    },
    place.querySelector("button"),
  );
}

/** Say that an item does not belong where it is. @param {Element} place @param {number} row
 * @param {Element | null} origin */
export function openMoveOut(place, row, origin) {
  openForm(
    place,
    {
      words: "Does not belong here",
      path: "move",
      choices: () => [["", ""]],
      body: () => ({ rows: [row], to: null, version: version() }),
      save: "Take it out",
    },
    origin,
  );
}

/** Choose a second cluster to make one of both. @param {Element} place @param {number} id
 * @param {Element | null} origin */
export function openMerge(place, id, origin) {
  openForm(
    place,
    {
      words: "Merge with",
      path: "merge",
      choices: () =>
        (clusters.value?.clusters ?? [])
          .filter((cluster) => cluster.id !== id)
          .sort((a, b) => a.id - b.id)
          .map((cluster) => [String(cluster.id), choiceOf(cluster)]),
      body: (value) => ({ a: numberOf(id), b: numberOf(Number(value)), version: version() }),
      save: "Merge",
    },
    origin,
  );
}

/** The present number of a cluster, which changes take. @param {number} id */
export function numberOf(id) {
  return clusters.value?.clusters.find((cluster) => cluster.id === id)?.number ?? NONE;
}

/** The labels that these numbers belong to: a change by older ones is refused. */
export function version() {
  return clusters.value?.labels;
}

/** A cluster among others to choose from: without a name, with what its content suggests. @param {Cluster} cluster */
function choiceOf(cluster) {
  const title = titleOf(cluster);
  return cluster.name || !cluster.suggestion ? title : `${title}: ${plainText(cluster.suggestion)}`;
}

/** A suggestion without the marks that keep Arabic in its place. @param {string} suggestion */
export function plainText(suggestion) {
  return suggestion.replace(/[\u200e\u2068\u2069]/g, "");
}

/** @param {Cluster} cluster */
export function titleOf(cluster) {
  return cluster.name ? `${cluster.id} ${cluster.name}` : `Cluster ${cluster.id}`;
}

/** @typedef {{possible: boolean, anyway: boolean, words: (string | Node)[]}} Outlook */

/** Whether it is possible, whether only if answers are taken back, and what it would change, in words.
 * @param {string} path @param {object} body @returns {Promise<Outlook>} */
async function preview(path, body, anyway = false) {
  const no = (/** @type {(string | Node)[]} */ ...words) => ({ possible: false, anyway: false, words });
  try {
    const { n_changed, taken_back } = await post(path, { ...body, anyway, dry: true });
    const along = n_changed - (/** @type {{rows?: number[]}} */ (body).rows?.length ?? n_changed);
    const went = along > 0 ? ` ${along} of them ${along === 1 ? "goes" : "go"} along: answers tie them to what you move, or they lie close to it.` : "";
    return { possible: true, anyway, words: anyway ? against(taken_back, moved(n_changed) + went) : [moved(n_changed) + went] };
  } catch (error) {
    if (error instanceof Unreachable) return no("The server does not answer.");
    if (!(error instanceof Refused)) throw error;
    if (error.refusal?.error === "contradiction") {
      if (!anyway) return preview(path, body, true);
      const links = error.refusal.chain.filter((link) => link.index !== null);
      const said = links.map((link) => el("li", {}, recordLink(link.index ?? 0, link.number), ` said ${link.answer}`));
      return no("Your answers say otherwise. Change one of them first: ", el("ul", {}, said));
    }
    return no(error.refusal?.error === "stale" ? "The clusters have just changed." : error.message);
  }
}

/** What is taken back, as a count and a list, and what changes then.
 * @param {{index: number, number: number | null, kind: string}[]} answers @param {string} words */
function against(answers, words) {
  const listed = answers.slice(0, LISTED).map((answer) => el("li", {}, recordLink(answer.index, answer.number, answer.kind)));
  if (answers.length > LISTED) listed.push(el("li", {}, `and ${answers.length - LISTED} more`));
  return [`Your answers say otherwise: this takes back ${counted(answers.length, "answer")}. ${words} Taken back: `, el("ul", {}, listed)];
}

/** @param {number} n */
function moved(n) {
  return n === 0 ? "No item changes its cluster." : `${counted(n, "item")} ${n === 1 ? "changes its" : "change their"} cluster.`;
}
