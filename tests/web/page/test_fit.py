"""What a table with long words, dates, currencies and gaps needs has room on small and on large screens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from cobras.data import read_dataset
from tests.web.page.browser import SHOWN, Command, tab, wait_until
from tests.web.serving import serving

SIZES = {"laptop": (1280, 720), "narrow": (1000, 700), "phone": (390, 844), "large": (2560, 1440)}
OVERLAPS = """() => [...document.querySelectorAll("#data-columns li")].flatMap((line) => {
  const parts = [...line.children].flatMap((part) => part.matches(".examples, .uses") ? [...part.children] : part);
  const boxes = parts.map((part) => [part, part.getBoundingClientRect()]).filter(([, box]) => box.width);
  return boxes.flatMap(([a, one], k) => boxes.slice(k + 1)
    .filter(([, other]) => one.left < other.right - 1 && other.left < one.right - 1
      && one.top < other.bottom - 1 && other.top < one.bottom - 1)
    .map(([b]) => `${a.textContent} / ${b.textContent}`));
})"""
LINES = """(cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
}"""


def customers(folder: Path, n: int = 60) -> Path:
    """Three kinds of customers, written as people write."""
    rng = np.random.default_rng(1)
    kind = np.arange(n) % 3
    spend = np.array([300, 1_200, 45_000])[kind] * rng.uniform(0.7, 1.4, n)
    words = (
        "complained about the slow delivery",
        "likes coupons",
        "orders pallets; negotiates the freight terms",
    )
    table = {
        "customer_id": [f"C-{1000 + k:05}" for k in range(n)],
        "Annual spend": [f"€ {value:,.2f}" if k % 9 else "N/A" for k, value in enumerate(spend)],
        "joined": [f"{1 + k % 28:02}/{1 + k % 12:02}/{2019 + k % 5}" if k % 11 else "-" for k in range(n)],
        "notes": [words[k] for k in kind],
        "newsletter": [("yes", "no")[k % 2] for k in range(n)],
        "kind": [f"kind {k}" for k in kind],
    }
    pl.DataFrame(table).write_csv(folder / "customers.csv")
    return folder / "customers.csv"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    folder = tmp_path_factory.mktemp("customers")
    customers(folder)
    with Command(folder, "customers.csv", "--label", "kind", "--seed", "0") as command:
        yield command


def sized(browser: Browser, command: Command, size: str) -> Any:
    width, height = SIZES[size]
    return tab(browser, command.address, viewport={"width": width, "height": height})


@pytest.mark.parametrize("size", SIZES)
def test_on_the_data_tab_nothing_covers_another(browser: Browser, command: Command, size: str) -> None:
    with sized(browser, command, size) as page:
        page.locator("#tab-data").click()
        expect(page.locator('[data-column="Annual spend"] .missing')).to_contain_text("also “N/A”")
        wait_until(page, lambda: page.evaluate(OVERLAPS) == [])
        for name in ("#panel-data", "#panel-data .scroll"):
            for box in page.locator(name).all():
                assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        for part in page.locator("#data-columns .uses button").all():
            assert part.evaluate(LINES) == 1


def test_a_profile_does_not_make_the_page_longer(browser: Browser, command: Command) -> None:
    with sized(browser, command, "laptop") as page:
        page.wait_for_selector(SHOWN)
        page.keyboard.press("n")  # one cluster has nothing to be compared with
        page.locator("#tab-clusters").click()
        expect(page.locator("#n-clusters b")).not_to_have_text("1")
        page.keyboard.press("p")
        expect(page.locator(".profile .bars").first).to_be_visible()
        wait_until(page, lambda: page.evaluate("document.documentElement.scrollHeight") == 720)


def test_a_date_and_a_number_stay_on_one_line_beside_a_large_map(browser: Browser, command: Command) -> None:
    with sized(browser, command, "laptop") as page:
        page.wait_for_selector(SHOWN)
        page.keyboard.press("m")
        expect(page.locator("body.large-map")).to_be_visible()
        date = page.locator("#cards tr", has=page.locator("th", has_text="joined")).locator("td").first
        date.evaluate("cell => { cell.textContent = '27/12/2023'; }")
        assert date.evaluate(LINES) == 1
        for number in page.locator("#numbers b").all():
            number.evaluate("number => { number.textContent = '100 %'; }")
            assert number.evaluate(LINES) == 1


def test_a_board_on_a_laptop_shows_all_piles(browser: Browser, tmp_path: Path) -> None:
    """Fewer members of each where there is no room for four; a long text has the whole width of its card."""
    data = read_dataset(customers(tmp_path), label="kind")
    with (
        serving(data, tmp_path / "customers.cobras") as client,
        tab(browser, client.server.address, viewport={"width": 1280, "height": 680}) as page,
    ):
        client.answer(data.labels, 12)
        open_board(page)
        page.keyboard.press("n")
        expect(page.locator(".pile:not(.new)")).to_have_count(3)
        piles = page.locator("#board-piles")
        wait_until(page, lambda: piles.evaluate("list => list.scrollHeight <= list.clientHeight"))
        note = page.locator(".board-card dd", has_text="complained").first
        assert note.bounding_box()["width"] > 0.75 * page.locator(".board-card").first.bounding_box()["width"]


def test_cards_of_a_board_fill_a_large_screen(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures in two columns, which are larger than three; values in larger letters."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shapes").mkdir()
    for k in range(12):
        Image.new("RGB", (64, 64), (20 * k, 90, 90)).save(tmp_path / "shapes" / f"p{k:02}.png")
    size = {"viewport": {"width": 2560, "height": 1440}}
    pictures = read_dataset(tmp_path / "shapes", features="pixels")
    with (
        serving(pictures, tmp_path / "shapes.cobras") as client,
        tab(browser, client.server.address, **size) as page,
    ):
        open_board(page)
        body, picture = (page.locator(f".board-card {part}").first for part in (".card-body", "img"))
        wait_until(page, lambda: picture.bounding_box()["height"] > 0.7 * body.bounding_box()["height"])
    data = read_dataset(customers(tmp_path), label="kind")
    with (
        serving(data, tmp_path / "customers.cobras") as client,
        tab(browser, client.server.address, **size) as page,
    ):
        open_board(page)
        fields = page.locator(".board-card .fields").first
        assert float(fields.evaluate("list => parseFloat(getComputedStyle(list).fontSize)")) > 17


def open_board(page: Page) -> None:
    page.keyboard.press("b")
    page.wait_for_selector('#board:not([hidden])[aria-busy="false"] .board-card')
