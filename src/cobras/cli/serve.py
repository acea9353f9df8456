"""`cobras serve`: the same questions on a web page, with a map."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobras.cli.ask import check_session, method_options
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
    from cobras.session.session import Session

EXAMPLE = "Example: cobras serve flowers.csv --label species"
ACTIONS = ("same", "different", "unsure", "undo", "redo", "history", "map", "help")

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")]
Port = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=65535, help="The port. [default: one that is free]")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, but do not open it.")]


def serve(
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
    settings: Settings = None,
    scheduler: Scheduler = None,
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
    given = DataOptions(label, id, drop, kind, text, image, vectors, features)
    check_session(path, session)
    file = session_file(path, session)
    page = {"host": host, "port": port, "blind": not show_guess, "keys": read_keys(keys)}
    options = {"method": method, "random_state": seed, **method_options(settings)}

    def load() -> Dataset:
        from cobras.cli.source import load_data

        return load_data(path, file, given, scheduler)

    with connected(scheduler):
        show(load, file, None if is_session(path) else path, page, not no_browser, **options)


def show(
    load: Callable[[], Dataset],
    file: Path,
    data: Path | None,
    page: dict[str, Any],
    browser: bool,
    **options: Any,
) -> None:
    """Open or resume the session of a data set and serve its page until Ctrl-C."""
    from cobras.cli.terminal.screen import make_console, near, waiting

    with waiting(make_console(), f"Reading {data or file} ..."):
        from cobras.cli.source import keep_source, open_session
        from cobras.web.server import WebServer

        dataset = load()

        def begin() -> Session:
            session = open_session(dataset, file, **options)
            if data is not None or session.get_note("recipe") is None:
                keep_source(session, dataset, data)
            return session

        server = WebServer(dataset, begin, file, name_of(dataset, data, file), **page)

    def ready() -> None:
        lines = [server.address, f"Answers are saved in {near(file)}. Ctrl-C ends."]
        if not server.is_private:
            lines.append(
                f"Listening on {server.host}: whoever reaches this machine and knows the token in the address can "
                "read and answer, and the line is not encrypted."
            )
        print("\n".join([*lines, *dataset.notes]), flush=True)
        if browser:
            open_browser(server.address)

    quiet = server.run(ready)
    n_answers, n_clusters = server.counts
    farewell(file, n_answers, n_clusters)
    if not quiet:  # threads at work do not survive the interpreter's own way to end; every answer is on disk
        os._exit(0)


def name_of(dataset: Dataset, data: Path | None, file: Path) -> str:
    """What the data is called on the page."""
    if dataset.recipe.kind == "bundled":
        return "Handwritten digits"
    return file.stem if data is None or not data.exists() else data.resolve().name


def farewell(file: Path, n_answers: int, n_clusters: int) -> None:
    """Say where everything is."""
    from cobras.cli.terminal.screen import counted, near

    name, out = shlex.quote(near(file)), shlex.quote(f"{file.stem}-clusters.csv")
    told = f"{counted(n_answers, 'answer')}, {counted(n_clusters, 'cluster')}"
    print(f"Saved in {name}: {told}. To export: cobras export {name} --out {out}", flush=True)


def open_browser(address: str) -> None:
    """Open the page, unless there is no screen: a browser inside the terminal would be in the way."""
    import webbrowser

    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def read_keys(given: str | None) -> dict[str, list[str]]:
    """Keys by action, from JSON or from a file of it."""
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
