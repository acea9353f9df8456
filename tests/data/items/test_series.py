"""Files of series: what is written in any layout is read again, and what cannot be read is said in one sentence."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import InvalidDataError
from cobras.data.guess import holds_series
from cobras.data.items.series import read_series
from cobras.data.items.tsfiles import guess_layout
from cobras.data.tables import files


@st.composite
def collections(draw, max_channels=3):
    """Series of shape (channels, length), with gaps but a value at both ends, and their classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_channels = draw(st.integers(1, 12)), draw(st.integers(1, max_channels))
    lengths = np.full(n, rng.integers(2, 9)) if draw(st.booleans()) else rng.integers(2, 9, n)
    series = [rng.normal(size=(n_channels, length)) * 10.0 ** rng.integers(-9, 9) for length in lengths]
    for one in series:
        one[rng.random(one.shape) < 0.1] = np.nan
        one[:, [0, -1]] = 1.5
    return series, rng.integers(1, 4, n)


def same(data, series):
    assert data.lengths.tolist() == [one.shape[1] for one in series]
    for i, one in enumerate(series):
        np.testing.assert_array_equal(data.show(i), one)
        assert np.isnan(data.values[i, :, data.lengths[i] :]).all()


def cell(value, missing="?"):
    return missing if np.isnan(value) else repr(float(value))


@given(collections(), st.booleans(), st.booleans())
def test_ts_files(tmp_path_factory, collection, with_classes, with_times):
    series, classes = collection
    lines = [
        "# made up",
        "% by hand",
        "@problemName waves",
        f"@classLabel {str(with_classes).lower()} 1 2 3",
        "@DATA",
        "",
    ]
    for one, label in zip(series, classes, strict=True):
        cells = [
            [f"(2020-01-01 10:00:0{t},{cell(v)})" if with_times else cell(v) for t, v in enumerate(channel)]
            for channel in one
        ]
        lines.append(":".join([*map(",".join, cells), *([str(label)] if with_classes else [])]))
    path = tmp_path_factory.mktemp("ts") / "waves.ts"
    path.write_text("\n".join(lines))
    data = read_series(path)
    same(data, series)
    assert holds_series(path)
    assert (data.labels is not None) == with_classes
    if with_classes:
        assert data.labels.tolist() == [str(label) for label in classes]
        assert data.frame.columns == ["series", "length", "class"]


@given(collections(max_channels=1), st.sampled_from(["\t", ",", "   ", " ; "]), st.booleans())
def test_ucr_files(tmp_path_factory, collection, delimiter, padded):
    series, classes = collection
    longest = max(one.shape[1] for one in series) if padded else 0
    lines = []
    for one, label in zip(series, classes, strict=True):
        cells = [cell(v, "NaN") for v in one[0]] + ["NaN"] * (longest - one.shape[1])
        lines.append(delimiter.join([f"{label:.7e}", *cells]))
    path = tmp_path_factory.mktemp("ucr") / "waves_TRAIN.txt"
    path.write_text("\n".join(lines) + "\n")
    data = read_series(path, layout="ucr")
    same(data, series)
    assert data.labels.tolist() == classes.tolist()
    assert read_series(path, **data.options).notes == data.notes


@given(collections(), st.randoms())
def test_long_tables(tmp_path_factory, collection, random):
    series, classes = collection
    rows = [
        {"series": f"s{9 - i}", "time": t, "kind": int(classes[i]), "remark": f"of {i}"}
        | {f"v{c}": value for c, value in enumerate(moment)}
        for i, one in enumerate(series)
        for t, moment in enumerate(one.T.tolist())
    ]
    starts = [row for row in rows if row["time"] == 0]  # they fix the order of the series
    rest = [row for row in rows if row["time"] != 0]
    random.shuffle(rest)
    path = tmp_path_factory.mktemp("long") / "waves.parquet"
    pl.DataFrame(starts + rest).fill_nan(None).write_parquet(path)
    data = read_series(path, label="kind")
    same(data, series)
    assert data.ids.tolist() == [f"s{9 - i}" for i in range(len(series))]
    assert data.labels.tolist() == classes.tolist()
    expected = ["series", "kind", "remark"]
    assert (
        data.frame.columns == expected
        if len(series) < len(rows)
        else set(expected) <= set(data.frame.columns)
    )
    assert len(data.frame) == len(data) == len(series)
    again = read_series(path, **data.options)
    np.testing.assert_array_equal(again.values, data.values)


