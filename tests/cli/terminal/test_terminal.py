"""A real terminal: single keys, signals, closing, killing; nothing that was answered is ever lost."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cobras.data import read_dataset
from cobras.session.session import Session
from tests.cli.conftest import LIMIT

pexpect = pytest.importorskip("pexpect")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")


Opener = Callable[..., AbstractContextManager["pexpect.spawn"]]


@pytest.fixture
def terminal(command: list[str], environment: dict[str, str]) -> Opener:
    """Open `cobras ask` in a terminal and wait for the first question."""

    @contextmanager
    def opened(data: Path, *options: str, until: str = "help") -> Iterator[pexpect.spawn]:
        child = pexpect.spawn(
            command[0],
            [*command[1:], "ask", str(data), *options],
            env=environment,
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=LIMIT,
            # What runs the tests may ignore it, as nohup does, and the command would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
        child.delaybeforesend = None
        try:
            child.expect_exact(until)
            yield child
        finally:
            end(child)

    return opened


def end(child: pexpect.spawn) -> None:
    """Kill it, if it has not ended, and wait: `close(force=True)` waits a tenth of a second only, then raises."""
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.wait()
    child.close()


def answer(child: pexpect.spawn, *keys: str, says: str = "Saved: ") -> None:
    for key in keys:
        child.send(key)
        child.expect_exact(says)
        child.expect_exact("help")


def n_answers(data: Path) -> int:
    with Session.open(data.with_suffix(".cobras"), read_dataset(data, label="species").X) as session:
        return session.n_answers


def test_keys_undo_quit_and_resume(terminal: Opener, flowers: Path) -> None:
    with terminal(flowers, "--label", "species") as child:
        echo = child.before
        answer(child, "y", "n", " ", "\x1b[C", "\x1bOD")
        answer(child, "z", "\x7f", says="Taken back: ")
        answer(child, "r", says="Brought back: ")
        child.setwinsize(40, 120)
        child.expect_exact("help")
        child.send("q")
        child.expect(pexpect.EOF)
        child.wait()
        assert "Saved in " in child.before
        assert ": 4 answers, " in child.before
        assert "secret" not in echo
    assert child.exitstatus == 0
    assert n_answers(flowers) == 4
    with terminal(flowers) as child:
        assert "Resumed: 4 answers" in child.before
        answer(child, "n")
        child.send("\x04")
        child.expect(pexpect.EOF)
        child.wait()
    assert child.exitstatus == 0
    assert n_answers(flowers) == 5


def test_keys_before_the_first_question_are_no_answers(terminal: Opener, flowers: Path) -> None:
    with terminal(flowers, "--label", "species", until="Reading ") as child:
        child.send("yyy")
        child.expect_exact("help")
        child.send("q")
        child.expect(pexpect.EOF)
        child.wait()
        assert ": 0 answers, " in child.before
    assert n_answers(flowers) == 0


def test_ctrl_c_restores_the_terminal(flowers: Path, command: list[str], environment: dict[str, str]) -> None:
    shell = pexpect.spawn(
        "/bin/sh", env=environment | {"PS1": "$ "}, encoding="utf-8", timeout=LIMIT, dimensions=(24, 80)
    )
    command = " ".join(f"'{part}'" for part in [*command, "ask", str(flowers), "--label", "species"])
    shell.sendline(command)
    shell.expect_exact("help")
    answer(shell, "y")
    shell.sendintr()
    shell.expect_exact("Saved in ")
    shell.sendline("echo code=$?; stty -a")
    shell.expect("code=130")
    shell.expect(r"[^-]icanon")
    shell.expect(r"[^-]echo\b")
    end(shell)
    assert n_answers(flowers) == 1


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_polite_signals(terminal: Opener, flowers: Path, number: signal.Signals) -> None:
    with terminal(flowers, "--label", "species") as child:
        answer(child, "y", "n")
        child.kill(number)
        child.expect(pexpect.EOF)
        child.wait()
    assert child.exitstatus == 128 + number
    assert n_answers(flowers) == 2


def test_closed_terminal(terminal: Opener, flowers: Path) -> None:
    with terminal(flowers, "--label", "species") as child:
        answer(child, "y", "n", "n")
        child.ptyproc.fileobj.close()
        child.closed = child.ptyproc.closed = True
        end = time.monotonic() + LIMIT
        while child.isalive() and time.monotonic() < end:
            time.sleep(0.1)
        assert not child.isalive()
    assert n_answers(flowers) == 3


def test_kill_and_resume(terminal: Opener, flowers: Path) -> None:
    with terminal(flowers, "--label", "species", "--seed", "1") as child:
        answer(child, "y", "n", "n")
        asked = child.before
        child.kill(signal.SIGKILL)
        child.wait()
    with terminal(flowers) as child:
        assert "Resumed: 3 answers" in child.before
        # the rows of the question are the same as those on the screen that was killed
        assert question(child.before) == question(asked)
        answer(child, "z", says="Taken back: ")


def question(screen: str) -> str:
    return screen.split("Should these two")[-1].split("answers")[0]


def test_two_terminals_on_one_session(terminal: Opener, flowers: Path) -> None:
    busy = "error: flowers.cobras is open in another program"
    X = read_dataset(flowers, label="species").X
    with Session.open(flowers.with_suffix(".cobras"), X), terminal(flowers, until=busy) as second:
        second.expect(pexpect.EOF)
        second.wait()
    assert second.exitstatus == 2
