"""The page in a real browser: a whole session by keyboard, two tabs at once, keys, and what a person sees."""

from __future__ import annotations

import csv
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from cobras import Answer, Session
from cobras.data import read_dataset
from cobras.web.serve import open_browser
from tests.web.page.browser import (
    LOST,
    SHOWN,
    Command,
    answer_by_keys,
    expect_answers,
    open_pair,
    press,
    tab,
    wait_for_other,
    wait_until,
    watch_console,
)
from tests.web.serving import flowers, serving

KEYS = {True: "s", False: "d"}
PRESS_AT = """(at) => void setTimeout(() => {
  window.pressed = [...(window.pressed ?? []), document.querySelector("#cards").dataset.pair];
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "d", bubbles: true }));
}, at - Date.now())"""


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        yield page


def test_the_token_leaves_the_address(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the private file led to it that the command opens; a reload and a new tab need no token."""
    monkeypatch.setattr("webbrowser.open", lambda address: None)
    monkeypatch.setenv("DISPLAY", ":0")
    file = tmp_path / "open.html"
    with serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client:
        open_browser(client.server.address, file)
        with tab(browser, file.as_uri()) as page:
            expect(page).to_have_url(f"{client.base_url}/")
            page.reload()
            page.wait_for_selector(SHOWN)
            another = page.context.new_page()
            another.goto(str(client.base_url))
            another.wait_for_selector(SHOWN)
            assert client.server.token not in another.evaluate("document.cookie + location")


def test_a_whole_session(browser: Browser, tmp_path: Path) -> None:
    """Answer, undo, change, name, reload, kill the server, go on, export: the labels are those of a session."""
    data = flowers(tmp_path, n=400, n_kinds=6)
    kinds = data.labels
    twin = Session(data.X, "adder", random_state=3)
    arguments = ("flowers.csv", "--label", "species", "--seed", "3")

    def answer(page: Page, n: int) -> None:
        for _ in range(n):
            i, j = open_pair(page)
            assert press(page, KEYS[bool(kinds[i] == kinds[j])]) == tuple(twin.ask())
            twin.tell(bool(kinds[i] == kinds[j]), (i, j))

    with Command(tmp_path, *arguments) as server, tab(browser, server.address, expected=LOST) as page:
        answer(page, 30)
        expect(page.locator("#saved")).to_contain_text("Saved")
        for n in range(29, 24, -1):
            page.keyboard.press("z")
            expect_answers(page, n)
            twin.undo()
        page.keyboard.press("h")
        page.locator('#record-list [data-index="4"] .answer').click()
        changed = Answer.DIFFERENT if twin.history[4].answer is Answer.SAME else Answer.SAME
        page.locator('#record-list [data-index="4"] .choices').get_by_text(changed.name.lower()).click()
        expect(page.locator(".notice")).to_contain_text(f"Answer 5 is now {changed.name.lower()}.")
        revision = twin.revise(4, changed)
        if revision.no_longer_apply:
            expect(page.locator(".notice")).to_contain_text(f"{len(revision.no_longer_apply)} later answer")
        page.locator("#tab-clusters").click()
        number = twin.cluster_ids_[1]  # what the page calls it
        name = page.get_by_label(f"Name of cluster {number}", exact=True)
        name.fill("roses & <b>lilies</b>")
        name.press("Enter")
        twin.name(1, "roses & <b>lilies</b>")
        expect(page.locator(f'#cluster-list [data-cluster="{number}"] input')).to_have_value(
            "roses & <b>lilies</b>"
        )

        page.reload()
        wait_for_other(page, (-1, -1))
        expect_answers(page, 25)
        expect(page.get_by_label(f"Name of cluster {number}", exact=True)).to_have_value(
            "roses & <b>lilies</b>"
        )
        assert open_pair(page) == tuple(twin.ask())

        server.end(signal.SIGKILL)
        expect(page.locator("#banner")).to_contain_text("Reconnecting")
        i, j = open_pair(page)
        page.keyboard.press(KEYS[bool(kinds[i] == kinds[j])])  # nobody hears it yet
        server.start()
        wait_for_other(page, (i, j))
        twin.tell(bool(kinds[i] == kinds[j]), (i, j))
        expect(page.locator("#banner")).to_be_hidden()
        answer(page, 4)
        expect_answers(page, twin.n_answers)

        page.locator("#export summary").click()
        with page.expect_download() as download:
            page.get_by_text("Table (CSV)").click()
        rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [int(row["cluster"]) for row in rows] == twin.labels_.tolist()
    names = twin.names
    assert [row["cluster_name"] for row in rows] == [names.get(label, "") for label in twin.labels_.tolist()]
    with Session.open(
        tmp_path / "flowers.cobras",
        read_dataset(tmp_path / "flowers.csv", label="species").X,
    ) as kept:
        np.testing.assert_array_equal(kept.labels_, twin.labels_)


def agree(one: Page, two: Page) -> None:
    """Wait until both tabs show the same pair."""
    shown = [page.locator("#cards") for page in (one, two)]
    wait_until(one, lambda: len({cards.get_attribute("data-pair") for cards in shown}) == 1)


def test_two_tabs_lose_and_double_nothing(browser: Browser, tmp_path: Path) -> None:
    data = flowers(tmp_path, n=200, n_kinds=5)
    # The tab that comes too late is told so by a 409, which browsers also write on the console.
    with serving(data, tmp_path / "flowers.cobras") as client:
        context = browser.new_context()
        with watch_console(context, "409") as one, watch_console(context, "409") as two:
            for page in (one, two):
                page.goto(client.server.address)
                wait_for_other(page, (-1, -1))
            asked = []
            for _ in range(8):
                agree(one, two)
                asked.append(open_pair(one))
                at = one.evaluate("Date.now() + 500")
                for page in (one, two):  # both tabs answer in the same millisecond, or nearly
                    page.evaluate(PRESS_AT, at)
                for page in (one, two):
                    page.wait_for_function("n => window.pressed?.length === n", arg=len(asked))
                    wait_for_other(page, asked[-1])
            agree(one, two)
            pressed = {pair for page in (one, two) for pair in page.evaluate("window.pressed")}
            records = client.look("history")["records"]
            answered = [(record["left"]["i"], record["right"]["i"]) for record in records]
            assert len(set(answered)) == len(answered)
            assert set(asked) <= set(answered) <= {tuple(map(int, pair.split(","))) for pair in pressed}
            # What one tab does, the other shows without being asked.
            one.keyboard.press("z")
            for page in (one, two):
                expect_answers(page, len(answered) - 1)
            agree(one, two)
        context.close()


def test_a_name_that_another_cluster_has_is_told(page: Page) -> None:
    open_pair(page)
    names = page.get_by_label("Name of cluster")
    n_answers = 0
    while names.count() < 2:
        press(page, "d")
        n_answers += 1
        expect_answers(page, n_answers)
        page.wait_for_timeout(200)  # the list comes after the question
    for k, name in ((0, "lily"), (1, "rose")):
        names.nth(k).fill(name)
        names.nth(k).press("Enter")
        expect(page.locator("#saved")).to_contain_text(f"is called {name}")
        expect(page.locator(".notice", has_text="too")).to_have_count(0)
    names.nth(1).fill("lily")
    names.nth(1).press("Enter")
    expect(page.locator(".notice")).to_contain_text("is called lily, too. If the two are one, merge them.")


def test_keys_are_off_while_typing(page: Page) -> None:
    pair = open_pair(page)
    name = page.get_by_label("Name of cluster 0")
    name.click()
    page.keyboard.type("sdy nz1hm?")
    expect(name).to_have_value("sdy nz1hm?")
    page.keyboard.press("Escape")
    page.locator("#tab-items").click()
    page.locator("#search").click()
    page.keyboard.type("f01 sd")
    expect(page.locator("#search")).to_have_value("f01 sd")
    expect_answers(page, 0)
    assert open_pair(page) == pair
    page.keyboard.press("Escape")  # leaves the text box, and the keys are back
    press(page, "s")
    expect_answers(page, 1)


def test_keys_go_by_character(page: Page) -> None:
    """Also where the character lies elsewhere, and caps lock does not turn undo into redo."""

    def send(**event: object) -> None:
        page.evaluate(
            "event => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...event}))",
            event,
        )

    pair = open_pair(page)
    send(key="s", code="Semicolon")
    wait_for_other(page, pair)
    send(key="d", code="KeyD", repeat=True)  # held down: not an answer
    expect_answers(page, 1)
    send(key="Z", code="KeyZ")  # caps lock
    expect_answers(page, 0)
    send(key="z", code="KeyZ", shiftKey=True)  # caps lock and shift
    expect_answers(page, 1)
    send(key="z", code="KeyZ", ctrlKey=True)
    expect_answers(page, 0)
    send(key="s", code="KeyS", ctrlKey=True)  # the browser's own
    expect_answers(page, 0)
    press(page, "ArrowLeft")
    press(page, "y")
    press(page, "n")
    press(page, "Space")
    expect_answers(page, 4)
    page.keyboard.press("h")
    expect(page.locator("#record-list .answer")).to_have_text(["unsure", "different", "same", "different"])


def test_space_means_unsure_after_a_click(page: Page) -> None:
    pair = open_pair(page)
    page.locator("#same").click()
    wait_for_other(page, pair)
    press(page, "Space")
    page.keyboard.press("h")
    expect(page.locator("#record-list .answer")).to_have_text(["unsure", "same"])
    expect(page.locator("#n-aside b")).to_have_text("1")
    page.locator("#n-aside").click()
    page.locator("#record-list .answer").click()
    page.locator("#record-list .choices").get_by_text("different").click()
    expect(page.locator("#n-aside b")).to_have_text("0")


def test_the_list_of_keys_opens_and_closes(page: Page) -> None:
    legend = page.locator("#legend")
    page.keyboard.press("?")
    expect(legend).to_be_visible()
    page.keyboard.press("s")  # nothing is answered behind it
    page.keyboard.press("?")
    expect(legend).to_be_hidden()
    expect_answers(page, 0)


def test_other_keys_by_setting(browser: Browser, tmp_path: Path) -> None:
    keys = {"same": ["j"], "different": ["f"]}
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras", keys=keys) as client,
        tab(browser, client.server.address) as page,
    ):
        expect(page.locator("#same kbd")).to_have_text("J")
        page.keyboard.press("s")
        press(page, "j")
        press(page, "f")
        expect_answers(page, 2)


def test_blind(browser: Browser, tmp_path: Path) -> None:
    """Before the answer nothing on the page says in which clusters the two items are."""
    data = flowers(tmp_path)
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        answer_by_keys(page, data.labels, 8)
        i, j = open_pair(page)
        assert page.locator("#question .tag, #question .dot").count() == 0
        page.locator("#tab-items").click()
        for row in (i, j):
            page.locator("#search").fill(str(data.ids[row]))
            expect(page.locator("#item-rows tr")).to_have_count(1)
            expect(page.locator("#item-rows .tag")).to_have_text("asked now")
        page.locator("#tab-clusters").click()
        for row in (i, j):
            expect(page.locator(f'#cluster-list [data-row="{row}"]:visible')).to_have_count(0)


def test_nothing_jumps(page: Page) -> None:
    """From one question to the next every part of the page stays in its place."""
    parts = ("#words", "#stage", "#answers", "#numbers", "#map-frame", "#panel", "#tabs")

    def places() -> list[object]:
        return [page.locator(part).bounding_box() for part in parts]

    before = places()
    for key in "sdd":
        press(page, key)
        assert places() == before
    page.keyboard.press("z")
    expect_answers(page, 2)
    assert places() == before


def test_when_nothing_is_left_to_ask(browser: Browser, tmp_path: Path) -> None:
    data = flowers(tmp_path, n=16, n_kinds=2)
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        n = 0
        while page.locator("#cards").get_attribute("data-pair") != "done":
            i, j = open_pair(page)
            press(page, KEYS[bool(data.labels[i] == data.labels[j])])
            n += 1
        expect(page.locator("#words")).to_have_text("Nothing is left to ask: your result")
        lines, listed = page.locator(".result-cluster"), client.look("clusters")["clusters"]
        expect(lines).to_have_count(len(listed))
        for size, line in zip(sorted((c["size"] for c in listed), reverse=True), lines.all(), strict=True):
            expect(line).to_contain_text(f"{size} items")
        for gone in ("#answers", "#hint", "#mode"):
            expect(page.locator(gone)).to_be_hidden()
        with page.expect_download() as download:
            page.locator(".result-acts a").first.press("Enter")
        assert "cluster_id" in download.value.path().read_text().splitlines()[0]
        page.get_by_text("name the clusters").press("Enter")
        expect(page.get_by_label("Name of cluster").first).to_be_focused()
        page.keyboard.type("Premium customers (north)")
        page.keyboard.press("Enter")
        expect(page.locator(".result")).to_contain_text("Premium customers (north)")
        page.keyboard.press("z")  # the name
        expect(page.locator(".result")).not_to_contain_text("Premium")
        page.keyboard.press("s")  # there is nothing to answer
        page.keyboard.press("z")
        expect_answers(page, n - 1)
        expect(page.locator("#cards")).to_have_attribute("data-pair", f"{i},{j}")