@given(collections(max_channels=1))
def test_wide_tables(tmp_path_factory, collection):
    series, classes = collection
    longest = max(one.shape[1] for one in series)
    table = {"name": [f"n{i}" for i in range(len(series))], "class": classes.tolist()}
    for t in range(longest):
        table[f"t{t}"] = [float(one[0, t]) if t < one.shape[1] else None for one in series]
    path = tmp_path_factory.mktemp("wide") / "waves.csv"
    pl.DataFrame(table).fill_nan(None).write_csv(path)
    data = read_series(path, layout="wide", id="name", label="class")
    same(data, series)
    assert data.ids.tolist() == table["name"]
    assert data.labels.tolist() == classes.tolist()
    assert data.frame.columns == list(table)
    assert read_series(path, **data.options).ids.tolist() == table["name"]


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_points_do_not_separate_thousands(tmp_path, layout):
    """Values of series are numbers as they are, whatever the delimiter is."""
    cells = ["1.234", "2.500", "950", "7.080", "3.111", "800"]
    rows = ["id;" + ";".join(f"t{k}" for k in range(6))]
    rows += [f"{name};{';'.join(cells[k:] + cells[:k])}" for k, name in enumerate("abcdef")]
    if layout == "long":
        rows = ["id;time;value", *(f"{name};{k};{cell}" for name in "abcdef" for k, cell in enumerate(cells))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    data = read_series(tmp_path / "t.csv")
    assert data.options["layout"] == layout
    assert data.show(0).tolist() == [[1.234, 2.5, 950, 7.08, 3.111, 800]]


def test_what_was_found_is_said(tmp_path):
    path = tmp_path / "beats.csv"
    path.write_text("id;time;volt\na;1;1,5\na;2;\na;3;2,5\nb;1;4\n")
    notes = " ".join(read_series(path).notes)
    assert "told apart by 'id', sorted by 'time'" in notes
    assert "lengths go from 1 to 3" in notes
    assert "1 values are missing" in notes


def test_dates_and_names_are_found(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("Unit,Date,sold\nx,2020-02-01,2\nx,2020-01-01,1\ny,2020-01-01,7\ny,2020-02-01,8\n")
    data = read_series(path)
    assert (data.ids.tolist(), data.values[:, 0].tolist()) == (["x", "y"], [[1, 2], [7, 8]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 0.5 0.25\n2 0.1 0.2\n1 0.3 0.1\n2 1 1\n", "ucr"),
        ("1,0.5,0.25\n2,0.1,0.2\n3,0.3,0.1\n", None),  # no two lines share the first number
        ("1,5,7\n1,6,8\n", None),  # no fractions: it may be any table
        ("a,b\n1,0.5\n1,0.7\n", None),
        ("1\n1\n1\n", None),
        ("", None),
    ],
)
def test_the_layout_is_guessed(tmp_path, text, expected):
    path = tmp_path / "x_TRAIN.txt"
    path.write_text(text)
    assert guess_layout(path) == expected
    assert holds_series(path) == (expected == "ucr")
    assert not holds_series(path.rename(tmp_path / "x.txt"))


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("a.ts", "@data\n", {}, "holds no series after @data"),
        ("a.ts", "1,2,3\n", {}, "line 1 comes before @data"),
        ("a.ts", "@data\n1,2,x\n", {}, "Line 2 of a.ts must hold numbers"),
        ("a.ts", "@data\n1,2:3\n4,5\n", {}, "some have 1 and others 2"),
        ("a.ts", "@data\n?,?\n", {}, "Series 0 of a.ts holds no number"),
        ("a.ts", "@data\n1,inf\n", {}, "Line 2 of a.ts holds infinity"),
        ("a.ts", "@classLabel true a b\n@data\na\n", {}, "Series 0 of a.ts holds a class but no values"),
        ("a.ts", "@data\n1,2\n", {"label": "x"}, "no columns with names"),
        ("a.ts", b"\x00\x01\xff\xfe", {}, "is not a text file"),
        ("none.ts", None, {}, "There is no file"),
        ("a.txt", "1 2\n1\n", {"layout": "ucr"}, "at least one value on each line"),
        ("a.csv", "id,time,v\na,0,1\na,0,2\n", {}, "Series 'a' of a.csv has two values at time 0"),
        ("a.csv", "id,time,v\na,,1\na,0,2\n", {}, "Column 'time' of a.csv has empty cells"),
        ("a.csv", "id,time,k,v\na,0,x,1\na,1,y,2\n", {"label": "k"}, "changes within a series"),
        ("a.csv", "id,time,v\na,0,x\na,1,y\n", {}, "no column of numbers"),
        ("a.csv", "p,q\n1,2\n", {"layout": "long"}, "needs a column that names the series"),
        ("a.csv", "p,q\n1,2\n", {"id": "z"}, "has no column 'z'"),
        ("a.csv", "p,q\n1,2\n", {"layout": "tall"}, "layout must be one of"),
        ("a.csv", "p,q\n1,inf\n", {}, "'q' holds infinity"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, name, text, options, sentence):
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidDataError, match=sentence):
        read_series(path, **options)


@given(
    st.binary(max_size=200),
    st.sampled_from([".ts", ".txt", ".csv"]),
    st.sampled_from(["", "@data\n", "1,2\n"]),
)
def test_any_bytes_give_series_or_one_sentence(tmp_path_factory, content, suffix, head):
    path = tmp_path_factory.mktemp("any") / f"x{suffix}"
    path.write_bytes(head.encode() + content)
    try:
        data = read_series(path)
    except InvalidDataError as error:
        said = str(error)
    else:
        said = ""
        assert len(data.ids) == len(data.values) == len(data.lengths) > 0
    assert "\n" not in said


def test_the_column_that_tells_series_apart_is_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("engine,time,volt,kind\na,0,1.5,x\na,1,2.5,x\nb,1,4.0,x\nb,0,3.0,x\nb,2,5.0,x\n")
    found = read_series(path)
    assert found.ids.tolist() == ["a", "b"]
    assert found.lengths.tolist() == [2, 3]
    path.write_text("engine,other,time,volt\na,c,0,1.5\na,c,1,2.5\nb,d,1,4.0\nb,d,0,3.0\n")
    assert read_series(path).options["layout"] == "wide"  # either may be meant


def test_padding_that_does_not_fit_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "total_memory", lambda: 8 << 30)
    (tmp_path / "t.ts").write_text(
        "@classLabel true a b\n@data\n" + ",".join(["1"] * 100_000) + ":a\n" + "1,2:b\n" * 10_000
    )
    with pytest.raises(InvalidDataError, match="padded to 100,000 moments, unpacks to 7 GiB or more"):
        read_series(tmp_path / "t.ts")
