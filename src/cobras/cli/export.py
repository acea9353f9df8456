"""`cobras export`: take the clusters, and the answers, home."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: cobras export flowers.cobras --out flowers-clusters.csv --answers answers.json"


def export(
    session: Annotated[
        Path, typer.Argument(metavar="SESSION", help="A session file, such as flowers.cobras.")
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The data, when it is not where it was.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write all columns and the cluster: .csv, .tsv, .parquet, .json or .jsonl."
        ),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the answers, with your own ids, likewise.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Write the table with a column `cluster`.

    Without --out, --answers and --json the table goes to standard output as CSV.
    """
    from cobras.cli.source import load_for_session, open_session
    from cobras.data import export_labels
    from cobras.data.export import with_clusters
    from cobras.exceptions import InvalidDataError

    dataset = load_for_session(session, data)
    with open_session(dataset, session) as opened:
        opened.verify()
        sources = [session, *(Path(p) for p in (data, opened.get_note("data")) if p is not None)]
        for target in (out, answers):
            if target is not None and any(
                p.exists() and p.samefile(target) for p in sources if target.exists()
            ):
                raise InvalidDataError(f"{target} is what the clusters are made from. Write to another file.")
        labels, names, ids = opened.labels_, opened.names, dataset.ids.tolist()
        if out is not None:
            export_labels(dataset.frame, labels, names, out)
        if answers is not None:
            opened.export_answers(answers, ids=ids)
        said = [
            {"i": ids[r.pair.i], "j": ids[r.pair.j], "answer": r.answer.name.lower(), "kind": r.kind}
            for r in opened.history
        ]
    if as_json:
        report = {
            "session": str(session),
            "n": len(ids),
            "n_answers": sum(record["kind"] == "answer" for record in said),
            "n_clusters": int(labels.max()) + 1,
            "ids": ids,
            "labels": labels.tolist(),
            "names": {str(number): text for number, text in names.items()},
            "answers": said,
        }
        print(json.dumps(report, default=str))
    elif out is None and answers is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(with_clusters(dataset.frame, labels, names).write_csv().encode())
        sys.stdout.buffer.flush()
    else:
        for written in (out, answers):
            if written is not None:
                print(f"Wrote {written}.", file=sys.stderr)
