"""Cards fit the window, put what differs first, and never show the label or obey the data."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from rich.cells import cell_len
from rich.console import Console

from cobras.cli.terminal import ASCII, UNICODE, Glyphs
from cobras.cli.terminal.pairs import curve, item_title, render_pair
from cobras.core.types import Pair
from cobras.data import Dataset, load_demo, read_dataset

DEMO = load_demo()


def table(folder: Path, text: str, **options: object) -> Dataset:
    path = folder / "t.csv"
    path.write_text(text)
    return read_dataset(path, **options)  # type: ignore[arg-type]


def drawn(
    dataset: Dataset, width: int = 80, height: int = 24, glyphs: Glyphs = UNICODE, colours: bool = False
) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    console.print(render_pair(dataset, Pair(0, 1), glyphs, width=width, height=height, colours=colours))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_what_differs_most_comes_first_and_the_label_never(tmp_path: Path) -> None:
    ds = table(tmp_path, "a,b,c,t,kind\n1,1,1,x,secret\n1,9,5,x,hidden\n9,9,9,y,secret\n", label="kind")
    head, *lines = drawn(ds)
    assert head.split() == ["row", "0", "row", "1", "apart"]
    assert [line.split()[0] for line in lines] == ["b", "c", "a", "t"]
    assert lines[0].split() == ["b", "1", "9", "████████"]
    assert lines[2].split() == ["a", "1", "1", "="]
    assert lines[3].split() == ["t", "x", "x", "="]
    assert not any(word in line for line in lines for word in ("secret", "hidden", "kind"))


def test_id_is_the_title_and_a_gap_is_visible(tmp_path: Path) -> None:
    head, line, text = drawn(table(tmp_path, "id,a,t\nk9,1,x\nk7,,y\nk8,3,\n"))
    assert head.split() == ["id", "k9", "id", "k7", "apart"]
    assert line.split() == ["a", "1", "–"]
    assert text.split() == ["t", "x", "y", "≠"]


@pytest.mark.parametrize(("column", "title"), [("Shop", "Shop 3"), ("no", "no Shop 3")])
def test_a_title_says_a_word_once(tmp_path: Path, column: str, title: str) -> None:
    rows = "".join(f"Shop {k},{k * k}\n" for k in range(9))
    (tmp_path / "t.csv").write_text(f"{column},x\n{rows}")
    assert item_title(read_dataset(tmp_path / "t.csv", id=column), 3) == title


def test_a_wide_table_is_cut_to_the_window(tmp_path: Path) -> None:
    names = ",".join(f"column{k}" for k in range(50))
    ds = table(tmp_path, f"{names}\n{','.join(['0'] * 50)}\n{','.join(['1'] * 8 + ['0'] * 42)}\n")
    assert drawn(ds, height=20)[-1].strip() == "… 32 more columns, alike"
    assert drawn(ds, height=6)[-1].strip() == "… 46 more columns, less far apart"
    assert len(drawn(ds, height=60)) == 51


def test_long_text_takes_several_lines_where_there_is_room(tmp_path: Path) -> None:
    long = "word " * 40
    ds = table(tmp_path, f"a,t\n1,{long}\n2,{long}end\n3,b\n")
    assert len(drawn(ds, height=20)) > 5
    assert len(drawn(ds, height=3)) == 3


def test_data_cannot_steer_the_terminal(tmp_path: Path) -> None:
    ds = table(tmp_path, 'a,"t\x1b[31m"\n1,\x1b]0;title\x07\n2,"[red]\n\x9b2J"\n')
    text = "\n".join(drawn(ds))
    assert not any(sign in text for sign in "\x1b\x07\x9b")
    assert "[red]" in text


@given(
    width=st.integers(30, 200),
    height=st.integers(4, 60),
    cells=st.lists(
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Co", "Cn", "Cf", "M"]), max_size=120),
        min_size=2,
        max_size=12,
    ),
    glyphs=st.sampled_from([UNICODE, ASCII]),
)
def test_cards_fit(
    tmp_path_factory: pytest.TempPathFactory, width: int, height: int, cells: list[str], glyphs: Glyphs
) -> None:
    quoted = [cell.replace('"', "'") for cell in cells]
    columns = ",".join(f'"t{k}{cell[:40]}"' for k, cell in enumerate(quoted))
    rows = "\n".join(f"{a}," + ",".join(f'"{cell};{a}"' for cell in quoted) for a in (1, 2))
    ds = table(tmp_path_factory.mktemp("cards"), f"a,{columns}\n{rows}\n")
    lines = drawn(ds, width, height, glyphs)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(("width", "height"), [(80, 16), (120, 32), (40, 10), (200, 60)])
@pytest.mark.parametrize("colours", [True, False])
def test_pictures_fit_and_grow_with_the_window(width: int, height: int, colours: bool) -> None:
    lines = drawn(DEMO, width, height, colours=colours)
    assert 5 <= len(lines) <= height
    assert max(map(len, lines)) <= width
    assert len(lines) >= min(height, width // 4) * 0.6 or len(lines) == 25


@pytest.mark.parametrize(("width", "height"), [(80, 16), (120, 32), (40, 10), (30, 4)])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_series_fit_on_one_scale_of_time(tmp_path: Path, width: int, height: int, glyphs: Glyphs) -> None:
    long, short = "0,9,0,9,0,9,0,9,0,0.5", "7,7,7,,,,,,,"
    names = ",".join(f"t{k}" for k in range(10))
    lines = drawn(
        table(tmp_path, f"{names}\n{long}\n{short}\n{long}\n", kind="series"), width, height, glyphs
    )
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert lines[1].split() == ["from", "0", "to", "9", "from", "7", "to", "7"]
    room = max(4, (width - 8) // 2)
    left = [line[:room].strip("\u2800 ") for line in lines[2:]]
    assert all(left)  # a zigzag passes every height
    right = [line[room + 4 :].strip("\u2800 ") for line in lines[2:]]
    assert 1 <= max(map(len, right)) <= 0.3 * room + 1  # three moments of ten
    at = [k for k, line in enumerate(right) if line]
    assert at == [round((len(right) - 1) * 2 / 9)] or len(right) < 9  # 7 on a scale from 0 to 9


@pytest.mark.parametrize(("width", "height"), [(80, 16), (120, 34), (80, 8), (60, 6)])
def test_pictures_with_columns_fit_and_no_column_vanishes(
    tmp_path: Path, width: int, height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for k in range(3):
        Image.new("RGB", (90, 60), (90 * k, 0, 0)).save(tmp_path / f"p{k}.png")
    rows = [
        f"p{k}.png,{'long ' * 60 if k else 'short'},{','.join(f'{k}{c}' for c in range(8))}" for k in range(3)
    ]
    ds = table(
        tmp_path, "\n".join(["p,t," + ",".join(f"column{c}" for c in range(8)), *rows]), features="pixels"
    )
    lines = drawn(ds, width, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    named = [line for line in lines if line.startswith(("column", "t "))]
    assert len(lines) - len(named) >= 0.6 * height or height == 34
    if height == 34:
        assert len(named) == 9
    elif height >= 8:
        assert lines[-1].strip() == f"… {9 - len(named)} more columns, less far apart"
    else:
        assert not named


def test_a_gap_in_a_series_stays_a_gap() -> None:
    values = np.array([[0.0, 0.0, np.nan, np.nan, np.nan, 1.0, np.nan, 0.0, 0.0]])
    assert curve(values, 9, 2, ASCII).plain == "     *\n**     **"


def test_pictures_in_ascii() -> None:
    lines = drawn(DEMO, glyphs=ASCII)
    assert "\n".join(lines).isascii()
    assert sum(line.count("@") for line in lines) > 3


def test_what_is_unknown_or_not_compared_comes_last(tmp_path: Path) -> None:
    """A missing value, also a word for it, is no difference; a text that is not used takes one line."""
    remark = f"{'something long that nobody compares ' * 4}"
    rows = [f"{k % 7},{k if k else '-'},{remark}{k}" for k in range(40)]
    ds = table(tmp_path, "\n".join(["size,age,remark", *rows]) + "\n", kind="table")
    lines = drawn(ds)[1:]
    assert [line.split()[0] for line in lines] == ["size", "age", "remark"]
    assert lines[1].split() == ["age", "-", "1"]


def test_words_are_not_broken(tmp_path: Path) -> None:
    kinds = '"left cart twice before buying, uses mobile app"', "asked for a store card and a paper receipt"
    ds = table(tmp_path, "\n".join(["size,kind", *(f"{k},{kinds[k % 2]}" for k in range(20))]))
    shown = " ".join(drawn(ds, width=60))
    assert {"buying,", "mobile", "receipt"} <= set(shown.split())
