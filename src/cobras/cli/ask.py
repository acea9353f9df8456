"""`cobras ask`: cluster data by answering questions in the terminal."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from cobras.cli.options import (
    DataPath,
    Options,
    SessionPath,
    check_budget,
    connect_dask,
    is_session,
    place_of_answers,
    session_file,
)

EXAMPLE = "Example: cobras ask flowers.csv --label species"


def ask(
    path: DataPath,
    options: Options,
    session: SessionPath = None,
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
    board: Annotated[
        bool, typer.Option("--board", help="Sort several texts or rows at once, in place of pairs.")
    ] = False,
) -> None:
    """Cluster a table, texts, images or series by answering same-or-different questions.

    Two items are shown side by side: press y if they belong together, n if not, u if you cannot tell. Every answer
    is saved at once. The same command goes on where you stopped. With --board several items are shown beside
    numbered piles, and a line such as 1 1 2 - 3 says where each belongs.
    """
    check_budget(max_queries)
    ask_in_terminal(path, session_file(path, session), options, max_queries, board)


def ask_in_terminal(
    path: Path | None, file: Path, options: Options, max_queries: int | None, board: bool = False
) -> None:
    """Open or resume the session of a data set and ask until the end; without a path, about the bundled digits."""
    from cobras.cli import make_console, relative_path, status_line
    from cobras.core.notebook import quantity

    settings, console = options.of_session, make_console()
    name = file if path is None or is_session(path) else path
    with connect_dask(options.scheduler), ExitStack() as stack:
        with status_line(console, f"Reading {name} ..."):
            loading = threading.Thread(target=load_kernels, name="cobras-kernels", daemon=True)
            loading.start()
            from cobras.cli.source import load_data, open_for
            from cobras.core.exceptions import DataGrownError

            dataset = load_data(path, file, options)
            loading.join()
            from cobras.cli.terminal.grouping import BoardLoop, check_sortable
            from cobras.cli.terminal.keys import open_keys
            from cobras.cli.terminal.loop import AskLoop

            if board:
                check_sortable(dataset)

            try:
                session = open_for(path, dataset, file, options.known, grow=options.grow, **settings)
            except DataGrownError as error:
                if not sys.stdin.isatty():
                    raise
                console.print()
                if not typer.confirm(f"{name} has {error.n_rows - error.n_before} more rows. Take them in?"):
                    raise
                session = open_for(path, dataset, file, options.known, grow=True, **settings)
            stack.enter_context(session)
            session.ask()  # the first split takes longest
        if session.n_answers:
            opening = f"Resumed: {quantity(session.n_answers, 'answer')} in {relative_path(file)}."
        else:
            opening = "\n".join([*dataset.notes, place_of_answers(path, file)])
        loop = BoardLoop if board else AskLoop
        loop(dataset, session, console, open_keys(), file, max_queries).run(opening)


def load_kernels() -> None:
    """Load the compiled kernels while the data is read; the first split would wait for them."""
    import numpy as np

    from cobras.session.session import Session
    from cobras.spaces.passes.sampling import LARGE

    rows = np.random.default_rng(0).random((LARGE + 1, 2))  # large sets need kernels of their own
    Session(rows, random_state=0).ask()
