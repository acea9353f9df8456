"""`cobras predict`: the clusters of items that came after a session."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobras.cli.export import (
    Data,
    Escape,
    Method,
    SessionFile,
    check_targets,
    print_frames,
    report_files,
)
from cobras.cli.options import Scheduler, check_session_file, connect_dask

if TYPE_CHECKING:
    import polars as pl

    from cobras.core.writers import CsvStyle
    from cobras.data.newitems import NewItems
    from cobras.session.session import Session

EXAMPLE = "Example: cobras predict flowers.cobras new.csv --out labelled.csv --unknown-below 0.6"

NEW = "The new items: a table with the same columns, a folder, or whatever the session was made from."
OUT = (
    "Write the column that names the rows (or id, their numbers from 0), cluster_id, cluster_name, cluster and "
    "confidence: .csv, .tsv, .parquet, .json or .jsonl."
)
COLUMNS = frozenset(("cluster", "cluster_id", "cluster_name", "confidence"))
UNKNOWN = "Leave the cluster of an item empty if it is less sure than P, from 0 to 1."


def predict(
    session: SessionFile,
    new: Annotated[Path, typer.Argument(metavar="NEW", help=NEW)],
    data: Data = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT)] = None,
    unknown_below: Annotated[float, typer.Option(metavar="P", help=UNKNOWN)] = 0.0,
    method: Method = None,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the number of items per cluster.")] = False,
    escape: Escape = True,
) -> None:
    """Find the clusters of new items, by what was answered about others.

    They are read as the data of the session was, which must still be there. Columns that the session does not know
    are ignored. Without --out and --json the clusters go to standard output as CSV.
    """
    from cobras.cli.source import keep_private, load_for_session, open_session, show_reading
    from cobras.core.exceptions import InvalidDataError
    from cobras.data.newitems import read_new_items
    from cobras.session.journal import copy_of

    if not 0 <= unknown_below <= 1:
        raise InvalidDataError(f"--unknown-below must be between 0 and 1, not {unknown_below}.")
    check_session_file(session)
    # A copy, so that the page may be open meanwhile.
    with connect_dask(scheduler), copy_of(session) as copy:
        dataset = load_for_session(copy, data, scheduler, session)
        keep_private(new)
        with open_session(dataset, copy, method=method) as opened, show_reading() as progress:
            opened.verify()
            check_targets((out,), (session, data, opened.get_note("data"), new))
            notes: list[str] = []
            table = ClusterTable(opened, unknown_below, dataset.recipe.id or "id")
            frames = table.frames(read_new_items(new, dataset, notes, progress))
            if out is not None:
                write_frames(frames, out, escape, dataset.csv_style)
            elif as_json:
                for _ in frames:
                    pass
            else:
                print_frames(frames, escape, dataset.csv_style)
    if as_json:
        print(json.dumps({"session": str(session), "new": str(new), **table.counts(), "notes": notes}))
        return
    for note in notes:
        print(note, file=sys.stderr)
    report_files(out)


class ClusterTable:
    """The clusters of new items as tables, and how many items each got."""

    def __init__(self, session: Session, unknown_below: float, id: str) -> None:
        self.id = id if id not in COLUMNS else "id"
        self.session, self.unknown_below = session, unknown_below
        self.ids, self.names = session.cluster_ids_, session.names
        self._counts: Counter[int | None] = Counter()

    def frames(self, items: Iterable[NewItems]) -> Iterator[pl.DataFrame]:
        """Yield a table for each piece of the items."""
        import polars as pl

        from cobras.core.writers import with_clusters

        for part in items:
            found = self.session.predict_proba(part.X)
            # Rounded before it is compared, so that what one reads agrees with what is left out.
            sure = pl.Series("confidence", found.max(axis=1)).round(4)
            if part.unknown is not None:
                sure = sure.set(pl.Series(part.unknown), 0.0)
            labels = pl.Series(found.argmax(axis=1)).set(sure < self.unknown_below, None)
            self._counts.update(labels.to_list())
            rows = pl.DataFrame({self.id: part.ids})
            yield with_clusters(rows, labels, self.names, self.ids).with_columns(sure)

    def counts(self) -> dict[str, Any]:
        """How many items there were, in which clusters."""
        clusters = [
            {
                "cluster": number,
                "cluster_id": id,
                "name": self.names.get(number),
                "n": self._counts[number],
            }
            for number, id in enumerate(self.ids)
        ]
        return {"n": self._counts.total(), "n_unknown": self._counts[None], "clusters": clusters}


def write_frames(frames: Iterable[pl.DataFrame], out: Path, escape: bool, style: CsvStyle) -> None:
    """Write tables into one file, one after the other unless the format wants all at once."""
    from cobras.core.writers import IN_BATCHES, write_batches, write_frame

    if out.suffix.lower() in IN_BATCHES:
        write_batches(frames, out, escape=escape, style=style)
        return
    import polars as pl

    write_frame(pl.concat(frames), out, escape=escape, style=style)
