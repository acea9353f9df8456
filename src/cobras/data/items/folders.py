"""Folders of images or texts: which of both a folder holds, its files, and the table of their names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import Choices, Kind
from cobras.data.items.images import Images, Progress, read_images
from cobras.data.items.texts import Texts, is_text, texts_of_files
from cobras.data.tables.columns import name_list
from cobras.data.tables.files import IMAGES

TEXTS = frozenset({".txt", ".md", ".text", ".rst", ".tex", ".html", ".htm", ".eml", ".log"})
FILE, FOLDER = "file", "folder"  # the columns of a folder's table


@dataclass(frozen=True, slots=True)
class FolderItems:
    """The images or texts of a folder.

    Attributes
    ----------
    source : str
        What the folder is called.
    kind : {"image", "text"}
    content : Images or Texts
    frame : polars.DataFrame
        The table of the folder: one row for each file that could be read.
    ids, id_columns
        The names of the files, and the columns that hold them.
    hidden : list of str
        The columns that are not shown.
    notes : list of str
    """

    source: str
    kind: Kind
    content: Images | Texts
    frame: pl.DataFrame
    ids: npt.NDArray[Any]
    id_columns: list[str]
    hidden: list[str]
    notes: list[str]


def read_folder(
    folder: Path, choices: Choices, progress: Progress | None, scales: tuple[float, ...] = ()
) -> FolderItems:
    """Read the images or texts of a folder; `scales` are those of older images to compare with."""
    kind, files, advice, notes = _list_folder(folder, choices)
    choices.check_features(kind)
    source = folder.name or str(folder)
    content: Images | Texts
    if kind == "image":
        content = read_images(source, files, choices, notes, progress, (), scales)
        files = [photo.path for photo in content.photos]
    else:
        listed, files = files, [path for path in files if is_text(path)]
        if broken := [file_name(folder, path) for path in sorted(set(listed) - set(files))]:
            notes.append(
                f"Left out {len(broken)} file{'s' * (len(broken) > 1)} without text: {name_list(broken)}."
            )
        content = texts_of_files(files)
    # After those that cannot be read were left out, so that the number is that of the items.
    notes.insert(0, f"Read as {_count(files, kind)} in {source}. ({advice})")
    frame = _file_table(folder, files)
    choices.check(source, frame.columns)
    ids, id_columns = _file_ids(frame, choices.label)
    # Where folders are the classes to be found, the name of a file would tell its folder.
    hidden = list(choices.drop) if choices.label is None else [*choices.drop, FILE, FOLDER]
    return FolderItems(source, kind, content, frame, ids, id_columns, hidden, notes)


def _list_folder(folder: Path, choices: Choices) -> tuple[Kind, list[Path], str, list[str]]:
    """The kind of a folder, its files in the order of their names, how to have another kind, and notes.

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
    advice = (
        f"--kind {other} for the {_count(found[other], other)}"
        if found[other]
        else "guessed from their names"
    )
    notes = []
    if n_outside:
        notes.append(f"Left out {n_outside} link{'s' * (n_outside > 1)} that lead out of the folder.")
    return kind, sorted(found[kind], key=lambda path: file_name(folder, path)), advice, notes


def _count(files: Sequence[Path], kind: Kind) -> str:
    """How many files there are of a kind, in words."""
    return f"{len(files)} {kind}{'s' * (len(files) != 1)}"


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


def _file_table(folder: Path, files: list[Path]) -> pl.DataFrame:
    """Return the table of a folder: the name of each file, and its own folder where there are several."""
    names = [file_name(folder, path) for path in files]
    columns = {FILE: names}
    folders = [name.rpartition("/")[0] for name in names]
    if any(folders):
        columns[FOLDER] = folders
    return pl.DataFrame(columns)


def _file_ids(frame: pl.DataFrame, label: str | None) -> tuple[npt.NDArray[np.object_], list[str]]:
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
