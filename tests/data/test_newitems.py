"""New items get the features that they would have had among the old ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from cobras import InvalidDataError, Session
from cobras.data import Dataset, read_dataset, read_features, read_recipe
from cobras.data.cache import shared_cache
from cobras.data.newitems import read_new_items
from tests.data.kinds import KINDS
from tests.data.odd.messy import MESSY

PLANTS = "name,age,height,colour,planted,kind\n" + "".join(
    f"p{k},{k % 7},{1.5 * k},{('red', 'blue', 'white')[k % 3]},2024-0{1 + k % 9}-03,{k % 2}\n"
    for k in range(30)
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    shared_cache().close()


@pytest.fixture
def plants(tmp_path: Path) -> Dataset:
    path = tmp_path / "plants.csv"
    path.write_text(PLANTS)
    return read_dataset(path, label="kind")


def new_items(path: Path, dataset: Dataset) -> tuple[list[object], np.ndarray, list[str]]:
    notes: list[str] = []
    parts = list(read_new_items(path, dataset, notes))
    return [id for part in parts for id in part.ids.tolist()], np.concatenate([p.X for p in parts]), notes


@pytest.mark.parametrize("name", MESSY)
def test_the_same_file_as_new_items(tmp_path: Path, name: str) -> None:
    path = MESSY[name].make(tmp_path)
    dataset = read_dataset(path)
    ids, X, notes = new_items(path, dataset)
    np.testing.assert_allclose(X, dataset.X, atol=1e-5)
    assert ids == dataset.ids.tolist()
    assert notes == [note for note in dataset.notes if "without any value" in note]


@pytest.mark.parametrize("name", [name for name, messy in MESSY.items() if messy.kind == "table"])
def test_each_row_by_itself_has_the_features_it_had_among_others(tmp_path: Path, name: str) -> None:
    dataset = read_dataset(MESSY[name].make(tmp_path))
    for row in range(0, len(dataset), 9):
        dataset.frame[row : row + 1].write_parquet(tmp_path / "one.parquet")
        ids, X, _ = new_items(tmp_path / "one.parquet", dataset)
        np.testing.assert_allclose(X, dataset.X[row : row + 1], atol=1e-5)
        assert ids == (dataset.ids[row : row + 1].tolist() if dataset.recipe.id else [0])


@pytest.mark.parametrize("planted", ["%Y-%m-%d", "%d.%m.%Y", ""])
def test_a_gap_where_the_old_rows_had_none_gets_the_median(tmp_path: Path, planted: str) -> None:
    frame = pl.read_csv(PLANTS.encode(), try_parse_dates=True)
    if planted:
        frame = frame.with_columns(pl.col("planted").dt.to_string(planted))
    dataset = read_dataset(frame, label="kind", id="name")
    new = pl.DataFrame({name: [cells[0], None] for name, cells in frame.head(1).to_dict().items()})
    X = read_features(new.with_columns(colour=pl.lit("red")), dataset.recipe)
    for column in ("age", "height", "planted"):
        place = dataset.columns.index(column)
        assert X[1, place] == pytest.approx(np.median(dataset.X[:, place]))
    assert dataset.recipe.columns is not None
    before = tuple(replace(column, fill=0.0) for column in dataset.recipe.columns)
    X = read_features(new.with_columns(colour=pl.lit("red")), replace(dataset.recipe, columns=before))
    assert X[1, dataset.columns.index("planted")] == 0.5  # no date of 1970


def test_a_table_larger_than_memory_comes_in_pieces(
    plants: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.concat([plants.frame] * 2000)
    frame.write_parquet(tmp_path / "large.parquet")
    frame.write_csv(tmp_path / "large.csv")
    monkeypatch.setenv("COBRAS_MEMORY", "10000")
    monkeypatch.setattr("cobras.data.tables.large.outofcore.BATCH", 1 << 20)
    for name in ("large.parquet", "large.csv"):
        parts = list(read_new_items(tmp_path / name, plants, []))
        assert len(parts) > 2
        X = np.concatenate([part.X for part in parts])
        np.testing.assert_allclose(X, np.tile(plants.X, (2000, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("new", "notes"),
    [
        ("name,age,height,colour,planted\np9,1,2,red,2024-01-03\n", []),
        (
            "name,age,height,colour,planted\na,1,2,red,\nb,2,2,red,\nc,3,2,red,\nTotal,6,6,,\nNote: in May",
            [
                "Left out the last row, 'Note: in May': a note below the table.",
                "Left out the last row, 'Total': totals.",
            ],
        ),
        (
            "name,age,height,colour,planted\na,1,2,red,\nb,2,2,red,\nTotal,2,3,,\nNote 10,,,,\n",
            ["No value to compare by in 1 row of new.csv: medians stand in."],
        ),
        (
            "age,height,colour,planted,size,taste\n1,2,red,2024-01-03,9,sour\n",
            [
                "Ignored 'size', 'taste' of new.csv: the session has no such column.",
                "new.csv has no column 'name'; its rows are numbered from 0.",
            ],
        ),
        (
            "name,age,height,colour,planted\na,1,2,purple,2024-01-03\nb,,2,,\nc,old,2,purple,soon\nd,n/a,1,N/A,2024-02-01\n",
            [
                "In 2 rows of new.csv, 'colour' holds a word that the session has not seen ('purple'): the other "
                "columns count there.",
                "In 1 row of new.csv, 'age' holds no number ('old'): it counts as missing.",
                "In 1 row of new.csv, 'planted' holds no date ('soon'): it counts as missing.",
            ],
        ),
        (
            "name,age,height,colour,planted\na,old,2,red,soon\n",
            [
                "In 1 row of new.csv, 'age' holds no number ('old'): it counts as missing.",
                "In 1 row of new.csv, 'planted' holds no date ('soon'): it counts as missing.",
            ],
        ),
    ],
)
def test_what_is_harmless_is_noted(plants: Dataset, tmp_path: Path, new: str, notes: list[str]) -> None:
    path = tmp_path / "new.csv"
    path.write_text(new)
    ids, X, found = new_items(path, plants)
    assert sorted(found) == sorted(notes)
    assert X.shape == (new.count("\n") - 1 - new.count("Total,6"), plants.X.shape[1])
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(read_features(path, plants.recipe), X)
    assert ids[0] in ("p9", 0, "a")


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("name,age,height,planted\na,1,2,2024-01-03\n", "new.csv has no column 'colour'; its columns are "),
        (
            "name,age,height,colour,planted\na,old,2,red,2024-01-03\nb,young,2,red,2024-01-03\n",
            "Column 'age' of new.csv holds 'old', but the session has numbers there; give the column in "
            "the same form.",
        ),
        (
            "name,age,height,colour,planted\na,2024-01-03,2,red,2024-01-03\n",
            "Column 'age' of new.csv holds '2024-01-03', but the session has numbers there;",
        ),
        (
            "name,age,height,colour,planted\na,1,2,red,17\n",
            "Column 'planted' of new.csv holds numbers, but the session has dates such as '2024-01-03' there;",
        ),
        (
            "name,age,height,colour,planted\na,1,2,red,2024-01-03T00:00:00\n",
            "Column 'planted' of new.csv holds '2024-01-03T00:00:00', but the session has dates such as '",
        ),
        (
            "name,age,height,colour,planted\na,1,inf,red,2024-01-03\n",
            "Column 'height' of new.csv is infinite in row 0",
        ),
    ],
)
def test_what_does_harm_is_refused(plants: Dataset, tmp_path: Path, new: str, sentence: str) -> None:
    path = tmp_path / "new.csv"
    path.write_text(new)
    with pytest.raises(InvalidDataError) as error:
        new_items(path, plants)
    assert str(error.value).startswith(sentence)


def test_rows_of_gaps_alone_are_told_apart(plants: Dataset, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("name,age,height,colour,planted,note\na,,,,,x\nb,n/a,,,,\nc,,,blue,,\nd,,,,,\n")
    notes: list[str] = []
    (part,) = read_new_items(new, plants, notes)
    assert part.unknown is not None
    assert part.unknown.tolist() == [True, True, False, True]
    assert "No value to compare by in 3 rows of new.csv: medians stand in." in notes


def test_one_odd_cell_spoils_no_column_with_decimal_commas(tmp_path: Path) -> None:
    """It makes text of the column, which was one of numbers: commas must still be decimal marks."""
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("length;sold\n1,5;true\n2,5;false\n3,5;true\n")
    dataset = read_dataset(old)
    for odd in ("long", "2.5", "5 kg"):
        new.write_text(f"length;sold\n1,5;true\n{odd};maybe\n3,5;false\n")
        _, X, notes = new_items(new, dataset)
        np.testing.assert_array_equal(X, [[0, 1], [0.5, 1], [1, 0]])
        assert notes == [
            "No value to compare by in 1 row of new.csv: medians stand in.",
            f"In 1 row of new.csv, 'length' holds no number ({odd!r}): it counts as missing.",
            "In 1 row of new.csv, 'sold' holds no number ('maybe'): it counts as missing.",
        ]
        # So it is where the same rows come at the end of the old ones.
        new.write_text(old.read_text() + f"{odd};maybe\n")
        np.testing.assert_array_equal(read_recipe(new, dataset.recipe).X, [*dataset.X, [0.5, 1]])


def test_lists_are_refused_and_dates_may_have_another_type(plants: Dataset, tmp_path: Path) -> None:
    frame = plants.frame.with_columns(pl.col("planted").cast(pl.String).str.to_date())
    frame.write_parquet(tmp_path / "typed.parquet")
    np.testing.assert_allclose(new_items(tmp_path / "typed.parquet", plants)[1], plants.X)
    frame.with_columns(pl.concat_list("age")).write_parquet(tmp_path / "lists.parquet")
    with pytest.raises(InvalidDataError, match=r"Column 'age' of lists.parquet holds lists or records, "):
        new_items(tmp_path / "lists.parquet", plants)


def test_topics_of_texts_come_from_the_old_ones(tmp_path: Path) -> None:
    files = KINDS["text"](tmp_path)
    dataset = read_dataset(tmp_path / files.path)
    ids, X, notes = new_items(tmp_path / files.path, dataset)
    assert (ids, notes) == (dataset.ids.tolist(), [])
    np.testing.assert_allclose(X, dataset.X, atol=1e-6)
    new = tmp_path / "new"
    new.mkdir()
    (new / "a.txt").write_text("a spade and a rose in the soil")
    (new / "b.txt").write_text("nothing in common")
    ids, X, _ = new_items(new, dataset)
    assert ids == ["a.txt", "b.txt"]
    garden = np.array([str(id).startswith("garden") for id in dataset.ids])
    assert X[0] @ dataset.X[garden].mean(axis=0) > 0.7
    assert not X[1].any()
    with pytest.raises(InvalidDataError, match="depend on all items"):
        read_features(new, dataset.recipe)


@pytest.mark.parametrize(
    "texts",
    [["a rose"], ["ivy", "a sad spade"], ["a rose, ivy", "soil, a spade"], ["rose", "ivy, soil; ivy, a"]],
)
def test_new_lines_of_a_list_are_texts_however_short(tmp_path: Path, texts: list[str]) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(
        "".join(f"a {'rose and ivy' if k % 2 else 'spade in soil'} of row {k}\n" for k in range(12))
    )
    dataset = read_dataset(old)
    new.write_text("\n".join(texts))
    ids, X, _ = new_items(new, dataset)
    assert ids == list(range(len(texts)))
    assert X.any(axis=1).all()
    new.write_text("\n".join(["text", *texts]))
    np.testing.assert_array_equal(new_items(new, dataset)[1], X)


def test_series_are_compared_point_by_point_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / KINDS["series"](tmp_path).path
    options = {"kind": "series", "id": "engine", "label": "pace"}
    dataset = read_dataset(path, **options, features="points")
    ids, X, _ = new_items(path, dataset)
    np.testing.assert_allclose(X, dataset.X)
    frame = pl.read_csv(path).filter(pl.col("engine").is_in(["e3", "e4"])).drop("pace")
    frame.write_csv(tmp_path / "two.csv")
    ids, X, _ = new_items(tmp_path / "two.csv", dataset)
    assert ids == ["e3", "e4"]
    np.testing.assert_allclose(X, dataset.X[[dataset.ids.tolist().index(id) for id in ids]])
    with pytest.raises(InvalidDataError, match="compared by dtw are not predicted"):
        new_items(path, read_dataset(path, **options, features="dtw"))


def test_vectors_of_your_own_are_new_ones(plants: Dataset, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(30))
    dataset = read_dataset(tmp_path / "plants.csv", vectors=tmp_path / "v.npy")
    np.save(tmp_path / "w.npy", np.ones((2, 30)))
    assert new_items(tmp_path / "w.npy", dataset)[1].tolist() == np.ones((2, 30)).tolist()


def test_pixels_have_none(tmp_path: Path) -> None:
    files = KINDS["image"](tmp_path)
    dataset = read_dataset(tmp_path / files.path, features="pixels")
    with pytest.raises(InvalidDataError, match=r"\(pixels\) depend on all items"):
        new_items(tmp_path / files.path, dataset)


def test_images_that_cannot_be_read_shift_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for k in range(9):
        Image.new("RGB", (40, 40), (200, 20 * k, 0)).save(f"p{k}.png")
    Path("broken.png").write_bytes(b"nothing")
    table = pl.DataFrame({"file": [f"p{k}.png" for k in range(9)], "price": [7, 7, 8] * 3})
    dataset = read_dataset(table, image="file", features="shapes")
    new = pl.DataFrame({"file": ["p3.png", "broken.png", "p5.png"], "price": [1, 2, 3]})
    new.write_csv("new.csv")
    ids, X, notes = new_items(tmp_path / "new.csv", dataset)
    assert (ids, len(X), len(notes)) == ([0, 2], 2, 1)
    session = Session(dataset, random_state=0)
    for call in (session.predict, session.append):
        with pytest.raises(
            InvalidDataError, match=r"^Give the new rows without .* 1 file that cannot be read"
        ):
            call(new)
    assert len(session.labels_) == 9
