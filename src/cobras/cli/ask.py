"""`cobras ask`: cluster a table by answering questions in the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cobras.data import Dataset

EXAMPLE = "Example: cobras ask flowers.csv --label species"
SET = typer.Option(
    "--set", metavar="NAME=VALUE", help="An option of the method, such as n_clusters=3. May be repeated."
)


def ask(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A .csv, .tsv, .parquet, .jsonl or .npy file, or a session file."
        ),
    ],
    session: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where answers are kept. [default: beside the data, as NAME.cobras]"
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column with known classes: never used, never shown."),
    ] = None,
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out. May be repeated.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="cobras, cobra, cobs, npu, explore_consolidate or min_max. [default: cobras]",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")
    ] = None,
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
    settings: Annotated[list[str] | None, SET] = None,
) -> None:
    """Cluster a table by answering same-or-different questions.

    Two rows are shown side by side: press y if they belong together, n if not, u if you cannot tell. Every answer
    is saved at once. The same command goes on where you stopped.
    """
    check_budget(max_queries)
    options = method_options(settings)
    is_session = path.suffix == ".cobras"
    if is_session and (session is not None or label or id or drop):
        from cobras.exceptions import InvalidDataError

        raise InvalidDataError(
            f"{path.name} is a session file, which says all about its data; add no options for it."
        )
    file = path if is_session else session or path.with_suffix(".cobras")

    def load() -> Dataset:
        from cobras.cli.source import load_for_asking, load_for_session

        if is_session:
            return load_for_session(path, None)
        return load_for_asking(file, path, label, id, drop or [])

    data = None if is_session else path
    converse(load, file, data, max_queries, method=method, random_state=seed, **options)


def converse(
    load: Callable[[], Dataset], file: Path, data: Path | None, max_queries: int | None, **options: Any
) -> None:
    """Open or resume the session of a data set and ask until the end."""
    from cobras.cli.screen import counted, make_console, near, waiting

    console = make_console()
    with ExitStack() as stack:
        with waiting(console, f"Reading {data or file} ..."):
            from cobras.cli.keys import open_keys
            from cobras.cli.loop import AskLoop
            from cobras.cli.source import keep_source
            from cobras.session import Session

            dataset = load()
            session = stack.enter_context(Session.open(file, dataset.X, **options))
            if data is not None or session.get_note("recipe") is None:
                keep_source(session, dataset, data)
            session.ask()  # the first split is the longest
        if session.n_answers:
            opening = f"Resumed: {counted(session.n_answers, 'answer')} in {near(file)}."
        else:
            opening = "\n".join([*dataset.notes, f"Answers are saved in {near(file)}."])
        AskLoop(dataset, session, console, open_keys(), file, max_queries).run(opening)


def check_budget(max_queries: int | None) -> None:
    """Refuse a budget below zero."""
    from cobras.exceptions import InvalidDataError

    if max_queries is not None and max_queries < 0:
        raise InvalidDataError(f"--max-queries must be 0 or more, not {max_queries}.")


def method_options(settings: list[str] | None) -> dict[str, Any]:
    """The options of a method, from NAME=VALUE; a value that reads as a number, true, false or null is one."""
    from cobras.exceptions import InvalidDataError

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
