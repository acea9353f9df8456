"""Every screen of the page, checked by axe-core in light and dark; Tab reaches everything and is never trapped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.page.browser import press, tab
from tests.web.serving import flowers, serving

# What Tab should stop at: everything that can be used and is in view, but of a group of tabs or cards only one.
STOPS = """() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
  .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }))
  .map((e) => (e.dataset.stop = String(++window.n_stops || (window.n_stops = 1))))"""
FOCUSED = "() => document.activeElement?.dataset.stop ?? null"


def faults(page: Page, where: str) -> list[Any]:
    """What axe complains about in light colours; in dark ones, about contrast."""
    if not os.environ.get("CI"):
        pytest.importorskip("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    found = []
    contrast = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    options: dict[str, Any]
    for scheme, options in (("dark", contrast), ("light", {})):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        report = Axe().run(page, options={"resultTypes": ["violations"], **options}).response
        found += [
            (where, scheme, v["id"], [node["html"][:160] for node in v["nodes"]])
            for v in report["violations"]
        ]
    return found


def unreached(page: Page, where: str) -> list[Any]:
    """What Tab does not reach in a round."""
    page.evaluate("() => document.activeElement?.blur()")
    wanted = set(page.evaluate(STOPS))
    reached: list[str] = []
    for _ in range(2 * len(wanted) + 10):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUSED)
        if now is not None and now in reached:
            break
        reached += [now] if now is not None else []
    page.evaluate("() => document.activeElement?.blur()")
    missed = [f'[data-stop="{stop}"]' for stop in wanted - set(reached)]
    return [
        (where, "Tab", [page.locator(stop).evaluate("(e) => e.outerHTML.slice(0, 160)") for stop in missed])
    ] * bool(missed)


def test_every_screen(browser: Browser, tmp_path: Path) -> None:
    data, found = flowers(tmp_path, n=24), []
    with (
        serving(data, tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address, first=True, bypass_csp=True) as page,
    ):
        expect(page.locator("#data-columns li")).to_have_count(5)
        found += faults(page, "the start screen")
        found += unreached(page, "the start screen")
        for key in ("d", " ", "s"):
            press(page, key)
        for name in ("clusters", "items", "history", "progress", "data"):
            page.locator(f"#tab-{name}").click()
            page.wait_for_timeout(300)
            found += faults(page, name)
        page.locator("#tab-clusters").click()
        found += unreached(page, "clusters")
        page.keyboard.press("?")
        found += faults(page, "the list of keys")
        page.keyboard.press("Escape")
        page.locator("#cluster-list .thumb:not([hidden])").first.click()
        page.locator("#open-card footer button").first.click()
        expect(page.locator("#open-card .outcome")).to_contain_text(".")
        found += faults(page, "the form of a move")
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        page.keyboard.press("b")
        expect(page.locator("#board .board-card").first).to_be_visible()
        found += faults(page, "the board")
        found += unreached(page, "the board")
        page.keyboard.press("b")
        client.answer(data.labels, 500)
        expect(page.locator(".result")).to_be_visible()
        found += faults(page, "the result")
        found += unreached(page, "the result")
    assert not found, found
