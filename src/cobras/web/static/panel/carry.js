/** Carrying an item, from a list or the map, onto a cluster: it opens the same form as "Move to …", which says what would change. */

import { startDrag } from "../board/drag.js";
import { fetchThumbnail } from "../cards/thumbs.js";
import { byId, el } from "../page/dom.js";
import { clusters, isHidden, past } from "../session/state.js";
import { openMoveTo } from "./acts.js";
import { showTab } from "./tabs.js";

/** @type {(carried: HTMLElement, event: PointerEvent) => void} */
let begin = () => {};

/** Begin to carry an item of the map; whether it may be carried. @param {number} row @param {PointerEvent} event */
export function carryRow(row, event) {
  if (isHidden(row) || past.value !== null) return false;
  // Where it can be dropped is in sight once it is on its way.
  const carried = el("span", { "data-row": row, oncarry: () => showTab("clusters") });
  fetchThumbnail(row).then(
    (item) => carried.setAttribute("aria-label", `Item ${item.id}`),
    () => {},
  );
  begin(carried, event);
  return true;
}

export function startCarry() {
  begin = startDrag(byId("panel").parentElement, {
    sources: ".thumb[data-row], #item-rows tr[data-row], #open-card[data-row] header",
    targets: "#cluster-list > li[data-cluster]",
    look: (carried) => `Item ${nameOf(carried)}`,
    drop: (carried, target) => {
      const row = rowOf(carried);
      const to = clusters.value?.clusters.find((cluster) => cluster.id === Number(target.dataset.cluster));
      // What is asked now must not give its cluster away, and the past cannot be changed.
      if (to && !isHidden(row) && past.value === null) openMoveTo(target, row, nameOf(carried), to);
    },
  });
}

/** @param {HTMLElement} carried */
function rowOf(carried) {
  return Number(carried.closest("[data-row]")?.getAttribute("data-row"));
}

/** @param {HTMLElement} carried */
function nameOf(carried) {
  const label = carried.getAttribute("aria-label")?.replace(/^Item /, "");
  return label ?? carried.querySelector("bdi")?.textContent ?? String(rowOf(carried));
}
