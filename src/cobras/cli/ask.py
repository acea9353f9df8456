"""`cobras ask`: cluster a table by answering questions in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLE = "Example: cobras ask flowers.csv --label species"


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
            metavar="NAME", help="cobras, or cobra with a fixed number of super-instances. [default: cobras]"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")
    ] = None,
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
    n_super_instances: Annotated[
        int | None, typer.Option(metavar="N", help="For --method cobra. [default: 25]")
    ] = None,
) -> None:
    """Cluster a table by answering same-or-different questions.

    Two rows are shown side by side: press y if they belong together, n if not, u if you cannot tell. Every answer
    is saved at once. The same command goes on where you stopped.
    """
    from cobras.cli.source import load_for_asking, load_for_session
    from cobras.exceptions import InvalidDataError

    check_budget(max_queries)
    options = method_options(method, n_super_instances)
    if path.suffix == ".cobras":
        if session is not None or label or id or drop:
            raise InvalidDataError(
                f"{path.name} is a session file, which says all about its data; add no options for it."
            )
        file, dataset, data = path, load_for_session(path, None), None
    else:
        file, data = session or path.with_suffix(".cobras"), path
        dataset = load_for_asking(file, path, label, id, drop or [])
    converse(dataset, file, data, max_queries, method=method, random_state=seed, **options)


def converse(
    dataset: Any,
    file: Path,
    data: Path | None,
    max_queries: int | None,
    *,
    method: str | None = None,
    **options: Any,
) -> None:
    """Open or resume the session of a data set and ask until the end."""
    from rich.console import Group
    from rich.text import Text

    from cobras.cli.keys import open_keys
    from cobras.cli.loop import AskLoop, counted, make_console
    from cobras.cli.source import keep_source
    from cobras.session import Session

    console = make_console()
    with Session.open(file, dataset.X, method=method, **options) as session:
        if data is not None or session.get_note("recipe") is None:
            keep_source(session, dataset, data)
        if session.n_answers:
            opening = Text(f"Resumed: {counted(session.n_answers, 'answer')} in {file}.")
        else:
            opening = Text("\n").join([*map(Text, dataset.notes), Text(f"Answers are saved in {file}.")])
        AskLoop(dataset, session, console, open_keys(), file, max_queries).run(Group(opening))


def check_budget(max_queries: int | None) -> None:
    """Refuse a budget below zero."""
    from cobras.exceptions import InvalidDataError

    if max_queries is not None and max_queries < 0:
        raise InvalidDataError(f"--max-queries must be 0 or more, not {max_queries}.")


def method_options(method: str | None, n_super_instances: int | None) -> dict[str, int]:
    """The options of a method as far as they were given."""
    from cobras.exceptions import InvalidDataError

    if n_super_instances is None:
        return {}
    if method == "cobras":
        raise InvalidDataError("--n-super-instances is for --method cobra; cobras finds the number itself.")
    return {"n_super_instances": n_super_instances}
