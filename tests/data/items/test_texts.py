"""Folders of texts and tables that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cobras.core.exceptions import InvalidDataError
from cobras.data import Text, read_dataset, read_features, read_recipe
from cobras.data.cache import shared_cache
from cobras.data.items.texts import CARRIER
from cobras.data.tables.files import read_table
from cobras.data.tables.header import Extent


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    shared_cache().close()


TEXTS = [
    "the cat purred on the warm mat",
    "stocks fell as the market feared rates",
    "my cat likes a warm mat",
    "the market feared falling stocks",
]


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    for k, text in enumerate(TEXTS * 3):
        (folder / f"letter {k}.txt").write_text(f"{text} {k}")
    return folder


def test_folder_of_texts(letters: Path) -> None:
    (letters / "binary.txt").write_bytes(bytes(range(256)))
    (letters / "latin.txt").write_bytes("die Größe der cat auf der mat".encode("latin-1"))
    ds = read_dataset(letters)
    assert ds.kind == "text"
    assert len(ds) == 13
    assert "Left out 1 file without text: 'binary.txt'." in ds.notes
    card = ds.show(0)
    assert isinstance(card, Text)
    assert card.text == "die Größe der cat auf der mat"
    cats = np.array(["cat" in ds.show(i).text for i in range(13)])
    cosines = ds.X @ ds.X.T
    assert cosines[1:, 1:][cats[1:]][:, cats[1:]].min() > cosines[1:, 1:][cats[1:]][:, ~cats[1:]].max()
    np.testing.assert_array_equal(read_recipe(letters, ds.recipe).X, ds.X)


def test_one_file_of_another_kind_is_named_in_the_singular(letters: Path) -> None:
    (letters / "p.png").write_bytes(b"")
    assert read_dataset(letters).notes[0].endswith("(--kind image for the 1 image)")


def test_column_of_texts_guessed_and_overridden(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "id": range(12),
            "stars": [1, 5] * 6,
            "review": [f"{t} {t} {t} {k}" for k, t in enumerate(TEXTS * 3)],
        }
    )
    table.write_csv(tmp_path / "t.csv")
    ds = read_dataset(tmp_path / "t.csv")
    assert ds.kind == "text"
    assert ds.notes[0] == "Read as texts: 'review' holds them. (--kind table for the other columns)"
    assert dict(ds.show(2).values) == {"stars": 1}
    assert read_dataset(tmp_path / "t.csv", kind="table").columns == ("stars",)
    assert read_dataset(tmp_path / "t.csv", text="review", drop=["stars"]).show(0).values == {}


MESSAGES = [
    "refund my order",
    "cannot log in",
    "app crashes",
    "where is my parcel",
    "refund please",
    "login fails",
]


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ({}, "text"),
        ({"ticket": [f"T{k}" for k in range(24)]}, "text"),
        ({"ticket": range(100, 124)}, "text"),
        ({"stars": [1.5, 5, 2] * 8}, "table"),
        ({"open": [True, False, True] * 8}, "table"),
        ({"channel": ["web", "app", "web"] * 8}, "table"),
        ({"price": [f"{k * k} €" for k in range(24)]}, "table"),
        ({"day": [f"2024-01-{k + 1:02}" for k in range(24)]}, "table"),
    ],
)
def test_short_texts_are_compared_where_nothing_else_can_be(
    tmp_path: Path, other: dict[str, list[object]], kind: str
) -> None:
    messages = [f"{text} {k}" for k, text in enumerate(MESSAGES * 4)]
    pl.DataFrame({**other, "message": messages}).write_csv(tmp_path / "t.csv")
    ds = read_dataset(tmp_path / "t.csv")
    assert ds.kind == kind
    assert ("'message' holds them" in ds.notes[0]) == (kind == "text")


@pytest.mark.parametrize("name", ["", "text\n", "my tickets\n"])
@pytest.mark.parametrize("first", ["Great service, ticket 5 is solved", "لا أستطيع تسجيل الدخول 598"])
def test_a_list_of_texts_has_one_on_each_line(tmp_path: Path, name: str, first: str) -> None:
    texts = [first, *TEXTS, 'the "cat", as they said; it purred']
    path = tmp_path / "tickets.txt"
    path.write_text(name + "\n".join(texts) + "\n\n", encoding="utf-8")
    dataset = read_dataset(path)
    column = name.strip() or "text"
    assert dataset.kind == "text"
    assert dataset.notes[0] == f"Read as texts: {column!r} holds them."
    assert dataset.frame[column].to_list() == texts
    again = read_recipe(path, dataset.recipe)
    assert again.frame[column].to_list() == texts


def test_a_text_file_with_columns_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "tickets.txt"
    path.write_text("\n".join(["ticket text|hours", *(f"{text}|{k}" for k, text in enumerate(TEXTS))]))
    assert read_dataset(path).frame.columns == ["ticket text", "hours"]
    path.write_text("\n".join(["text", *(f'"{text}, it says"' for text in TEXTS)]))
    assert read_dataset(path).frame["text"][0] == f"{TEXTS[0]}, it says"


def test_a_column_of_words_that_may_be_texts_is_named(tmp_path: Path) -> None:
    words = [f"Word{k}" for k in range(12)]
    pl.DataFrame({"id": range(12), "the word": words}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match=r"'the word'; --text 'the word' compares the texts in"):
        read_dataset(tmp_path / "t.csv")


def test_sentence_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what a text means, though no word is shared; item by item, so that new texts can be embedded alone."""
    pets = ["My cat slept on the sofa.", "We took a puppy to the vet.", "Her hamster eats seeds."]
    money = ["Share prices fell this morning.", "Banks raised their rates.", "He sold all bonds."]
    pl.DataFrame({"t": [*pets, *money]}).write_csv(tmp_path / "t.csv")
    needed = "^Sentence embeddings need a package and a model that are not on this machine: pip install "
    if find_spec("sentence_transformers") is None:
        with pytest.raises(InvalidDataError, match=needed):
            read_dataset(tmp_path / "t.csv", text="t", features="sentences")
        return
    if find_spec(CARRIER) is not None:
        ds = read_dataset(tmp_path / "t.csv", text="t", features="sentences")
        assert ds.X.dtype == np.float32
        assert ds.notes[-1] == "Compared the texts by sentence embeddings of all-MiniLM-L6-v2."
        np.testing.assert_allclose(np.linalg.norm(ds.X, axis=1), 1, rtol=1e-5)
        alike = ds.X @ ds.X.T
        assert min(alike[0, 1], alike[3, 4]) > alike[:3, 3:].max()
        pl.DataFrame({"t": pets[:1]}).write_csv(tmp_path / "one.csv")
        alone = read_features(tmp_path / "one.csv", ds.recipe)
        np.testing.assert_allclose(alone, ds.X[:1], atol=1e-5)
        shared_cache().close()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "emptied"))
        np.testing.assert_array_equal(read_recipe(tmp_path / "t.csv", ds.recipe).X, ds.X)
    monkeypatch.setattr("cobras.data.items.texts.CARRIER", "a_package_that_is_not_there")
    monkeypatch.setattr("cobras.data.items.texts.SENTENCES", str(tmp_path / "no-model"))
    pl.DataFrame({"t": money}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match=needed):
        read_dataset(tmp_path / "t.csv", text="t", features="sentences")


