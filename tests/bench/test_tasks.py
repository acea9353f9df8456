"""Tasks: what becomes of the files of the paper, of generated data and of one's own tables."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cobras import InvalidDataError, read_dataset
from cobras.bench.sources.catalogue import FACES, FACES_FILES, TABLES, TEXTS, UNSEEN, VECTORS
from cobras.bench.sources.prepare import (
    GENERATED,
)
from cobras.bench.tasks import ALL, PAPER, describe_tasks, load_task
from tests.bench.made_files import REAL, make_folder

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
    n, d = task.X.shape
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
        spaced_positions = np.ptp(task.X, axis=0)
        assert set(np.unique(spaced_positions)) <= {0.0, 1.0}
        assert task.X.min() == 0
        assert not task.X[:, spaced_positions == 0].any()
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


def test_the_table_of_tasks(folder):
    described = {record.name: record for record in describe_tasks(folder)}
    assert list(described) == list(ALL) == [*PAPER, *UNSEEN, *VECTORS, *GENERATED]
    assert described.pop("clinc150").where == ("folder" if REAL is not None else "missing")
    for name in UNSEEN:  # not in this folder
        assert described.pop(name).where == "download"
    for name, record in described.items():
        task = load_task(name, folder)
        sizes = np.bincount(task.y)
        assert (record.n_instances, record.n_features, record.n_classes) == (*task.X.shape, task.n_classes)
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
    assert all(described[name].where == "download" for name in UNSEEN)


def test_the_documented_table_is_what_the_command_prints(folder):
    page = Path(__file__).parents[2] / "docs" / "results" / "tasks.md"
    rows = [line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")][
        1:
    ]
    documented = {name: [int(number) for number in numbers] for name, *numbers in rows}
    assert list(documented) == list(ALL)
    for name in UNSEEN:
        n_rows, _, n_duplicates, n_instances, *_ = documented[name]
        assert n_rows - n_duplicates == n_instances
        assert 100 <= n_instances <= 5000
    for record in describe_tasks(folder, [*PAPER, *GENERATED]):
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


def test_unseen_tables_are_no_tasks_of_the_paper():
    assert len(UNSEEN) >= 10
    assert not set(UNSEEN) & {*PAPER, "digits", "wdbc", "breast-cancer"}


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


def test_vectors_are_taken_as_they_are(tmp_path):
    with pytest.raises(InvalidDataError, match=r"clinc150_minilm\.npz, which cannot be downloaded"):
        load_task("clinc150", tmp_path)
    X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float16)
    np.savez(tmp_path / "clinc150_minilm.npz", X=X, y=np.repeat(["bank", "taxi"], 6))
    task = load_task("clinc150", tmp_path)
    assert task.classes == ("bank", "taxi")
    for label, name in enumerate(task.classes):
        rows = X[np.repeat(["bank", "taxi"], 6) == name].astype(np.float32)
        np.testing.assert_array_equal(np.unique(task.X[task.y == label], axis=0), np.unique(rows, axis=0))
    (tmp_path / "clinc150_minilm.npz").write_bytes(b"no")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        load_task("clinc150", tmp_path)
