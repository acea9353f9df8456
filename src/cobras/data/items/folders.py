"""Folders of images or texts: which of both a folder holds, its files, and the table of their names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import Choices, Kind
from cobras.data.tables.files import IMAGES

TEXTS = frozenset({".txt", ".md", ".text", ".rst", ".tex", ".html", ".htm", ".eml", ".log"})
FILE, FOLDER = "file", "folder"  # the columns of a folder's table


def list_folder(folder: Path, choices: Choices) -> tuple[Kind, list[Path], list[str]]:
    """The kind of a folder, its files in the order of their names, and notes.

    Hidden files are passed over, and so are links that lead out of the folder.
    """
    found: dict[Kind, list[Path]] = {"image": [], "text": []}
    others: Counter[str] = Counter()
    n_outside, home = 0, folder.resolve()
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(where, name)
            if name.startswith(".") or not path.is_file():  # a pipe would be waited for
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(home):
                n_outside += 1
                continue
            suffix = path.suffix.lower()
            kind: Kind | None = "image" if suffix in IMAGES else "text" if suffix in TEXTS else None
            if kind is None:
                others[suffix or "none"] += 1
            else:
                found[kind].append(path)
    kind = _kind(folder, choices, found, others)
    other: Kind = "text" if kind == "image" else "image"
    advice = f"--kind {other} for the {_count(found, other)}" if found[other] else "guessed from their names"
    notes = [f"Read as {_count(found, kind)} in {folder.name or folder}. ({advice})"]
    if n_outside:
        notes.append(f"Left out {n_outside} link{'s' * (n_outside > 1)} that lead out of the folder.")
    return kind, sorted(found[kind], key=lambda path: file_name(folder, path)), notes


def _count(found: Mapping[Kind, Sequence[Path]], kind: Kind) -> str:
    """How many files there are of a kind, in words."""
    return f"{len(found[kind])} {kind}{'s' * (len(found[kind]) != 1)}"


def _kind(folder: Path, choices: Choices, found: dict[Kind, list[Path]], others: Counter[str]) -> Kind:
    if choices.kind in ("table", "series"):
        raise InvalidDataError(
            f"{folder} is a folder, which is read as image or text; give a file for {choices.kind}."
        )
    if choices.text is not None or choices.image is not None:
        option = "image" if choices.text is None else "text"
        raise InvalidDataError(
            f"{folder} is a folder; {option} names a column of a table. Use kind={option!r}."
        )
    kind: Kind = "image" if len(found["image"]) >= len(found["text"]) else "text"
    if choices.kind is not None:
        kind = "image" if choices.kind == "image" else "text"
    if not found[kind]:
        there = ", ".join(f"{n} {suffix}" for suffix, n in others.most_common(5))
        raise InvalidDataError(
            f"{folder} holds no {'images or texts' if choices.kind is None else f'{kind}s'}"
            f"{f', but {there}' if there else ''}; give a table, or a folder of images or texts."
        )
    return kind


def file_name(folder: Path, path: Path) -> str:
    """The name of a file within its folder, with slashes; what is no text in it is replaced."""
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode()


def file_table(folder: Path, files: list[Path]) -> pl.DataFrame:
    """Return the table of a folder: the name of each file, and its own folder where there are several."""
    names = [file_name(folder, path) for path in files]
    columns = {FILE: names}
    folders = [name.rpartition("/")[0] for name in names]
    if any(folders):
        columns[FOLDER] = folders
    return pl.DataFrame(columns)


def file_ids(frame: pl.DataFrame, label: str | None) -> tuple[npt.NDArray[np.object_], list[str]]:
    """Return the names of the files on cards and in exports, and the columns that hold them.

    Where folders are the classes to be found, a name must not tell: it is the file's own, or a number.
    """
    names = frame[FILE]
    if label is not None:
        bare = [name.rpartition("/")[2] for name in names]
        if len(set(bare)) < len(bare):
            return np.arange(frame.height).astype(object), []
        return np.array(bare, dtype=object), []
    return names.to_numpy().astype(object), [FILE]
