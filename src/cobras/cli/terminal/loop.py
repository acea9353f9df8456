"""The loop of `ask` and `demo`: a question, a key, the answer on disk, the next question.

Nothing is kept here that the session does not have on disk already, so it may end at any moment: by a key, at the
end of a pipe, by Ctrl-C, by a closed terminal or by a kill. While a person looks at a pair, what the next two
answers will need is computed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cobras.cli import summary
from cobras.cli.terminal import glyphs_for, height_of
from cobras.cli.terminal.keys import END, REDRAW, Keys
from cobras.cli.terminal.pairs import render_pair
from cobras.core.exceptions import CobrasError, DataChangedError, SessionFileError
from cobras.core.notebook import quantity
from cobras.core.progress import Progress
from cobras.core.types import Answer, Pair
from cobras.data import Dataset
from cobras.session.ahead import Thinker
from cobras.session.session import Session

QUESTION = "Should these two be in the same cluster?"
ANSWERS = {
    "y": Answer.SAME,
    "s": Answer.SAME,
    "right": Answer.SAME,
    "n": Answer.DIFFERENT,
    "d": Answer.DIFFERENT,
    "left": Answer.DIFFERENT,
    "u": Answer.UNSURE,
    " ": Answer.UNSURE,
}
LEGEND = (
    ("y", "same"),
    ("n", "different"),
    ("u", "unsure"),
    ("z", "undo"),
    ("r", "redo"),
    ("q", "quit"),
    ("?", "help"),
)
HELP = """\
y  s  right arrow   the two belong together
n  d  left arrow    they belong apart
u  space            you cannot tell: the pair is set aside
z  backspace        take the last answer back; again for the one before
r  Z                bring back what was taken back
q  Ctrl-C           stop; go on later with the same command
Every answer is on disk before the next question appears."""


class AskLoop:
    """Ask about a data set until the person, the input or the questions end.

    Parameters
    ----------
    dataset, session
        What is asked about, and where answers go.
    console, keys
        Where the person reads and types.
    file : Path
        The session file, to be named at the end.
    max_queries : int, optional
        Stop at so many answers.
    """

    def __init__(
        self,
        dataset: Dataset,
        session: Session,
        console: Console,
        keys: Keys,
        file: Path,
        max_queries: int | None = None,
    ) -> None:
        self.dataset, self.session, self.console, self.keys = dataset, session, console, keys
        self.file, self.max_queries = file, max_queries
        self.glyphs = glyphs_for(console.encoding)
        # Clear the screen only where a person sees it: a log keeps everything.
        self.redraws = keys.live and console.is_terminal
        self.progress: Progress | None = None
        self.thinker = Thinker()

    def run(self, opening: str) -> None:
        """Ask until the end; the last line says where the answers are, however the loop ends."""
        try:
            with _exit_on_signals(), self.keys:
                try:
                    self._loop(Text(opening))
                finally:
                    with contextlib.suppress(OSError):  # the terminal may be gone
                        self._print_summary()
        finally:
            self.thinker.end(wait=0)

    def _loop(self, message: RenderableType) -> None:
        following = self._turn(message, first=True)
        while following is not None:
            following = self._turn(following)

    def _turn(self, message: RenderableType, *, first: bool = False) -> RenderableType | None:
        """Ask once; return a line about what was done, None at the end."""
        pair = self._open_pair()
        self.progress = self.session.progress
        if first:
            self.keys.forget()
        self._draw(message, pair, clear=self.redraws and not first)
        # Keys from a pipe come faster than anything could be computed ahead.
        if self.keys.live and pair is not None:
            self.thinker.begin(self.session)
        key = self.keys.read()
        if key in (END, "q", "Q"):
            return None
        return message if key == REDRAW else self._act(key, pair)

    def _open_pair(self) -> Pair | None:
        if self.max_queries is not None and self.session.n_answers >= self.max_queries:
            return None
        return self.session.ask()

    def _act(self, key: str, pair: Pair | None) -> RenderableType:
        """Do what a key says, and return a line about it."""
        answer = ANSWERS.get(key if len(key) > 1 else key.lower())
        try:
            if answer is not None and pair is not None:
                self.session.tell(answer, pair)
                return self._done(f"Saved: {answer.name.lower()}.")
            if key in ("z", "backspace"):
                return self._done(f"Taken back: {self.session.undo().text}.")
            if key in ("r", "R", "Z"):
                return self._done(f"Brought back: {self.session.redo().text}.")
        except (DataChangedError, SessionFileError):
            raise  # going on would be pointless: no answer can be kept
        except CobrasError as error:
            return Text(str(error))
        if key == "?":
            return Text(HELP)
        if answer is not None:
            return Text("There is no open question.")
        return Text(
            f"The key {key!r} has no meaning here; ? lists the keys." if key.isprintable() and key else ""
        )

    def _done(self, text: str) -> Text:
        return Text.assemble((self.glyphs.tick, "green"), f" {text}")

    def _draw(self, message: RenderableType, pair: Pair | None, clear: bool) -> None:
        console, below = self.console, Group("", self._state(), self._legend(pair))
        question = Text(QUESTION if pair is not None else self._end(), "bold")
        above = Group(message, "", question, "") if pair is not None else Group(message, "", question)
        # A pipe has no height; 40 lines are enough for any card.
        room = console.height if console.is_terminal else 40
        height = max(4, room - height_of(console, above, below) - 1)
        if clear:
            console.clear()
        console.print(above)
        if pair is not None:
            colours = console.color_system in ("256", "truecolor")
            card = render_pair(
                self.dataset, pair, self.glyphs, width=console.width, height=height, colours=colours
            )
            console.print(card)
        console.print(below)
        console.file.flush()

    def _end(self) -> str:
        if self.max_queries is not None and self.session.n_answers >= self.max_queries:
            given = quantity(self.session.n_answers, "answer")
            return f"You have given {given}, as many as --max-queries allows."
        return "Nothing is left worth asking."

    def _state(self) -> Text:
        """Return the counts in one line, and a second line when it is time to stop."""
        assert self.progress is not None
        now = self.progress
        parts = [quantity(now.n_answers, "answer"), quantity(now.n_clusters, "cluster")]
        if now.stable_share is not None:
            parts.append(f"{100 * now.stable_share:.0f} % stable over the last 20")
        if now.unsatisfied:
            parts.append(f"{quantity(len(now.unsatisfied), 'answer')} not satisfied")
        if now.n_set_aside:
            parts.append(f"{now.n_set_aside} set aside")
        text = Text(f" {self.glyphs.dot} ".join(parts), "dim")
        if now.may_stop and self.session.ask() is not None:
            text.append(f"\nYou may stop: {now.reason}", "not dim")
        return text

    def _legend(self, pair: Pair | None) -> Text:
        shown = [(key, word) for key, word in LEGEND if pair is not None or key in "zrq"]
        return Text("  ").join(Text.assemble("[", (key, "bold"), f"] {word}") for key, word in shown)

    def _print_summary(self) -> None:
        counts = []
        if self.progress is not None:
            numbers = {"answer": self.session.n_answers, "cluster": self.progress.n_clusters}
            counts = [quantity(number, word) for word, number in numbers.items()]
        self.console.print(summary(self.file, *counts), soft_wrap=True, markup=False)


@contextlib.contextmanager
def _exit_on_signals() -> Iterator[None]:
    """End the program through its `finally` blocks when the terminal is closed or a signal asks for it."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    numbers = [
        n for n in (getattr(signal, name) for name in names) if signal.getsignal(n) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, _exit) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, _: object) -> None:
    if number != signal.SIGTERM:  # nobody reads any more, and writing to the terminal could block
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(128 + number)
