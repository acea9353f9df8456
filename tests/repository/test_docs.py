"""What the pages count, and the files they point to, are there."""

import re
from functools import cache
from pathlib import Path

import pytest

from cobras.bench.report.claims import check_claims
from cobras.bench.report.pages import Verdict
from cobras.bench.report.summary import read_summary
from tests.repository.test_architecture import ALLOWED

ROOT = Path(__file__).parents[2]


@cache
def verdicts() -> list[Verdict]:
    return [check.verdict for check in check_claims(read_summary(ROOT / "experiments" / "paper"))]


@pytest.mark.parametrize("page", ["README.md", "docs/results/experiments.md"])
def test_the_verdicts_that_a_page_counts_are_those_of_the_results(page):
    text = " ".join((ROOT / page).read_text().split())
    ((*counts,),) = re.findall(r"(\d+) holds?, (\d+) (?:is|are) unclear, (\d+) (?:does|do) not hold", text)
    found = verdicts()
    wanted = [found.count(verdict) for verdict in (Verdict.HOLDS, Verdict.UNCLEAR, Verdict.FAILS)]
    assert [int(count) for count in counts] == wanted
    assert sum(wanted) == len(found)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    named = re.findall(r"`((?:src|tests|docs|benchmarks|experiments)/[\w./]+|[a-z]+/[\w/]+\.py)`", text)
    assert links or named
    base = ROOT if page != "docs/architecture.md" else ROOT / "src" / "cobras"
    missing = [path for path in links if not (ROOT / page).parent.joinpath(path).exists()]
    missing += [path for path in named if not (ROOT / path).exists() and not (base / path).exists()]
    assert missing == []


def test_the_table_of_layers_is_what_the_tests_allow():
    rows = re.findall(r"^\| `(\w+)` \| (.*)\|$", (ROOT / "docs/architecture.md").read_text(), re.M)
    layers = {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows if name in ALLOWED}
    folders = {path.name for path in (ROOT / "src" / "cobras").iterdir() if path.is_dir()}
    assert layers == {name: allowed for name, allowed in ALLOWED.items() if name in folders}
