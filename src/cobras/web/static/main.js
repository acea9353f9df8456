/** The page: every part is started once, then each listens to the signals of state.js. */

import { startClusters, toggleFocus } from "./panel/clusters.js";
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
import { focus, labels, opened, past, question, settings } from "./session/state.js";
import { busy, change, start } from "./session/sync.js";
import { isLargeMap, setLargeMap, showTab, startTabs } from "./panel/tabs.js";
import { startTimeline } from "./map/timeline.js";

// The cookie is set by now: the token is not to stay in the address bar.
if (location.search) history.replaceState(null, "", location.pathname);

const undo = () => question.value?.can_undo && change("undo", {});
const redo = () => question.value?.can_redo && change("redo", {});

startQuestion();
startProgress();
startTabs();
const map = new MapView();
startPointer(map);
startPeek(map);
startTimeline();
startClusters();
startItems();
startHistory();
startExport();
startKeys({
  same: () => tell("same"),
  different: () => tell("different"),
  unsure: () => tell("unsure"),
  undo,
  redo,
  history: () => showHistory("all"),
  map: toggleMap,
  help: toggleLegend,
  cluster: (event) => focusOn(Number(event.key)),
  escape,
});

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);
byId("help").addEventListener("click", toggleLegend);
byId("large").addEventListener("click", toggleMap);

settings.on((value) => {
  if (!value) return;
  document.title = `${value.name} · cobras`;
  byId("dataset").textContent = `${value.name} · ${counted(value.n_items, "item")}`;
});

const showUndo = () => {
  byId("undo").setAttribute("aria-disabled", String(!question.value?.can_undo || busy.value));
  byId("redo").setAttribute("aria-disabled", String(!question.value?.can_redo || busy.value));
};
question.on(showUndo);
busy.on(showUndo);

start();

function toggleMap() {
  setLargeMap(!isLargeMap());
  if (isLargeMap()) byId("map-frame").focus({ preventScroll: true });
}

/** @param {number} number */
function focusOn(number) {
  const colour = labels.value?.colours[number];
  if (colour === undefined) return;
  if (!isLargeMap()) showTab("clusters");
  toggleFocus(colour);
}

/** Close the innermost of: a menu, a text box, the lasso, an item, the focus, the past. */
function escape() {
  const active = document.activeElement;
  if (byId("legend").open) byId("legend").close();
  else if (byId("export").open) byId("export").open = false;
  else if (active instanceof HTMLInputElement && active.type !== "range") active.blur();
  else if (byId("lasso-tool").getAttribute("aria-pressed") === "true") byId("lasso-tool").click();
  else if (opened.value !== null) opened.set(null);
  else if (focus.value) focus.set(null);
  else if (past.value !== null) byId("past-now").click();
  else setLargeMap(false);
}
