"""What a worker does with one partition of a table.

Each function gets the rows of the partition, the members among them by their place in it (None for all), the number
of its first row in the whole table, and how many row numbers make a block. Kernels run on the thread of the task:
the cluster knows how many tasks a worker can run side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from cobras.core.checks import flaw
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, IndexArray, LabelArray
from cobras.core.writers import labels_table
from cobras.spaces.passes.regions import MemoryRegion

Chain: TypeAlias = tuple[tuple[int, int], ...]  # (which split, which part of it), from the first split on
STORES = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl")  # without folders; no bucket is made here


def chosen(labels: Sequence[LabelArray], numbers: Sequence[int]) -> IndexArray:
    """The members of a part, from the labels of the splits above it and its number in each."""
    members: IndexArray | None = None
    for each, number in zip(labels, numbers, strict=True):
        mine = np.flatnonzero(each == number)
        members = (
            mine.astype(np.int32 if len(each) < 2**31 else np.int64) if members is None else members[mine]
        )
    assert members is not None
    return members


def assigned(
    rows: FloatArray,
    members: IndexArray | None,
    start: int,
    block: int,
    centers: FloatArray,
    keep: bool,
    check: bool,
) -> Any:
    """What a pass adds up to and the rows of its candidates, after the labels where they are to be kept.

    If the rows are checked and something is wrong with them, a sentence instead.
    """
    if check and (sentence := flaw(rows, start)):
        return (None, sentence) if keep else sentence
    region = MemoryRegion(rows, members, None, block, serial=True)
    labels, (sums, counts, candidates) = region.assign(centers, keep=keep)
    near = rows[candidates[candidates >= 0]]
    counts[:, :, 2][counts[:, :, 2] >= 0] += start
    candidates[candidates >= 0] += start
    found = sums, counts, candidates, near
    return (labels, found) if keep else found


def outlying(
    rows: FloatArray, members: IndexArray | None, start: int, block: int, centers: FloatArray
) -> tuple[FloatArray, float]:
    """The row farthest from its nearest center, and the squared distance."""
    return MemoryRegion(rows, members, None, block, serial=True).farthest(centers)


def closest(
    rows: FloatArray, members: IndexArray | None, start: int, block: int, point: FloatArray, count: int
) -> tuple[IndexArray, FloatArray]:
    """The members nearest to a point, by global number, and the squared distances."""
    found, away = MemoryRegion(rows, members, None, block, serial=True).nearest(point, count)
    best = np.argsort(away, kind="stable")[:count]
    return start + found[best].astype(np.int64), away[best]


def taken(
    rows: FloatArray, members: IndexArray | None, start: int, block: int, positions: IndexArray
) -> FloatArray:
    """Some of the rows, by their position among the members."""
    return MemoryRegion(rows, members, None, block, serial=True).rows(positions)


def moved(
    rows: FloatArray, members: IndexArray | None, start: int, block: int
) -> tuple[IndexArray, FloatArray]:
    """All members, by global number, and their rows."""
    if members is None:
        return np.arange(start, start + len(rows)), rows
    return start + members.astype(np.int64), rows[members]


def labelled(
    n: int,
    splits: Sequence[LabelArray],
    leaves: Sequence[tuple[Chain, int]],
    members: IndexArray,
    clusters: LabelArray,
) -> LabelArray:
    """The cluster of every row: of parts by their place in the splits, of some further members one by one."""

    @cache
    def part(chain: Chain) -> IndexArray:
        *above, (split, number) = chain
        mine: IndexArray = np.flatnonzero(splits[split] == number).astype(np.int32 if n < 2**31 else np.int64)
        return part(tuple(above))[mine] if above else mine

    labels = np.zeros(n, clusters.dtype)
    for chain, cluster in leaves:
        labels[part(chain) if chain else slice(None)] = cluster
    labels[members] = clusters
    return labels


def written(labels: LabelArray, start: int, folder: str, part: int, names: Mapping[int, str]) -> None:
    """Write number, cluster and name of every row as Parquet, to any address that fsspec knows."""
    import fsspec

    numbers = np.arange(start, start + len(labels))
    path, has_folders = f"{folder.rstrip('/')}/{_part(part)}", folder.split(":", 1)[0] not in STORES
    with _writing(folder), fsspec.open(path, "wb", auto_mkdir=has_folders) as file:
        labels_table(numbers, labels, names).write_parquet(file)


def tidied(folder: str, n_parts: int) -> None:
    """Remove the parts beyond these from a folder: they are of an export with more of them."""
    import fsspec

    mine = {_part(p) for p in range(n_parts)}
    with _writing(folder):
        system, path = fsspec.core.url_to_fs(folder)
        for old in system.glob(f"{path.rstrip('/')}/{_part('*')}"):
            if old.rsplit("/", 1)[-1] not in mine:
                system.rm(old)


def _part(number: int | str) -> str:
    return f"part-{number if isinstance(number, str) else f'{number:05d}'}.parquet"


@contextmanager
def _writing(folder: str) -> Iterator[None]:
    """One sentence in place of whatever a file system may say; whoever reads it may lack the error's package."""
    try:
        yield
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidDataError(f"The workers cannot write to {folder}: {reason}.") from None
