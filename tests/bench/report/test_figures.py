"""Figures: every label is there, none covers another, and the same results give the same file."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cobras.bench.report.figures import (
    KNOWN,
    OTHERS,
    draw_figures,
    line_styles,
    mean_ari,
    run_time,
    spaced_positions,
)
from cobras.bench.report.summary import read_summary
from cobras.core.exceptions import CobrasError
from tests.bench.made_results import PAPER, write_results

places = st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array)


class TestSpread:
    @given(places, st.floats(0.001, 0.08))
    def test_labels_keep_apart_in_order_and_inside(self, wanted, gap):
        found = spaced_positions(wanted, gap, 0, 1)
        order = np.argsort(wanted, kind="stable")
        assert (np.diff(found[order]) >= gap - 1e-9).all()
        assert found.min() >= 0
        assert found.max() <= 1 + 1e-9

    @given(places)
    def test_labels_that_are_apart_stay(self, wanted):
        apart = np.unique(wanted.round(1))
        np.testing.assert_allclose(spaced_positions(apart, 0.09, 0, 1), apart)

    def test_without_room_they_still_keep_apart(self):
        assert spaced_positions(np.zeros(4), 0.5, 0, 1).tolist() == [0, 0.5, 1, 1.5]


class TestStyles:
    def test_no_two_lines_look_alike(self):
        shown = [(style.dashes, style.marker) for style in (*KNOWN.values(), *OTHERS)]
        assert len(set(shown)) == len(shown)  # so they differ in grey too

    def test_methods_of_others_have_styles_of_their_own(self):
        styles = line_styles(["COBRAS", "A", "B"])
        assert styles["COBRAS"] == KNOWN["COBRAS"]
        assert styles["A"] != styles["B"]
        assert len(line_styles([str(i) for i in range(20)])) == 20


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    summary = read_summary(write_results(folder / "results", queries=120, limit=200))
    return summary, folder, {picture.name: picture for picture in draw_figures(summary, folder / "figures")}


def texts(svg):
    return [
        "".join(found.itertext()).strip()
        for found in ElementTree.fromstring(svg).iter()
        if "text" in found.tag
    ]


class TestDrawing:
    def test_all_figures_are_drawn_twice(self, drawn):
        _, folder, pictures = drawn
        assert list(pictures) == ["aligned-rank", "mean-ari", "mean-ari-all", "run-time", "tasks"]
        for name, picture in pictures.items():
            assert (folder / "figures" / f"{name}.svg").read_text(encoding="utf-8") == picture.svg
            with Image.open(folder / "figures" / f"{name}.png") as image:
                assert image.width == 1125

    @pytest.mark.parametrize("name", ["aligned-rank", "mean-ari-all", "tasks"])
    def test_every_method_is_named_once(self, drawn, name):
        found = texts(drawn[2][name].svg)
        assert all(found.count(method) == 1 for method in PAPER)

    def test_axes_say_what_they_show(self, drawn):
        pictures = drawn[2]
        assert "queries answered" in texts(pictures["aligned-rank"].svg)
        assert any("average aligned rank, 1 to 21" in text for text in texts(pictures["aligned-rank"].svg))
        assert any("mean ARI over 3 tasks" in text for text in texts(pictures["mean-ari"].svg))
        assert "easy (150)" in texts(pictures["run-time"].svg)

    def test_the_best_rank_is_on_top(self, drawn):
        summary, _, pictures = drawn
        heights = {
            found.text: float(found.get("y"))
            for found in ElementTree.fromstring(pictures["aligned-rank"].svg).iter()
            if found.text in PAPER
        }
        last = dict(zip(summary.ranking.methods, summary.ranking.ranks[:, -1], strict=True))
        assert sorted(heights, key=heights.get) == sorted(last, key=last.get)
        assert np.diff(sorted(heights.values())).min() > 11  # points: no label covers another

    def test_small_numbers_on_an_axis_survive(self, drawn):
        assert "0.01" in texts(drawn[2]["run-time"].svg)
        assert "0.00" not in texts(drawn[2]["run-time"].svg)

    def test_stopped_runs_are_told(self, drawn, tmp_path):
        assert "Circles" in drawn[2]["run-time"].caption
        assert "Circles" not in run_time(_small(tmp_path))[1]

    @pytest.mark.parametrize("name", ["aligned-rank", "mean-ari-all", "tasks"])
    def test_frozen_points_are_pale_and_told(self, drawn, tmp_path, name):
        found = drawn[2][name]
        share = drawn[0].frozen_shares("COSC-NPU", ["easy", "medium", "hard"])
        first = int(np.flatnonzero(share)[0])
        assert "Pale lines, from a circle on: frozen points, where" in found.caption
        assert f"COSC-NPU from {first} queries on" in found.caption
        assert "opacity: 0.4" in found.svg
        whole = {picture.name: picture for picture in draw_figures(_small(tmp_path), tmp_path / "figures")}
        assert "Pale" not in whole[name].caption
        assert "opacity: 0.4" not in whole[name].svg

    def test_the_circle_is_at_the_first_frozen_point(self, drawn):
        summary = drawn[0]
        share = summary.frozen_shares("COSC-NPU", [task.name for task in summary.tasks])
        assert len(set(share)) > 2  # runs were cut off at different numbers of queries
        figure, _ = mean_ari(summary, ["COBRAS", "COSC-NPU"])
        circles = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
        pale = [line for line in figure.axes[0].lines if line.get_alpha() == 0.4]
        first = int(np.flatnonzero(share)[0])
        assert [line.get_xdata().tolist() for line in circles] == [[first]]
        assert [line.get_color() for line in pale] == [KNOWN["COSC-NPU"].colour]
        full = [line.get_xdata() for line in figure.axes[0].lines if line.get_color() == pale[0].get_color()][
            1
        ]
        assert full.tolist() == list(range(first + 1))

    def test_the_family_was_not_cut_off(self, drawn):
        assert "Pale" not in drawn[2]["mean-ari"].caption
        assert "opacity: 0.4" not in drawn[2]["mean-ari"].svg

    def test_the_same_results_give_the_same_files(self, drawn, tmp_path):
        summary, folder, _ = drawn
        draw_figures(summary, tmp_path)
        for file in sorted(tmp_path.iterdir()):
            assert file.read_bytes() == (folder / "figures" / file.name).read_bytes(), file.name

    def test_odd_names_are_drawn_as_they_are(self, tmp_path):
        odd = {"_mine": PAPER["COBRAS"], "50 $ & <b>": PAPER["COBS"], "x" * 60: PAPER["COBS"]}
        summary = read_summary(write_results(tmp_path / "x", odd, tasks=["$a$ <i>"], queries=5))
        for picture in draw_figures(summary, tmp_path):
            assert {"_mine", "50 $ & <b>", "x" * 17 + "…"} <= set(texts(picture.svg)), picture.name

    def test_one_method_has_a_curve_but_no_rank(self, tmp_path):
        summary = _small(tmp_path, {"Mine": PAPER["COBS"]})
        assert [picture.name for picture in draw_figures(summary, tmp_path / "figures")] == [
            "mean-ari-all",
            "tasks",
        ]

    def test_without_matplotlib_it_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(CobrasError, match=r"cobras-clustering\[bench\]"):
            draw_figures(_small(tmp_path), tmp_path / "figures")


def _small(folder, methods=None):
    return read_summary(write_results(folder / "results", methods or PAPER, queries=5, folds=2))
