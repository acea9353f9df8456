/** The slider over past clusterings: the map as it was after so many answers. */

import { byId, counted } from "../page/dom.js";
import { past, question } from "../session/state.js";
import { showPast } from "../session/sync.js";

export function startTimeline() {
  const slider = byId("past");
  const words = byId("past-words");
  const now = byId("past-now");

  const show = () => {
    const n = question.value?.progress?.n_answers ?? 0;
    slider.max = String(n);
    slider.disabled = n === 0;
    slider.value = String(past.value ?? n);
    words.textContent = past.value === null ? "Now" : `After ${counted(past.value, "answer")}`;
    slider.setAttribute("aria-valuetext", words.textContent);
    now.hidden = byId("panel-now").hidden = past.value === null;
  };

  const go = (/** @type {number | null} */ at) => showPast(at).catch(() => past.set(null));
  slider.addEventListener("input", () => go(slider.value === slider.max ? null : Number(slider.value)));
  now.addEventListener("click", () => go(null));
  past.on(show);
  // An answer brings the map back to the present: it is about the clusters of now.
  question.on((value, before) => {
    const changed = value?.versions.session !== before?.versions.session;
    if (changed && past.value !== null) past.set(null);
    show();
  });
}
