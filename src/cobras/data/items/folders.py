"""A folder of images or texts: which files in it count, and what they are called."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import IMAGES, TEXTS, Choices, Kind

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
    notes = [f"Read as {len(found[kind])} {kind}s in {folder.name or folder}. ({_otherwise(kind, found)})"]
    if n_outside:
        notes.append(f"Left out {n_outside} link{'s' * (n_outside > 1)} that lead out of the folder.")
    return kind, sorted(found[kind], key=lambda path: relative(folder, path)), notes


def _kind(folder: Path, choices: Choices, found: dict[Kind, list[Path]], others: Counter[str]) -> Kind:
    if choices.kind in ("table", "series"):
        raise InvalidDataError(
            f"{folder} is a folder, which is read as image or text; give a file for {choices.kind}."
        )
    for option, given in (("text", choices.text), ("image", choices.image)):
        if given is not None:
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


def _otherwise(kind: Kind, found: dict[Kind, list[Path]]) -> str:
    other: Kind = "text" if kind == "image" else "image"
    return (
        f"--kind {other} for the {len(found[other])} {other}s" if found[other] else "guessed from their names"
    )


def relative(folder: Path, path: Path) -> str:
    """The name of a file within its folder, with slashes; what is no text in it is replaced."""
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode()


def table_of(folder: Path, files: list[Path]) -> pl.DataFrame:
    """What is exported of a folder: the name of each file, and the folder in it, if there are several."""
    names = [relative(folder, path) for path in files]
    columns = {FILE: names}
    folders = [name.rpartition("/")[0] for name in names]
    if any(folders):
        columns[FOLDER] = folders
    return pl.DataFrame(columns)


def names_of(frame: pl.DataFrame, label: str | None) -> tuple[npt.NDArray[np.object_], list[str]]:
    """What the files are called on cards and in exports, and the columns that say so.

    Where folders are the classes to be found, a name must not tell: it is the file's own, or a number.
    """
    names = frame[FILE]
    if label is not None:
        bare = [name.rpartition("/")[2] for name in names]
        if len(set(bare)) < len(bare):
            return np.arange(frame.height).astype(object), []
        return np.array(bare, dtype=object), []
    return names.to_numpy().astype(object), [FILE]
