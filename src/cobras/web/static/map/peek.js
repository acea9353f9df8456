/** The item under the pointer, in brief beside it; and the opened one, in full, in a corner. */

import { get } from "../session/api.js";
import { openMove, openMoveOut } from "../panel/acts.js";
import { singleCard } from "../cards/cards.js";
import { byId, el } from "../page/dom.js";
import { clusterTag, preview, fetchThumbnail, rowTag } from "../cards/thumbs.js";
import { clusters, focus, isHidden, labels, onQuestion, opened, past, placeOf, pointed } from "../session/state.js";

/** @param {import("./map.js").MapView} map */
export function startPeek(map) {
  const hover = byId("hover-card");
  const full = byId("open-card");

  pointed.on(async (row) => {
    hover.hidden = true;
    if (row === null || !map.frame.matches(":hover") || row === opened.value) return;
    const item = await fetchThumbnail(row).catch(() => null);
    if (!item || pointed.value !== row) return;
    hover.replaceChildren(preview(item), el("p", {}, el("b", {}, item.id), clusterTag(row)));
    hover.hidden = false;
    const [x, y] = map.place(row) ?? [0, 0];
    const [width, height] = [hover.offsetWidth, hover.offsetHeight];
    const left = Math.max(4, Math.min(map.width - width - 4, x + 14));
    const top = y + 14 + height > map.height ? y - 14 - height : y + 14;
    hover.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(4, top))}px)`;
  });

  opened.on(async (row) => {
    full.hidden = row === null;
    if (row === null) return;
    hover.hidden = true;
    const item = await get(`item/${row}`).catch(() => null);
    if (!item || opened.value !== row) return;
    const close = el(
      "button",
      { class: "icon", "aria-label": "Close this item", onclick: () => opened.set(null) },
      "×",
    );
    const tag = placeOf(row) < 0 ? rowTag(row, item.cluster_id, item.colour) : clusterTag(row);
    const head = el("header", {}, el("b", {}, el("bdi", {}, item.id)), tag, clusterButton(row), close);
    const form = full.dataset.row === String(row) ? full.querySelector(".act") : null;
    const acts = isHidden(row) ? null : el("footer", {}, actButtons(row, item.cluster_id), form);
    full.dataset.row = String(row);
    const focused = full.contains(document.activeElement) ? document.activeElement : null;
    full.replaceChildren(...[head, singleCard(item), acts].filter((part) => part !== null));
    if (focused?.isConnected) focused.focus();
    else if (focused) full.focus();
    if (origin !== null) full.focus();
  });

  // Whoever opens an item by a key goes on in its card, and comes back when it is closed.
  /** @type {HTMLElement | null} */
  let origin = null;
  opened.on((row) => {
    const active = document.activeElement;
    if (row !== null && active instanceof HTMLElement && active.closest("#panel")) origin = active;
    if (row !== null) return;
    if (origin?.isConnected && full.contains(active)) origin.focus();
    origin = null;
  });

  // The cluster of an opened item is hidden while a question is about it, and names change.
  onQuestion(() => opened.value !== null && isHidden(opened.value) && opened.set(opened.value));
  clusters.on(() => opened.value !== null && opened.set(opened.value));
}

/** What can be said about an item where it is. @param {number} row @param {number} id of its cluster */
function actButtons(row, id) {
  if (past.value !== null) return null;
  const place = () => byId("open-card").querySelector("footer");
  const out = el("button", { onclick: () => openMoveOut(place(), row, out) }, "Does not belong here");
  const move = el("button", { onclick: () => openMove(place(), [row], [id], move) }, "Move to …");
  return (clusters.value?.clusters.length ?? 0) > 1 ? el("p", {}, out, move) : el("p", {}, out);
}

/** @param {number} row */
function clusterButton(row) {
  const showCluster = () => {
    const found = labels.value;
    if (found) focus.set({ colour: found.colours[found.of[placeOf(row)]] });
  };
  if (isHidden(row) || placeOf(row) < 0) return null;
  return el("button", { class: "link", onclick: showCluster }, "look at its cluster");
}
