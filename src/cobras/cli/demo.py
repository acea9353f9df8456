"""`cobras demo`: the same conversation about handwritten digits that come along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    max_queries: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many answers.")] = None,
) -> None:
    """Try it on handwritten digits, without a file of your own."""
    from cobras.cli.ask import check_budget, converse

    check_budget(max_queries)
    converse(_load, session, None, max_queries, random_state=seed)


def _load() -> Dataset:
    from cobras.data import load_demo

    return load_demo()
