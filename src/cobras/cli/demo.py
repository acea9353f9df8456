"""`cobras demo`: handwritten digits that come along, on the web page or in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobras.cli.serve import Host, NoBrowser, Port

if TYPE_CHECKING:
    from cobras.data import Dataset

EXAMPLE = "Example: cobras demo --session /tmp/digits.cobras"


def demo(
    session: Annotated[Path, typer.Option(metavar="FILE", help="Where answers are kept.")] = Path(
        "digits.cobras"
    ),
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Ask in the terminal instead.")] = False,
    max_queries: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after so many answers; with --terminal.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    no_browser: NoBrowser = False,
) -> None:
    """Try it on handwritten digits, without a file of your own."""
    from cobras.cli.ask import check_budget, converse
    from cobras.cli.serve import show
    from cobras.core.exceptions import InvalidDataError

    if terminal:
        check_budget(max_queries)
        converse(_load, session, None, max_queries, random_state=seed)
        return
    if max_queries is not None:
        raise InvalidDataError("--max-queries needs --terminal; on the page you stop when you like.")
    show(_load, session, None, {"host": host, "port": port}, not no_browser, random_state=seed)


def _load() -> Dataset:
    from cobras.data import load_demo

    return load_demo()
