"""Tables that are as they should be: every format, delimiter and encoding ends in the same data set."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras.core.exceptions import DataChangedError, InvalidDataError
from cobras.data import read_dataset, read_recipe
from cobras.data.recipe import Recipe
from tests.data.conftest import FLOWERS, X_FLOWERS, write


def test_features_ids_label_and_notes(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, FLOWERS), label="kind", id="name")
    np.testing.assert_array_equal(ds.X, X_FLOWERS)
    assert ds.X.flags.c_contiguous
    assert ds.X.dtype == np.float64
    assert ds.columns == ("length", "width")
    assert ds.ids.tolist() == ["rose", "lily", "ivy"]
    assert ds.labels is not None
    assert ds.labels.tolist() == ["a", "b", "a"]
    assert ds.frame.columns == ["name", "length", "width", "kind"]
    assert dict(ds.show(2).values) == {"name": "ivy", "length": None, "width": 3}
    assert ds.notes == (
        "Read as a table of 3 x 3. (--kind text, image or series if it is not)",
        "Filled 1 missing value in 'length' with the median.",
        "Scaled 2 columns to [0, 1].",
    )
    assert Recipe.from_json(json.loads(json.dumps(ds.recipe.to_json()))) == ds.recipe


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    frame = pl.read_csv(FLOWERS.encode())
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_json(tmp_path / "t.json")
    for delimiter, name in ((",", "t.csv"), (";", "s.csv"), ("\t", "t.tsv"), ("|", "p.txt")):
        write(tmp_path, FLOWERS.replace(",", delimiter), name)
    for path in tmp_path.iterdir():
        ds = read_dataset(path, label="kind", id="name")
        np.testing.assert_array_equal(ds.X, X_FLOWERS, err_msg=path.name)
        assert ds.show(0).values == {"name": "rose", "length": 4, "width": 1}, path.name


def test_float32_stays_float32(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((20, 3), dtype=np.float32)
    np.save(tmp_path / "t.npy", X)
    pl.DataFrame(X).with_columns(flag=pl.lit(True)).write_parquet(tmp_path / "t.parquet")
    for name in ("t.npy", "t.parquet"):
        assert read_dataset(tmp_path / name).X.dtype == np.float32
    np.save(tmp_path / "d.npy", X.astype(np.float64))
    assert read_dataset(tmp_path / "d.npy").X.dtype == np.float64


@pytest.mark.parametrize("dtype", [">f8", "<f2", "bool", "u1", "i8"])
def test_arrays_of_any_number_type(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "t.npy", np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype))
    np.testing.assert_array_equal(read_dataset(tmp_path / "t.npy").X, [[0, 1], [1, 1], [1, 0]])


def test_dropped_columns_are_exported_only(tmp_path: Path) -> None:
    ds = read_dataset(write(tmp_path, FLOWERS), drop=["length", "kind"])
    assert ds.columns == ("width",)
    assert list(ds.show(0).values) == ["name", "width"]
    assert ds.frame.width == 4


def test_recipe_repeats_the_reading_and_sees_a_change(tmp_path: Path) -> None:
    path = write(tmp_path, FLOWERS)
    ds = read_dataset(path, label="kind")
    np.testing.assert_array_equal(read_recipe(path, ds.recipe).X, ds.X)
    write(tmp_path, FLOWERS.replace("width", "height"))
    with pytest.raises(DataChangedError, match=r"is not what it was .* has no column 'width'"):
        read_recipe(path, ds.recipe)
    write(tmp_path, FLOWERS.replace("kind", "sort"))
    with pytest.raises(DataChangedError, match="has no column 'kind'"):
        read_recipe(path, ds.recipe)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


names = texts.map(str.strip).filter(lambda name: name and not name[0].isdigit() and name[0] not in "+-.")


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    n = draw(st.integers(1, 12))
    columns: dict[str, pl.Series] = {}
    for name in draw(st.lists(names, min_size=2, max_size=6, unique=True)):
        values = draw(st.sampled_from([numbers, st.booleans(), texts]))
        columns[name] = pl.Series(draw(st.lists(values | st.none(), min_size=n, max_size=n)), strict=False)
    features = draw(st.lists(st.floats(-1e9, 1e9), min_size=n, max_size=n))
    return pl.DataFrame({**columns, "sure feature": features})


@given(frame=frames(), data=st.data(), delimiter=st.sampled_from(",;\t|"))
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, frame: pl.DataFrame, data: st.DataObject, delimiter: str
) -> None:
    folder = tmp_path_factory.mktemp("frames")
    label = data.draw(st.sampled_from([None, *frame.columns[:-1]]))
    frame.write_csv(folder / "t.csv", separator=delimiter, quote_style="non_numeric")
    ds = read_dataset(folder / "t.csv", label=label)
    assert ds.frame.columns == frame.columns
    for name in frame.columns:
        # A column of digits only is one of numbers in a CSV file, whatever it was before; so compare as text.
        ours, theirs = ds.frame[name].to_list(), frame[name].to_list()
        for a, b in zip(ours, theirs, strict=True):
            assert a == b or str(a) == str(b) or _number(a) == _number(b), (name, a, b)
    assert ds.X.shape == (frame.height, len(ds.columns))
    assert np.isfinite(ds.X).all()
    assert ((ds.X >= 0) & (ds.X <= 1)).all()
    for k in range(len(ds.columns)):  # a feature spans [0, 1], is a category, or is all there is
        found = np.unique(ds.X[:, k])
        assert {0.0, 1.0} <= set(found) or len(found) <= 2
    assert label not in ds.columns
    assert all(label not in ds.show(i).values for i in range(len(ds)))
    np.testing.assert_array_equal(read_recipe(folder / "t.csv", ds.recipe).X, ds.X)


def _number(value: object) -> float | None:
    """A cell that reads as a number or as missing, in the reader's own terms."""
    text = str(value).strip().lower()
    if text in ("", "na", "n/a", "nan", "null", "none", "?"):
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(text, hash(text))


def test_a_forked_process_is_told_that_it_cannot_read(tmp_path: Path) -> None:
    """Polars' threads are not copied, so that it would wait for them for ever."""
    path = write(tmp_path, FLOWERS)
    program = (
        "import os, sys\n"
        "from cobras.data import read_dataset\n"
        "read_dataset(sys.argv[1])\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        read_dataset(sys.argv[1])\n"
        "    except ValueError as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("Data cannot be read in a forked process after its parent has read some")


def test_twenty_thousand_columns(tmp_path: Path) -> None:
    rows = [[str(i * j % 7) for j in range(20_000)] for i in range(5)]
    text = "\n".join(",".join(row) for row in [[f"c{k}" for k in range(20_000)], *rows])
    started = time.process_time()
    assert read_dataset(write(tmp_path, text)).X.shape == (5, 14_285)
    assert time.process_time() - started < 15


def test_one_name_is_a_column_and_what_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("width,price\n1,2\n3,5\n4,1\n")
    assert read_dataset(tmp_path / "t.csv", drop="price").columns == ("width",)
    for option in ("drop", "use", "types", "weights"):
        with pytest.raises(InvalidDataError, match=f"{option} is "):
            read_dataset(tmp_path / "t.csv", **{option: 3})


@pytest.mark.parametrize("row", ["a", 1.5, None, True])
def test_a_card_is_that_of_a_whole_number(tmp_path: Path, row: object) -> None:
    (tmp_path / "t.csv").write_text("width,price\n1,2\n3,5\n4,1\n")
    with pytest.raises(InvalidDataError, match="A row is given by a whole number"):
        read_dataset(tmp_path / "t.csv").show(row)  # type: ignore[arg-type]
