"""Finding, reading and checking the files of the benchmark."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError
from cobras.bench.sources.content import (
    read_table,
    read_texts,
    table_checksum,
    texts_checksum,
    write_table,
    write_texts,
)
from cobras.bench.sources.registry import FACES, TABLES, TEXTS, cache_folder, data_folder, files_of, locate
from cobras.bench.tasks import describe_tasks, load_task
from cobras.data.tables.files import DataNotFoundError
from tests.bench.files import REAL, made_table

pytestmark = pytest.mark.usefixtures("places")

cells = st.just(np.nan) | st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@given(st.data())
def test_a_checksum_ignores_order_but_no_value_and_no_class(data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    X = np.array(data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    target = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    order = data.draw(st.permutations(range(n)))
    before = table_checksum(X, target, 1e-3)
    assert table_checksum(X[order], target[order], 1e-3) == before
    i, k = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, d - 1))
    other = X.copy()
    other[i, k] = 1.0 if np.isnan(X[i, k]) else X[i, k] + 1e-3
    assert table_checksum(other, target, 1e-3) != before
    renamed = target.copy()
    renamed[i] = "z"
    assert table_checksum(X, renamed, 1e-3) != before


def test_a_checksum_ignores_digits_finer_than_its_step():
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, size=(40, 3)) * 0.5
    target = rng.choice(["a", "b"], size=40)
    assert table_checksum(X + rng.uniform(-0.2, 0.2, X.shape), target, 0.5) == table_checksum(X, target, 0.5)


@given(st.data())
def test_a_table_is_read_as_it_was_written(tmp_path_factory, data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    values = st.floats(allow_infinity=False)
    X = np.array(data.draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n)))
    words = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)
    target = np.array(data.draw(st.lists(words, min_size=n, max_size=n)), dtype=np.str_)
    path = tmp_path_factory.getbasetemp() / "table.csv"
    write_table(path, [f"a{k}" for k in range(d)], X, target)
    X_again, target_again = read_table(path)
    np.testing.assert_array_equal(X_again, X)
    assert target_again.tolist() == target.tolist()


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_texts_are_read_as_they_were_written(tmp_path_factory, texts):
    documents = [
        {"id": f"g/{k}", "split": "test", "target": "g", "text": text} for k, text in enumerate(texts)
    ]
    path = tmp_path_factory.getbasetemp() / "texts.jsonl.gz"
    write_texts(path, documents[::-1])
    assert read_texts(path) == documents
    spaced = [{**document, "text": document["text"].replace(" ", " \r\n ")} for document in documents]
    assert texts_checksum(spaced[::-1]) == texts_checksum(documents)


@pytest.mark.parametrize(
    "content", ["", "a,b\n1,2\n", "a,target\n", "a,target\nred,x\n", "a,target\n1,\n", "target\nx\n"]
)
def test_what_is_no_table_is_one_sentence(tmp_path, content):
    path = tmp_path / "iris.csv"
    path.write_text(content)
    with pytest.raises(InvalidDataError, match=r"iris\.csv"):
        load_task("iris", tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{}\n"), gzip.compress(b"x" * 99)[:20]],
    ids=["empty", "no gzip", "no texts", "cut"],  # compressed bytes hold the time, and are no name of a test
)
def test_what_is_no_text_is_one_sentence(tmp_path, content):
    path = tmp_path / "newsgroups-sim.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"newsgroups-sim\.jsonl\.gz"):
        load_task("newsgroups-sim", tmp_path)


def test_files_are_looked_for_in_the_folder_then_in_the_cache(tmp_path, monkeypatch, places):
    assert locate("wine", None) == ([], "missing")
    write_table(places / "wine.csv", *made_table("wine"))
    assert locate("wine", None) == ([places / "wine.csv"], "cache")
    named, given_ = tmp_path / "named", tmp_path / "given"
    for folder in (named, given_):
        write_table(folder / "wine.csv", *made_table("wine"))
    monkeypatch.setenv("COBRAS_DATA", str(named))
    assert locate("wine", None) == ([named / "wine.csv"], "folder")
    assert locate("wine", given_) == ([given_ / "wine.csv"], "folder")
    (given_ / "wine.csv").unlink()
    assert locate("wine", given_)[1] == "cache"


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
