"""`cobras run`: let known labels answer, and see how soon the clustering is right."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobras.cli.options import FILES, Options, check_budget, connect_dask, is_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from cobras.data import Dataset
    from cobras.session.session import Session

EXAMPLE = "Example: cobras run flowers.csv --label species --max-queries 50 --json"


def run(
    path: Annotated[Path, typer.Argument(metavar="PATH", help=f"{FILES}.")],
    label: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the true classes.")],
    options: Options,
    max_queries: Annotated[int, typer.Option(metavar="N", help="How many questions to answer at most.")] = 50,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed asks the same questions. [default: 0, or that of FILE]"
        ),
    ] = None,
    session: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the session in this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Simulate: answer from a column of known classes.

    Prints the adjusted Rand index (ARI) per number of queries: 1 is the true clustering, 0 is chance.
    """
    check_budget(max_queries)
    with connect_dask(options.scheduler):
        simulate(path, label, options, max_queries, session, as_json)


def simulate(
    path: Path, label: str, options: Options, max_queries: int, session: Path | None, as_json: bool
) -> None:
    """Answer from the column of known classes, and print how it went."""
    from cobras.cli.source import keep_source, load_data, open_session, read_source
    from cobras.core.exceptions import InvalidDataError
    from cobras.session.file import holds_session
    from cobras.session.oracles import LabelOracle
    from cobras.session.oracles import run as answer

    settings = options.of_session
    if options.seed is None and (session is None or not holds_session(session)):
        settings["random_state"] = 0
    if is_session(path):
        raise InvalidDataError(f"{path} is a session file; cobras run takes the data itself.")
    dataset = read_source(path, options) if session is None else load_data(path, session, options, "label")
    truth = _truth(dataset, label)
    # The time of the method alone: reading is over, and the score is computed after the clock stops.
    begin = time.perf_counter()
    opened = open_session(dataset, session, grow=options.grow, **settings)
    if session is not None:
        keep_source(opened, dataset, path)
    with opened, _progress(max_queries) as full:
        if options.known is not None:
            from cobras.cli.known import add_known

            add_known(opened, dataset, options.known)
        answer(opened, LabelOracle(truth), until=full)
        seconds = time.perf_counter() - begin
        n = min(opened.n_answers, max_queries)  # a resumed session may hold more
        labels = opened.labels_at(n)
        report = {
            "method": opened.parameters["method"],
            "seed": opened.parameters["random_state"],
            "n": len(dataset),
            "n_queries": n,
            "n_clusters": int(labels.max()) + 1,
            "ari": ari_per_query(opened, truth)[: n + 1],
            "seconds": round(seconds, 6),
        }
    if as_json:
        print(json.dumps({**report, "labels": labels.tolist()}))
    else:
        _print(dataset, report)


def ari_per_query(session: Session, truth: Any) -> list[float]:
    """Return the adjusted Rand index after 0, 1, 2, ... answers, computed again only where labels changed."""
    import numpy as np

    from cobras.bench.measures import adjusted_rand

    # Most answers change no label, and the index costs more than comparing labels.
    scores: list[float] = []
    before = None
    for partition in session.partitions:
        labels = partition.labels
        same = before is not None and np.array_equal(labels, before)
        # Rows may have been added since.
        scores.append(scores[-1] if same else float(adjusted_rand(truth[: len(labels)], labels)))
        before = labels
    return scores


def _truth(dataset: Dataset, label: str) -> Any:
    import numpy as np

    from cobras.core.exceptions import InvalidDataError
    from cobras.data.tables.fit import same_words

    codes: Any
    if dataset.large is not None:
        codes, n_gaps = dataset.large.codes(label)
    else:
        column = dataset.frame[label]
        n_gaps = column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)
        classes = same_words(column).cast(str).fill_null("")
        codes = np.unique(classes.to_numpy(), return_inverse=True)[1]
    if n_gaps:
        raise InvalidDataError(
            f"Column {label!r} is empty in {n_gaps} of {len(codes):,} rows, but every row needs its class to "
            "simulate; fill the cells, or delete these rows."
        )
    return codes


@contextmanager
def _progress(max_queries: int) -> Iterator[Callable[[Session], bool]]:
    """Yield the condition to stop at, which also draws a bar on standard error once two seconds have gone by."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)  # standard output may be JSON
    columns = (TextColumn("queries"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("", total=max_queries)
    timer = threading.Timer(2, bar.start)  # by the clock: the first split may take longest
    timer.daemon = True
    timer.start()

    def full(session: Session) -> bool:
        bar.update(task, completed=session.n_answers)
        return session.n_answers >= max_queries

    try:
        yield full
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _print(dataset: Dataset, report: dict[str, Any]) -> None:
    from rich.table import Table

    from cobras.cli import make_console
    from cobras.cli.terminal import glyphs_for
    from cobras.core.notebook import quantity

    console = make_console()
    full = glyphs_for(console.encoding).bar[-1]
    for note in dataset.notes:
        print(note, file=sys.stderr)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("queries", justify="right")
    table.add_column("ARI", justify="right")
    table.add_column("")
    last = report["n_queries"]
    for query in milestones(last):
        score = report["ari"][query]
        table.add_row(str(query), f"{score:.3f}", full * round(max(0.0, score) * 30))
    console.print(table)
    console.print(
        f"{report['method']}, seed {report['seed']}: {quantity(report['n_clusters'], 'cluster')} of "
        f"{quantity(report['n'], 'row')} after {quantity(last, 'query')}, "
        f"{report['seconds']:.2f} s."
    )


def milestones(last: int) -> list[int]:
    """Return 0, 1, 2, 5, 10, 20, 50 and so on, and the last one.

    Examples
    --------
    >>> milestones(30)
    [0, 1, 2, 5, 10, 20, 30]
    """
    round_numbers = [k * 10**p for p in range(len(str(last))) for k in (1, 2, 5)]
    return sorted({0, last, *(number for number in round_numbers if number < last)})
