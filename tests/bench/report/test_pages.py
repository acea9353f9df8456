"""The report: whole, escaped, without a network, and the same each time."""

import re
from html.parser import HTMLParser

import pytest

from cobras.bench.report import write_report
from cobras.bench.report.pages import Verdict
from cobras.core.exceptions import InvalidDataError
from tests.bench.made_results import FAMILY, PAPER, costing, steady, write_results

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Tags that are open, ids, addresses and text of a page; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        assert tag not in {"script", "link", "img", "iframe", "image"}
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name in {"href", "xlink:href", "src"}]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """COBRA ran six times, the others once; a task and a method must be left out of the ranking."""
    folder = write_results(
        tmp_path_factory.mktemp("report") / "results",
        repetitions={method: 6 if method in FAMILY else 1 for method in PAPER},
        without=[("hard", "COBS"), ("easy", "COSC-NPU"), ("hard", "COSC-NPU")],
        limit=200,
    )
    return write_report(folder)


@pytest.fixture(scope="module")
def page(report):
    return Page(report.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def markdown(report):
    return report.with_suffix(".md").read_text(encoding="utf-8")


class TestPage:
    def test_it_needs_no_other_file(self, report, page):
        assert report.name == "report.html"
        assert page.links
        assert all(link.startswith("#") for link in page.links)
        assert not re.search(r"url\((?!#)|@import", report.read_text(encoding="utf-8"))

    def test_ids_are_unique_and_links_lead_somewhere(self, page):
        assert len(set(page.ids)) == len(page.ids)
        assert {link[1:] for link in page.links} <= set(page.ids)

    def test_all_figures_are_inside_in_the_colours_of_the_page(self, report):
        text = report.read_text(encoding="utf-8")
        assert text.count("<svg ") == 5
        drawings = "".join(re.findall(r"<svg .*?</svg>", text, re.DOTALL))
        assert "var(--ink)" in drawings
        assert not re.search("#1b1b1b|#ffffff|#d8d8d8", drawings, re.IGNORECASE)

    def test_nothing_is_left_out_in_silence(self, page, markdown):
        for text in (page.text, markdown.replace("\\", "")):
            assert "COSC-NPU is left out: it ran on 1 of 3 tasks only." in text
            assert "Left out, because not all methods ran there on a common fold: hard." in text

    def test_every_claim_has_its_verdict(self, page, markdown):
        assert page.text.count("Rule: ") == markdown.count("*Rule: ") == 9
        counts = dict(re.findall(r"(holds|does not hold|unclear|not measured): (\d)", page.text))
        for verdict, count in counts.items():
            assert markdown.count(f"| **{verdict}** |") == int(count)
        assert sum(map(int, counts.values())) == 9


class TestMarkdown:
    def test_tables_are_whole(self, markdown):
        heads = re.findall(r"^(\|.*\|)\n(\|(?:---:?\|)+)\n((?:\|.*\|\n?)+)", markdown, re.MULTILINE)
        assert len(heads) == 14
        for head, rule, rows in heads:
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in [head, rule, *rows.strip().split("\n")]}
            assert len(widths) == 1

    def test_figures_lie_beside_it(self, report, markdown):
        names = re.findall(r"\]\((figures/.*?\.svg)\)", markdown)
        assert len(names) == 5
        assert all((report.parent / name).exists() for name in names)

    def test_runs_are_counted(self, markdown):
        assert re.search(r"^\| COBRAS \| 3 of 3 \| 6 × 10 \| 180 \| 250 \| 3.3 min \| 0 % \|", markdown, re.M)
        assert re.search(
            r"^\| COSC-NPU \| 1 of 3 \| 1 × 10 \| 10 \| \d+ to \d+ \| 3.3 min \| 100 % \|", markdown, re.M
        )

    def test_the_best_stands_out(self, markdown):
        assert re.search(r"^\| COBRAS \|.* \*\*0\.\d+ ± 0\.\d+\*\* \|$", markdown, re.M)

    def test_what_did_not_run_has_no_number(self, markdown):
        hard = re.findall(r"^\| hard \|.*$", markdown, re.M)
        assert len(hard) == 6
        assert all(line.count("| – ") == 2 for line in hard)


def test_it_can_be_written_elsewhere_and_is_the_same(report, tmp_path):
    again = write_report(report.parent, out=tmp_path / "docs" / "paper")
    assert again == tmp_path / "docs" / "paper" / "report.html"
    for file in again.parent.rglob("*.*"):
        assert file.read_bytes() == (report.parent / file.relative_to(again.parent)).read_bytes(), file.name


def test_names_are_escaped_and_the_story_may_be_missing(tmp_path):
    evil = "<img src=x>|`a`*b*"
    strange = 'id="#ffffff"'
    folder = write_results(
        tmp_path / "x", {evil: PAPER["COBS"], strange: PAPER["COBS"]}, tasks=[evil], queries=4
    )
    (folder / "about.json").unlink()
    report = write_report(folder)
    page = Page(report.read_text(encoding="utf-8"))  # which refuses an <img>
    assert evil in page.text
    assert strange in page.text
    assert "var(" not in page.text
    assert "is not recorded" in page.text
    markdown = report.with_suffix(".md").read_text(encoding="utf-8")
    assert "<img" not in markdown
    assert "&lt;img src=x&gt;\\|\\`a\\`\\*b\\*" in markdown


@pytest.mark.parametrize("methods", [("COBRAS",), ("COBRA-25", "COBS"), ("Mine",)])
def test_it_works_with_few_methods(tmp_path, methods):
    mine = {"Mine": (steady(0.2, 0.3), costing(1, 1))}
    chosen = {method: (PAPER | mine)[method] for method in methods}
    report = write_report(
        write_results(tmp_path / "x", chosen, queries=12, repetitions=dict.fromkeys(methods, 1), folds=1)
    )
    text = Page(report.read_text(encoding="utf-8")).text
    assert Verdict.NOT_MEASURED in text
    assert ("No aligned ranks" in text) == (len(methods) == 1)
    assert "nan" not in text.lower().split()


def test_a_folder_without_results_is_refused_and_left_alone(tmp_path):
    with pytest.raises(InvalidDataError, match="cobras bench run"):
        write_report(tmp_path / "nothing", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
