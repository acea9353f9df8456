"""Every nasty file gives a result or one clear sentence; none hangs, none crashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cobras.core.exceptions import CobrasError
from cobras.data import Dataset, Photo, read_dataset, read_recipe
from cobras.data.tables import excel
from tests.data.odd.nasty import CORPUS

NASTY = "a nasty file, made by hand"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(excel, "LARGEST", 50 << 20)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    return iter(())


def check(dataset: Dataset) -> None:
    """What holds for every data set."""
    n = len(dataset)
    assert dataset.X.ndim == 2
    assert dataset.X.shape == (n, len(dataset.columns))
    assert n > 0
    assert np.isfinite(dataset.X).all()
    assert len(dataset.ids) == dataset.frame.height == n
    assert len(set(dataset.columns)) == len(dataset.columns)
    assert dataset.visible.height in (0, n)
    for i in {0, n // 2, n - 1}:
        card = dataset.show(i)
        if isinstance(card, Photo):
            content, media_type = card.thumbnail(64)
            assert media_type in ("image/png", "image/jpeg")
            assert len(content) < 50_000
    assert all(note.endswith((".", ")")) and "\n" not in note.replace("a\nb", "") for note in dataset.notes)


@pytest.mark.parametrize("name", CORPUS)
def test_nasty_file(tmp_path: Path, name: str, report_tried: Callable[..., None]) -> None:
    make, is_read = CORPUS[name]
    path = make(tmp_path)
    kind = "text" if name == "texts without words" else None
    features = "pixels" if (tmp_path / "photos").exists() or (tmp_path / "one.png").exists() else None
    dataset, refusal = attempt(path, kind, features)
    if dataset is None:
        assert is_read is not True, refusal
        assert refusal.endswith(".")
        assert "\n" not in refusal
        assert len(refusal) < 600
        report_tried(NASTY, 1, refused=1)
        return
    assert is_read is not False, dataset.notes
    check(dataset)
    np.testing.assert_array_equal(read_recipe(path, dataset.recipe).X, dataset.X)
    report_tried(NASTY, 1, read=1)


def attempt(path: Path, kind: str | None, features: str | None) -> tuple[Dataset | None, str]:
    try:
        return read_dataset(path, kind=kind, features=features), ""
    except CobrasError as error:
        return None, str(error)


def test_corpus_is_large() -> None:
    assert len(CORPUS) >= 60
