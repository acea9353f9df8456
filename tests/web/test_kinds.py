"""Every kind of data from the files on disk to the page of `cobras serve`, in a real browser, and to the export."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect
from polars.testing import assert_frame_equal

from cobras.cli.options import session_file
from tests.data.kinds import KINDS
from tests.web.page.browser import Command, expect_answers, press, tab

SHOWN = {
    "table": ".pair.table .comparison tr",
    "image": ".pair.image figure img",
    "text": ".pair.text figure .prose",
    "series": ".pair.series figure .series-line",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_for_every_kind(
    browser: Browser, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = KINDS[kind](tmp_path)
    with (
        Command(tmp_path, files.path, *files.options, "--seed", "0") as server,
        tab(browser, server.address) as page,
    ):
        expect(page.locator(SHOWN[kind]).first).to_be_visible()
        assert page.locator(SHOWN[kind]).count() >= 2
        look_closer(page, kind)
        for n, key in enumerate("ddsd", 1):
            press(page, key)
            expect_answers(page, n)
        assert not [word for word in files.secrets if word in page.content()]
    file = session_file(Path(files.path), None)
    command = [sys.executable, "-m", "cobras", "export", str(file), "--out", "out.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    out = pl.read_csv(tmp_path / "out.csv")
    assert out.columns == [*files.exported.columns, "cluster_id", "cluster"]
    assert_frame_equal(out.drop("cluster", "cluster_id"), files.exported)
    assert out["cluster"].n_unique() >= 2


def look_closer(page: Page, kind: str) -> None:
    """Pictures are there, words that differ are marked, and two series share one drawing on request."""
    if kind == "image":
        for image in page.locator(SHOWN["image"]).all():
            assert image.evaluate("image => image.naturalWidth") == 40
    elif kind == "text":
        expect(page.locator(".pair.text mark").first).to_be_visible()
    elif kind == "series":
        lines = page.locator(".pair.series figure").first.locator(".series-line")
        expect(lines).to_have_count(1)
        page.locator(".overlay-series").click()
        expect(lines).to_have_count(2)
