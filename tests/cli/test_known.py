"""`--known`: a person's earlier work, from a column or a file."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cobras import InvalidDataError, Session
from cobras.cli import main
from cobras.cli.known import add_known, read_known
from cobras.data import Dataset, read_dataset

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def partly(flowers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The flowers, with the species of every fifth in a column `guess`."""
    monkeypatch.chdir(flowers.parent)
    frame = pl.read_csv(flowers)
    known = pl.int_range(pl.len()) % 5 == 0
    frame.with_columns(guess=pl.when(known).then("species").otherwise(pl.lit(" "))).write_csv(flowers)
    return flowers


def test_a_column_of_labels_is_no_feature_and_answers_before_the_first_question(
    partly: Path, capsys: Captured
) -> None:
    given = ["run", "flowers.csv", "--label", "species", "--max-queries", "0", "--json", "--method", "adder"]
    for options, low, high in (([], -0.1, 0.5), (["--known", "guess"], 0.9, 1.0)):
        assert main([*given, *options, "--session", f"{len(options)}.cobras"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert low <= report["ari"][0] <= high
        assert report["n_queries"] == 0
    # The same command goes on with the session, and does not add it twice.
    assert main([*given, "--known", "guess", "--session", "2.cobras"]) == 0
    assert main(["export", "2.cobras", "--answers", "answers.csv"]) == 0
    answers = pl.read_csv("answers.csv")
    assert answers["kind"].unique().to_list() == ["known"]
    assert answers.height == 12  # three chains of four rows, and three cannot-links
    capsys.readouterr()
    # What was answered in one session is known in another.
    assert main([*given, "--known", "answers.csv", "--drop", "guess"]) == 0
    assert json.loads(capsys.readouterr().out)["ari"][0] >= 0.9


FILES = {
    "labels": ("id,label\nf00,a\nf01,a\nf25,b\nf30,\n", [(0, 1)], [(0, 25)]),
    "any names": ("flower,what\nf00,a\nf01,a\nf25,b\n", [(0, 1)], [(0, 25)]),
    "numbers of rows": ("row,label\n0,a\n1,a\n25,b\n", [(0, 1)], [(0, 25)]),
    "links": ("i,j,constraint\nf00,f01,must_link\nf25,f01,cannot_link\n", [(0, 1)], [(25, 1)]),
    "no names": ("a,b,c\nf00,f01,1\nf25,f01,-1\nf25,f02,unsure\n", [(0, 1)], [(25, 1)]),
    "answers": ("i,j,answer,in_force\nf00,f01,same,true\nf01,f02,same,false\n", [(0, 1)], []),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_labels_and_links_are_read(partly: Path, name: str) -> None:
    text, same, different = FILES[name]
    Path("known.csv").write_text(text)
    dataset = read_dataset(partly, label="species", drop=["guess"])
    session = Session(dataset.X, "adder", 0)
    add_known(session, dataset, "known.csv")
    add_known(session, dataset, "known.csv")
    assert len(session.history) == 1
    links = session.constraints()
    assert [tuple(sorted(pair)) for pair in links.must_link.tolist()] == same
    assert [tuple(sorted(pair)) for pair in links.cannot_link.tolist()] == [
        tuple(sorted(p)) for p in different
    ]


TAKEN = {
    "labels": "2 labels, of 3 of 60 rows. Empty cells and words such as N/A are no label.",
    "links": "1 must-link and 1 cannot-link.",
    "answers": "1 must-link and 0 cannot-links.",
}


@pytest.mark.parametrize("name", TAKEN)
def test_how_much_is_known_is_said_once(partly: Path, capsys: Captured, name: str) -> None:
    Path("known.csv").write_text(FILES[name][0])
    dataset = read_dataset(partly, label="species", drop=["guess"])
    session = Session(dataset.X, "adder", 0)
    add_known(session, dataset, "known.csv")
    assert capsys.readouterr().err == f"Known from known.csv: {TAKEN[name]}\n"
    add_known(session, dataset, "known.csv")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("word", ["N/A", "n/a", "unknown", "-", "null", " ", ""])
def test_words_for_a_gap_are_no_label(partly: Path, word: str) -> None:
    dataset = read_dataset(partly, label="species", drop=["guess"])
    labels = ["a", "a", "b", *[word] * (len(dataset) - 3)]
    frame = dataset.frame.with_columns(guess=pl.Series(labels))
    frame.write_csv("partly.csv")
    session = Session(dataset.X, "adder", 0)
    add_known(session, read_dataset("partly.csv", label="species", drop=["guess"]), "guess")
    assert session.constraints().must_link.tolist() == [[0, 1]]


def test_spellings_of_a_label_are_one(partly: Path, capsys: Captured) -> None:
    """As categories are: with six classes in place of three, a simulation would contradict what is meant."""
    dataset = read_dataset(partly, label="species", drop=["guess"])
    shout = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("species").str.to_uppercase() + " ")
    loud = dataset.frame.with_columns(species=shout.otherwise("species"))
    loud.write_csv("loud.csv")
    reports = []
    for name in ("flowers.csv", "loud.csv"):
        given = ["run", name, "--label", "species", "--drop", "guess", "--max-queries", "12", "--json"]
        assert main(given) == 0
        reports.append(json.loads(capsys.readouterr().out)["ari"])
    assert reports[0] == reports[1]
    session = Session(dataset.X, "adder", 0)
    add_known(session, read_dataset("loud.csv", label="species", drop=["guess"]), "species")
    assert "3 labels, of 60 of 60 rows" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["kind", "known.csv"])
def test_a_session_in_which_each_spelling_was_a_label_goes_on(
    partly: Path, source: str, capsys: Captured
) -> None:
    """It says that Shoes and shoes are different; that they are the same would contradict it."""
    words = ["Shoes", "shoes", "Books", *["Shoes"] * 57]
    frame = read_dataset(partly, drop=["guess"]).frame.with_columns(kind=pl.Series(words))
    frame.write_csv("kinds.csv")
    pl.DataFrame({"id": frame[:, 0], "label": words}).write_csv("known.csv")
    dataset = read_dataset("kinds.csv", label="species", drop=["kind", "guess"])
    session = Session(dataset.X, "cobras", 0)
    session.add_constraints(labels=words)
    add_known(session, dataset, source)
    assert len(session.history) == 1
    assert capsys.readouterr().err == ""
    fresh = Session(dataset.X, "cobras", 0)
    add_known(fresh, dataset, source)
    add_known(fresh, dataset, source)
    assert len(fresh.history) == 1
    assert "2 labels, of 60 of 60 rows" in capsys.readouterr().err


@pytest.mark.parametrize("memory", ["1000000000", "1"])
def test_classes_of_a_table_of_any_size_are_the_same(
    partly: Path, memory: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spellings are one class, also in a table larger than memory; yes and true are two."""
    monkeypatch.setenv("COBRAS_MEMORY", memory)
    frame = pl.read_csv(partly).drop("guess")
    codes = frame["species"].rank("dense").to_list()
    words = {1: ("yes", "Yes ", "YES"), 2: ("true",) * 3, 3: ("off",) * 3}
    spelled = [words[code][k % 3] for k, code in enumerate(codes)]
    reports = []
    for name, classes in (("plain", [str(code) for code in codes]), ("spelled", spelled)):
        frame.with_columns(species=pl.Series(classes)).write_csv(f"{name}.csv")
        given = ["run", f"{name}.csv", "--label", "species", "--max-queries", "12", "--json"]
        assert main(given) == 0
        reports.append(json.loads(capsys.readouterr().out)["ari"])
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id\nf00\n", "known.csv has one column; give id and label, or two ids"),
        (
            "id,label\nf99,a\n",
            "names the row 'f99', which the data does not have; its ids are f00, f01, f02, ...",
        ),
        ("i,j,relation\nf00,f01,maybe\n", "says 'maybe' about a pair; use must-link or cannot-link"),
        ("i,j\nf00,f01\n", "known.csv has i and j, but no column of answer"),
        ("i,j,relation\nf00,f60,same\n", "names the row 'f60'"),
        ("f00,f01,same\nf01,f02,same\n", "known.csv begins with 'f00', which is a row; add a first line"),
        ("f00,a\nf01,b\n", "known.csv begins with 'f00', which is a row; add a first line"),
        ("a,b\nf00,f01\nf02,f03\n", "names two rows on each line, but not what they are; add a column"),
        ("id,label\nf00,a\nf01,a\nf00,b\n", "says 'a' and 'b' about the row 'f00'; leave one of them out"),
    ],
)
def test_files_that_cannot_be_used_are_refused(partly: Path, text: str, sentence: str) -> None:
    Path("known.csv").write_text(text)
    dataset: Dataset = read_dataset(partly, label="species")
    with pytest.raises(InvalidDataError) as error:
        read_known(Path("known.csv"), dataset)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_links_that_contradict_each_other_or_the_answers_are_named_by_ids(
    partly: Path, capsys: Captured
) -> None:
    links = "i,j,answer\nf00,f01,same\nf01,f02,same\n"
    Path("known.csv").write_text(f"{links}f00,f02,different\n")
    assert main(["ask", "flowers.csv", "--known", "known.csv"]) == 2
    assert "'f01' and 'f02' are same, but 'f00' and 'f02' are different" in capsys.readouterr().err
    Path("known.csv").write_text(links)
    run = ["run", "flowers.csv", "--label", "species", "--max-queries", "0", "--known", "known.csv"]
    run += ["--session", "s.cobras", "--method", "cobras"]
    assert main(run) == 0
    Path("known.csv").write_text("i,j,answer\nf00,f02,different\n")
    assert main(run) == 2
    assert "('f00', 'f02') contradicts earlier answers: 'f00' and 'f01' are" in capsys.readouterr().err


def test_a_number_is_no_row_where_others_are_named_by_ids(tmp_path: Path) -> None:
    table, known = tmp_path / "t.csv", tmp_path / "known.csv"
    table.write_text("ticket,x,y\n" + "".join(f"{100 + k * k},{k % 3},{k % 4}\n" for k in range(12)))
    dataset = read_dataset(table, id="ticket")
    for text in ("100,a\n104,a\n5,b\n", "5,b\n100,a\n"):
        known.write_text(f"ticket,label\n{text}")
        with pytest.raises(
            InvalidDataError, match=r"some rows by their ids and some by their numbers; use the"
        ):
            read_known(known, dataset)
    known.write_text("ticket,label\n0,a\n2,a\n")
    assert read_known(known, dataset).labels == ["a", None, "a", *[None] * 9]


def test_an_id_that_lost_its_zeros_is_no_number_of_a_row(tmp_path: Path) -> None:
    table, known = tmp_path / "t.csv", tmp_path / "known.csv"
    table.write_text("id,x\n" + "".join(f"{3 * k:03d},{k % 4}\n" for k in range(12)))
    known.write_text("id,label\n3,a\n9,b\n")
    assert read_known(known, read_dataset(table)).labels == [None, "a", None, "b", *[None] * 8]


def test_a_column_that_is_not_there_leaves_no_session(partly: Path, capsys: Captured) -> None:
    assert main(["ask", "flowers.csv", "--known", "nothing"]) == 2
    assert "There is no file nothing, and flowers.csv has no column 'nothing'; " in capsys.readouterr().err
    Path("known.csv").write_text("id,label\nf99,a\n")
    assert main(["ask", "flowers.csv", "--known", "known.csv"]) == 2
    assert "f99" in capsys.readouterr().err
    assert not Path("flowers.cobras").exists()
