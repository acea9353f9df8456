"""What a person sees first: what this is, and what the words mean."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.web.page.browser import Command, expect_answers, press, tab, wait_until
from tests.web.serving import flowers, serving


def stored(page: Page) -> str | None:
    return page.evaluate("() => localStorage.getItem('cobras-welcome')")


def test_three_lines_once_for_each_person(browser: Browser, tmp_path: Path) -> None:
    """They are closed by key, by mouse or by an answer, and come back on request only."""
    with serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client:
        for close in ("key", "mouse", "answer"):
            with tab(browser, client.server.address, first=True) as page:
                welcome = page.locator("#welcome")
                expect(welcome.locator("li")).to_have_count(3)
                assert stored(page) is None
                if close == "key":
                    page.keyboard.press("Escape")
                elif close == "mouse":
                    page.locator("#welcome-close").click()
                else:
                    press(page, "d")
                expect(welcome).to_be_hidden()
                wait_until(page, lambda: stored(page) == "seen")
                page.reload()
                page.wait_for_selector("#cards figure, #cards table")
                expect(welcome).to_be_hidden()
                page.keyboard.press("?")
                page.locator("#welcome-again").press("Enter")
                expect(page.locator("#welcome-close")).to_be_focused()
                page.keyboard.press("Enter")
                expect(welcome).to_be_hidden()


def test_words_are_explained_by_mouse_and_by_key(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(flowers(tmp_path), tmp_path / "flowers.cobras") as client,
        tab(browser, client.server.address) as page,
    ):
        tip, pure = page.locator("#tip"), page.locator('[data-key="pure"]').first
        aside = page.locator("#n-aside")
        pure.hover()
        expect(tip).to_contain_text("everything in it belongs together")
        page.locator("#words").hover()
        expect(tip).to_be_hidden()
        page.locator("#n-unsatisfied").focus()
        page.keyboard.press("Tab")
        expect(aside).to_be_focused()
        expect(tip).to_contain_text("pairs that you were unsure about")
        described = page.locator(f"#{aside.get_attribute('aria-describedby')}")
        assert described.text_content() == tip.text_content()
        page.keyboard.press("Escape")
        expect(tip).to_be_hidden()
        # It can be pointed at itself, so that a magnified one can be read.
        aside.hover()
        tip.hover()
        expect(tip).to_be_visible()


def test_a_column_that_is_left_out_leaves_the_pair_also_if_the_pair_stays(
    browser: Browser, tmp_path: Path
) -> None:
    """The column is not compared, so with the same seed the new session begins with the same two items."""
    rows = "".join(f"k{k},{k % 7},{k * k % 11},remark number {k * 37 % 40}\n" for k in range(40))
    (tmp_path / "notes.csv").write_text(f"id,x,y,remark\n{rows}")
    with (
        Command(tmp_path, "notes.csv", "--seed", "0") as command,
        tab(browser, command.address, first=True) as page,
    ):
        cards = page.locator("#cards")
        expect(cards).to_contain_text("remark number")
        before = cards.get_attribute("data-pair")
        remark = page.locator('[data-column="remark"]')
        expect(remark.locator(".state")).to_have_text("text, shown but not used")
        remark.get_by_text("leave out").click()
        expect(remark).to_have_class("dropped")
        expect(cards).not_to_contain_text("remark")
        assert cards.get_attribute("data-pair") == before


def test_columns_are_changed_by_one_click_and_later_with_all_answers(
    browser: Browser, tmp_path: Path
) -> None:
    """The data is shown beside the three lines; by key and by mouse; the answers stay."""
    flowers(tmp_path)
    with (
        Command(tmp_path, "flowers.csv", "--label", "species", "--seed", "0") as command,
        tab(browser, command.address, first=True, expected="422") as page,
    ):
        columns = page.locator("#data-columns li")
        expect(columns).to_have_count(5)
        expect(page.locator('[data-column="id"]')).to_have_class("name")
        expect(page.locator('[data-column="species"] .state')).to_have_text("label: never used, never shown")
        expect(page.locator('[data-column="colour"] .examples')).to_have_text("red, blue")
        colour = page.locator('[data-column="colour"]')
        colour.get_by_text("leave out").click()
        expect(colour).to_have_class("dropped")
        expect(page.locator("#data-said")).to_contain_text("Started again")
        expect(page.locator("#cards")).not_to_contain_text("colour")
        use = colour.get_by_text("use", exact=True)
        use.press("Enter")
        expect(colour).to_have_class("used")
        expect(use).to_be_focused()
        expect(page.locator("#cards")).to_contain_text("colour")
        # The type and the weight, each by one select; what cannot be is said and changes nothing.
        page.get_by_label("Type of width").select_option("category")
        expect(page.get_by_label("Type of width")).to_have_value("category")
        expect(page.get_by_label("Weight of length")).to_have_value("1")
        page.get_by_label("Weight of length").focus()
        page.get_by_label("Weight of length").select_option("2")
        expect(page.locator("#data-notes")).to_contain_text("Weighted 'length' by 2.")
        expect(page.get_by_label("Weight of length")).to_be_focused()
        page.get_by_label("Type of colour").select_option("date")
        expect(page.locator("#panel .notice")).to_contain_text("cannot be read as date: it holds 'red'")
        expect(page.get_by_label("Type of colour")).to_have_value("category")
        page.get_by_label("Type of width").select_option("guess the type")
        expect(page.get_by_label("Type of width")).to_have_value("number")
        page.evaluate("() => document.activeElement.blur()")  # in a select, a letter chooses
        # After an answer changes are collected, said and carried out together.
        press(page, "d")
        expect(page.locator("#panel-clusters")).to_be_visible()
        page.locator("#tab-data").click()
        colour.get_by_text("leave out").click()
        expect(page.locator("#data-carried")).to_contain_text("1 answer and everything else")
        page.locator("#data-cancel").click()
        expect(page.locator("#data-bar")).to_be_hidden()
        expect(colour).to_have_class("used")
        # What is taken back by hand is no change either.
        page.get_by_label("Weight of width").select_option("4")
        colour.get_by_text("leave out").click()
        expect(page.locator("#data-bar")).to_be_visible()
        page.get_by_label("Weight of width").select_option("1")
        colour.get_by_text("use", exact=True).click()
        expect(page.locator("#data-bar")).to_be_hidden()
        colour.get_by_text("leave out").press("Enter")
        page.locator('[data-column="width"]').get_by_text("leave out").press("Enter")
        page.locator("#data-apply").press("Enter")
        expect(page.locator("#data-said")).to_contain_text("kept in flowers-1.cobras")
        expect(page.locator("#data-columns .dropped")).to_have_count(2)
        expect_answers(page, 1)
        # What cannot be done is said.
        page.locator('[data-column="length"]').get_by_text("leave out").click()
        page.locator("#data-apply").click()
        expect(page.locator("#panel .notice")).to_contain_text("column")
        expect(page.locator('[data-column="length"]')).to_have_class("used")
