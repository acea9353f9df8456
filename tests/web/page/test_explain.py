"""The page explains: profiles of clusters, why a pair is asked and which items are least sure, by keys alone."""

from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Browser, expect

from cobras.data import read_dataset
from tests.web.page.browser import open_pair, press, tab
from tests.web.serving import serving


def test_a_profile_why_and_least_sure_by_keys(browser: Browser, tmp_path: Path, file: Path) -> None:
    rng, kinds = np.random.default_rng(0), np.arange(60) % 3
    table = tmp_path / "customers.csv"
    pl.DataFrame(
        {
            "customer": [f"C{k:03}" for k in range(60)],
            "income": [
                str(round(v, 1)) if k % 9 else "unknown"
                for k, v in enumerate(kinds * 9 + rng.normal(size=60))
            ],
            "segment": np.array(["business", "private", "student"])[kinds],
        }
    ).write_csv(table)
    with serving(read_dataset(table), file, session={"method": "adder"}) as client:
        client.answer(kinds, 15)
        with tab(browser, client.server.address) as page:
            # A profile: digits look at a cluster, P opens what it is like, P closes it.
            number = client.look("clusters")["clusters"][1]["id"]
            page.wait_for_selector(f'#cluster-list [data-cluster="{number}"]')
            page.keyboard.press(str(number))
            page.keyboard.press("p")
            box = page.locator(f"#profile-{number}")
            expect(box.locator("figure")).to_have_count(2)
            expect(box.locator("thead th")).to_have_text(["Item", "segment", "income"])
            expect(box.locator(".gone")).to_contain_text("not known")
            button = page.locator(f'[data-cluster="{number}"] [data-key=profile]')
            expect(button).to_have_attribute("aria-expanded", "true")
            # It stays open, shows no asked item, and is fetched again when clusters change; the focus stays too.
            use = box.locator("button.link", has_text="Use this name")
            use.focus()
            press(page, "s" if kinds[open_pair(page)[0]] == kinds[open_pair(page)[1]] else "d")
            expect(box).to_be_visible()
            for row in open_pair(page):
                expect(page.locator(f'#cluster-list [data-row="{row}"]:visible')).to_have_count(0)
            version = str(client.look("clusters")["version"])
            expect(box).to_have_attribute("data-version", version)
            expect(use).to_be_focused()
            page.keyboard.press("Enter")
            name = page.locator(f'[data-cluster="{number}"] input')
            expect(name).not_to_have_value("")
            expect(box.locator(".suggestion")).to_have_count(0)
            page.locator("body").press("p")
            expect(box).to_have_count(0)

            # Why: on demand, for every question until it is switched off.
            why = page.locator("#why")
            expect(why).to_be_hidden()
            page.keyboard.press("w")
            expect(why).to_contain_text("These two decide whether")
            press(page, "u")
            expect(why).to_contain_text("These two decide whether")
            page.keyboard.press("w")
            expect(why).to_be_hidden()

            # The least sure items, each of which can be opened and acted on.
            page.locator("#tab-clusters").focus()
            page.keyboard.press("ArrowRight")
            page.locator("#least-sure").press("Enter")
            expect(page.locator("#item-head th").nth(2)).to_have_text("Sure")
            rows = page.locator("#item-rows tr:not(:has-text('asked now'))")
            expect(rows.locator(".sure").first).not_to_be_empty()
            sure = [float(cell.split()[0]) for cell in rows.locator(".sure").all_text_contents() if cell]
            assert sure == sorted(sure)
            rows.first.locator("button").press("Enter")
            expect(page.locator("#open-card footer")).to_contain_text("Does not belong here")
            # A search keeps that order.
            page.locator("#search").fill("student")
            expect(page.locator("#item-count")).to_have_text("1–20 of 20 items")
            expect(page.locator("#item-head th").nth(2)).to_have_text("Sure")
            page.locator("#least-sure").press("Enter")
            expect(page.locator("#item-head th").nth(2)).not_to_have_text("Sure")
