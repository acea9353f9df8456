"""`cobras export`: write the clusters and the answers to files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from cobras.cli.options import Scheduler, connect_dask

EXAMPLE = "Example: cobras export flowers.cobras --out flowers-clusters.csv --answers answers.json"


SessionFile = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session file, such as flowers.cobras.")
]
Data = Annotated[Path | None, typer.Option(metavar="PATH", help="The data, when it is not where it was.")]
OUT = "Write all columns and the cluster: .csv, .tsv, .parquet, .json or .jsonl."
METHOD = "module:function of a method of your own that the session was made with; it is not run otherwise."
ESCAPE = "In CSV and TSV, put an apostrophe before texts that a spreadsheet would take for a formula."
ANSWERS = "Write the answers, with your own ids, likewise."


def export(
    session: SessionFile,
    data: Data = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT)] = None,
    answers: Annotated[Path | None, typer.Option(metavar="FILE", help=ANSWERS)] = None,
    method: Annotated[str | None, typer.Option(metavar="NAME", help=METHOD)] = None,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    escape: Annotated[bool, typer.Option(help=ESCAPE)] = True,
) -> None:
    """Write the table with a column `cluster`.

    Without --out, --answers and --json the table goes to standard output as CSV. With --scheduler, --out may be a
    folder: the workers write the number and the cluster of each row there, as Parquet.
    """
    with connect_dask(scheduler):
        write_export(session, data, out, answers, method, scheduler, as_json, escape)


def write_export(
    session: Path,
    data: Path | None,
    out: Path | None,
    answers: Path | None,
    method: str | None,
    scheduler: str | None,
    as_json: bool,
    escape: bool,
) -> None:
    """Write what was asked for."""
    from cobras.cli.source import load_for_session, open_session
    from cobras.core.exceptions import InvalidDataError
    from cobras.core.writers import answers_as_rows, answers_table, csv_frame, write_table
    from cobras.data.export import export_dataset, frames_with_clusters
    from cobras.data.tables.files import url_of

    by_workers = scheduler is not None and out is not None and not out.suffix
    for target in (None if by_workers else out, answers):
        if target is not None and (address := url_of(target)) is not None:
            raise InvalidDataError(
                f"{address} is not a file of this machine; only --out may be an address, of a folder such as "
                "s3://bucket/labels that the workers of --scheduler write."
            )
    dataset = load_for_session(session, data, scheduler)
    with open_session(dataset, session, method=method) as opened:
        opened.verify()  # all rows are compared before anything is written
        # A link or another spelling of the path is the same file.
        sources = [session, *(Path(p) for p in (data, opened.get_note("data")) if p is not None)]
        for target in (out, answers):
            if target is not None and any(
                p.exists() and p.samefile(target) for p in sources if target.exists()
            ):
                raise InvalidDataError(f"{target} is what the clusters are made from. Write to another file.")
        if dataset.is_remote and out is not None and not out.suffix:
            if as_json:
                raise InvalidDataError(
                    f"--json prints all labels; leave it out where the workers write to {out}."
                )
            folder = url_of(out) or out
            opened.export(f"{folder}/")
            if answers is not None:
                opened.export_answers(answers, ids=dataset.names)
            report_files(folder, answers)
            return
        labels, names, ids = opened.labels_, opened.names, dataset.names
        if out is not None:
            export_dataset(dataset, labels, names, out, escape=escape)
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
            "names": {str(number): text for number, text in names.items()},
            "answers": answers_as_rows(history, ids),
        }
        print(json.dumps(report, default=str))
    elif out is None and answers is None:
        # The frames are written as bytes, below the text layer of standard output.
        sys.stdout.flush()
        for number, frame in enumerate(frames_with_clusters(dataset, labels, names)):
            text = csv_frame(frame, escape=escape).write_csv(include_header=number == 0)
            sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        report_files(out, answers)


def report_files(*places: Path | str | None) -> None:
    """Print a line for each file or folder."""
    for place in places:
        if place is not None:
            print(f"Wrote {place}.", file=sys.stderr)
