"""Where a session's data is: a note in the session file, so that no command needs the first one's options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cobras.data import Dataset, load_demo, read_dataset, read_recipe
from cobras.exceptions import DataChangedError, InvalidDataError, SessionFileError
from cobras.session import Session
from cobras.storage import Journal


def keep_source(session: Session, dataset: Dataset, path: Path | None) -> None:
    """Note in the session file which data it is about and how that was read."""
    source = None if path is None else str(path.absolute())
    if session.get_note("data") != source or session.get_note("recipe") != dataset.recipe:
        session.set_note(data=source, recipe=dataset.recipe)


def load_for_session(file: Path, path: Path | None) -> Dataset:
    """The data of an existing session file; `path` where the file's own note is not to be trusted."""
    if not file.is_file():
        raise SessionFileError(f"There is no session file {file}.")
    source, recipe = _notes(file)
    if recipe is not None and recipe.get("kind") == "bundled":
        return load_demo()
    if path is None:
        path = _found(file, source)
    return read_dataset(path) if recipe is None else read_recipe(path, recipe)


def load_for_asking(file: Path, path: Path, label: str | None, id: str | None, drop: list[str]) -> Dataset:
    """The data to ask about: read anew for a new session, and as it was read before for an old one."""
    recipe = _notes(file)[1] if file.is_file() and file.stat().st_size else None
    if recipe is None:
        return read_dataset(path, label=label, id=id, drop=drop)
    for option, given in (("label", label), ("id", id), ("drop", drop)):
        if given and given != recipe.get(option):
            before = recipe.get(option)
            kept = " ".join(
                f"--{option} {value}" for value in (before if isinstance(before, list) else [before])
            )
            raise DataChangedError(
                f"{file} was made {'with ' + kept if before else f'without --{option}'}. "
                f"Leave --{option} out, or begin another session with --session."
            )
    return load_for_session(file, path)


def _notes(file: Path) -> tuple[str | None, dict[str, Any] | None]:
    with Journal(file) as journal:  # the session itself opens only once its data is there
        return journal.get_meta("note:data"), journal.get_meta("note:recipe")


def _found(file: Path, source: str | None) -> Path:
    if source is None:
        raise InvalidDataError(f"{file} does not say where its data is; give the path of the data as well.")
    for path in (Path(source), file.absolute().parent / Path(source).name):  # both may have moved together
        if path.is_file():
            return path
    raise InvalidDataError(
        f"The data of {file} is gone: there is no {source}. Give its path if it has moved."
    )
