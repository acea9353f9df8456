"""What the page shows: the map, the four kinds of cards, a phone, and data that tries to be a program."""

from __future__ import annotations

import contextlib
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from cobras.data import Dataset, Series, Text, load_demo, read_dataset
from cobras.data.dataset import Card
from cobras.web import view
from cobras.web.map import Map
from tests.web.page.browser import (
    answer_by_keys,
    expect_answers,
    open_pair,
    press,
    tab,
    wait_until,
    watch_console,
)
from tests.web.serving import flowers, serving

HOSTILE = "<img src=x onerror=window.hacked=1>"
SCRIPT = "<script>window.hacked=1</script>"


@contextlib.contextmanager
def page_of(browser: Browser, data: Dataset, folder: Path, **options: object) -> Iterator[Page]:
    with (
        serving(data, folder / "data.cobras") as client,
        tab(browser, client.server.address, **options) as page,
    ):
        yield page


def make_dataset(cards: list[Card]) -> Dataset:
    """A data set with these cards, whose features are two groups."""
    n = len(cards)
    X = np.random.default_rng(0).normal(size=(n, 2)) + 9 * (np.arange(n) % 2)[:, None]
    frame = pl.DataFrame({"id": range(n)})
    return Dataset(X, np.arange(n), ("x", "y"), frame, None, cards.__getitem__)


def count_drawn_pixels(page: Page) -> int:
    """How many pixels of the map are not background."""
    return page.evaluate(
        "() => { const c = document.querySelector('#points');"
        "const p = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
        "return p.filter((v) => v !== p[0]).length; }"
    )


def colour_of_corner(page: Page) -> list[int]:
    """The red, green and blue of the first pixel of the map."""
    found = "document.querySelector('#points').getContext('2d').getImageData(0, 0, 1, 1).data"
    return page.evaluate(f"() => [...{found}].slice(0, 3)")


