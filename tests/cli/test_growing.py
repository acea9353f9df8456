"""A table that grew at its end, through the command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cobras import DataChangedError, LabelOracle, Session
from cobras import run as run_session
from cobras.cli import main
from cobras.cli.source import open_for
from cobras.data import read_dataset

Captured = pytest.CaptureFixture[str]
MORE = "new1,0.1,0.2,red,secret-0\nnew2,16.1,15.9,green,secret-2\n"


@pytest.fixture
def table(flowers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The flowers, about which twenty questions were answered."""
    monkeypatch.chdir(flowers.parent)
    dataset = read_dataset("flowers.csv", label="species")
    with open_for(Path("flowers.csv"), dataset, Path("flowers.cobras"), random_state=0) as session:
        run_session(session, LabelOracle(dataset.labels), until=lambda s: s.n_answers >= 20)
        session.name(int(session.labels_[0]), "small")
    return Path("flowers.csv")


def test_rows_at_the_end_are_taken_in_after_a_yes(table: Path, capsys: Captured) -> None:
    assert main(["export", "flowers.cobras", "--out", "before.csv"]) == 0
    table.write_text(table.read_text() + MORE)
    capsys.readouterr()
    for verb in (
        ["export", "flowers.cobras"],
        ["ask", "flowers.csv"],
        ["serve", "flowers.csv", "--no-browser"],
    ):
        assert main(verb) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.splitlines()[-1].startswith(
            "error: flowers.cobras has the first 60 of these 62 rows. Take the others in by --grow, or"
        )
    assert main(["export", "flowers.cobras", "--grow", "--out", "after.csv"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Took in 2 rows at the end."
    assert said[1].startswith(
        "In 1 row of flowers.csv, 'colour' holds a word that the session has not seen ('green')"
    )
    before, after = pl.read_csv("before.csv"), pl.read_csv("after.csv")
    assert after.head(60).equals(before)
    assert after["cluster"].to_list()[60:] == [before["cluster"][0], before["cluster"][59]]
    assert after["cluster_name"][60] == "small"
    # It is part of the session from now on, and what the data shows cannot be undone here.
    assert main(["export", "flowers.cobras", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["labels"]) == 62
    dataset = read_dataset("flowers.csv", label="species")
    with open_for(table, read_again(table), Path("flowers.cobras")) as session:
        assert (session.space.n, session.can_undo, len(dataset)) == (62, False, 62)


def read_again(table: Path):
    from cobras.cli.source import load_for_session

    return load_for_session(Path("flowers.cobras"), table)


def test_rows_that_were_taken_back_in_python_are_asked_about_again(table: Path, capsys: Captured) -> None:
    table.write_text(table.read_text() + MORE)
    assert main(["export", "flowers.cobras", "--grow", "--out", "after.csv"]) == 0
    with Session.open("flowers.cobras", read_again(table).X) as session:
        session.undo()
    assert main(["export", "flowers.cobras"]) == 2
    assert "has the first 60 of these 62 rows" in capsys.readouterr().err
    assert main(["export", "flowers.cobras", "--grow", "--out", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("after.csv").read_text()


@pytest.mark.parametrize("below", ["", "Total,{a},{b},,\n* preliminary,,,,\n"])
@pytest.mark.parametrize("blank", ["", ",,,,\n,,,,\n"])
def test_what_stands_below_the_rows_is_no_item_in_a_grown_file_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, below: str, blank: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"s{k},{k % 3 * 8 + k % 2},{k % 3 + 1},{'red' if k % 3 else 'blue'},x\n" for k in range(30)]
    table = Path("shops.csv")
    table.write_text("shop,sales,staff,colour,kind\n" + "".join(rows))
    with open_for(table, read_dataset(table), Path("shops.cobras"), random_state=0) as session:
        run_session(session, LabelOracle([k % 3 for k in range(30)]), until=lambda s: s.n_answers >= 3)
    rows.append("s30,8,2,red,x\n")
    sums = {name: sum(int(row.split(",")[k]) for row in rows) for name, k in (("a", 1), ("b", 2))}
    table.write_text("shop,sales,staff,colour,kind\n" + "".join(rows) + below.format(**sums) + blank)
    assert main(["export", "shops.cobras", "--grow", "--out", "out.csv"]) == 0
    assert pl.read_csv("out.csv")["shop"].to_list() == [f"s{k}" for k in range(31)]
    said = capsys.readouterr().err
    assert "Took in 1 row at the end." in said
    assert ("Left out the last row, 'Total': totals." in said) == bool(below)


def test_a_single_cell_that_is_no_number_is_told_and_counts_as_missing(table: Path, capsys: Captured) -> None:
    table.write_text(table.read_text() + MORE.replace("16.1", "tall"))
    assert main(["export", "flowers.cobras", "--grow", "--out", "after.csv"]) == 0
    assert (
        "of flowers.csv, 'length' holds no number ('tall'): it counts as missing." in capsys.readouterr().err
    )


def test_ids_that_come_again_are_numbered_and_told(table: Path, capsys: Captured) -> None:
    table.write_text(table.read_text() + MORE.replace("new1", "f00"))
    assert main(["export", "flowers.cobras", "--grow", "--out", "after.csv"]) == 0
    assert "Numbered 1 name that 'id' holds again, such as 'f00 (2)'." in capsys.readouterr().err


@pytest.mark.parametrize("how", ["shorter", "reordered", "changed", "wrong kind", "column gone"])
def test_anything_else_is_refused_and_nothing_is_lost(table: Path, capsys: Captured, how: str) -> None:
    text, kept = table.read_text(), Path("flowers.cobras").read_bytes()
    header, first, second, *rest = text.splitlines(keepends=True)
    table.write_text(
        {
            "shorter": "".join([header, first, *rest]),
            "reordered": "".join([header, second, first, *rest, MORE]),
            "changed": text.replace("red", "blue", 1) + MORE,
            "wrong kind": f"{text}new1,a,b,red,secret-0\nnew2,c,d,red,secret-0\n",
            "column gone": "\n".join(line.partition(",")[0] for line in (text + MORE).splitlines()),
        }[how]
    )
    assert main(["export", "flowers.cobras", "--grow", "--out", "out.csv"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith("error: ")
    assert not Path("out.csv").exists()
    table.write_text(text)
    assert main(["export", "flowers.cobras", "--out", "out.csv"]) == 0
    assert kept[:100] == Path("flowers.cobras").read_bytes()[:100]


def test_run_goes_on_with_more_rows(table: Path, capsys: Captured) -> None:
    command = ["run", "flowers.csv", "--label", "species", "--session", "r.cobras", "--json"]
    assert main([*command, "--max-queries", "10"]) == 0
    table.write_text(table.read_text() + MORE)
    capsys.readouterr()
    assert main([*command, "--max-queries", "20", "--grow"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 62


def test_texts_compared_by_their_words_say_why_they_do_not_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        f"a text on {('shoes', 'cars', 'cakes')[k % 3]} and more of that in week {k}\n" for k in range(30)
    ]
    Path("texts.txt").write_text("".join(lines))
    dataset = read_dataset("texts.txt")
    open_for(Path("texts.txt"), dataset, Path("texts.cobras"), random_state=0).close()
    Path("texts.txt").write_text("".join([*lines, "one more on cars\n"]))
    for grow in ([], ["--grow"]):
        capsys.readouterr()
        assert main(["export", "texts.cobras", *grow]) == 2
        said = capsys.readouterr().err
        assert (
            "texts.cobras is about 30 items, not 31, and takes in no others: what they are compared" in said
        )
    # An append would make a file that cannot be opened again.
    with Session.open("frame.cobras", dataset, random_state=0) as session:
        with pytest.raises(
            DataChangedError, match=r"frame.cobras is about 30 items, not 31, and takes in no"
        ):
            session.append(dataset.frame.head(1))
        assert len(session.labels_) == 30
    Session(dataset, random_state=0).append(dataset.frame.head(1))  # without a file it grows
