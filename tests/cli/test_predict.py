"""Clusters of new items through the command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cobras import LabelOracle, Session
from cobras import run as run_session
from cobras.cli import main
from cobras.cli.source import open_for
from cobras.data import read_dataset, read_features
from cobras.data.recipe import Recipe

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(flowers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Half of the flowers in a session with names, the others in new.csv without their species."""
    monkeypatch.chdir(flowers.parent)
    frame = pl.read_csv(flowers)
    is_new = pl.int_range(pl.len()) // 2 % 2 == 1
    frame.filter(is_new).drop("species").write_csv("new.csv")
    frame.filter(~is_new).write_csv("flowers.csv")
    dataset = read_dataset("flowers.csv", label="species")
    with open_for(Path("flowers.csv"), dataset, Path("flowers.cobras"), random_state=0) as session:
        run_session(session, LabelOracle(dataset.labels), until=lambda s: s.n_answers >= 20)
        assert session.partition.n_clusters == 3
        session.name(int(session.labels_[0]), "small")
    return flowers.parent


def test_new_rows_get_clusters_ids_names_and_confidence(folder: Path, capsys: Captured) -> None:
    assert main(["predict", "flowers.cobras", "new.csv", "--out", "labelled.parquet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Wrote labelled.parquet.\n")
    out, new = pl.read_parquet("labelled.parquet"), pl.read_csv("new.csv")
    assert out.columns == ["id", "cluster_id", "cluster_name", "cluster", "confidence"]
    assert out["id"].equals(new["id"])
    assert out["cluster"].to_list() == [k // 10 for k in range(30)]
    assert out["cluster_name"].to_list() == ["small"] * 10 + [None] * 20
    assert out["cluster_id"].n_unique() == 3
    assert out["confidence"].is_between(0.5, 1).all()
    assert main(["predict", "flowers.cobras", "new.csv"]) == 0  # CSV on standard output
    assert pl.read_csv(capsys.readouterr().out.encode()).equals(out)
    for name in ("a.json", "a.jsonl", "a.tsv", "a.csv"):
        assert main(["predict", "flowers.cobras", "new.csv", "--out", name]) == 0
    assert [row["cluster"] for row in json.loads(Path("a.json").read_text())] == out["cluster"].to_list()
    assert pl.read_csv("a.csv").equals(out)


def test_a_file_with_decimal_commas_gives_files_with_decimal_commas(folder: Path, capsys: Captured) -> None:
    for name in ("flowers.csv", "new.csv"):
        pl.read_csv(name).write_csv(name, separator=";", decimal_comma=True)
    Path("flowers.cobras").unlink()
    assert main(["run", "flowers.csv", "--label", "species", "--session", "flowers.cobras"]) == 0
    capsys.readouterr()
    for command in (["export", "flowers.cobras"], ["predict", "flowers.cobras", "new.csv"]):
        assert main(command) == 0
        printed = capsys.readouterr().out
        assert main([*command, "--out", "a.csv"]) == 0
        capsys.readouterr()
        assert Path("a.csv").read_text(encoding="utf-8") == f"\ufeff{printed}"
        written = pl.read_csv("a.csv", separator=";", decimal_comma=True)
        assert written.schema["confidence" if command[0] == "predict" else "width"] == pl.Float64


def test_new_rows_have_the_types_and_weights_of_the_session(folder: Path, capsys: Captured) -> None:
    options = ["--label", "species", "--type", "colour=text", "--weight", "width=4"]
    assert (
        main(["run", "flowers.csv", *options, "--session", "own.cobras", "--max-queries", "20", "--json"])
        == 0
    )
    capsys.readouterr()
    X = read_dataset("flowers.csv", label="species", types={"colour": "text"}, weights={"width": 4}).X
    with Session.open("own.cobras", X) as session:
        recipe = Recipe.from_json(session.get_note("recipe"))
        expected = session.predict(read_features("new.csv", recipe)).tolist()
    assert recipe.weights == (("width", 4.0),)
    assert main(["predict", "own.cobras", "new.csv"]) == 0
    assert pl.read_csv(capsys.readouterr().out.encode())["cluster"].to_list() == expected
    # Once something was said they cannot be changed from the shell.
    assert main(["ask", "flowers.csv", *options[:-1], "width=2", "--session", "own.cobras"]) == 2
    assert "was made with --weight width=4" in capsys.readouterr().err
    more = ["--label", "species", "--session", "x.cobras"]
    for bad, words in (("width", "COLUMN=VALUE"), ("width=heavy", "not 'heavy'")):
        assert main(["run", "flowers.csv", "--weight", bad, *more]) == 2
        assert words in capsys.readouterr().err


def test_rows_without_any_value_are_told_and_the_others_keep_their_numbers(
    folder: Path, capsys: Captured
) -> None:
    rows = ["length,width,colour", "0,0,red", ",,", "900,,red", ",,"]
    Path("gaps.csv").write_text("\n".join(rows) + "\n")
    assert main(["predict", "flowers.cobras", "gaps.csv"]) == 0
    captured = capsys.readouterr()
    assert pl.read_csv(captured.out.encode())["id"].to_list() == [0, 2]
    assert "Left out 2 rows without any value.\n" in captured.err
    Path("named.csv").write_text(Path("flowers.csv").read_text().replace("id,", "flower_id,", 1))
    assert (
        main(["run", "named.csv", "--label", "species", "--max-queries", "3", "--session", "named.cobras"])
        == 0
    )
    capsys.readouterr()
    assert main(["predict", "named.cobras", "named.csv"]) == 0
    out = pl.read_csv(capsys.readouterr().out.encode())
    assert out["flower_id"].equals(pl.read_csv("named.csv")["flower_id"])


def test_a_row_unlike_all_others_is_unknown_on_request(folder: Path, capsys: Captured) -> None:
    Path("odd.csv").write_text("id,length,width,colour\nfar,900,-900,red\nnear,0,0,red\n")
    options = ["odd.csv", "--out", "out.csv", "--unknown-below", "0.6", "--json"]
    assert main(["predict", "flowers.cobras", *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    report = json.loads(captured.out)
    assert (report["n"], report["n_unknown"], report["notes"]) == (2, 1, [])
    assert [cluster["n"] for cluster in report["clusters"]] == [1, 0, 0]
    assert report["clusters"][0]["name"] == "small"
    rows = pl.read_csv("out.csv").rows(named=True)
    assert [rows[0][key] for key in ("cluster", "cluster_id", "cluster_name")] == [None] * 3
    assert rows[0]["confidence"] < 0.6 <= rows[1]["confidence"]
    assert rows[1]["cluster_name"] == "small"


def test_what_is_harmless_is_told_on_standard_error(folder: Path, capsys: Captured) -> None:
    Path("odd.csv").write_text("length,width,colour,taste\n0,0,green,sour\n1,wide,red,sweet\n2,1,red,sour\n")
    assert main(["predict", "flowers.cobras", "odd.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("id,cluster_id,cluster_name,cluster,confidence\n0,")
    assert captured.err.splitlines() == [
        "Ignored 'taste' of odd.csv: the session has no such column.",
        "odd.csv has no column 'id'; its rows are numbered from 0.",
        "In 1 row of odd.csv, 'width' holds no number ('wide'): it counts as missing.",
        "In 1 row of odd.csv, 'colour' holds a word that the session has not seen ('green'): the other columns "
        "count there.",
    ]


@pytest.mark.parametrize(
    ("new", "options", "sentence"),
    [
        (
            "id,length,colour\na,1,red\n",
            [],
            "new.csv has no column 'width'; its columns are 'id', 'length', 'colour'. Add what is lacking; its ",
        ),
        (
            "id,length,width,colour\na,1,wide,red\nb,2,low,red\n",
            [],
            "Column 'width' of new.csv holds 'wide', but the session has numbers there; give the column in the ",
        ),
        ("", [], "new.csv is empty"),
        (None, ["--unknown-below", "80"], "--unknown-below must be between 0 and 1, not 80.0."),
        (None, ["--out", "flowers.csv"], "flowers.csv is what the clusters are made from."),
        (None, ["--out", "new.csv"], "new.csv is what the clusters are made from."),
        (None, ["--out", "out.xls"], "Cannot write out.xls: the suffix must be one of .csv, "),
        (None, ["--data", "gone.csv"], "There is no file gone.csv."),
    ],
)
def test_what_is_wrong_is_one_line(
    folder: Path, capsys: Captured, new: str | None, options: list[str], sentence: str
) -> None:
    if new is not None:
        Path("new.csv").write_text(new)
    before = sorted(path.name for path in folder.iterdir())
    assert main(["predict", "flowers.cobras", "new.csv", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {sentence}")
    assert captured.err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_data_that_changed_is_refused(folder: Path, capsys: Captured) -> None:
    text = Path("flowers.csv").read_text()
    Path("flowers.csv").write_text(text.replace("red", "blue", 1))
    assert main(["predict", "flowers.cobras", "new.csv"]) == 2
    assert capsys.readouterr().out == ""


def test_the_bundled_digits_have_no_new_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    from cobras.data import load_demo

    monkeypatch.chdir(tmp_path)
    open_for(None, load_demo(), Path("digits.cobras"), random_state=0).close()
    Path("new.csv").write_text("a,b\n1,2\n")
    assert main(["predict", "digits.cobras", "new.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: There are no new items of bundled data")


@pytest.mark.parametrize("out", ["labelled.csv", "labelled.parquet", "labelled.json"])
def test_new_items_that_are_not_there_are_what_the_error_is_about(
    folder: Path, capsys: Captured, out: str
) -> None:
    assert main(["predict", "flowers.cobras", "nowhere.csv", "--out", out]) == 2
    assert capsys.readouterr().err == "error: There is no file nowhere.csv.\n"
    assert not Path(out).exists()


def test_a_row_of_gaps_alone_is_in_no_cluster_for_sure(folder: Path, capsys: Captured) -> None:
    new = pl.read_csv("new.csv")
    gaps = new.head(1).with_columns(pl.lit(None).alias(name) for name in new.columns if name != "id")
    pl.concat([new, gaps], how="vertical_relaxed").write_csv("new.csv")
    assert main(["predict", "flowers.cobras", "new.csv", "--unknown-below", "0.5"]) == 0
    captured = capsys.readouterr()
    out = pl.read_csv(captured.out.encode())
    assert (out["cluster"].null_count(), out["cluster"][-1], out["confidence"][-1]) == (1, None, 0)
    assert captured.err == "No value to compare by in 1 row of new.csv: medians stand in.\n"
