"""The widget with the sandbox and the height limits of a notebook output in VS Code; not VS Code itself."""

from __future__ import annotations

import base64
from contextlib import closing
from typing import Any

import comm
import pytest
from playwright.sync_api import Page, Route, expect

from cobras import Session
from cobras.data import load_demo
from cobras.web.notebook.widget import Widget
from tests.web.notebook.hosts import FRAME
from tests.web.notebook.test_widget import Notebook
from tests.web.page import browser as tabs
from tests.web.page.test_browser_views import count_drawn_pixels

ADDRESS = "http://localhost/"  # nothing is there: the test itself replies
POLICY = "default-src 'none'; script-src 'self'; frame-src 'self'; style-src 'unsafe-inline'"
SANDBOX = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads allow-forms"
OUTER = f"""<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<iframe src="outputs" sandbox="{SANDBOX}" style="width: 1200px; height: 1000px"></iframe>"""
# As anywidget does, the script is imported from memory. An output is cut off at the height that was last measured.
OUTPUTS = """<!DOCTYPE html><base href="https://localhost/elsewhere/">
<div id="output" style="max-height: 0; overflow: hidden"><div></div></div>
<script type="module">
const output = document.querySelector("#output"), listeners = {}, traits = { height: 720 };
const model = {
  get: (name) => traits[name],
  set() {},
  save_changes() {},
  on: (name, listener) => (listeners[name] ??= new Set()).add(listener),
  off: (name, listener) => listeners[name].delete(listener),
  send: (message) => toPython(message),
};
const url = URL.createObjectURL(new Blob([await readScript()], { type: "text/javascript" }));
(await import(url)).default.render({ model, el: output.firstChild });
const view = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
setInterval(async () => {
  for (const [content, buffers] of await fromPython())
    for (const listener of listeners["msg:custom"]) listener(content, buffers.map(view));
}, 20);
const measure = ([{ contentRect }]) => (output.style.maxHeight = `${contentRect.height}px`);
new ResizeObserver(measure).observe(output.firstChild);
window.setHeight = (height) => {
  traits.height = height;
  for (const listener of listeners["change:height"]) listener();
};
</script>"""


def connect(page: Page, notebook: Notebook, widget: Widget) -> None:
    """Give the page what a notebook gives: the script of the widget, and messages to it and from it."""

    def send(content: dict[str, Any]) -> None:
        widget.comm.handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

    def receive() -> list[tuple[Any, list[str]]]:
        found = [notebook.messages.pop(0) for _ in range(len(notebook.messages))]
        return [
            (content, [base64.b64encode(b).decode() for b in buffers or ()]) for content, buffers in found
        ]

    page.expose_function("readScript", lambda: widget._esm)
    page.expose_function("toPython", send)
    page.expose_function("fromPython", receive)


def reply(route: Route) -> None:
    """Reply with the outer page at the address, and with the outputs below it."""
    route.fulfill(content_type="text/html", body=OUTER if route.request.url == ADDRESS else OUTPUTS)


def test_heights_keys_pictures_map_and_export(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook, digits = Notebook(), load_demo()
    monkeypatch.setattr(comm, "create_comm", notebook.create_comm)
    session = Session(digits.X, random_state=0)
    with closing(session.widget(digits)) as widget, tabs.chromium() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 1100})
        context.add_init_script(
            "localStorage['cobras-mode'] = 'pairs'; localStorage['cobras-welcome'] = 'seen'"
        )
        context.set_default_timeout(tabs.PATIENCE)
        context.route(f"{ADDRESS}**", reply)
        with tabs.watch_console(context, "escape its sandboxing") as page:
            connect(page, notebook, widget)
            page.goto(ADDRESS)
            outputs = page.frame_locator("iframe")
            outputs.frame_locator(FRAME).locator(tabs.SHOWN).wait_for()
            outer, frame = page.frames[1:]
            for height in (720, 900, 600):
                outer.evaluate("setHeight", height)
                expect(outputs.locator(FRAME)).to_have_css("height", f"{height}px")
            frame.locator("#words").click()
            for n in range(1, 4):
                pair = tabs.open_pair(frame)
                page.keyboard.press("s" if digits.labels[pair[0]] == digits.labels[pair[1]] else "d")
                tabs.wait_for_other(frame, pair)
                tabs.expect_answers(frame, n)
            assert session.n_answers == 3
            frame.wait_for_function(tabs.LOADED)
            assert frame.locator("#cards img").evaluate_all("all => all.map((i) => i.naturalWidth)") == [8, 8]
            tabs.wait_until(page, lambda: count_drawn_pixels(frame) > 1000)
            frame.locator("#export summary").click()
            with page.expect_download() as download:
                frame.get_by_text("Table (CSV)").click()
            assert len(download.value.path().read_text().splitlines()) == len(digits) + 1
        context.close()
