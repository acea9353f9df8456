"""`cobras demo`: the handwritten digits of the package, on the web page or in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobras.cli.ask import ask_in_terminal
from cobras.cli.options import Options, check_budget
from cobras.cli.serve import Host, NoBrowser, Port, serve_page

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
    from cobras.core.exceptions import InvalidDataError

    options = Options(seed=seed)
    if terminal:
        check_budget(max_queries)
        ask_in_terminal(None, session, options, max_queries)
        return
    if max_queries is not None:
        raise InvalidDataError("--max-queries needs --terminal; on the page you stop when you like.")
    serve_page(None, session, options, not no_browser, host=host, port=port)
