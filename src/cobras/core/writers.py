"""Answers and clusters as tables, and tables as files.

The suffix says the format. A file that is replaced is at any moment either the old one or the whole new one.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobras.core.exceptions import CobrasError, InvalidDataError
from cobras.core.types import ClusterNames, ClusterNumbers, Record, StableIds

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

WRITABLE = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
FORMULA = r"^[=+\-@\t\r]\s*\S"  # a sign alone, such as the - of a gap, is none
# Digits with separators, a currency or percent: -2,116 or -€ 5 can do no harm, and must stay a number.
NUMBER = r"^[+-]?\p{Zs}?\p{Sc}?\p{Zs}?[.,]?\d[\d.,'’\p{Zs}]*([eE][+-]?\d+)?[%\p{Sc}]?$"
IN_BATCHES = (".csv", ".tsv", ".parquet", ".jsonl")


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How a CSV file is written.

    Attributes
    ----------
    separator : str
        What stands between cells. With semicolons a file begins with the mark of UTF-8: such files are for
        spreadsheets, which take it for Latin-1 otherwise.
    decimal_comma : bool
        Whether fractions begin with a comma; in TSV, too.
    """

    separator: str = ","
    decimal_comma: bool = False


PLAIN = CsvStyle()


def answers_table(records: Sequence[Record], ids: Sequence[Any] | None = None) -> dict[str, list[Any]]:
    """What a history says about pairs as columns, a board as many rows; rows by id where ids are given.

    Examples
    --------
    >>> from cobras import Answer, Pair
    >>> answers_table([Record(0, "answer", Pair(0, 2), Answer.SAME, 1.5)], ids="abc")["j"]
    ['c']
    """
    said = [(r, pair, answer) for r in records for pair, answer in r.said]
    return {
        "i": [pair.i if ids is None else ids[pair.i] for _, pair, _ in said],
        "j": [pair.j if ids is None else ids[pair.j] for _, pair, _ in said],
        "answer": [answer.name.lower() for _, _, answer in said],
        "kind": [r.kind for r, _, _ in said],
        "in_force": [pair not in r.void if r.void else r.in_force for r, pair, _ in said],
        "at": [r.at for r, _, _ in said],
    }


def answers_as_rows(records: Sequence[Record], ids: Sequence[Any] | None = None) -> list[dict[str, Any]]:
    """The same table as one mapping per answer, for JSON."""
    table = answers_table(records, ids)
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def with_clusters(
    frame: pl.DataFrame,
    labels: ClusterNumbers | pl.Series,
    names: ClusterNames = None,
    ids: StableIds = None,
) -> pl.DataFrame:
    """The table plus a column `cluster`, and `cluster_name` with names.

    Where ids by number are given, `cluster_id` comes first, the number that a person has seen on the page, then the
    name, and `cluster` comes last. A column of that name which is already there is kept; the new one is then called
    `cluster_2`. The labels of a Series may be null, for rows in no cluster.

    Examples
    --------
    >>> import polars as pl
    >>> with_clusters(pl.DataFrame({"x": [1, 2]}), [0, 1], {1: "bikes"}).rows()
    [(1, 0, None), (2, 1, 'bikes')]
    >>> with_clusters(pl.DataFrame({"x": [1, 2]}), [0, 1], ids=(7, 9)).rows(named=True)[1]
    {'x': 2, 'cluster_id': 9, 'cluster': 1}
    """
    import polars as pl

    if len(labels) != frame.height:
        raise InvalidDataError(f"There are {len(labels)} labels for a table of {frame.height} rows.")
    numbers = pl.Series(_unused_name("cluster", frame.columns), labels, dtype=pl.Int32)
    added = []
    if names:
        texts = numbers.replace_strict(names, default=None, return_dtype=pl.String)
        added.append(texts.alias(_unused_name("cluster_name", frame.columns)))
    if ids is None:
        return frame.with_columns(numbers, *added)
    stable = numbers.replace_strict(dict(enumerate(ids)), return_dtype=pl.Int32)
    return frame.with_columns(stable.alias(_unused_name("cluster_id", frame.columns)), *added, numbers)


def labels_table(
    ids: Sequence[Any] | npt.NDArray[Any],
    labels: ClusterNumbers,
    names: ClusterNames = None,
    stable: StableIds = None,
) -> pl.DataFrame:
    """The column `id` and those of `with_clusters`; the name of a cluster without one is empty."""
    import polars as pl

    try:
        column = pl.Series("id", ids)
    except TypeError:  # numbers among texts
        column = pl.Series("id", [None if value is None else str(value) for value in ids], dtype=pl.String)
    table = with_clusters(column.to_frame(), labels, names, stable)
    return table.with_columns(pl.col("cluster_name").fill_null("")) if names else table


def _unused_name(name: str, taken: Sequence[str]) -> str:
    number, candidate = 2, name
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def write_table(
    columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]],
    path: str | os.PathLike[str],
    *,
    escape: bool = True,
    private: bool = False,
) -> Path:
    """Write columns of equal length as CSV, TSV, Parquet, JSON or JSON Lines, by suffix, and return the path.

    An existing file is replaced at once, or not at all, and keeps its permissions; a new one that is `private` can
    be read by the user alone. In CSV and TSV, a text that a spreadsheet would take for a formula is marked as a
    text by an apostrophe, unless `escape` is false.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_table({"id": ["a", "b"], "cluster": [0, 1]}, folder + "/labels.csv")
    ...     print(file.read_text())
    id,cluster
    a,0
    b,1
    <BLANKLINE>
    """
    import polars as pl

    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise InvalidDataError(
            f"The columns of a table must be equally long, but these have {sorted(lengths)} values."
        )
    return write_frame(
        pl.DataFrame({name: list(values) for name, values in columns.items()}),
        path,
        escape=escape,
        private=private,
    )


