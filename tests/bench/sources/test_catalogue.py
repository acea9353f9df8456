"""Finding, reading and checking the files of the benchmark."""

from pathlib import Path

import numpy as np
import pytest

from cobras import InvalidDataError
from cobras.bench.sources.catalogue import FACES, TABLES, TEXTS, data_folder, files_of, find_files
from cobras.bench.sources.prepare import (
    read_table,
    write_table,
)
from cobras.bench.tasks import describe_tasks, load_task
from cobras.data.cache import cache_folder
from cobras.data.tables.files import DataNotFoundError
from tests.bench.made_files import REAL, random_table

pytestmark = pytest.mark.usefixtures("places")


def test_files_are_looked_for_in_the_folder_then_in_the_cache(tmp_path, monkeypatch, places):
    assert find_files("wine", None) == ([], "missing")
    write_table(places / "wine.csv", *random_table("wine"))
    assert find_files("wine", None) == ([places / "wine.csv"], "cache")
    named, given_ = tmp_path / "named", tmp_path / "given"
    for folder in (named, given_):
        write_table(folder / "wine.csv", *random_table("wine"))
    monkeypatch.setenv("COBRAS_DATA", str(named))
    assert find_files("wine", None) == ([named / "wine.csv"], "folder")
    assert find_files("wine", given_) == ([given_ / "wine.csv"], "folder")
    (given_ / "wine.csv").unlink()
    assert find_files("wine", given_)[1] == "cache"


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(InvalidDataError, match=r"There is no folder .*nowhere;"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("COBRAS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidDataError, match="nowhere, which COBRAS_DATA names;"):
        load_task("iris")


def test_the_cache_lies_in_the_home_folder_by_default(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == Path("/home/somebody/.cache/cobras")


@pytest.mark.parametrize("name", FACES)
def test_faces_must_be_put_in_place(name, tmp_path, places):
    with pytest.raises(DataNotFoundError) as caught:
        load_task(name, tmp_path)
    for word in (name, *files_of(name), str(tmp_path), str(places)):
        assert word in str(caught.value)


@pytest.mark.skipif(REAL is None, reason="needs the recorded copies")
@pytest.mark.parametrize("name", [*TABLES, *TEXTS, *FACES])
def test_the_copies_at_hand_are_as_recorded(name):
    (described,) = describe_tasks(REAL, [name])
    assert described.as_recorded
    if name in TABLES:
        recorded = TABLES[name]
        X, target = read_table(REAL / f"{name}.csv")
        assert X.shape == (recorded.n_rows, recorded.n_features)
        assert dict(zip(*np.unique(target, return_counts=True), strict=True)) == recorded.classes
        assert int(np.isnan(X).sum()) == recorded.n_missing