def test_texts_in_a_script_without_blanks(tmp_path: Path) -> None:
    texts = ["猫在垫子上睡觉", "股市今天大跌", "猫喜欢温暖的垫子", "股市担心利率"]
    pl.DataFrame({"t": texts}).write_csv(tmp_path / "t.csv")
    X = read_dataset(tmp_path / "t.csv", kind="text").X
    assert np.isfinite(X).all()
    assert X[0] @ X[2] > X[0] @ X[1]


def test_a_list_that_was_read_with_its_first_line_as_a_name_is_read_so_again(tmp_path: Path) -> None:
    """As sessions of older versions did."""
    lines = [f"ticket {k} is about a broken printer" for k in range(20)]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    assert len(read_dataset(tmp_path / "list.txt").X) == 20
    assert len(read_dataset(tmp_path / "list.txt", text=lines[0]).X) == 19


@pytest.mark.parametrize("comma", [", ", "; "])
def test_commas_of_sentences_make_no_table_of_a_list(tmp_path: Path, comma: str) -> None:
    path = tmp_path / "reviews.txt"
    lines = [
        f"The {word} was fine{comma}and we came back"
        for word in ["soup", "fish", "cake", "wine", "room", "view"]
    ]
    lines.append(f"Late again{comma}sorry about that")
    path.write_text("\n".join(lines))
    dataset = read_dataset(path)
    assert (dataset.kind, dataset.recipe.kind, len(dataset)) == ("text", "text", 7)
    assert dataset.show(0).text == lines[0]
    np.testing.assert_array_equal(read_recipe(path, dataset.recipe).X, dataset.X)


@pytest.mark.parametrize(
    "lines",
    [
        ["full name, age, place of birth", *(f"Anna Maria Bell, {k}, New York" for k in range(9))],
        [f"We liked the {k} of it very much, {k}" for k in range(9)],
        [f"We liked the {k} of it very much,a good {k}" for k in range(9)],
    ],
)
def test_cells_with_several_words_are_still_a_table(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "cells.txt"
    path.write_text("\n".join(lines))
    assert read_table(path)[0].width == lines[0].count(",") + 1


def test_what_was_once_read_as_a_table_stays_one(tmp_path: Path) -> None:
    """A session on it says where its header is."""
    path = tmp_path / "reviews.txt"
    path.write_text("\n".join(f"The {word} was fine, and we came back" for word in ("soup", "fish", "cake")))
    assert read_table(path)[0].width == 1
    assert read_table(path, Extent(header=0))[0].width == 2
