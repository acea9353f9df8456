"""`cobras demo`: the same conversation about handwritten digits that come along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: cobras demo --session /tmp/digits.cobras"


def demo(
    session: Annotated[Path, typer.Option(metavar="FILE", help="Where answers are kept.")] = Path(
        "digits.cobras"
    ),
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")
    ] = None,
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
) -> None:
    """Try it on handwritten digits, without a file of your own."""
    from cobras.cli.ask import check_budget, converse
    from cobras.data import load_demo

    check_budget(max_queries)
    converse(load_demo(), session, None, max_queries, random_state=seed)
