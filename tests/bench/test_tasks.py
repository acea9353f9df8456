"""Tasks: what becomes of the files of the paper, of generated data and of one's own tables."""

import pickle
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError, read_dataset
from cobras.bench.sources import prepare
from cobras.bench.sources.content import read_texts, write_table, write_texts
from cobras.bench.sources.generated import GENERATED
from cobras.bench.sources.prepare import distinct, latent_semantic_index, prepare_table
from cobras.bench.sources.registry import FACES, FACES_FILES, TABLES, TEXTS
from cobras.bench.tasks import PAPER, describe_tasks, load_task
from tests.bench.files import REAL, made_texts, make_faces, make_folder

# Instances after preparation, as a reader of the paper would count them.
SIZES = {
    **{"iris": 147, "wine": 178, "dermatology": 366, "hepatitis": 155, "glass": 213, "ionosphere": 350},
    **{"optdigits389": 1688, "ecoli": 336, "breast-cancer-wisconsin": 457, "segmentation": 2086},
    **{"column_2C": 310, "parkinsons": 195, "spambase": 4207, "sonar": 208, "yeast": 1453},
    **dict.fromkeys(FACES, 624),
    **{"newsgroups-sim": 2946, "newsgroups-diff": 2780},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every file of the paper's tasks."""
    if REAL is not None:
        return REAL
    made = tmp_path_factory.mktemp("data")
    make_folder(made)
    return made


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of our own, and no folder unless a test gives one."""
    home = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        patch.delenv("COBRAS_DATA", raising=False)
        yield home / "cobras"


def test_the_paper_has_21_tasks():
    assert len(PAPER) == len(set(PAPER)) == 21
    assert PAPER[:2] == ("iris", "wine")
    assert PAPER[-2:] == ("newsgroups-sim", "newsgroups-diff")


@pytest.mark.parametrize("name", PAPER)
def test_a_task_of_the_paper_is_as_promised(name, folder):
    task = load_task(name, folder)
    n, d = task.shape
    assert task.X.flags.c_contiguous
    assert task.X.dtype == (np.float32 if name in FACES else np.float64)
    assert np.isfinite(task.X).all()
    assert task.y.dtype == np.intp
    assert np.bincount(task.y, minlength=task.n_classes).min() > 0
    assert task.classes == tuple(sorted(task.classes))
    assert len(task.y) == n
    assert repr(task) == f"Task({name!r}, {n} x {d}, {task.n_classes} classes)"
    if name in TABLES:
        assert d == TABLES[name].n_features
        assert set(task.classes) == set(TABLES[name].classes)
        assert len(np.unique(task.X, axis=0)) == n
        spread = np.ptp(task.X, axis=0)
        assert set(np.unique(spread)) <= {0.0, 1.0}
        assert task.X.min() == 0
        assert not task.X[:, spread == 0].any()
    if name in TEXTS:
        assert d == 10
        np.testing.assert_allclose(np.linalg.norm(task.X, axis=1), 1)
    if REAL is not None:
        assert n == SIZES[name]
    again = pickle.loads(pickle.dumps(load_task(name, folder)))
    np.testing.assert_array_equal(again.X, task.X)
    np.testing.assert_array_equal(again.y, task.y)


def test_instances_keep_their_class(folder):
    """The class of a prepared row is that of a row of the file with its features."""
    for name in ("wine", "sonar"):  # neither has missing cells
        task, raw = load_task(name, folder), read_dataset(folder / f"{name}.csv", label="target")
        known = {row.tobytes(): label for row, label in zip(raw.X, raw.labels.astype(str), strict=True)}
        assert [known[row.tobytes()] for row in task.X] == [task.classes[code] for code in task.y]


def test_faces_keep_their_target(folder):
    import polars as pl

    table = pl.read_csv(folder / FACES_FILES[1])
    with (folder / FACES_FILES[0]).open("rb") as stream, np.load(stream) as file:
        features = file["features"]
    for name, column in FACES.items():
        task = load_task(name, folder)
        known = {row.tobytes(): label for row, label in zip(features, table[column], strict=True)}
        assert [known[row.tobytes()] for row in task.X] == [task.classes[code] for code in task.y]


@pytest.mark.parametrize("name", PAPER)
def test_classes_do_not_lie_together(name, folder):
    """The order of the rows must not tell the classes."""
    y = load_task(name, folder).y
    same = np.mean(y[1:] == y[:-1])
    by_chance = np.sum((np.bincount(y) / len(y)) ** 2)
    assert abs(same - by_chance) < 0.12


cells = st.sampled_from([np.nan, -1.0, 0.0, -0.0, 0.5, 2.0, 1e9])


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
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
    kept = distinct(np.array(rows, dtype=float))
    assert [rows[i] for i in kept] == list(dict.fromkeys(rows))
    assert all(rows.index(rows[i]) == i for i in kept)


def test_the_latent_semantic_index_is_a_singular_value_decomposition():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [document["text"] for document in made_texts("newsgroups-sim", n=8)]
    X = latent_semantic_index(texts)
    weights = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform(texts)
    U, s, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
    topics = U[:, :10] * s[:10]
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    np.testing.assert_allclose(X @ X.T, topics @ topics.T, atol=1e-8)  # axes may point the other way


def test_texts_are_prepared_once(tmp_path, cache, monkeypatch):
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", made_texts("newsgroups-sim", n=9))
    task = load_task("newsgroups-sim", tmp_path)
    (kept,) = [path for path in (cache / "prepared").iterdir() if len(np.load(path)["y"]) == 27]
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "latent_semantic_index", None)
        again = load_task("newsgroups-sim", tmp_path)
    np.testing.assert_array_equal(again.X, task.X)
    np.testing.assert_array_equal(again.y, task.y)
    assert again.classes == task.classes
    for damaged in (b"", kept.read_bytes()[:-200], b"PK\x03\x04"):
        kept.write_bytes(damaged)
        np.testing.assert_array_equal(load_task("newsgroups-sim", tmp_path).X, task.X)
    documents = read_texts(tmp_path / "newsgroups-sim.jsonl.gz")
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", documents[:-1])
    assert len(load_task("newsgroups-sim", tmp_path).X) == len(task.X) - 1


def test_a_cache_that_cannot_be_written_is_not_needed(tmp_path, monkeypatch):
    write_texts(tmp_path / "newsgroups-sim.jsonl.gz", made_texts("newsgroups-sim", n=9))
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load_task("newsgroups-sim", tmp_path).shape == (27, 10)


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
    assert 200 <= len(task.X) <= 400
    np.testing.assert_array_equal(task.X.min(axis=0), 0)
    np.testing.assert_array_equal(task.X.max(axis=0), 1)
    assert len(distinct(task.X)) == len(task.X)
    assert len(np.bincount(task.y)) == task.n_classes >= 2
    code = f"from cobras.bench.tasks import load_task; print(load_task({name!r}).X.tobytes().hex())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert bytes.fromhex(other) == task.X.tobytes()


def test_the_table_of_tasks(folder):
    described = {record.name: record for record in describe_tasks(folder)}
    assert list(described) == [*PAPER, *GENERATED]
    for name, record in described.items():
        task = load_task(name, folder)
        sizes = np.bincount(task.y)
        assert (record.n_instances, record.n_features, record.n_classes) == (*task.shape, task.n_classes)
        assert (record.smallest, record.largest) == (sizes.min(), sizes.max())
        assert record.n_rows - record.n_duplicates == record.n_instances
        assert record.where == ("generated" if name in GENERATED else "folder")
        if name in TABLES:
            assert (record.n_rows, record.n_missing) == (TABLES[name].n_rows, TABLES[name].n_missing)


def test_the_table_of_tasks_needs_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    described = {record.name: record for record in describe_tasks()}
    for name in PAPER:
        assert described[name].where == ("missing" if name in FACES else "download")
        assert described[name].n_instances is None
    assert described["spambase"].n_rows == 4601


def test_the_documented_table_is_what_the_command_prints(folder):
    page = Path(__file__).parents[2] / "docs" / "tasks.md"
    rows = [line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")][
        1:
    ]
    documented = {name: [int(number) for number in numbers] for name, *numbers in rows}
    assert list(documented) == [*PAPER, *GENERATED]
    for record in describe_tasks(folder):
        n_rows, n_missing, n_duplicates, *rest = documented[record.name]
        if REAL is not None or record.name in GENERATED:
            assert (n_rows, n_missing, n_duplicates) == (record.n_rows, record.n_missing, record.n_duplicates)
            sizes = [record.n_instances, record.n_features, record.n_classes, record.smallest, record.largest]
            assert rest == sizes
        elif record.name in TABLES:
            assert (n_rows, n_missing, *rest[1:3]) == (
                *(record.n_rows, record.n_missing, record.n_features, record.n_classes),
            )
        if record.name in SIZES:
            assert n_rows - n_duplicates == rest[0] == SIZES[record.name]


def own_table(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    return path


def test_a_table_of_ones_own(tmp_path):
    rows = ["4,1,10", "6,1,9", "4,1,10", ",3,10", "5,5,9", "7,1,10"]
    path = own_table(tmp_path, "\n".join(["length,width,kind", *rows, ""]))
    task = load_task({"path": str(path), "label": "kind"})
    assert repr(task) == "Task('mine', 5 x 2, 2 classes)"
    assert task.classes == ("9", "10")  # numbers in their own order
    read = read_dataset(path, label="kind")
    known = {tuple(row): str(label) for row, label in zip(read.X, read.labels, strict=True)}
    assert {tuple(row): task.classes[code] for row, code in zip(task.X, task.y, strict=True)} == known
    assert load_task({"path": path, "label": "kind", "name": "flowers"}).name == "flowers"


@pytest.mark.parametrize(
    ("text", "spec", "sentence"),
    [
        ("a,b,kind\n1,2,x\n2,3,y\n3,3,y\n", {"label": "sort"}, "has no column 'sort'"),
        ("a,b,kind\n1,2,x\n2,3,\n3,3,y\n", {"label": "kind"}, "'kind' of mine.csv is empty in 1 rows"),
        ("a,b,kind\n1,2,1.5\n2,3,nan\n3,3,2\n", {"label": "kind"}, "'kind' of mine.csv is empty in 1 rows"),
        ("a,b,kind\n1,2,x\n2,3,x\n3,3,x\n", {"label": "kind"}, "has 1 classes for 3 different rows"),
        ("a,b,kind\n1,2,x\n2,3,y\n3,3,z\n", {"label": "kind"}, "has 3 classes for 3 different rows"),
        ("a,b,kind\n1,2,x\n2,3,y\n3,3,y\n", {}, "has a path, a label and perhaps a name"),
        ("a,b,kind\n1,2,x\n2,3,y\n3,3,y\n", {"label": "kind", "scale": "no"}, "perhaps a name"),
        ("a,b,kind\n1,2,x\n2,3,y\n3,3,y\n", {"label": 3}, "each a text"),
    ],
)
def test_what_cannot_be_a_task_of_ones_own_is_one_sentence(tmp_path, text, spec, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        load_task({"path": str(own_table(tmp_path, text)), **spec})


@pytest.mark.parametrize("spec", ["irsi", "generated-", "", 3, None, ["iris"]])
def test_an_unknown_task_is_one_sentence(spec):
    with pytest.raises(InvalidDataError, match=r"There is no task .*iris, wine.*generated-moons"):
        load_task(spec)


def test_the_folder_is_only_read(folder):
    before = sorted(folder.iterdir())
    describe_tasks(folder)
    assert sorted(folder.iterdir()) == before


def test_nothing_heavy_is_imported_before_it_is_needed():
    heavy = {"sklearn", "scipy", "rich", "pandas"}
    code = f"import sys, cobras.bench.tasks; print(*sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == []
