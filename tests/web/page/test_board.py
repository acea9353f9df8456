"""The board in a real browser: by keyboard alone, by mouse, by touch; taking back, killing, and other tabs."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from cobras import Answer, Session
from cobras.core.board import Board
from cobras.data import read_dataset
from tests.web.page.browser import LOST, Command, answer_by_keys, expect_answers, tab
from tests.web.serving import flowers, serving

SHOWN = '#board:not([hidden])[aria-busy="false"]'
OTHER = """shown => {
  const board = document.querySelector("#board");
  return board.dataset.board !== shown && board.ariaBusy === "false";
}"""
DIGITS = "123456789"


# How many boards are sorted by keys, by mouse and by touch.
N_KEYS, N_MOUSE, N_TOUCH = (30, 10, 5) if os.environ.get("COBRAS_SOAK") else (6, 3, 2)


def open_board(page: Page) -> Board:
    """What stands on the page."""
    page.wait_for_selector(SHOWN)
    cards, piles = (page.locator("#board").get_attribute("data-board") or "|").split("|")
    return Board(*(tuple(map(int, filter(None, rows.split(",")))) for rows in (cards, piles)))


def wait_for_next(page: Page, board: Board) -> None:
    shown = f"{','.join(map(str, board.cards))}|{','.join(map(str, board.piles))}"
    page.wait_for_function(OTHER, arg=shown)


def groups_of(board: Board, labels: Any) -> list[list[int]]:
    rows = (*board.piles, *board.cards)
    return [[row for row in rows if labels[row] == kind] for kind in sorted(set(labels))]


def slots_of(board: Board, labels: Any) -> list[int]:
    """The place of each card among the piles; new piles are numbered after those of the board."""
    kinds = [labels[row] for row in board.piles]
    found = []
    for card in board.cards:
        if labels[card] not in kinds:
            kinds.append(labels[card])
        found.append(kinds.index(labels[card]))
    return found


def joins_of(board: Board, labels: Any) -> list[tuple[int, int]]:
    """The piles that belong together, by their places."""
    kinds = [labels[row] for row in board.piles]
    return [(kinds.index(kind), k) for k, kind in enumerate(kinds) if kinds.index(kind) < k]


def sort_by_keys(page: Page, board: Board, labels: Any) -> None:
    for one, other in joins_of(board, labels):
        page.keyboard.press("j")
        page.keyboard.press(DIGITS[one])
        page.keyboard.press(DIGITS[other])
    n_piles = len(board.piles)
    for slot in slots_of(board, labels):
        page.keyboard.press("n" if slot == n_piles else DIGITS[slot])
        n_piles += slot == n_piles


class Twin(Session):
    """Does what the person does, to compare."""

    def follow(self, board: Board, labels: Any) -> None:
        assert self.has(board)
        self.sort(self.board(), groups_of(board, labels))

    def has(self, board: Board) -> bool:
        """Whether a board is the open one, but for the order of piles: those shown before keep their numbers."""
        mine = self.board()
        return mine is not None and (board.cards, {*board.piles}) == (mine.cards, {*mine.piles})


@pytest.fixture
def kinds(tmp_path: Path) -> Any:
    return flowers(tmp_path, n=120 if N_KEYS == 6 else 600, n_kinds=5)


def test_boards_by_keyboard(browser: Browser, tmp_path: Path, kinds: Any) -> None:
    """Sorting, undo before and after Enter, unsure, arrows: never a mouse; the file holds what a session does."""
    labels, file = kinds.labels, tmp_path / "flowers.cobras"
    twin = Twin(kinds.X, "cobras", random_state=0)
    with (
        serving(kinds, file, session={"method": "cobras"}) as client,
        tab(browser, client.server.address, boards=True) as page,
    ):
        page.keyboard.press("b")
        for k in range(N_KEYS):
            board = open_board(page)
            sort_by_keys(page, board, labels)
            if k == 3:  # a slip: the last card is taken back and placed again
                page.keyboard.press("z")
                expect(page.locator("#placed")).to_contain_text("Taken back")
                page.keyboard.press(DIGITS[slots_of(board, labels)[-1]])
            page.keyboard.press("Enter")
            wait_for_next(page, board)
            twin.follow(board, labels)
        expect_answers(page, N_KEYS)

        board = open_board(page)
        page.keyboard.press("Enter")  # nothing is placed, so nothing is sent
        expect(page.locator(".notice")).to_contain_text("Place a card first")
        sort_by_keys(page, board, labels)
        for n in range(len(board.cards), 0, -1):
            expect(page.locator(".board-card.lies")).to_have_count(n)
            page.keyboard.press("z")
        expect(page.locator(".board-card.lies")).to_have_count(0)
        for _ in joins_of(board, labels):
            page.keyboard.press("z")
        expect(page.locator(".pile:not(.new)")).to_have_count(len(board.piles))
        expect_answers(page, N_KEYS)
        page.keyboard.press("z")  # now the last board
        expect_answers(page, N_KEYS - 1)
        wait_for_next(page, board)
        twin.undo()
        before = open_board(page)
        assert twin.has(before)
        page.keyboard.press("Shift+Z")
        expect_answers(page, N_KEYS)
        wait_for_next(page, before)
        twin.redo()

        # Only the second and the last card, by arrows; the third is unsure, and so is what is left.
        board = open_board(page)
        assert twin.has(board)
        page.keyboard.press("ArrowRight")
        expect(page.locator('.board-card[aria-selected="true"]')).to_have_attribute(
            "data-row", str(board.cards[1])
        )
        page.keyboard.press("n")
        page.keyboard.press("Space")
        expect(page.locator(f'[data-row="{board.cards[2]}"] .where')).to_have_text("unsure")
        page.locator("body").press("ArrowRight")
        page.locator("body").press("ArrowRight")
        expect(page.locator('.board-card[aria-selected="true"]')).to_be_focused()
        page.keyboard.press(DIGITS[len(board.piles)])
        page.keyboard.press("Enter")
        wait_for_next(page, board)
        twin.sort(twin.board(), [[board.cards[1], board.cards[5]]])
        page.keyboard.press("b")  # a pair in between
        expect(page.locator("#cards")).to_have_attribute("data-pair", "{},{}".format(*twin.ask()))
        answer_by_keys(page, labels, 1)
        twin.tell(labels[twin.ask().i] == labels[twin.ask().j], twin.ask())
    with Session.open(file, kinds.X, method="cobras") as kept:
        assert kept.labels_.tolist() == twin.labels_.tolist()
        for one, other in zip(kept.history, twin.history, strict=True):
            assert {*one.said} == {*other.said}


def centre(found: Locator) -> tuple[float, float]:
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 20)


def targets(
    page: Page, board: Board, labels: Any, onto_cards: bool = True
) -> Iterator[tuple[Locator, Locator]]:
    """What to drag where: piles onto each other, cards onto a pile, a new one, or a card of the same kind."""
    for pair in joins_of(board, labels):
        one, other = (page.locator(f'.pile[data-slot="{slot}"]') for slot in pair)
        yield other.locator(".pile-head"), one
    n_piles, placed = len(board.piles), []
    for card, slot in zip(board.cards, slots_of(board, labels), strict=True):
        alike = [other for other in placed if labels[other] == labels[card]]
        if onto_cards and alike and card % 2:
            target = page.locator(f'.board-card[data-row="{alike[0]}"]')
        else:
            target = page.locator(f'.pile[data-slot="{"new" if slot == n_piles else slot}"]')
        yield page.locator(f'.board-card[data-row="{card}"]'), target
        n_piles += slot == n_piles
        placed.append(card)


def test_boards_by_mouse(browser: Browser, tmp_path: Path, kinds: Any) -> None:
    twin = Twin(kinds.X, "cobras", random_state=0)
    with (
        serving(kinds, tmp_path / "flowers.cobras", session={"method": "cobras"}) as client,
        tab(browser, client.server.address, boards=True) as page,
    ):
        page.locator("#mode-board").click()
        for _ in range(N_MOUSE):
            board = open_board(page)
            for card, target in targets(page, board, kinds.labels):
                card.hover()  # waits until nothing moves any more
                page.mouse.down()
                x, y = centre(target)
                page.mouse.move(x - 5, y, steps=3)
                # Near its end the list scrolls while a card is carried; then one follows the pile.
                for k in range(50):
                    if "aimed" in (target.get_attribute("class") or ""):
                        break
                    box = target.bounding_box()
                    page.mouse.move(box["x"] + box["width"] / 2 - k % 2, box["y"] + box["height"] / 2)
                else:
                    raise AssertionError("A card cannot be carried onto this pile.")
                expect(page.locator(".aimed")).to_have_count(1)
                page.mouse.up()
            page.locator("#finish").click()
            wait_for_next(page, board)
            twin.follow(board, kinds.labels)
        # Two cards that lie nowhere are put together, and one of them is taken back to the cards.
        board = open_board(page)
        one, two = (page.locator(f'.board-card[data-row="{row}"]') for row in board.cards[:2])
        one.drag_to(two)
        expect(page.locator(".pile .member.here")).to_have_count(2)
        x, y = centre(one)
        page.mouse.move(x, y)
        page.mouse.down()
        edge = page.locator("#board-cards").bounding_box()
        left, right = one.bounding_box(), two.bounding_box()
        between = (left["x"] + left["width"] + right["x"]) / 2
        page.mouse.move(between, edge["y"] + 8, steps=4)
        page.mouse.up()
        expect(page.locator(".pile .member.here")).to_have_count(1)
        page.locator('.pile[data-slot="0"]').click()  # a click places the chosen card
        expect(one.locator(".where")).to_have_text("pile 1")
        expect(page.locator("#undo")).to_have_attribute("aria-disabled", "false")
        for n in (1, 2, 0):
            page.locator("#undo").click()
            expect(page.locator(".pile .member.here")).to_have_count(n)
        expect_answers(page, N_MOUSE)


def test_boards_by_touch(browser: Browser, tmp_path: Path, kinds: Any) -> None:
    twin = Twin(kinds.X, "cobras", random_state=0)
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with (
        serving(kinds, tmp_path / "flowers.cobras", session={"method": "cobras"}) as client,
        tab(browser, client.server.address, boards=True, **phone) as page,
    ):
        finger = page.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            event = {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
            finger.send("Input.dispatchTouchEvent", event)

        page.locator("#mode-board").tap()
        for _ in range(N_TOUCH):
            board = open_board(page)
            # A tap on a second card would choose that one.
            for n, (card, target) in enumerate(targets(page, board, kinds.labels, onto_cards=False)):
                target.scroll_into_view_if_needed()
                x, y = page.locator("#finish").bounding_box()["x"], centre(target)[1]
                if y > page.locator("#sorting").bounding_box()["y"] - 20:  # the buttons cover it
                    page.mouse.wheel(0, 160)
                    page.wait_for_timeout(150)
                box = card.bounding_box()
                start = box["x"] + 12, box["y"] + 12
                # Some cannot be reached by one drag, and places move with every card: tap the card, then the pile.
                if n or start[1] < 0:
                    card.tap()
                    target.tap()
                    continue
                x, y = target.bounding_box()["x"] + 40, target.bounding_box()["y"] + 12
                touch("touchStart", start)
                touch("touchMove", (x, y - 12))
                touch("touchMove", (x, y))
                touch("touchEnd")
            expect(page.locator("#n-left")).to_have_text("")
            page.locator("#finish").tap()
            wait_for_next(page, board)
            twin.follow(board, kinds.labels)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_killed_server_loses_no_board(browser: Browser, tmp_path: Path, kinds: Any) -> None:
    labels, arguments = (
        kinds.labels,
        ("flowers.csv", "--label", "species", "--seed", "3", "--method", "cobras"),
    )
    twin = Twin(kinds.X, "cobras", random_state=3)
    with (
        Command(tmp_path, *arguments) as server,
        tab(browser, server.address, expected=LOST, boards=True) as page,
    ):
        page.keyboard.press("b")
        board = open_board(page)
        sort_by_keys(page, board, labels)
        page.keyboard.press("Enter")
        expect(page.locator("#saved")).to_contain_text("Saved: a board")
        server.end(signal.SIGKILL)
        twin.follow(board, labels)
        server.start()
        wait_for_next(page, board)
        expect(page.locator("#banner")).to_be_hidden()
        expect_answers(page, 1)
        board = open_board(page)
        assert twin.has(board)
        sort_by_keys(page, board, labels)
        server.end(signal.SIGKILL)
        expect(page.locator("#banner")).to_contain_text("Reconnecting")
        page.keyboard.press("Enter")  # nobody hears it yet
        server.start()
        wait_for_next(page, board)
        twin.follow(board, labels)
        expect_answers(page, 2)
        assert twin.has(open_board(page))


def test_refusals(browser: Browser, tmp_path: Path) -> None:
    """A contradiction shows its chain and leaves the cards; what another tab answers shows another board."""
    # Of these rows a board comes on which a card and a pile are known to be apart.
    kinds = flowers(tmp_path, n=120, n_kinds=5)
    labels = kinds.labels
    twin = Twin(kinds.X, "cobras", random_state=0)
    with (
        serving(kinds, tmp_path / "flowers.cobras", session={"method": "cobras"}) as client,
        tab(browser, client.server.address, expected="409", boards=True) as page,
    ):
        page.keyboard.press("b")

        def known_apart(board: Board) -> tuple[int, int] | None:
            far = {
                pair.ordered for record in twin.history for pair, a in record.said if a is Answer.DIFFERENT
            }
            found = [
                (card, slot)
                for card in board.cards
                for slot, pile in enumerate(board.piles)
                if tuple(sorted((card, pile))) in far
            ]
            return found[0] if found else None

        while (wrong := known_apart(board := open_board(page))) is None:
            sort_by_keys(page, board, labels)
            page.keyboard.press("Enter")
            wait_for_next(page, board)
            twin.follow(board, labels)
        page.locator(f'.board-card[data-row="{wrong[0]}"]').click()
        page.keyboard.press(DIGITS[wrong[1]])
        page.keyboard.press("Enter")
        expect(page.locator(".notice.problem li").first).to_contain_text("said different")
        expect(page.locator(f'[data-row="{wrong[0]}"] .where')).to_have_text(f"pile {wrong[1] + 1}")
        assert open_board(page) == board

        # Another tab answers: the board is another one, and a notice says why.
        client.answer(labels, 1)
        wait_for_next(page, board)
        expect(page.locator(".notice")).to_contain_text("This was answered already")
        expect(page.locator(".board-card.lies")).to_have_count(0)
        stale = {"cards": board.cards, "piles": board.piles, "groups": []}
        send = "async (body) => (await import('/static/session/sync.js')).change('sort', body)"
        now = open_board(page)
        page.evaluate(send, stale)
        expect(page.locator(".notice")).to_contain_text("This was answered already")
        assert open_board(page) == now


def test_boards_come_by_themselves_and_the_choice_is_kept(browser: Browser, tmp_path: Path) -> None:
    draw = random.Random(0)
    topics = [k % 6 for k in range(60)]
    texts = [" ".join(draw.choices([f"topic{t}{x}" for x in "abcde"], k=7)) for t in topics]
    pl.DataFrame({"note": texts, "topic": topics}).write_csv(tmp_path / "notes.csv")
    data = read_dataset(tmp_path / "notes.csv", label="topic", text="note")
    with (
        serving(data, tmp_path / "notes.cobras") as client,
        tab(browser, client.server.address, boards=True) as page,
    ):
        for _ in range(40):
            if page.locator("#board").is_visible():
                break
            progress = client.look("question")["progress"]
            assert progress["n_clusters"] <= 3 or progress["n_answers"] < 10
            answer_by_keys(page, data.labels, 1)
            page.wait_for_timeout(50)
        board = open_board(page)
        expect(page.locator(".notice")).to_contain_text("B goes back to pairs")
        # What is marked in the texts is said below them.
        assert page.locator("#board-cards mark").count() > 0
        expect(page.locator("#board-marked")).to_have_text("Marked: longer words that some cards share.")
        expect(page.locator("#board-marked")).to_be_visible()
        # Blind: nothing tells the clusters of the cards.
        assert page.locator("#board-cards .tag, #board-cards .dot").count() == 0
        for row in board.cards:
            expect(page.locator(f'#cluster-list [data-row="{row}"]:visible')).to_have_count(0)
        page.locator("#tab-items").click()
        page.locator("#search").fill(data.show(board.cards[0]).text)
        expect(page.locator("#item-rows .tag").first).to_have_text("asked now")
        page.keyboard.press("Escape")
        page.keyboard.press("b")
        expect(page.locator("#cards")).to_be_visible()
        page.reload()
        page.wait_for_selector('#cards[data-pair*=","]')
        expect(page.locator("#board")).to_be_hidden()
        page.keyboard.press("b")
        page.reload()
        assert open_board(page).cards
