"""A conversation in the terminal, without one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from cobras.cli.terminal.keys import PipeKeys
from cobras.cli.terminal.loop import AskLoop
from cobras.data import read_dataset
from cobras.session.session import Session


class Talk:
    """Types keys into a loop on the session file of a table; what was on the screen, and `history` afterwards."""

    def __init__(self, loop: type[AskLoop], data: Path, **options: Any) -> None:
        self.loop, self.options = loop, options
        self.dataset = read_dataset(data, label="species")
        self.file = data.with_suffix(".cobras")

    def __call__(self, keys: str, max_queries: int | None = None, encoding: str = "utf-8") -> str:
        screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
        console = Console(file=screen, width=80, color_system=None, highlight=False)
        with Session.open(self.file, self.dataset.X, **self.options) as session:
            stream = PipeKeys(io.BytesIO(keys.encode()))
            self.loop(self.dataset, session, console, stream, self.file, max_queries).run("opening")
            self.history = session.history
        return screen.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]

    @property
    def answers(self) -> list[Any]:
        return [record.answer for record in self.history]
