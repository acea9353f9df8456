"""`cobras export`: write the clusters and the answers to files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobras.cli.options import Grow, Scheduler, check_session_file, connect_dask

if TYPE_CHECKING:
    import polars as pl

    from cobras.core.writers import CsvStyle

EXAMPLE = "Example: cobras export flowers.cobras --out flowers-clusters.csv --answers answers.json"


SessionFile = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session file, such as flowers.cobras.")
]
Data = Annotated[Path | None, typer.Option(metavar="PATH", help="The data, when it is not where it was.")]
OUT = "Write all columns and the cluster: .csv, .tsv, .parquet, .json or .jsonl."
METHOD = "module:function of a method of your own that the session was made with; it is not run otherwise."
Method = Annotated[str | None, typer.Option(metavar="NAME", help=METHOD)]
ESCAPE = "In CSV and TSV, put an apostrophe before texts that a spreadsheet would take for a formula."
Escape = Annotated[bool, typer.Option(help=ESCAPE)]
ANSWERS = "Write the answers, with your own ids, likewise."


def export(
    session: SessionFile,
    data: Data = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT)] = None,
    answers: Annotated[Path | None, typer.Option(metavar="FILE", help=ANSWERS)] = None,
    method: Method = None,
    grow: Grow = None,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    escape: Escape = True,
) -> None:
    """Write the table with the columns `cluster_id`, the number on the page, `cluster_name` and `cluster`, from 0.

    The page may be open meanwhile: what is saved by now is exported.

    Without --out, --answers and --json the table goes to standard output as CSV. With --scheduler, --out may be a
    folder: the workers write the number and the cluster of each row there, as Parquet.
    """
    with connect_dask(scheduler):
        write_export(session, data, out, answers, method, grow, scheduler, as_json, escape)


def write_export(
    session: Path,
    data: Path | None,
    out: Path | None,
    answers: Path | None,
    method: str | None,
    grow: bool | None,
    scheduler: str | None,
    as_json: bool,
    escape: bool,
) -> None:
    """Write what was asked for."""
    from cobras.cli.source import load_for_session, open_session
    from cobras.core.exceptions import InvalidDataError
    from cobras.core.writers import answers_as_rows, answers_table, write_table
    from cobras.data.export import export_dataset, frames_with_clusters
    from cobras.data.tables.files import url_of
    from cobras.session.journal import copy_of

    by_workers = scheduler is not None and out is not None and not out.suffix
    for target in (None if by_workers else out, answers):
        if target is not None and (address := url_of(target)) is not None:
            raise InvalidDataError(
                f"{address} is not a file of this machine; only --out may be an address, of a folder such as "
                "s3://bucket/labels that the workers of --scheduler write."
            )
    check_session_file(session)
    with (
        # What is taken in is kept; otherwise the file is left alone.
        nullcontext(session) if grow else copy_of(session) as copy,
        open_session(
            dataset := load_for_session(copy, data, scheduler, session), copy, grow=grow, method=method
        ) as opened,
    ):
        opened.verify()  # all rows are compared before anything is written
        check_targets((out, answers), (session, data, opened.get_note("data")))
        if dataset.is_remote and out is not None and not out.suffix:
            if as_json:
                raise InvalidDataError(
                    f"--json prints all labels; leave it out where the workers write to {out}."
                )
            folder = url_of(out) or out
            opened.export(f"{folder}/")
            if answers is not None:
                opened.export_answers(answers, ids=dataset.names, escape=escape)
            report_files(folder, answers)
            return
        labels, names, ids = opened.labels_, opened.names, dataset.names
        cluster_ids = opened.cluster_ids_
        if out is not None:
            export_dataset(dataset, labels, names, out, escape=escape, cluster_ids=cluster_ids)
        if answers is not None:
            write_table(answers_table(opened.history, ids), answers, escape=escape)
        history = opened.history
    if as_json:
        report = {
            "session": str(session),
            "n": len(ids),
            "n_answers": sum(record.kind == "answer" for record in history),
            "n_clusters": int(labels.max()) + 1,
            "ids": list(ids),
            "labels": labels.tolist(),
            "cluster_ids": list(cluster_ids),
            "names": {str(number): text for number, text in names.items()},
            "answers": answers_as_rows(history, ids),
        }
        print(json.dumps(report, default=str))
    elif out is None and answers is None:
        print_frames(frames_with_clusters(dataset, labels, names, cluster_ids), escape, dataset.csv_style)
    else:
        report_files(out, answers)


def check_targets(targets: Iterable[Path | None], sources: Iterable[Path | str | None]) -> None:
    """Refuse to write over a file that the clusters are made from; a link to it is the same file."""
    from cobras.core.exceptions import InvalidDataError

    here = [path for source in sources if source is not None and (path := Path(source)).exists()]
    for target in targets:
        if target is not None and target.exists() and any(path.samefile(target) for path in here):
            raise InvalidDataError(f"{target} is what the clusters are made from. Write to another file.")


def print_frames(frames: Iterable[pl.DataFrame], escape: bool, style: CsvStyle) -> None:
    """Print tables as one CSV file."""
    from cobras.core.writers import csv_frame

    # The frames are written as bytes, below the text layer of standard output.
    sys.stdout.flush()
    for number, frame in enumerate(frames):
        text = csv_frame(frame, escape=escape).write_csv(
            include_header=number == 0, separator=style.separator, decimal_comma=style.decimal_comma
        )
        sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def report_files(*places: Path | str | None) -> None:
    """Print a line for each file or folder."""
    for place in places:
        if place is not None:
            print(f"Wrote {place}.", file=sys.stderr)
