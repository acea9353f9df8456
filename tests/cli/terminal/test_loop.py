"""The conversation, with real sessions and keys from a stream."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cobras.cli import relative_path, summary
from cobras.cli.terminal.loop import AskLoop
from cobras.core.types import Answer
from tests.cli.terminal import Talk


@pytest.fixture
def talk(flowers: Path) -> Talk:
    return Talk(AskLoop, flowers, random_state=None)


def test_every_key_for_an_answer(talk: Talk) -> None:
    talk("y n u s d Y N q yyy")
    S, D, U = Answer.SAME, Answer.DIFFERENT, Answer.UNSURE
    assert talk.answers == [S, D, U, S, D, S, D]


def test_undo_redo_and_resume(talk: Talk) -> None:
    text = talk("ynzr")
    assert talk.answers == [Answer.SAME, Answer.DIFFERENT]
    assert "Taken back: different." in text
    assert "Brought back: different." in text
    assert talk("zzz").count("There is nothing to undo.") == 1
    assert talk.answers == []
    assert talk("rr").count("Brought back") == 2
    assert "There is nothing to redo." in talk("r")
    assert talk.answers == [Answer.SAME, Answer.DIFFERENT]


def test_the_same_question_comes_back_after_undo_and_after_a_restart(talk: Talk) -> None:
    first = talk("y").split("Saved: same.")[1].split("answer")[0]
    again = talk("").split("opening")[1].split("answer")[0]
    assert again == first
    undone = talk("nz").split("Taken back: different.")[1].split("answer")[0]
    assert undone == first


def test_help_and_keys_without_meaning(talk: Talk) -> None:
    text = talk("?k\x1b")
    assert "they belong apart" in text
    assert "The key 'k' has no meaning here; ? lists the keys." in text
    assert talk.answers == []


def test_last_line_says_where_and_how(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(talk.file.parent)
    *_, last = talk("yn").splitlines()
    assert last.startswith("Saved in flowers.cobras: 2 answers, ")
    assert last.endswith("To export: cobras export flowers.cobras --out flowers-clusters.csv")


@pytest.mark.parametrize(
    ("argument", "on_path", "advice"),
    [
        ("/opt/x/bin/cobras", True, "cobras export"),
        ("/opt/x/bin/cobras", False, "/opt/x/bin/cobras export"),
        ("/opt/x/cobras/__main__.py", False, f"{relative_path(Path(sys.executable))} -m cobras export"),
    ],
)
def test_the_advice_names_a_command_that_works(
    monkeypatch: pytest.MonkeyPatch, argument: str, on_path: bool, advice: str
) -> None:
    monkeypatch.setattr(sys, "argv", [argument])
    monkeypatch.setattr("shutil.which", lambda name: argument if on_path else None)
    assert f"To export: {advice} " in summary(Path("flowers.cobras"))


def test_max_queries_stops_but_still_lets_undo(talk: Talk) -> None:
    text = talk("ynyyy", max_queries=2)
    assert talk.answers == [Answer.SAME, Answer.DIFFERENT]
    assert "You have given 2 answers, as many as --max-queries allows." in text
    assert "There is no open question." in text
    talk("zy", max_queries=2)
    assert talk.answers == [Answer.SAME, Answer.SAME]


def test_until_nothing_is_left(talk: Talk) -> None:
    text = talk("y" * 500)
    assert "Nothing is left worth asking." in text
    assert "You may stop: Nothing" not in text
    assert all(answer is Answer.SAME for answer in talk.answers)


def test_the_label_is_never_shown(talk: Talk) -> None:
    text = talk("ynuynuynu")
    assert "secret" not in text
    assert "species" not in text


def test_progress_over_many_answers(talk: Talk) -> None:
    text = talk("n" * 25)
    assert "% stable over the last 20" in text


def test_plain_encoding(talk: Talk) -> None:
    assert talk("yn?", encoding="ascii").isascii()