def csv_frame(frame: pl.DataFrame, *, escape: bool = True) -> pl.DataFrame:
    """A data frame that polars can write as CSV: durations and times as in ISO 8601, texts escaped on request.

    Examples
    --------
    >>> from datetime import time
    >>> import polars as pl
    >>> csv_frame(pl.DataFrame({"opens": [time(14, 30)]})).row(0)
    ('14:30:00',)
    """
    import polars as pl

    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype == pl.Binary:
            what = "bytes" if dtype == pl.Binary else "lists"
            raise InvalidDataError(
                f"Column {name!r} holds {what}, which CSV and TSV cannot hold; write .parquet instead."
            )
    frame = frame.with_columns(
        pl.selectors.duration().dt.to_string("iso"), pl.selectors.time().dt.to_string("%H:%M:%S%.f")
    )
    return escape_formulas(frame) if escape else frame


def escape_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before each text, and each name of a column, that a spreadsheet would take for a formula.

    A file from somebody else could otherwise make it open addresses or run programs. Numbers stay as they are.

    Examples
    --------
    >>> import polars as pl
    >>> escape_formulas(pl.DataFrame({"x": ["=HYPERLINK(1)", "-2.5", "-"], "y": [-1, 0, 1]})).rows()
    [("'=HYPERLINK(1)", -1), ('-2.5', 0), ('-', 1)]
    """
    import polars as pl

    columns = []
    for column in frame:
        if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        if column.dtype == pl.String:
            is_formula = column.str.contains(FORMULA) & ~column.str.contains(NUMBER)
            column = column.zip_with(~is_formula.fill_null(False), "'" + column)
        columns.append(column.alias(f"'{column.name}" if re.match(FORMULA, column.name) else column.name))
    return pl.DataFrame(columns)


def write_frame(
    frame: pl.DataFrame,
    path: str | os.PathLike[str],
    *,
    escape: bool = True,
    private: bool = False,
    style: CsvStyle = PLAIN,
) -> Path:
    """Write a data frame by suffix, atomically; see `write_table`."""
    import polars as pl

    target = Path(path)
    suffix = target.suffix.lower()
    binary = [name for name, dtype in frame.schema.items() if dtype == pl.Binary]
    if binary and suffix in (".json", ".jsonl"):
        raise InvalidDataError(
            f"Column {binary[0]!r} holds bytes, which {suffix} cannot hold; write .parquet instead."
        )
    if suffix not in WRITABLE:
        raise InvalidDataError(
            f"Cannot write {target.name}: the suffix must be one of {', '.join(WRITABLE)}, "
            f"not {suffix or 'none'!r}."
        )
    if suffix == ".parquet":
        return _replace(target, partial(frame.write_parquet, compression="zstd"), private)
    if suffix == ".json":
        return _replace(target, frame.write_json, private)
    return _replace(target, partial(_write_lines, [frame], suffix, escape, style), private)


def write_batches(
    batches: Iterable[pl.DataFrame],
    path: str | os.PathLike[str],
    *,
    escape: bool = True,
    style: CsvStyle = PLAIN,
) -> Path:
    """Write one data frame after another into one file, atomically: CSV, TSV, Parquet or JSON Lines, by suffix."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in IN_BATCHES:
        raise InvalidDataError(
            f"Cannot write {target.name}: the suffix for so many rows must be one of {', '.join(IN_BATCHES)}, "
            f"not {suffix or 'none'!r}."
        )
    write = (
        partial(_write_parts, batches)
        if suffix == ".parquet"
        else partial(_write_lines, batches, suffix, escape, style)
    )
    return _replace(target, write)


def _write_lines(
    batches: Iterable[pl.DataFrame], suffix: str, escape: bool, style: CsvStyle, file: str
) -> None:
    separator = "\t" if suffix == ".tsv" else style.separator
    with Path(file).open("wb") as stream:
        for number, batch in enumerate(batches):
            if suffix == ".jsonl":
                batch.write_ndjson(stream)
            else:
                csv_frame(batch, escape=escape).write_csv(
                    stream,
                    separator=separator,
                    decimal_comma=style.decimal_comma,
                    include_header=number == 0,
                    include_bom=number == 0 and separator == ";",
                )


def _write_parts(batches: Iterable[pl.DataFrame], file: str) -> None:
    # Polars writes a Parquet file as a whole, so there are first many files, which are then streamed into one.
    import polars as pl

    with tempfile.TemporaryDirectory(dir=Path(file).parent, prefix=".cobras-") as folder:
        for number, batch in enumerate(batches):
            batch.write_parquet(Path(folder, f"{number:09d}.parquet"), compression="zstd")
        pl.scan_parquet(Path(folder, "*.parquet")).sink_parquet(file, compression="zstd")


def _replace(target: Path, write: Callable[[str], object], private: bool = False) -> Path:
    """Write a file, and put it in the place of the old one once it is whole."""
    import polars as pl

    if target.is_dir():
        raise InvalidDataError(f"{target} is a folder; give the name of a file to write.")
    try:
        # mkstemp makes a private file (0600); below it gets the permissions of any new file.
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise InvalidDataError(f"Cannot write {target}: {error.strerror or error}.") from error
    try:
        os.close(descriptor)
        if not private or target.exists():
            Path(temporary).chmod(_permissions(target))
        write(temporary)
        Path(temporary).replace(target)
    except CobrasError:  # of the tables that are made meanwhile, such as a file that is not there
        raise
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise InvalidDataError(f"Cannot write {target}: {reason}.") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return target


def _permissions(target: Path) -> int:
    """The permissions of the file to be replaced, or those of any new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    # The umask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
