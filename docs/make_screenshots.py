"""The pictures of the web page in docs/images; needs chromium, playwright and Pillow.

    python docs/make_screenshots.py             # those of the docs
    python docs/make_screenshots.py --look DIR  # six screens, each light, dark, on a phone and 2560 wide

Every picture is of a real session: `cobras` serves the page, and a browser answers its questions by key.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_digits, load_wine

IMAGES = Path(__file__).parent / "images"
COBRAS = [sys.executable, "-c", "import sys; from cobras.cli import main; sys.exit(main())"]
CHROMIUM = os.environ.get("COBRAS_CHROMIUM") or shutil.which("chromium") or "chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
DESK = {"viewport": {"width": 1280, "height": 800}}
WIDE = {"viewport": {"width": 2560, "height": 1440}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 1.5,
    "is_mobile": True,
    "has_touch": True,
}
LOOKS: dict[str, dict[str, Any]] = {
    "light": DESK,
    "dark": {**DESK, "dark": True},
    "phone": PHONE,
    "wide": WIDE,
}

NOTES = {
    "travel": (
        [
            "The train to the {} town left late and was full.",
            "The bus to the {} town stops far from the station.",
        ],
        ["A ticket machine on the platform was out of order.", "Nobody at the station knew about the delay."],
    ),
    "food": (
        [
            "The soup was cold, but the bread from the {} bakery was fresh.",
            "Could the canteen serve fish from the {} market?",
        ],
        ["The coffee is too weak and the cake is gone by noon.", "More vegetables and less salt, please."],
    ),
    "garden": (
        [
            "The roses behind the {} gate need water.",
            "Plant more trees near the {} gate.",
        ],
        [
            "The lawn is dry and the bench under the oak is broken.",
            "Bees like the lavender beds in the garden.",
        ],
    ),
    "computers": (
        [
            "My laptop loses the network in the {} room.",
            "The printer in the {} room prints blank pages.",
        ],
        [
            "The password was reset twice and the screen stays dark.",
            "An update made the mail program very slow.",
        ],
    ),
}
FEW = ("--method", "cobra", "--set", "n_super_instances=12", "--session", "result.cobras")
GROWERS = ["Barolo", "Grignolino", "Barbera"]
PLACES = ["north", "south", "east", "west", "old", "new", "upper", "lower"]


def notes(n: int) -> tuple[list[str], list[str]]:
    """Short notes as from a suggestion box, and the topic of each."""
    draw = random.Random(0)
    topics = [draw.choice(list(NOTES)) for _ in range(n)]
    texts = []
    for topic in topics:
        first, second = NOTES[topic]
        sentences = [draw.choice(first).format(draw.choice(PLACES)), draw.choice(second), draw.choice(second)]
        texts.append(" ".join(dict.fromkeys(sentences)))
    return texts, topics


@contextlib.contextmanager
def serve(folder: Path, *arguments: str) -> Iterator[str]:
    """Serve a page inside the with block, and give its address."""
    command = [*COBRAS, *arguments, "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextlib.contextmanager
def open_page(
    browser: Browser,
    address: str,
    dark: bool = False,
    first: bool = False,
    shown: str = '#cards[data-pair*=","]',
    **options: Any,
) -> Iterator[Page]:
    """Open a tab with the page and wait for its first question; `first` for a person who was never there."""
    context = browser.new_context(color_scheme="dark" if dark else "light", **options)
    page = context.new_page()
    # The pictures show pairs, also where the page would go over to boards.
    page.add_init_script("localStorage.setItem('cobras-mode', 'pairs')")
    if not first:
        page.add_init_script("localStorage.setItem('cobras-welcome', 'seen')")
    page.goto(address)
    page.wait_for_selector(shown)
    yield page
    context.close()


def shown_pair(page: Page) -> tuple[int, int]:
    """The rows of the open question."""
    i, j = (page.locator("#cards").get_attribute("data-pair") or "").split(",")
    return int(i), int(j)


def answer_questions(page: Page, kinds: Sequence[Any], n: int) -> None:
    """Answer n questions by the true kinds, or as many as there are."""
    for _ in range(n):
        if page.locator(".result").count():
            return
        i, j = shown_pair(page)
        page.keyboard.press("s" if kinds[i] == kinds[j] else "d")
        page.wait_for_function(
            "shown => document.querySelector('#cards').dataset.pair !== shown", arg=f"{i},{j}"
        )


def name_clusters(page: Page, names: Sequence[str]) -> None:
    """Type names for the first clusters of the list."""
    for k, name in enumerate(names):
        box = page.locator("#cluster-list input").nth(k)
        box.fill(name)
        box.press("Enter")
        page.wait_for_timeout(500)


def save_screenshot(page: Page, name: str) -> None:
    """Write what the page shows, with at most 255 colours."""
    page.wait_for_selector("#map-frame[data-layout=tsne]", timeout=120_000)
    page.locator("#panel-clusters").evaluate("panel => panel.scrollTo(0, 0)")
    page.wait_for_timeout(1500)  # until the points of the map stand still
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(255, dither=Image.Dither.NONE)
    IMAGES.mkdir(exist_ok=True)
    picture.save(IMAGES / f"{name}.png", optimize=True)
    print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size // 1024} KB")


def digits(browser: Browser, folder: Path) -> None:
    """Pictures: light, dark and on a phone."""
    with serve(folder, "demo", "--session", "digits.cobras", "--seed", "1") as address:
        with open_page(browser, address, **DESK) as page:
            answer_questions(page, load_digits().target, 45)
            save_screenshot(page, "images-light")
        with open_page(browser, address, dark=True, **DESK) as page:
            page.keyboard.press("h")
            save_screenshot(page, "images-dark")
        with open_page(browser, address, **PHONE) as page:
            save_screenshot(page, "images-phone")


def write_wines(folder: Path) -> Any:
    """Write a table of wines, and return the data set."""
    wine = load_wine()
    names = [name.replace("_", " ") for name in wine.feature_names]
    columns = {"id": [f"wine {k}" for k in range(1, 179)], **dict(zip(names, wine.data.T, strict=True))}
    pl.DataFrame({**columns, "grower": wine.target}).write_csv(folder / "wine.csv")
    return wine


def wines(browser: Browser, folder: Path) -> None:
    """A table, with named clusters; on a phone and a wide screen as well."""
    wine = write_wines(folder)
    with serve(folder, "serve", "wine.csv", "--label", "grower", "--seed", "2") as address:
        with open_page(browser, address, first=True, **DESK) as page:
            save_screenshot(page, "first-run")
        with open_page(browser, address, **DESK) as page:
            answer_questions(page, wine.target, 20)
            name_clusters(page, GROWERS)
            save_screenshot(page, "table-light")
        with open_page(browser, address, **WIDE) as page:
            page.locator("#cluster-list [data-key=profile]").first.click()
            save_screenshot(page, "table-wide")
        with open_page(browser, address, dark=True, **PHONE) as page:
            save_screenshot(page, "table-phone")


def result(browser: Browser, folder: Path) -> None:
    """What stands on the page when nothing is left to ask."""
    with (
        serve(folder, "serve", "wine.csv", "--label", "grower", "--seed", "2", *FEW) as address,
        open_page(browser, address, **DESK) as page,
    ):
        answer_questions(page, load_wine().target, 200)
        name_clusters(page, GROWERS)
        save_screenshot(page, "result")


def suggestions(browser: Browser, folder: Path) -> None:
    """Texts, with the words marked that two of them share."""
    texts, topics = notes(240)
    pl.DataFrame({"note": texts, "topic": topics}).write_csv(folder / "notes.csv")
    with (
        serve(folder, "serve", "notes.csv", "--label", "topic", "--seed", "0") as address,
        open_page(browser, address, **DESK) as page,
    ):
        answer_questions(page, topics, 6)
        # Until two have the same topic, so that words are marked.
        while len({topics[row] for row in shown_pair(page)}) > 1:
            answer_questions(page, topics, 1)
        save_screenshot(page, "texts-light")


def look(browser: Browser, folder: Path, into: Path) -> None:
    """Write every screen in every look: first run, question, clusters, profile, end state and report."""
    wine = write_wines(folder)

    def save(page: Page, name: str) -> None:
        page.wait_for_timeout(1200)
        page.screenshot(path=into / f"{name}.png")

    into.mkdir(parents=True, exist_ok=True)
    with serve(folder, "serve", "wine.csv", "--label", "grower", "--seed", "2") as address:
        for name, options in LOOKS.items():
            with open_page(browser, address, first=True, **options) as page:
                save(page, f"first-run-{name}")
        with open_page(browser, address, **DESK) as page:
            answer_questions(page, wine.target, 15)
            name_clusters(page, GROWERS)
        for name, options in LOOKS.items():
            with open_page(browser, address, **options) as page:
                save(page, f"question-{name}")
                page.locator("#tab-clusters").click()
                page.locator("#panel").scroll_into_view_if_needed()
                save(page, f"clusters-{name}")
                page.locator("#cluster-list [data-key=profile]").first.click()
                save(page, f"profile-{name}")
                report = page.evaluate("async () => (await fetch('/api/export?format=html')).text()")
                beside = page.context.new_page()
                beside.set_content(report)
                save(beside, f"report-{name}")
    with serve(folder, "serve", "wine.csv", "--label", "grower", "--seed", "2", *FEW) as address:
        with open_page(browser, address, **DESK) as page:
            answer_questions(page, wine.target, 200)
            name_clusters(page, GROWERS)
        for name, options in LOOKS.items():
            with open_page(browser, address, shown=".result", **options) as page:
                save(page, f"end-{name}")


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--look", type=Path, metavar="DIR")
    into = parser.parse_args().look
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if into is not None:
            look(browser, Path(folder), into)
        for take_screenshots in (wines, result, suggestions, digits) if into is None else ():
            take_screenshots(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
