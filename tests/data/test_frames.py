"""Data frames in and out: read as a file is, and returned as they came."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cobras import (
    DataChangedError,
    DataWarning,
    InvalidDataError,
    LabelOracle,
    Session,
    read_dataset,
    read_features,
    run,
)
from cobras.data import read_recipe
from cobras.data.frames import open_frame

KINDS = {
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pyarrow": lambda frame: pa.Table.from_pylist(frame.to_dicts()),
}
N = 6
CELLS = {
    "number": st.floats(-1e6, 1e6, width=32),
    "count": st.integers(-(2**40), 2**40),
    "word": st.sampled_from(["red", "Red", "green", "12 %", "n/a", ""]),
    "flag": st.booleans(),
    "day": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)).map(
        lambda day: dt.datetime.combine(day, dt.time())
    ),
}


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, unique=True))
    columns = {
        name: draw(st.lists(st.none() | CELLS[name], min_size=N, max_size=N)) for name in ["number", *names]
    }
    return pl.DataFrame(columns, strict=False)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(sorted(KINDS)))
def test_a_frame_is_read_as_a_file_is(tmp_path, table, kind):
    """The same features, names, notes and cards as from a Parquet file, whatever the kind of the frame."""
    path = tmp_path / "table.parquet"
    table.write_parquet(path)
    expected = refusal = None
    try:
        expected = read_dataset(path)
    except InvalidDataError as error:
        refusal = str(error).replace("table.parquet", "DataFrame")
    if expected is None:
        with pytest.raises(InvalidDataError) as caught:
            read_dataset(KINDS[kind](table))
        assert str(caught.value) == refusal
        return
    found = read_dataset(KINDS[kind](table))
    np.testing.assert_array_equal(found.X, expected.X)
    assert (found.columns, found.notes) == (expected.columns, expected.notes)
    assert found.recipe == expected.recipe
    assert [found.show(i) for i in range(N)] == [expected.show(i) for i in range(N)]
    np.testing.assert_array_equal(read_features(KINDS[kind](table), found.recipe), expected.X)


def blobs(n=40):
    y = np.arange(n) % 2
    noise = np.random.default_rng(0).random(n)
    return pd.DataFrame({"size": 5 * y + noise, "colour": np.where(y, "red", "blue")}), y


@pytest.mark.parametrize("index", [None, [f"row {i}" for i in range(40)], [7] * 40])
def test_labels_come_back_in_the_callers_frame_with_its_index(index):
    frame, y = blobs()
    if index is not None:
        frame.index = index
    session = run(
        Session(frame, random_state=0, method="cobras"), LabelOracle(y), until=lambda s: s.n_answers >= 8
    )
    session.name(int(session.labels_[0]), "blue ones")
    found = session.to_frame()
    pd.testing.assert_frame_equal(found[["size", "colour"]], frame)
    assert found.index.equals(frame.index)
    assert found["cluster"].tolist() == session.labels_.tolist()
    assert found["cluster_name"].iloc[0] == "blue ones"
    names = list(range(40)) if index is None or index[0] == 7 else index
    assert read_dataset(frame).ids.tolist() == names
    # New rows are read as the old ones were, whatever the order of their columns.
    assert session.predict(frame[["colour", "size"]]).tolist() == session.predict(frame).tolist()
    assert set(session.predict(pl.from_pandas(frame))) == set(session.labels_)


def test_columns_that_are_called_cluster_are_kept():
    frame = pd.DataFrame({"cluster": [1.0, 2.0], 7: [0, 1]})
    found = Session(frame, random_state=0, method="cobras").to_frame()
    assert [str(name) for name in found] == ["cluster", "7", "cluster_id", "cluster_2"]


def test_numbers_are_clustered_as_given_and_a_file_resumes_with_any_kind_of_frame(tmp_path):
    frame, y = blobs()
    numbers = Session(frame[["size"]], random_state=0, method="cobras")
    np.testing.assert_array_equal(numbers.space.X, frame[["size"]].to_numpy())
    file = tmp_path / "answers.cobras"
    with Session.open(file, frame, random_state=0, method="cobras") as session:
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 3)
        labels = session.labels_
    for again in (frame, pl.from_pandas(frame), frame[["colour", "size"]], read_dataset(frame)):
        with Session.open(file, again) as session:
            assert session.n_answers == 3
            np.testing.assert_array_equal(session.labels_, labels)


def test_objects_that_are_alike_keep_their_type():
    cells = {
        "decimal": [Decimal("1.5"), None],
        "whole": pd.array([2**60, None], dtype="Int64"),
        "zone": pd.to_datetime(["2020-01-01", None]).tz_localize("Asia/Tokyo"),
        "second": pd.to_timedelta([1, None], unit="s"),
        "category": pd.Categorical([3, None]),
        "list": [[1, 2], None],
        "numbers": np.array([1, 2.5], object),
    }
    found = open_frame(pd.DataFrame(cells))
    assert found.notes == ()
    assert found.table.row(0) == (
        Decimal("1.5"),
        2**60,
        pd.Timestamp("2020-01-01", tz="Asia/Tokyo"),
        dt.timedelta(seconds=1),
        "3",
        [1, 2],
        1.0,
    )
    assert found.table.row(1) == (None,) * 6 + (2.5,)


mixed = pd.Series([1, "a", None, (2, 3)] * 10, dtype=object)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "c"]), "more than one column called 'x'"),
        (pd.DataFrame({1: [1], "1": ["a"]}), "more than one column called '1'"),
        (pd.DataFrame(), "DataFrame holds no table; at least one row is needed."),
        (pl.DataFrame({"x": [], "c": []}), "DataFrame has column names but no rows; at least one row"),
        (pl.DataFrame({"l": [[1], [2]]}), "DataFrame has no column of numbers to cluster by"),
        (pl.DataFrame({"s": [{"a": 1}, {"a": 2}]}), "DataFrame has no column of numbers to cluster by"),
        (pd.DataFrame({"x": [1.0, np.inf], "c": ["a", "b"]}), "'x' of DataFrame is infinite in row 1"),
        (pd.DataFrame({"o": mixed[:4]}), "DataFrame has no column of numbers to cluster by"),
    ],
)
def test_a_frame_that_cannot_be_used_is_refused_in_one_sentence(frame, sentence):
    for read in (read_dataset, Session):
        with pytest.raises(InvalidDataError) as error:
            read(frame)
        assert sentence in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((3, 2)), "read from a path or a data frame, not from ndarray"),
        (None, "read from a path or a data frame, not from NoneType"),
    ],
)
def test_what_is_neither_path_nor_frame_is_refused(data, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        read_dataset(data)


def test_numbers_with_gaps_are_not_filled_without_being_asked():
    frame = pd.DataFrame({"x": [1.0, None, 3.0]})
    with pytest.raises(
        InvalidDataError, match=r"'x' of DataFrame has 1 gap. Fill them, or give read_dataset"
    ):
        Session(frame, method="cobras")
    assert Session(read_dataset(frame), random_state=0, method="cobras").space.n == 3


def test_a_column_of_mixed_objects_is_text_as_in_a_file():
    frame, _ = blobs()
    found = read_dataset(frame.assign(odd=mixed))
    assert found.notes[0] == "Read 'odd' as text: it holds int and str and tuple."
    assert found.frame["odd"].to_list()[:4] == ["1", "a", None, "(2, 3)"]
    # Where nearly all are numbers, the rest are gaps, as in a file.
    counts = pd.Series([*range(39), "unknown"], dtype=object)
    assert read_dataset(frame.assign(n=counts)).columns == ("size", "colour=blue", "colour=red", "n")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda f: f.head(39),
            "belongs to another table than the one given (39 rows with 3 features of float64)",
        ),
        (
            lambda f: pd.concat([f, f.head(1)]),
            "has the first 40 of these 41 rows. Take the others in by --grow",
        ),
        (lambda f: f.iloc[::-1], "belongs to another table than the one given (40 rows"),
        (lambda f: f.astype({"size": "float32"}), "(40 rows with 3 features of float32)"),
        (
            lambda f: f.assign(size="large"),
            "Column 'size' of DataFrame holds 'large', but had numbers before",
        ),
        (lambda f: f.assign(size=[[1]] * 40), "The columns of DataFrame have other types than before"),
        (lambda f: f.rename(columns={"size": "length"}), "DataFrame has no column 'size'"),
        (lambda f: f.head(0), "DataFrame has column names but no rows"),
        (lambda f: f[["size"]], "DataFrame has no column 'colour'"),
    ],
)
def test_another_frame_is_refused_and_nothing_is_lost(tmp_path, change, sentence):
    frame, y = blobs()
    file = tmp_path / "answers.cobras"
    with Session.open(file, frame, random_state=0, method="cobras") as session:
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 3)
    with pytest.raises(DataChangedError) as error:
        Session.open(file, change(frame), method="cobras")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    with Session.open(file, frame) as session:
        assert session.n_answers == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: f.drop(columns="size"), "DataFrame has no column 'size'"),
        (lambda f: f.assign(size="large"), "'size' of DataFrame holds 'large', but the session has numbers"),
        (lambda f: f.assign(size=[[1]] * len(f)), "but the session has numbers there"),
        (lambda f: f.head(0), "DataFrame has column names but no rows"),
    ],
)
def test_new_rows_of_another_form_are_refused(change, sentence):
    frame, _ = blobs()
    session = Session(frame, random_state=0, method="cobras")
    with pytest.raises(InvalidDataError) as error:
        session.predict(change(frame))
    assert sentence in str(error.value)


def test_texts_in_a_frame_and_new_ones():
    texts = [f"The {word} runs after the {word} in the long grass today." for word in ("cat", "dog")]
    frame = pl.DataFrame({"text": texts * 10, "stars": list(range(20))})
    dataset = read_dataset(frame, text="text")
    assert dataset.kind == "text"
    session = Session(dataset, random_state=0, method="cobras")
    assert session.predict(frame.head(3)).shape == (3,)


def test_other_kinds_of_data_say_what_to_do():
    frame, _ = blobs()
    with pytest.raises(InvalidDataError, match="Series are read from files, not from a DataFrame"):
        read_dataset(frame, kind="series")
    with pytest.raises(InvalidDataError, match="DataFrame has no sheets"):
        read_dataset(frame, sheet="Sheet 1")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("words", [False, True])
def test_to_frame_has_the_rows_that_were_appended_as_frames(kind: str, words: bool) -> None:
    table = {"x": [0.0, 0.1, 5.0, 5.1], "y": [1, 2, 3, 4], **({"w": ["a", "a", "b", "b"]} if words else {})}
    make = {
        "pandas": lambda d: pd.DataFrame(d, index=[f"r{v}" for v in d["x"]]),
        "polars": pl.DataFrame,
        "pyarrow": pa.table,
    }[kind]
    session = Session(make(table), random_state=0)
    new = {name: column[:1] for name, column in table.items()}
    session.append(make({**new, "x": [0.3]}))
    session.append(make({**new, "x": [4]}))  # whole numbers where there were fractions
    found = nw.from_native(session.to_frame(), eager_only=True)
    assert type(session.to_frame()) is type(make(table))
    assert found["x"].to_list() == [*table["x"], 0.3, 4.0]
    assert found["cluster"].to_list() == session.labels_.tolist()
    if kind == "pandas":
        assert list(session.to_frame().index[-2:]) == ["r0.3", "r4"]
    session.undo()
    assert len(session.to_frame()) == 5
    session.append(session.space.X[:1])
    with pytest.raises(InvalidDataError, match="not all others were appended as data frames"):
        session.to_frame()


@pytest.mark.parametrize("added", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_appended_values_are_shown_as_they_were_given(kind: str, added: str) -> None:
    """Fractions where there were whole numbers, a word that is no number, a frame of another library."""
    words = ["a", "b"] * 5
    session = Session(KINDS[kind](pl.DataFrame({"n": range(10), "w": words})), random_state=0)
    with pytest.warns(DataWarning, match=r"a word that the session has not seen \('c'\)"):
        session.append(KINDS[added](pl.DataFrame({"n": [2.7, None], "w": ["a", "c"]})))
    shown = open_frame(session.to_frame()).table
    assert shown["n"].to_list() == [*range(10), 2.7, None]
    with pytest.warns(DataWarning, match=r"'n' holds no number \('many'\): it counts as missing"):
        session.append(KINDS[added](pl.DataFrame({"n": ["3", "many"], "w": ["b", "b"]})))
    shown = open_frame(session.to_frame()).table
    assert shown["n"].to_list()[-2:] == ["3", "many"]
    assert shown["w"].to_list() == [*words, "a", "c", "b", "b"]


def test_the_columns_of_a_lazy_frame_are_read_without_a_warning():
    frame = pl.DataFrame({"x": [0.0, 0.2, 5.0]})
    session = Session(frame.lazy(), random_state=0)
    with pytest.raises(InvalidDataError, match="column 'z' where the session has 'x'"):
        session.predict(frame.rename({"x": "z"}).lazy())


def test_halves_of_characters_become_question_marks():
    half = "\ud800"
    index = pd.Index([f"{half}{row}" for row in range(6)], dtype=object)
    words = pd.Series([f"a{half}", "b", None] * 2, index, dtype=object)
    frame = pd.DataFrame({0: np.arange(6.0), 1: words}, index)
    frame.columns = pd.Index([half, "word"], dtype=object)
    dataset = read_dataset(frame)
    assert dataset.show(0).values == {"?": 0.0, "word": "a?"}
    assert list(dataset.ids)[:2] == ["?0", "?1"]
    assert Session(frame.iloc[:, :1], random_state=0).space.n == 6


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_cells_of_new_rows_that_do_not_fit_are_told(kind: str) -> None:
    frame = pl.DataFrame({"n": range(10), "w": ["a", "b"] * 5})
    session = Session(KINDS[kind](frame), random_state=0)
    run(session, LabelOracle([k % 2 for k in range(10)]))
    odd = KINDS[kind](pl.DataFrame({"n": ["3", "many", None], "w": ["a", "b", None], "more": [1, 2, 3]}))
    for call in (session.predict, session.predict_proba, session.append):
        with pytest.warns(DataWarning) as told:
            call(odd)
        assert [str(warning.message) for warning in told] == [
            "No value to compare by in 1 row of DataFrame: medians stand in.",
            "In 1 row of DataFrame, 'n' holds no number ('many'): it counts as missing.",
        ]
        assert {warning.filename for warning in told} == {__file__}
    assert len(session.labels_) == 13


def test_a_row_of_gaps_is_in_no_cluster_for_sure_as_in_the_shell() -> None:
    """`cobras predict` gives it the cluster of the medians and the confidence 0."""
    frame = pl.DataFrame({"n": [*range(5), *range(20, 25)], "w": ["a"] * 5 + ["b"] * 5})
    session = Session(frame, random_state=0)
    run(session, LabelOracle([0] * 5 + [1] * 5))
    with pytest.warns(DataWarning, match="No value to compare by in 1 row"):
        found = session.predict_proba(pl.DataFrame({"n": [2, None], "w": ["a", None]}))
    np.testing.assert_allclose(found.sum(axis=1), [1, 0])
    with pytest.warns(DataWarning, match="No value to compare by in 1 row"):
        labels = session.predict(pl.DataFrame({"n": [2, None], "w": ["a", None]}))
    assert labels.shape == (2,)
    with pytest.raises(InvalidDataError, match="X holds NaN or infinity, first at row 0"):
        session.predict(np.full((1, session.space.X.shape[1]), np.nan))


@pytest.mark.parametrize("frequency", ["M", "Y", "D", "h"])
@pytest.mark.parametrize("as_objects", [False, True])
def test_periods_are_dates_and_no_names_of_rows(frequency: str, as_objects: bool) -> None:
    periods = pd.Series(pd.period_range("2020-01", periods=30, freq=frequency))
    periods = periods.astype(object) if as_objects else periods
    periods[3] = pd.NaT
    frame = pd.DataFrame({"x": np.arange(30) % 4, "when": periods})
    dataset = read_dataset(frame)
    assert dataset.frame["when"].to_list() == [None if p is pd.NaT else p.to_timestamp() for p in periods]
    assert {info.name: (info.use, info.type) for info in dataset.column_info}["when"] == ("used", "date")
    assert Session(frame, random_state=0).to_frame()["when"].equals(frame["when"])


def test_to_frame_after_an_append_in_the_file_was_undone(tmp_path: Path) -> None:
    """The frame that the session is opened with has rows that it has no more; others come in their place."""
    frame, file = pl.DataFrame({"x": [0.0, 0.1, 5.0, 5.1], "w": ["a", "a", "b", "b"]}), tmp_path / "s.cobras"
    with Session.open(file, frame, random_state=0) as session:
        session.append(frame[:2])
    with Session.open(file, frame[[0, 1, 2, 3, 0, 1]]) as session:
        assert session.to_frame()["x"].to_list() == [*frame["x"], 0.0, 0.1]
        session.undo()
        assert session.to_frame()["x"].to_list() == frame["x"].to_list()
        session.append(frame[2:])
        assert session.to_frame()["x"].to_list() == [*frame["x"], 5.0, 5.1]
        session.undo()
        session.append(session.space.X[:2])
        with pytest.raises(InvalidDataError, match="not all others were appended as data frames"):
            session.to_frame()


def exported(session: Session, folder: Path) -> list[object]:
    session.export(folder / "labels.csv")
    return pl.read_csv(folder / "labels.csv")["id"].to_list()


def test_what_is_exported_has_the_names_of_the_rows(tmp_path: Path) -> None:
    X, names = [0.0, 0.1, 5.0, 5.1, 9.0], ["ann", "bob", "cem", "dan", "eve"]
    frames = {
        "index": pd.DataFrame({"x": X}, index=names),
        "index and words": pd.DataFrame({"x": X, "w": list("aabba")}, index=names),
        "column": pl.DataFrame({"name": names, "x": X}),
    }
    for frame in frames.values():
        session = Session(frame, random_state=0)
        pair = session.ask()
        assert pair is not None
        session.tell(True, pair)
        assert exported(session, tmp_path) == names
        session.export_answers(tmp_path / "answers.csv")
        assert pl.read_csv(tmp_path / "answers.csv").row(0)[:2] == (names[pair.i], names[pair.j])
        session.append(frame[:1] if isinstance(frame, pl.DataFrame) else frame[:1].rename({"ann": "flo"}))
        assert exported(session, tmp_path)[-2:] == [
            "eve",
            "ann (2)" if isinstance(frame, pl.DataFrame) else "flo",
        ]
        session.undo()
        assert exported(session, tmp_path) == names
        session.append(session.space.X[:1])  # an array has no names
        assert exported(session, tmp_path) == list(range(6))
    (tmp_path / "t.csv").write_text("name,x\n" + "".join(f"{n},{x}\n" for n, x in zip(names, X, strict=True)))
    assert exported(Session(read_dataset(tmp_path / "t.csv")), tmp_path) == names
    assert exported(Session(pd.DataFrame({"x": X}, index=[7, 3, 5, 9, 1])), tmp_path) == [7, 3, 5, 9, 1]
    for plain in (pd.DataFrame({"x": X}), pl.DataFrame({"x": X}), np.array(X)[:, None]):
        assert exported(Session(plain), tmp_path) == list(range(5))
    session = Session(frames["index"])
    session.export(tmp_path / "own.csv", ids="vwxyz")
    assert pl.read_csv(tmp_path / "own.csv")["id"].to_list() == list("vwxyz")


def test_labels_of_pyarrow_may_be_missing() -> None:
    frame = pl.DataFrame({"x": [0.0, 0.1, 5.0, 5.1]})
    for y in (pa.array(["a", None, "b", None]), pa.chunked_array([["a", None], ["b", None]])):
        session = Session.from_labels(frame, y, random_state=0)
        links = session.constraints()
        assert (links.must_link.tolist(), links.cannot_link.tolist()) == ([], [[0, 2]])
        assert sorted(session.names.values()) == ["a", "b"]


@pytest.mark.parametrize(
    "columns", [{"a": [None] * 9, "b": [None] * 9}, {"a": [float("nan")] * 9, "b": [None] * 9}]
)
def test_a_frame_without_any_value_is_refused(columns: dict[str, list[float | None]]) -> None:
    with pytest.raises(InvalidDataError, match=r"^DataFrame has no value in any cell\.$"):
        read_dataset(pd.DataFrame(columns))


@pytest.mark.parametrize("ids", [["k0", "k1", "k1"], [None, None, "n"]])
def test_names_of_rows_that_come_again_or_lack_do_not_close_a_session_file(
    tmp_path: Path, ids: list[str | None]
) -> None:
    """What was appended must open again; the column was perhaps never meant to name the rows."""
    frame = pl.DataFrame({"id": [f"k{k}" for k in range(20)], "x": range(20), "w": ["a", "b"] * 10})
    new, file = pl.DataFrame({"id": ids, "x": [1, 2, 3], "w": ["a", "b", "a"]}), tmp_path / "s.cobras"
    with Session.open(file, frame, random_state=0) as session:
        session.append(new)
        labels = session.labels_
    with Session.open(file, pl.concat([frame, new])) as session:
        np.testing.assert_array_equal(session.labels_, labels)
    again = read_recipe(pl.concat([frame, new]), read_dataset(frame).recipe)
    assert len(set(again.ids)) == 23
    assert again.ids[20:].tolist() == (
        ["k0 (2)", "k1 (2)", "k1 (3)"] if ids[0] else ["row 20", "row 21", "n"]
    )


def test_a_data_set_is_no_new_rows() -> None:
    frame = pl.DataFrame({"x": range(20), "w": ["a", "b"] * 10})
    session = Session(frame, random_state=0)
    for call in (session.predict, session.append):
        with pytest.raises(
            InvalidDataError, match="not as a Dataset, which has scales of its own; give its fra"
        ):
            call(read_dataset(frame))


FORMS = {
    "float32": (pl.col("size").cast(pl.Float32), "size"),
    "text for a date": (pl.col("when").dt.to_string(), "when"),
    "number for money": (pl.lit(7.5).alias("sum"), "sum"),
    "a word": (pl.Series("size", ["tall", "2", "3"]), None),
    "whole numbers": (pl.col("size").cast(pl.Int64), None),
    "nanoseconds": (pl.col("when").cast(pl.Datetime("ns")), None),
    "another word": (pl.lit("green").alias("colour"), None),
}


@pytest.mark.filterwarnings("ignore::cobras.DataWarning")
@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("form", FORMS)
def test_what_was_appended_opens_again_or_is_refused(tmp_path: Path, kind: str, form: str) -> None:
    """A session file does not hold the rows, so they must be read in one frame as they were alone."""
    frame = pl.DataFrame(
        {
            "size": [0.1 + k % 3 for k in range(30)],
            "when": [dt.datetime(2024, 1, 1 + k) for k in range(30)],
            "sum": [f"1.{k:03d},50 €" for k in range(30)],
            "colour": ["red", "blue", "white"] * 10,
        }
    )
    make = pl.DataFrame.to_pandas if kind == "pandas" else pl.DataFrame
    change, refused = FORMS[form]
    new, file = frame.head(3).with_columns(change), tmp_path / "s.cobras"
    with Session.open(file, make(frame), random_state=0) as session:
        if refused is None:
            session.append(make(new))
        else:
            with pytest.raises(
                InvalidDataError, match=f"The new rows hold '{refused}' in another form than the"
            ):
                session.append(make(new))
        labels = session.labels_
    rows = frame if refused else pl.concat([frame, new], how="vertical_relaxed")
    assert len(labels) == len(rows)
    with Session.open(file, make(rows)) as session:
        session.verify()
        np.testing.assert_array_equal(session.labels_, labels)
