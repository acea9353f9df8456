/** The page: every part is started once, then each listens to the signals of state.js. */

import {
  chooseByArrow,
  finish,
  markUnsure,
  n_placed,
  placeByKey,
  placeOnNew,
  startBoard,
  startJoin,
  takeBack,
} from "./board/board.js";
import { startMode, toggleMode } from "./board/mode.js";
import { closeForm } from "./panel/acts.js";
import { startCarry } from "./panel/carry.js";
import { startClusters, toggleFocus, toggleFocusedProfile } from "./panel/clusters.js";
import { byId, counted } from "./page/dom.js";
import { startExport } from "./page/export.js";
import { showHistory, startHistory } from "./panel/history.js";
import { startItems } from "./panel/items.js";
import { startKeys, toggleLegend } from "./page/keys.js";
import { MapView } from "./map/map.js";
import { startPeek } from "./map/peek.js";
import { startPointer } from "./map/pointer.js";
import { startProgress } from "./panel/progress.js";
import { startQuestion, tell } from "./page/question.js";
import { focus, labels, mode, opened, past, question, settings } from "./session/state.js";
import { busy, change, close, start } from "./session/sync.js";
import { isLargeMap, setLargeMap, showTab, startTabs } from "./panel/tabs.js";
import { showNotice } from "./page/notices.js";
import { hideTip, startTips } from "./page/tips.js";
import { startData } from "./start/data.js";
import { closeWelcome, startWelcome } from "./start/welcome.js";
import { startTimeline } from "./map/timeline.js";
import { startWhy, toggleWhy } from "./page/why.js";

// The cookie is set by now: the token is not to stay in the address bar.
if (location.search) history.replaceState(null, "", location.pathname);

const GROWN = "Rows were added here; undo goes no further back on the page.";
// What is not saved yet goes first: an open form, a card that was placed.
const undo = () => closeForm() || takeBack() || (question.value?.can_undo ? change("undo", {}) : isStopped() && showNotice(GROWN));
const redo = () => question.value?.can_redo && change("redo", {});

startTips();
startWelcome();
startMode();
startQuestion();
startBoard();
startProgress();
startTabs();
const map = new MapView();
startPointer(map);
startPeek(map);
startTimeline();
startClusters();
startItems();
startHistory();
startCarry();
startData();
startExport();
startWhy();
startKeys({
  same: () => tell("same"),
  different: () => tell("different"),
  unsure: () => (mode.value === "board" ? markUnsure() : tell("unsure")),
  undo,
  redo,
  history: () => showHistory("all"),
  map: toggleMap,
  profile: () => {
    showTab("clusters");
    toggleFocusedProfile();
  },
  why: () => mode.value === "pairs" && toggleWhy(),
  board: toggleMode,
  choose: chooseByArrow,
  pile: placeByKey,
  new_pile: placeOnNew,
  join: startJoin,
  finish,
  help: toggleLegend,
  cluster: (event) => focusOn(Number(event.key)),
  escape,
});

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);
byId("help").addEventListener("click", toggleLegend);
byId("close").addEventListener("click", close);
byId("large").addEventListener("click", toggleMap);

settings.on((value) => {
  if (!value) return;
  byId("close").hidden = !value.can_close;
  document.title = `${value.name} · cobras`;
  byId("dataset").textContent = `${value.name} · ${counted(value.n_items, "item")}`;
});

const showUndo = () => {
  const can_undo = question.value?.can_undo || n_placed.value > 0;
  byId("undo").setAttribute("aria-disabled", String(!can_undo || busy.value));
  byId("undo").title = isStopped() ? GROWN : "";
  byId("redo").setAttribute("aria-disabled", String(!question.value?.can_redo || busy.value));
};
question.on(showUndo);
busy.on(showUndo);
n_placed.on(showUndo);

start();

/** Whether there are answers that undo does not reach: then rows were added after them. */
function isStopped() {
  const now = question.value;
  return Boolean(now && now.state !== "computing" && !now.can_undo && now.progress.n_answers);
}

function toggleMap() {
  setLargeMap(!isLargeMap());
  if (isLargeMap()) byId("map-frame").focus({ preventScroll: true });
}

/** @param {number} number */
function focusOn(number) {
  const colour = labels.value?.colours[labels.value.ids.indexOf(number)];
  if (colour === undefined) return;
  if (!isLargeMap()) showTab("clusters");
  toggleFocus(colour);
}

/** Close the innermost of: an explanation, a menu, a text box, the lasso, an item, the focus, the past, the welcome. */
function escape() {
  const active = document.activeElement;
  if (hideTip()) return;
  if (byId("legend").open) byId("legend").close();
  else if (closeForm()) return;
  else if (byId("export").open) byId("export").open = false;
  else if (active instanceof HTMLInputElement && active.type !== "range") active.blur();
  else if (byId("lasso-tool").getAttribute("aria-pressed") === "true") byId("lasso-tool").click();
  else if (opened.value !== null) opened.set(null);
  else if (focus.value) focus.set(null);
  else if (past.value !== null) byId("past-now").click();
  else if (!closeWelcome()) setLargeMap(false);
}
