"""`cobras ask`: cluster data by answering questions in the terminal."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobras.cli.cluster import connected
from cobras.cli.options import (
    DataOptions,
    DataPath,
    Drop,
    Features,
    Id,
    ImageColumn,
    Kind,
    Label,
    MethodName,
    Scheduler,
    Seed,
    SessionPath,
    Settings,
    TextColumn,
    Vectors,
    is_session,
    session_file,
)

if TYPE_CHECKING:
    from cobras.data import Dataset

EXAMPLE = "Example: cobras ask flowers.csv --label species"


def ask(
    path: DataPath,
    session: SessionPath = None,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    kind: Kind = None,
    text: TextColumn = None,
    image: ImageColumn = None,
    vectors: Vectors = None,
    features: Features = None,
    method: MethodName = None,
    seed: Seed = None,
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
    settings: Settings = None,
    scheduler: Scheduler = None,
) -> None:
    """Cluster a table, texts, images or series by answering same-or-different questions.

    Two items are shown side by side: press y if they belong together, n if not, u if you cannot tell. Every answer
    is saved at once. The same command goes on where you stopped.
    """
    check_budget(max_queries)
    given = DataOptions(label, id, drop, kind, text, image, vectors, features)
    check_session(path, session)
    file = session_file(path, session)

    def load() -> Dataset:
        from cobras.cli.source import load_data

        return load_data(path, file, given, scheduler)

    data = None if is_session(path) else path
    options = {"method": method, "random_state": seed, **method_options(settings)}
    with connected(scheduler):
        converse(load, file, data, max_queries, **options)


def converse(
    load: Callable[[], Dataset], file: Path, data: Path | None, max_queries: int | None, **options: Any
) -> None:
    """Open or resume the session of a data set and ask until the end."""
    from cobras.cli.terminal.screen import counted, make_console, near, waiting

    console = make_console()
    with ExitStack() as stack:
        with waiting(console, f"Reading {data or file} ..."):
            warming = threading.Thread(target=warm_up, daemon=True)
            warming.start()
            dataset = load()
            warming.join()
            from cobras.cli.source import keep_source, open_session
            from cobras.cli.terminal.keys import open_keys
            from cobras.cli.terminal.loop import AskLoop

            session = stack.enter_context(open_session(dataset, file, **options))
            if data is not None or session.get_note("recipe") is None:
                keep_source(session, dataset, data)
            session.ask()  # the first split is the longest
        if session.n_answers:
            opening = f"Resumed: {counted(session.n_answers, 'answer')} in {near(file)}."
        else:
            opening = "\n".join([*dataset.notes, f"Answers are saved in {near(file)}."])
        quiet = AskLoop(dataset, session, console, open_keys(), file, max_queries).run(opening)
    if not quiet:  # threads at work do not survive the interpreter's own way to end; every answer is on disk
        os._exit(0)


def warm_up() -> None:
    """Load the compiled kernels while the data is read; the first split would wait for them."""
    import numpy as np

    from cobras.session.session import Session
    from cobras.spaces.passes.sampled import LARGE

    rows = np.random.default_rng(0).random((LARGE + 1, 2))  # large sets need kernels of their own
    Session(rows, random_state=0).ask()


def check_session(path: Path, session: Path | None) -> None:
    """Refuse two session files at once."""
    from cobras.core.exceptions import InvalidDataError

    if is_session(path) and session is not None:
        raise InvalidDataError(
            f"{path.name} is a session file, which says all about its data; add no options for it."
        )


def check_budget(max_queries: int | None) -> None:
    """Refuse a budget below zero."""
    from cobras.core.exceptions import InvalidDataError

    if max_queries is not None and max_queries < 0:
        raise InvalidDataError(f"--max-queries must be 0 or more, not {max_queries}.")


def method_options(settings: list[str] | None) -> dict[str, Any]:
    """The options of a method, from NAME=VALUE; a value that reads as a number, true, false or null is one."""
    from cobras.core.exceptions import InvalidDataError

    options = {}
    for setting in settings or []:
        name, found, value = setting.partition("=")
        if not found or not name:
            raise InvalidDataError(f"--set takes NAME=VALUE, such as n_clusters=3, not {setting!r}.")
        try:
            options[name.strip()] = json.loads(value)
        except ValueError:
            options[name.strip()] = value
    return options