def test_points_are_shown_once_it_is_known_where_they_lie(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before that the map is empty, and those of an older layout stay where they are."""
    start = Map.start
    monkeypatch.setattr(Map, "start", lambda _: None)
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        page.wait_for_selector("#map-frame[data-layout=pending]")
        page.wait_for_timeout(400)
        assert count_drawn_pixels(page) == 0
        assert colour_of_corner(page) == [255, 255, 255]
        shown = client.server._context.map
        start(shown)
        wait_until(page, lambda: count_drawn_pixels(page) > 1000)
        shown.layout, shown.coordinates = "none", np.full_like(shown.coordinates, 0.5)
        with page.expect_response("**/api/map"):
            shown._changed()
        page.wait_for_timeout(1200)  # longer than points move
        assert count_drawn_pixels(page) > 1000


def test_a_pair_that_is_not_among_the_points_lies_where_the_map_says(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the map is known only after the question."""
    start = Map.start
    monkeypatch.setattr(Map, "start", lambda _: None)
    monkeypatch.setattr(view, "N_SHOWN", 5)
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        shown = client.server._context.map
        (row, *_) = [row for row in open_pair(page) if shown.shown.place(row) is None]
        page.wait_for_selector("#map-frame[data-layout=pending]")
        start(shown)
        page.wait_for_selector("#map-frame[data-layout=pca]")
        at = (
            "async (row) => { const { left, right } = (await import('/static/session/state.js')).question.value;"
            "return [left, right].find((item) => item.i === row).at; }"
        )
        wait_until(page, lambda: page.evaluate(at, row) == pytest.approx(shown.place(row)))
        assert shown.place(row) != (0.5, 0.5)


def test_the_map_is_never_black_while_its_size_changes(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, flowers(tmp_path), tmp_path) as page:
        wait_until(page, lambda: count_drawn_pixels(page) > 1000)
        # Called after the observer of the map, and before the browser paints.
        page.evaluate(
            "() => { window.corners = []; const pen = document.querySelector('#points').getContext('2d');"
            "new ResizeObserver(() => window.corners.push(pen.getImageData(0, 0, 1, 1).data[0]))"
            ".observe(document.querySelector('#map-frame')); }"
        )
        wait_until(page, lambda: page.evaluate("() => window.corners.length") == 1)
        page.set_viewport_size({"width": 1000, "height": 700})
        wait_until(page, lambda: page.evaluate("() => window.corners.length") > 1)
        assert set(page.evaluate("() => window.corners")) == {255}


def test_map(browser: Browser, tmp_path: Path) -> None:
    """Points are drawn; a lasso lists its items and greys the rest, which stay; pointing at one shows it."""
    data = flowers(tmp_path)
    with page_of(browser, data, tmp_path) as page:
        answer_by_keys(page, data.labels, 8)
        expect(page.locator("#map-frame")).to_have_attribute("aria-label", "Map of 60 items in 3 clusters")
        wait_until(page, lambda: count_drawn_pixels(page) > 1000)
        page.wait_for_timeout(400)  # until the colours have faded over
        before = count_drawn_pixels(page)
        box = page.locator("#map-frame").bounding_box()
        left, top, right, bottom = (
            box["x"],
            box["y"],
            box["x"] + box["width"] - 1,
            box["y"] + box["height"] - 1,
        )
        middle = (left + right) / 2
        page.locator("#lasso-tool").click()
        page.mouse.move(left, top + 50)
        page.mouse.down()
        for x, y in ((middle, top + 50), (middle, bottom), (left, bottom)):
            page.mouse.move(x, y, steps=4)
        page.mouse.up()
        chip = page.locator("#drop-focus")
        expect(chip).to_contain_text("in the lasso")
        inside = int(chip.inner_text().split()[0])
        assert 0 < inside < len(data)
        expect(page.locator("#item-rows tr")).to_have_count(min(50, inside))
        expect(page.locator("#least-sure")).to_be_hidden()
        page.wait_for_timeout(400)
        wait_until(page, lambda: count_drawn_pixels(page) == before)
        page.keyboard.press("Escape")
        expect(chip).to_be_hidden()
        expect(page.locator("#least-sure")).to_be_visible()
        page.locator("#item-rows tr").first.locator("button").click()
        expect(page.locator("#open-card")).to_contain_text(str(data.ids[0]))
        page.keyboard.press("1")
        expect(page.locator("#cluster-list .in-focus")).to_have_attribute("data-cluster", "1")
        page.keyboard.press("1")
        expect(page.locator("#cluster-list .in-focus")).to_have_count(0)
        page.keyboard.press("m")
        wait_until(page, lambda: page.locator("#map-frame").bounding_box()["height"] > box["height"])


def test_looking_back(browser: Browser, tmp_path: Path) -> None:
    data = flowers(tmp_path)
    with page_of(browser, data, tmp_path) as page:
        answer_by_keys(page, data.labels, 8)
        slider = page.locator("#past")
        slider.fill("0")
        expect(page.locator("#past-words")).to_have_text("After 0 answers")
        expect(page.locator("#map-frame")).to_have_attribute("aria-label", "Map of 60 items in 1 cluster")
        expect(page.locator("#panel-now")).to_be_visible()
        page.locator("#past-now").click()
        expect(page.locator("#panel-now")).to_be_hidden()
        expect(page.locator("#map-frame")).to_have_attribute("aria-label", "Map of 60 items in 3 clusters")
        page.locator("#tab-progress").click()
        expect(page.locator("#charts svg").first).to_have_attribute(
            "aria-label", "Clusters: 1 at first, 3 now"
        )


def test_pictures(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, load_demo(), tmp_path) as page:
        pictures = page.locator("#cards img")
        expect(pictures).to_have_count(2)
        for picture in pictures.all():
            expect(picture).to_have_js_property("naturalWidth", 8)
        expect(page.locator("#cluster-list .thumb img:visible")).to_have_count(10)


AHEAD = """async () => {
  const source = new EventSource("api/events");
  const hello = await new Promise((heard) => source.addEventListener("hello", heard));
  source.close();
  const { ahead } = JSON.parse(hello.data);
  const had = performance.getEntriesByType("resource").map((entry) => entry.name);
  const fetched = (row) => had.some((name) => name.includes(`/image/${row}?size=large`));
  return ahead.length && ahead.every(fetched) && ahead;
}"""


def test_pictures_of_the_next_pair_are_fetched_before_the_answer(browser: Browser, tmp_path: Path) -> None:
    with page_of(browser, load_demo(), tmp_path) as page:
        for key in "dsds":
            for _ in range(600):
                if ahead := page.evaluate(AHEAD):
                    break
                page.wait_for_timeout(50)
            press(page, key)
            assert set(open_pair(page)) <= set(ahead)


def test_texts(browser: Browser, tmp_path: Path) -> None:
    texts = [f"The quick brown fox {k} jumps over the lazy dog." for k in range(40)]
    with page_of(browser, make_dataset([Text(text) for text in texts]), tmp_path) as page:
        i, j = open_pair(page)
        expect(page.locator("#cards .prose")).to_have_text([texts[i], texts[j]])
        expect(page.locator("#cards mark")).to_have_text([str(i), str(j)])


SIZES = "lines => lines.map((line) => line.getBBox()).map((box) => [box.width, box.height])"


def test_series(browser: Browser, tmp_path: Path) -> None:
    """Two of different lengths and heights are drawn on the same axes."""
    waves = (1 + np.arange(40)[:, None]) * np.sin(np.linspace(0, 9, 200) + np.arange(40)[:, None])
    waves[:, 50:60] = np.nan
    series = [wave[None, : 200 - 3 * k] for k, wave in enumerate(waves)]
    with page_of(browser, make_dataset([Series(channels) for channels in series]), tmp_path) as page:
        drawings = page.locator("#cards .drawing svg")
        expect(drawings).to_have_count(2)
        lines = page.locator("#cards .series-line")
        expect(lines).to_have_count(2)
        a, b = (series[row] for row in open_pair(page))
        (wide_a, high_a), (wide_b, high_b) = lines.evaluate_all(SIZES)
        assert wide_a / wide_b == pytest.approx((a.size - 1) / (b.size - 1), rel=0.01)
        assert high_a / high_b == pytest.approx(np.ptp(a[a == a]) / np.ptp(b[b == b]), rel=0.01)
        assert max(wide_a, wide_b) == pytest.approx(600)
        page.get_by_text("Both in one drawing").click()
        expect(page.locator("#cards .series-line")).to_have_count(4)


def test_data_that_tries_to_be_a_program(browser: Browser, tmp_path: Path) -> None:
    """Markup in names, cells and column names is shown as it stands, everywhere."""
    rng = np.random.default_rng(0)
    columns = {
        "id": [f"{HOSTILE}{k}" for k in range(40)],
        f"<b>{HOSTILE}": rng.normal(size=40) + 9 * (np.arange(40) % 2),
        "other": [f"{SCRIPT}{k}" for k in range(40)],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "bad.csv")
    with page_of(browser, read_dataset(tmp_path / "bad.csv", id="id"), tmp_path) as page:
        i, j = open_pair(page)
        cells = page.locator("#cards td").all_text_contents()  # columns that are not used are folded
        assert f"{SCRIPT}{i}" in cells
        assert f"{SCRIPT}{j}" in cells
        expect(page.locator("#cards")).to_contain_text(f"<b>{HOSTILE}")
        name = page.get_by_label("Name of cluster 0")
        name.fill(HOSTILE)
        name.press("Enter")
        press(page, "d")
        for opened in ("items", "history", "progress", "clusters"):
            page.locator(f"#tab-{opened}").click()
            page.wait_for_timeout(100)
        page.locator("#tab-items").click()
        page.locator("#item-rows tr").first.locator("button").click()
        expect(page.locator("#open-card")).to_contain_text(HOSTILE)
        assert page.locator('main script, main img[src="x"], main b img').count() == 0
        assert page.evaluate("window.hacked") is None


def test_a_page_of_another_origin(browser: Browser, tmp_path: Path) -> None:
    """It can neither read nor answer nor frame, though the browser holds the cookie and both are on 127.0.0.1."""
    data = flowers(tmp_path)
    with serving(data, tmp_path / "flowers.cobras") as client, other_site() as other:
        server = f"http://127.0.0.1:{client.server.port}"
        context = browser.new_context()
        with watch_console(context) as page:
            page.goto(client.server.address)
            expect_answers(page, 0)
            before = client.look("question")["versions"]["session"]
            pair = client.look("question")["pair"]
            # The browser reports what it blocks on the console; that is the point.
            with watch_console(context, "CORS|blocked|403|ERR_|refused|Refused|Framing") as enemy:
                enemy.goto(other)
                for path in ("question", "history", "labels", "settings", "export?format=csv"):
                    for credentials in ("include", "omit"):
                        assert enemy.evaluate(READ, [f"{server}/api/{path}", credentials]) == "unreadable"
                body = {**pair, "answer": "same"}
                for kind in ("text/plain", "application/json"):
                    enemy.evaluate(WRITE, [f"{server}/api/tell", body, kind])
                enemy.evaluate(FORM, [f"{server}/api/undo"])
                enemy.evaluate(FRAME, server)
                enemy.wait_for_timeout(300)
                for frame in enemy.frames[1:]:
                    assert frame.locator("#cards").count() == 0
            assert client.look("question")["versions"]["session"] == before  # the map comes by itself
            assert client.look("question")["progress"]["n_answers"] == 0
        context.close()


READ = """async ([address, credentials]) => {
  try { return (await (await fetch(address, { credentials })).text()); } catch { return "unreadable"; }
}"""
WRITE = """async ([address, body, kind]) => {
  for (const mode of ["cors", "no-cors"]) {
    const headers = { "Content-Type": kind };
    try {
      await fetch(address, { method: "POST", mode, credentials: "include", headers, body: JSON.stringify(body) });
    } catch {}
  }
}"""
FORM = """([address]) => {
  const form = document.createElement("form");
  Object.assign(form, { action: address, method: "post", enctype: "text/plain", target: "sink" });
  const field = Object.assign(document.createElement("input"), { name: '{"revision": null, "x": "', value: '"}' });
  form.append(field);
  const sink = Object.assign(document.createElement("iframe"), { name: "sink" });
  document.body.append(sink, form);
  form.submit();
}"""
FRAME = """(address) => {
  document.body.append(Object.assign(document.createElement("iframe"), { src: address }));
}"""


@contextlib.contextmanager
def other_site() -> Iterator[str]:
    """An empty page on another port."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>other</title>")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["table", "image"])
def test_phone(browser: Browser, tmp_path: Path, kind: str) -> None:
    """Nothing is wider than the screen, and the answers are large and at hand wherever one scrolls."""
    data = flowers(tmp_path) if kind == "table" else load_demo()
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    with page_of(browser, data, tmp_path, **phone) as page:
        wait_until(page, lambda: page.evaluate("document.documentElement.scrollWidth") <= 360)
        for name in ("#different", "#unsure", "#same"):
            box = page.locator(name).bounding_box()
            assert box["height"] >= 48
            assert box["width"] >= 60
            assert box["y"] + box["height"] <= 740
        page.locator("#same").tap()
        expect_answers(page, 1)


def test_two_fingers_zoom_the_map(browser: Browser, tmp_path: Path) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    with page_of(browser, flowers(tmp_path), tmp_path, **phone) as page:
        frame = page.locator("#map-frame")
        frame.scroll_into_view_if_needed()
        box = frame.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

        def pinch(start: int, end: int) -> None:
            touch = page.context.new_cdp_session(page)
            for kind, half in (("touchStart", start), ("touchMove", (start + end) // 2), ("touchMove", end)):
                ends = [{"x": x - half, "y": y, "id": 0}, {"x": x + half, "y": y, "id": 1}]
                touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": ends})
            touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        before = count_drawn_pixels(page)
        pinch(20, 80)
        expect(frame).to_have_class(re.compile("zoomed"))
        wait_until(page, lambda: count_drawn_pixels(page) != before)
        assert page.evaluate("visualViewport.scale") == 1  # the map, not the page
        pinch(100, 10)
        expect(frame).not_to_have_class(re.compile("zoomed"))
        expect(page.locator("#open-card")).to_be_hidden()


def test_names_for_everything_that_can_be_pressed(browser: Browser, tmp_path: Path) -> None:
    """A screen reader finds a name for every control and the question in a live region; focus starts at the top."""
    with page_of(browser, flowers(tmp_path), tmp_path) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        for name in ("different", "unsure", "same"):
            assert page.evaluate("document.activeElement.id") == name
            page.keyboard.press("Tab")
        press(page, "s")
        i, j = open_pair(page)
        expect(page.locator("#spoken[aria-live=polite]")).to_contain_text(f"Item f{i:03} and item f{j:03}.")
        for opened in ("clusters", "items", "history", "progress"):
            page.locator(f"#tab-{opened}").click()
            page.wait_for_timeout(100)
        assert page.evaluate(UNNAMED) == []


UNNAMED = """() => [...document.querySelectorAll('button, input, select, summary, a, [tabindex]')]
  .filter((e) => !e.hidden && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))
  .map((e) => e.outerHTML)"""
