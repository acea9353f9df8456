"""Modules of the page against brute force, in the browser that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.web.page.browser import chromium, tab
from tests.web.serving import flowers, serving


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder: Path = tmp_path_factory.mktemp("modules")
    found: Browser
    with (
        chromium() as found,
        serving(flowers(folder), folder / "flowers.cobras") as client,
        tab(found, client.server.address) as page,
    ):
        yield page


def call(page: Page, module: str, body: str, *given: Any) -> Any:
    """What `body` gives, with the module as `m` and the rest as `g`."""
    script = f"async (g) => {{ const m = await import('/static/{module}.js'); {body} }}"
    return page.evaluate(script, list(given))


def test_a_share_reads_as_nothing_or_all_only_where_it_is(page: Page) -> None:
    shares = {0: "0 %", 0.0025: "< 1 %", 0.006: "1 %", 0.5: "50 %", 0.9996: "99.9 %", 1: "100 %"}
    assert call(page, "page/dom", "return g.map(m.percent);", *shares) == list(shares.values())


def test_nearest_is_nearest(page: Page) -> None:
    rng = np.random.default_rng(0)
    xy = rng.random((500, 2)).astype(np.float32)
    places = (rng.random((60, 2)) * 1.2 - 0.1).tolist()
    body = "const n = new m.Nearest(new Float32Array(g[0])); return g[1].map(([x, y]) => n.find(x, y, g[2], g[3]));"
    for reach in ((0.02, 0.05), (0.3, 0.1)):
        found = call(page, "map/geometry", body, xy.ravel().tolist(), places, *reach)
        for place, row in zip(places, found, strict=True):
            away = (((xy.astype(float) - place) / reach) ** 2).sum(axis=1)
            assert row == (int(away.argmin()) if away.min() < 1 else None)


def test_labels_do_not_cover_each_other_where_there_is_room(page: Page) -> None:
    rng, size = np.random.default_rng(0), {"width": 500, "height": 300}
    body = "return m.placeLabels(g[0], g[1], g[2], 11);"
    for n_labels in (2, 6, 12):
        places = rng.random((n_labels, 2)) * (500, 300)
        wanted = [{"x": x, "y": y, "halves": [80, 11]} for x, y in places.tolist()]
        taken = [[250, 150, 9, 9], [100, 30, 9, 9]]
        found = call(page, "map/geometry", body, wanted, taken, size)
        boxes = np.array([*taken, *(label["box"] for label in found)])
        apart = np.abs(boxes[:, None, :2] - boxes[:, :2]) > boxes[:, None, 2:] + boxes[:, 2:]
        assert apart.any(axis=2)[np.triu_indices(len(boxes), 1)].all()
        assert (np.abs(boxes[2:, :2] - (250, 150)) + boxes[2:, 2:] <= (250, 150)).all()
        assert [label["box"][2] for label in found] == [(80, 11)[label["text"]] for label in found]
        assert found[0]["text"] == 0
    # Where all are at one place, the first has its name, the others their numbers as long as there is room.
    crowd = call(page, "map/geometry", body, [{"x": 40, "y": 20, "halves": [80, 11]}] * 9, [], size)
    assert [label["text"] for label in crowd][-1] == 1
    assert len({tuple(label["box"]) for label in crowd}) >= 4
    # A name that is wider than the map gives way to the number.
    (wide,) = call(page, "map/geometry", body, [{"x": 40, "y": 20, "halves": [300, 11]}], [], size)
    assert wide["text"] == 1


def test_a_pile_keeps_its_number_while_it_is_shown(page: Page) -> None:
    """It is known by a row that lay on it, or else by its cluster; the others fill the gaps in their order."""
    piles = [{"row": row, "cluster": cluster} for row, cluster in ((9, 5), (4, 1), (7, 8), (2, 3))]
    before, shown = [[1, 2], [6], [4, 9]], [{"row": 1, "cluster": 3}, {"row": 6, "cluster": 8}]
    body = "return m.inPlace(g[0], g[1], g[2]).map((pile) => pile.row);"
    # 2 lay on the first pile; 7 is of the cluster of the second; 9 lay on the third, as 4 did, which comes later.
    assert call(page, "board/pieces", body, piles, before, shown) == [2, 7, 9, 4]
    assert call(page, "board/pieces", body, piles[:2], before, shown) == [9, 4]
    assert call(page, "board/pieces", body, piles, [], []) == [9, 4, 7, 2]


def test_a_pile_gets_its_number_back_after_a_smaller_board(page: Page) -> None:
    clusters = [[4, 0, 2, 3], [3], [3, 0, 4, 2], [2, 5, 3, 4], [0, 2]]
    boards = [[{"row": 10 * k + c, "cluster": c} for c in some] for k, some in enumerate(clusters)]
    body = """const kept = new Map(), orders = [];
      let shown = [];
      for (const piles of g[0]) {
        shown = m.inPlace(piles, shown.map(({ row }) => [row]), shown, kept);
        orders.push(shown.map(({ cluster }) => cluster));
      }
      return orders;"""
    found = call(page, "board/pieces", body, boards)
    assert found == [[4, 0, 2, 3], [3], [4, 0, 2, 3], [4, 5, 2, 3], [2, 0]]


def test_no_two_piles_are_called_the_same(page: Page) -> None:
    given = [("", 3), ("rose", 1), ("rose", 2), ("lily", 4), ("", 3), ("rose", 2), ("", 5)]
    piles = [{"name": name, "cluster": cluster} for name, cluster in given]
    found = call(page, "board/pieces", "return g[0].map((_, slot) => m.titleOf(slot, g[0]));", piles)
    roses = ["rose (1)", "rose (2), part 1", "rose (2), part 2"]
    assert found == ["Cluster 3, part 1", *roses[:2], "lily", "Cluster 3, part 2", roses[2], "Cluster 5"]
    assert call(page, "board/pieces", "return m.titleOf(7, g[0]);", piles) == "new"


def test_lasso_holds_what_lies_inside(page: Page) -> None:
    """A triangle, by the side of each edge on which a point lies."""
    rng = np.random.default_rng(1)
    xy = rng.random((400, 2)).astype(np.float32)
    corners = np.array([[0.1, 0.2], [0.9, 0.3], [0.4, 0.95]])
    body = "return [...m.rowsInside(new Float32Array(g[0]), g[1])];"
    found = call(page, "map/geometry", body, xy.ravel().tolist(), corners.tolist())
    edges = np.roll(corners, -1, axis=0) - corners
    away = xy[:, None, :].astype(float) - corners
    inside = (edges[:, 0] * away[:, :, 1] - edges[:, 1] * away[:, :, 0] > 0).all(axis=1)
    assert found == np.flatnonzero(inside).tolist()


def test_a_number_is_drawn_on_its_own_cluster(page: Page) -> None:
    rng = np.random.default_rng(2)
    xy, labels = rng.random((300, 2)), rng.integers(0, 7, 300)
    body = "return [...m.anchors(new Float32Array(g[0]), g[1], 7)];"
    rows = call(page, "map/geometry", body, xy.ravel().tolist(), labels.tolist())
    assert labels[rows].tolist() == list(range(7))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["0.1", "0.2"], ["0.1", "0.2"]),
        (["1234567", "3"], ["1\u202f234\u202f567", "3"]),  # no comma, which is a decimal mark elsewhere
        (["1999", "2001"], ["1999", "2001"]),
        (["0.123456789", "0.123456999"], ["0.1234568", "0.123457"]),
        (["5", None], ["5", None]),
        (["821.96", "7"], ["821.96", "7"]),
        (["red", "5"], ["red", "5"]),
        (["1e-9", "2"], ["1.000e-9", "2"]),
        (["90000000000000001", "1"], ["90000000000000001", "1"]),
        (["007", "8"], ["007", "8"]),
        (["", "4"], ["", "4"]),
    ],
)
def test_numbers_are_told_apart(page: Page, given: list[str | None], shown: list[str | None]) -> None:
    assert call(page, "cards/table", "return m.formatPair(...g);", *given) == shown


def test_colours_mix_from_one_to_the_other(page: Page) -> None:
    assert call(page, "map/points", "return m.mix(0xff112233, 0xffaabbcc, 0);") == 0xFF112233
    assert call(page, "map/points", "return m.mix(0xff112233, 0xffaabbcc, 256);") == 0xFFAABBCC
    assert call(page, "map/points", "return m.mix(0xff000000, 0xffffffff, 128);") == 0xFF7F7F7F


def test_every_colour_of_the_palette_differs(page: Page) -> None:
    colours = call(page, "page/palette", "return Array.from({length: 30}, (_, k) => m.colourOf(k));")
    assert len(set(colours)) == 30
