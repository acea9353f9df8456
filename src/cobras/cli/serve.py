"""`cobras serve`: the same questions on a web page, with a map."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobras.cli.options import (
    DataPath,
    Options,
    SessionPath,
    connect_dask,
    is_session,
    place_of_answers,
    session_file,
)
from cobras.web.serve import open_browser

if TYPE_CHECKING:
    from cobras.data import Dataset

EXAMPLE = "Example: cobras serve flowers.csv --label species"
ACTIONS = (
    "same",
    "different",
    "unsure",
    "undo",
    "redo",
    "history",
    "map",
    "profile",
    "why",
    "board",
    "new_pile",
    "join",
    "finish",
    "help",
)

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")]
Port = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=65535, help="The port. [default: one that is free]")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, but do not open it.")]


def serve(
    path: DataPath,
    options: Options,
    session: SessionPath = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    no_browser: NoBrowser = False,
    show_guess: Annotated[
        bool, typer.Option("--show-guess", help="Show the clusters of the two items before you answer.")
    ] = False,
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help='Other keys, as JSON or a file of it: {"same": ["j"], "different": ["f"]}.'
        ),
    ] = None,
) -> None:
    """Cluster data on a web page: answer with two keys, watch the map fall into place.

    The page opens by itself and needs no network. Every answer is saved at once. The same command goes on where you
    stopped. Ctrl-C ends it.
    """
    file = session_file(path, session)
    page = {"host": host, "port": port, "blind": not show_guess, "keys": read_keys(keys)}
    serve_page(path, file, options, not no_browser, **page)


def serve_page(path: Path | None, file: Path, options: Options, browser: bool, **page: Any) -> None:
    """Open or resume the session of a data set and serve its page until Ctrl-C; without a path, of the digits."""
    from cobras.cli import make_console, relative_path, status_line, summary
    from cobras.core.exceptions import SessionFileError
    from cobras.core.notebook import quantity

    settings = options.of_session
    data = None if path is None or is_session(path) else path
    with connect_dask(options.scheduler):
        with status_line(make_console(), f"Reading {data or file} ..."):
            from cobras.cli.source import FileSource, load_data, open_for
            from cobras.web.server import WebServer

            dataset = load_data(path, file, options)
            # The server opens the session in its own thread: SQLite connections stay in the thread that made them.
            title = title_of(dataset, data, file)
            server = WebServer(
                dataset,
                lambda: open_for(path, dataset, file, options.known, grow=options.grow, **settings),
                file,
                title,
                source=FileSource.of(path, file, dataset),
                **page,
            )

        # Beside the session, since some browsers may not read temporary folders.
        redirect = file.absolute().with_name(f".{file.name}.{os.getpid()}.html")

        def ready() -> None:
            # The address comes first and is flushed: programs that start the server read it from this line.
            lines = [server.address, f"{place_of_answers(data, file)} Ctrl-C ends."]
            if not server.is_private:
                lines.append(
                    f"Listening on {server.host}: whoever reaches this machine and knows the token in the address "
                    "can read and answer, and the line is not encrypted."
                )
            print("\n".join([*lines, *dataset.notes]), flush=True)
            if browser:
                open_browser(server.address, redirect)

        try:
            server.run(ready)
        finally:
            redirect.unlink(missing_ok=True)
        if not file.exists():
            raise SessionFileError(
                f"{relative_path(file)} was deleted or moved while it was open. Look for it where it was moved to."
            )
        if server.live.file_loss is not None:
            raise SessionFileError(
                f"{relative_path(file)} was {server.live.file_loss} while it was open, so what was done after that "
                "is not in it. Look for a copy of it."
            )
        counts = zip(server.counts or (), ("answer", "cluster"), strict=False)
        print(summary(file, *(quantity(n, word) for n, word in counts)), flush=True)


def title_of(dataset: Dataset, data: Path | None, file: Path) -> str:
    """Return what the data is called on the page."""
    if dataset.recipe.kind == "bundled":
        return "Handwritten digits"
    return file.stem if data is None or not data.exists() else data.resolve().name


def read_keys(given: str | None) -> dict[str, list[str]]:
    """Return the keys by action, from JSON or from a file of it."""
    from cobras.core.exceptions import InvalidDataError

    if given is None:
        return {}
    try:
        keys = json.loads(given if given.lstrip().startswith("{") else Path(given).read_text())
    except (OSError, ValueError) as error:
        raise InvalidDataError(f"--keys takes JSON or a file of it, not {given!r}: {error}.") from error
    for action, bound in keys.items() if isinstance(keys, dict) else ((given, None),):
        if action not in ACTIONS or not (isinstance(bound, list) and all(isinstance(k, str) for k in bound)):
            raise InvalidDataError(
                f"--keys maps {', '.join(ACTIONS)} to lists of keys, as in {{'same': ['j']}}, "
                f"not {action!r} to {bound!r}."
            )
    found: dict[str, list[str]] = keys
    return found
