"""Where things stand on the page: nothing that is read is cut off or covered, on large and small screens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from cobras.data import Dataset, read_dataset
from tests.web.page.browser import press, tab, wait_until
from tests.web.serving import flowers, serving

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SCREENS: dict[str, dict[str, Any]] = {
    "small": {"viewport": {"width": 1280, "height": 800}},
    "large": {"viewport": {"width": 1920, "height": 1080}},
    "phone": PHONE,
}
BELOW = """() => {
  const notice = document.querySelector(".notice");
  const { left, right, top, bottom } = notice.getBoundingClientRect();
  const below = new Set();
  for (let x = left + 2; x < right; x += 9)
    for (let y = top + 2; y < bottom; y += 7)
      for (const found of document.elementsFromPoint(x, y))
        if (!notice.contains(found) && !found.contains(notice)) below.add(found.outerHTML.slice(0, 80));
  return { below: [...below], inView: top >= 0 && bottom <= innerHeight + 1 };
}"""
FIRST_LETTERS = """(found) => found.map((bdi) => {
  const range = document.createRange(), cell = bdi.closest("td").getBoundingClientRect();
  range.setStart(bdi.firstChild, 0);
  range.setEnd(bdi.firstChild, 1);
  const { left, right } = range.getBoundingClientRect();
  return left >= cell.left && right <= cell.right;
})"""


@pytest.mark.parametrize("screen", SCREENS)
def test_pictures_with_columns(
    browser: Browser, tmp_path: Path, screen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both pictures are whole, and the columns can be read: all of them, or by scrolling in their card."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names = [f"p{k}.png" for k in range(12)]
    for k, name in enumerate(names):
        Image.new("RGB", ((600, 200), (200, 600))[k % 2], (20 * k, 90, 90)).save(tmp_path / name)
    columns = {f"column {c}": [f"value {k} of {c}" for k in range(12)] for c in range(9)}
    pl.DataFrame({"picture": names, **columns}).write_csv(tmp_path / "shop.csv")
    data = read_dataset(tmp_path / "shop.csv", features="pixels")
    with (
        serving(data, tmp_path / "shop.cobras") as client,
        tab(browser, client.server.address, **SCREENS[screen]) as page,
    ):
        figures, table = page.locator("#cards figure"), page.locator("#cards .card.scrolls")
        expect(figures).to_have_count(2)
        for figure in figures.all():
            expect(figure.locator("img")).not_to_have_js_property("naturalWidth", 0)
            assert holds(edges(figure), edges(figure.locator("img")))
            assert edges(figure)[3] <= edges(table)[1]
            assert figure.locator("img").bounding_box()["height"] >= 90
        assert edges(table)[3] <= edges(page.locator("#answers"))[1] or screen == "phone"
        rows = table.locator("tr")
        assert rows.count() == 8  # the first column names the rows
        wanted = {"small": 5, "large": 8, "phone": 8}[screen]
        assert holds(edges(table), edges(rows.nth(wanted - 1)))
        rows.last.scroll_into_view_if_needed()
        assert holds(edges(table), edges(rows.last))
        assert edges(rows.last)[3] <= edges(page.locator("#answers"))[1]


@pytest.mark.parametrize("screen", SCREENS)
def test_a_notice_covers_nothing(browser: Browser, tmp_path: Path, screen: str) -> None:
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address, expected="409", **SCREENS[screen]) as page,
    ):
        for key in "dsds":
            press(page, key)
        page.evaluate("() => { document.querySelector('#saved').textContent = 'a long line '.repeat(30); }")
        why, numbers = page.locator("#why-button"), page.locator("#numbers")
        wait_until(page, lambda: edges(why)[3] <= edges(numbers)[1])
        page.locator("#cluster-list .thumb:not([hidden])").first.click()
        head = page.locator("#open-card header")
        head.locator("b").evaluate("name => { name.textContent = 'a long name of an item '.repeat(3); }")
        assert edges(head.locator(".icon"))[1] - edges(head)[1] < 10
        page.keyboard.press("Escape")
        page.evaluate("scrollTo(0, 0)")
        before = edges(page.locator("#answers"))
        page.locator("#tab-history").click()
        page.locator('#record-list [data-index="1"] .answer').click()
        page.locator('#record-list [data-index="1"] .choices').get_by_text("different").click()
        expect(page.locator("#panel .notice")).to_contain_text("Answer 2 is now different.")
        wait_until(page, lambda: page.evaluate(BELOW) == {"below": [], "inView": True})
        if screen != "phone":  # there the page has been scrolled
            assert edges(page.locator("#answers")) == before
        page.keyboard.press("z")
        expect(page.locator("#saved")).to_contain_text("Taken back: the change of answer 2 to different")
        expect(page.locator(".notice")).to_have_count(0)  # it is not true any more
        page.keyboard.press("Shift+Z")
        expect(page.locator("#saved")).to_contain_text("Brought back: the change of answer 2 to different")
        page.evaluate("scrollTo(0, 0)")
        if screen != "phone":
            page.keyboard.press("m")  # a large map leaves the panel no room
        provoke_refusal(page)
        expect(page.locator(".notice")).to_have_count(1)
        expect(page.locator("#question .notice")).to_contain_text("There is nothing to redo.")
        wait_until(page, lambda: page.evaluate(BELOW) == {"below": [], "inView": True})


def test_a_table_with_a_long_column_that_is_not_used(browser: Browser, tmp_path: Path) -> None:
    """Boards show what is compared; forms and their warnings are in view on a low screen; no gap on a phone."""
    flowers(tmp_path, n_kinds=5)
    table = pl.read_csv(tmp_path / "flowers.csv")
    remark = [f"{'a long remark that is not compared ' * 4}{k}" for k in range(len(table))]
    table.select("id", pl.Series("remark", remark), pl.exclude("id")).write_csv(tmp_path / "remarks.csv")
    data = read_dataset(tmp_path / "remarks.csv", label="species", kind="table")
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address, expected="409", viewport={"width": 1280, "height": 707}) as page,
    ):
        client.answer(data.labels, 8)
        page.keyboard.press("b")
        page.wait_for_selector('#board:not([hidden])[aria-busy="false"] .pile .member')
        fields = page.locator(".board-card").first.locator("dt")
        assert sorted(fields.all_inner_texts()) == ["colour", "length", "remark", "width"]
        expect(fields.last).to_have_text("remark")
        expect(fields.last).to_be_hidden()
        expect(page.locator("#board-piles")).not_to_contain_text("remark")
        unused = page.locator("#board-unused")
        expect(unused).to_have_text("1 column not used: remark")
        unused.click()
        expect(fields.last).to_be_visible()
        unused.click()
        expect(fields.last).to_be_hidden()
        placed = page.locator("#placed")
        page.keyboard.press("0")
        expect(placed).to_have_text("There is no pile 0.")
        expect(page.locator(".pile kbd").first).to_have_text("1")
        page.keyboard.press("n")
        expect(placed).to_contain_text("Card A: on pile")
        page.keyboard.press("Enter")
        expect(placed).to_have_text("Saved: a board of 6 cards.")
        page.keyboard.press("b")
        expect(placed).to_have_text("")
        page.get_by_role("button", name="merge").last.click()
        expect(page.locator(".act .outcome")).to_contain_text("Taken back: answer")
        panel, form = page.locator("#panel-clusters"), page.locator(".act")
        wait_until(page, lambda: holds(edges(panel), edges(form)))
        # The form stays in view where the panel gets lower, and where the clusters change, by another tab, say.
        page.set_viewport_size({"width": 1280, "height": 660})
        wait_until(page, lambda: holds(edges(panel), edges(form)))
        for cluster in client.look("clusters")["clusters"]:
            client.change("mark", cluster=cluster["number"], pure=True)
        expect(page.locator('.mark[data-key="pure"][aria-pressed="false"]')).to_have_count(0)
        expect(page.locator(".act .outcome")).to_contain_text("Taken back: answer")
        wait_until(page, lambda: holds(edges(panel), edges(form)))
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.locator("#hint")).to_be_hidden()
        above, below = page.locator("#numbers"), page.locator("#map")
        wait_until(page, lambda: edges(below)[1] - edges(above)[3] < 30)


def named_flowers(folder: Path, pattern: str) -> Dataset:
    """The flowers with longer names."""
    flowers(folder)
    table = pl.read_csv(folder / "flowers.csv")
    table.with_columns(id=pl.format(pattern, "id")).write_csv(folder / "f.csv")
    return read_dataset(folder / "f.csv", label="species")


@pytest.mark.parametrize("screen", ["phone", "large"])
def test_the_history_names_the_rows(browser: Browser, tmp_path: Path, screen: str) -> None:
    """On a phone their names are whole, on a large screen their values, too."""
    data = named_flowers(tmp_path, "flower-2024-{}")
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address, **SCREENS[screen]) as page,
    ):
        client.answer(data.labels, 3)
        page.locator("#tab-history").click()
        names = page.locator("#record-list .thumb b")
        expect(names).to_have_count(6)
        for name in names.all():
            expect(name).to_contain_text("flower-2024-")
            button = name.locator("xpath=ancestor::button")
            wait_until(page, lambda n=name, b=button: holds(edges(b), edges(n)))
            if screen == "large":
                words = button.locator(".words")
                wait_until(
                    page, lambda w=words: w.evaluate("words => words.scrollWidth <= words.clientWidth")
                )
        page.locator("#record-list .answer").first.click()
        choices, entry = page.locator("#record-list .choices"), page.locator("#record-list .open")
        wait_until(page, lambda: holds(edges(entry), edges(choices)))
        choices.get_by_role("button", name="unsure").click()
        expect(page.locator("#record-list .remark").first).to_have_text("set aside")
        answers = page.locator("#record-list .answer")
        wait_until(page, lambda: len({round(edges(answer)[0]) for answer in answers.all()}) == 1)


# Whether the last three characters of the names of cards are in view.
ENDS = """() => [...document.querySelectorAll(".board-card .id")].every((id) => {
  const name = id.querySelector("bdi").firstChild, range = new Range();
  range.setStart(name, name.length - 3);
  range.setEnd(name, name.length);
  const end = range.getBoundingClientRect(), box = id.getBoundingClientRect();
  return end.left >= box.left - 1 && end.right <= box.right + 1;
})"""


def test_long_names_on_a_board_are_told_apart(browser: Browser, tmp_path: Path) -> None:
    data = named_flowers(tmp_path, "a-flower-of-the-garden-in-2024-{}")
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        page.keyboard.press("b")
        page.wait_for_selector('#board:not([hidden])[aria-busy="false"] .board-card')
        name = page.locator(".board-card .id").first
        wait_until(page, lambda: name.evaluate("id => id.scrollWidth > id.clientWidth"))
        page.wait_for_function(ENDS)
        expect(name).to_have_attribute("title", name.inner_text())


def provoke_refusal(page: Page) -> None:
    """Ask for something that is not possible."""
    page.evaluate("async () => (await import('/static/session/sync.js')).change('redo', {})")


def edges(found: Any) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    box = found.bounding_box()
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def holds(outer: tuple[float, ...], inner: tuple[float, ...]) -> bool:
    """Whether a box lies in another one, but for a pixel of rounding."""
    return all(o <= i + 1 for o, i in zip(outer[:2], inner[:2], strict=True)) and all(
        i <= o + 1 for o, i in zip(outer[2:], inner[2:], strict=True)
    )


def test_a_long_text_shows_how_it_begins_in_any_direction(browser: Browser, tmp_path: Path) -> None:
    long = {
        "word": "a text that goes on and on and on and on",
        "كلمة": "نص طويل جدا لا ينتهي أبدا ويستمر ويستمر دائما",
    }
    frame = pl.DataFrame(
        {"size": range(40), **{name: [f"{text} {k % 3}" for k in range(40)] for name, text in long.items()}}
    )
    frame.write_csv(tmp_path / "texts.csv")
    with (
        serving(read_dataset(tmp_path / "texts.csv", kind="table"), tmp_path / "texts.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        page.locator("#tab-items").click()
        cells = page.locator("#item-rows td > bdi")
        expect(cells.filter(has_text="نص").first).to_be_visible()
        assert all(cells.evaluate_all(FIRST_LETTERS))


# The widths of a card and of its place, without the others. At once, so that the board is not drawn meanwhile.
ALONE = """() => {
  document.querySelectorAll(".board-card:not(:first-child)").forEach((card) => card.remove());
  return [".board-card", "#board-cards"].map((name) => document.querySelector(name).offsetWidth);
}"""


def test_a_single_card_fills_the_place_of_all(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        page.keyboard.press("b")
        expect(page.locator(".board-card").nth(1)).to_be_visible()
        card, place = page.evaluate(ALONE)
        assert card == place
