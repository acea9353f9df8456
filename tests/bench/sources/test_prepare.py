"""Reading, writing, checking and preparing the files of the tasks."""

import gzip
import statistics
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError
from cobras.bench.sources import prepare
from cobras.bench.sources.catalogue import FACES_FILES
from cobras.bench.sources.prepare import (
    GENERATED,
    distinct_rows,
    prepare_table,
    read_table,
    read_texts,
    table_checksum,
    texts_checksum,
    write_table,
    write_texts,
)
from cobras.bench.tasks import MANY, load_task
from cobras.data.items.texts import latent_semantic_index
from tests.bench.made_files import make_faces, random_texts

pytestmark = pytest.mark.usefixtures("places")

cells = st.just(np.nan) | st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
few_cells = st.sampled_from([np.nan, -1.0, 0.0, -0.0, 0.5, 2.0, 1e9])


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


def test_the_class_may_be_the_last_column_whatever_its_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,target,kind\n1,2,01\n,4,1\n")
    X, target = read_table(path, label=None)
    np.testing.assert_array_equal(X, [[1, 2], [np.nan, 4]])
    assert target.tolist() == ["01", "1"]
    path.write_text("")
    with pytest.raises(InvalidDataError, match="classes in its last column"):
        read_table(path, label=None)


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


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(few_cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    target = np.array(draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)))
    return X, target


@given(tables(), st.randoms(use_true_random=False))
def test_a_table_is_filled_freed_of_duplicates_and_scaled(tmp_path_factory, table, random):
    X, target = table
    path = tmp_path_factory.getbasetemp() / "made.csv"
    columns = [f"a{k}" for k in range(X.shape[1])]
    write_table(path, columns, X, target)
    prepared = prepare_table(path)
    filled = X.copy()
    for k, column in enumerate(X.T):
        known = [x for x in column if not np.isnan(x)]
        filled[np.isnan(column), k] = statistics.median(known) if known else 0
    rows = {}
    for row, group in sorted(zip(map(tuple, filled + 0.0), target, strict=True)):
        rows.setdefault(row, group)
    assert len(prepared.X) == len(rows)
    assert (prepared.n_rows, prepared.n_missing) == (len(X), np.isnan(X).sum())
    low, high = np.array(list(rows)).min(axis=0), np.array(list(rows)).max(axis=0)
    expected = {
        tuple((np.array(row) - low) / np.where(high > low, high - low, 1)): group
        for row, group in rows.items()
    }
    found = {tuple(row): prepared.classes[code] for row, code in zip(prepared.X, prepared.y, strict=True)}
    assert found == expected
    order = list(range(len(X)))
    random.shuffle(order)
    write_table(path, columns, X[order], target[order])
    again = prepare_table(path)
    np.testing.assert_array_equal(again.X, prepared.X)
    np.testing.assert_array_equal(again.y, prepared.y)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_distinct_rows_are_the_first_of_their_kind(rows):
    kept = distinct_rows(np.array(rows, dtype=float))
    assert [rows[i] for i in kept] == list(dict.fromkeys(rows))
    assert all(rows.index(rows[i]) == i for i in kept)


def test_the_latent_semantic_index_is_a_singular_value_decomposition():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [document["text"] for document in random_texts("newsgroups-sim", n=8)]
    X = latent_semantic_index(texts)
    weights = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform(texts)
    U, s, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
    topics = U[:, :10] * s[:10]
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    np.testing.assert_allclose(X @ X.T, topics @ topics.T, atol=1e-8)  # axes may point the other way


def test_texts_are_prepared_once(tmp_path, monkeypatch):
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", random_texts("newsgroups-sim", n=9))
    task = load_task("newsgroups-sim", tmp_path)
    monkeypatch.setattr(prepare, "latent_semantic_index", None)
    again = load_task("newsgroups-sim", tmp_path)
    np.testing.assert_array_equal(again.X, task.X)
    np.testing.assert_array_equal(again.y, task.y)
    assert again.classes == task.classes


def test_changed_texts_are_prepared_again(tmp_path):
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", random_texts("newsgroups-sim", n=9))
    task = load_task("newsgroups-sim", tmp_path)
    documents = read_texts(tmp_path / "newsgroups-sim.jsonl.gz")
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", documents[:-1])
    assert len(load_task("newsgroups-sim", tmp_path).X) == len(task.X) - 1


def test_a_cache_that_cannot_be_written_is_not_needed(tmp_path, monkeypatch):
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", random_texts("newsgroups-sim", n=9))
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load_task("newsgroups-sim", tmp_path).X.shape == (27, 10)


@pytest.mark.parametrize("texts", [["the"] * 3, ["word"] * 20])
def test_texts_without_enough_words_are_one_sentence(tmp_path, texts):
    rows = [{"id": f"a/{k}", "split": "test", "target": "a", "text": text} for k, text in enumerate(texts)]
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", rows)
    with pytest.raises(InvalidDataError, match="too few words in common"):
        load_task("newsgroups-sim", tmp_path)


def test_faces_in_another_order_are_refused(tmp_path):
    make_faces(tmp_path)
    lines = (tmp_path / FACES_FILES[1]).read_text().splitlines()
    lines[1:3] = lines[2:0:-1]
    (tmp_path / FACES_FILES[1]).write_text("\n".join(lines))
    with pytest.raises(InvalidDataError, match="same images in the same order"):
        load_task("faces-pose", tmp_path)
    (tmp_path / FACES_FILES[0]).write_bytes(b"no archive")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        load_task("faces-pose", tmp_path)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tasks_are_small_and_always_the_same(name, tmp_path):
    task = load_task(name, tmp_path)
    assert 200 <= len(task.X) <= (4000 if name in MANY else 400)
    np.testing.assert_array_equal(task.X.min(axis=0), 0)
    np.testing.assert_array_equal(task.X.max(axis=0), 1)
    assert len(distinct_rows(task.X)) == len(task.X)
    assert len(np.bincount(task.y)) == task.n_classes >= 2
    code = f"from cobras.bench.tasks import load_task; print(load_task({name!r}).X.tobytes().hex())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert bytes.fromhex(other) == task.X.tobytes()
