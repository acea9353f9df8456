/** What the answer to the open question decides: on demand, because it tells where both items are now. */

import { get } from "../session/api.js";
import { byId } from "./dom.js";
import { mode, question } from "../session/state.js";

let on = false;

export function startWhy() {
  byId("why-button").addEventListener("click", toggleWhy);
  question.on(show);
  mode.on(show);
}

export function toggleWhy() {
  on = !on;
  byId("why-button").setAttribute("aria-pressed", String(on));
  return show();
}

async function show() {
  const asked = question.value;
  const pairs = mode.value === "pairs" && asked?.state === "asking";
  byId("why-button").hidden = !pairs;
  const line = byId("why");
  if (!on || !pairs) {
    line.hidden = true;
    return;
  }
  const found = await get("why").catch(() => null);
  // Another question may have come meanwhile; that fetches its own.
  if (!found || found.version !== question.value?.versions.session || !on) return;
  line.textContent = found.words || "This method does not say what the answer decides.";
  line.hidden = false;
}
