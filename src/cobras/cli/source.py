"""From the data of a verb to a session on it.

A session file notes where its data is and how it was read, so that later commands need no options.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobras.cli.options import Options, is_session, raise_is_session
from cobras.core.checks import is_dask
from cobras.core.exceptions import DataChangedError, InvalidDataError, SessionFileError
from cobras.data import Dataset, load_demo, read_dataset, read_recipe
from cobras.data.guess import Choices
from cobras.data.read import recipe_choices
from cobras.data.recipe import Recipe
from cobras.data.tables.files import is_pattern, url_of
from cobras.data.tables.remote import read_remote
from cobras.methods.registry import default_method, registration
from cobras.session.journal import Journal

if TYPE_CHECKING:
    from cobras.session.session import Session


def load_data(path: Path | None, file: Path, options: Options) -> Dataset:
    """Return the data to ask about: the bundled digits without a path, else new data, or that of a session file."""
    if path is None:
        return load_demo()
    if is_session(path):
        if options.of_data:
            raise_is_session(path)
        return load_for_session(path, None, options.scheduler)
    recipe = _notes(file)[1] if file.is_file() and file.stat().st_size else None
    if recipe is None:
        return read_source(path, options)
    # Options may be repeated, but not changed: other features would be another table.
    choices = Choices(**options.of_data)
    for option in options.of_data:
        before = getattr(recipe, option)
        if getattr(choices, option) != before:
            kept = " ".join(
                f"--{option} {value}" for value in (before if isinstance(before, tuple) else [before])
            )
            raise DataChangedError(
                f"{file} was made {'with ' + kept if before else f'without --{option}'}. "
                f"Leave --{option} out, or begin another session with --session."
            )
    return load_for_session(file, path, options.scheduler)


def keep_private(path: Path) -> None:
    """Let all files that this process makes from now on be as private as the data that they are made from."""
    if path.exists():
        mode = path.stat().st_mode
        hidden = (0 if mode & 0o040 else 0o070) | (0 if mode & 0o004 else 0o007)
        os.umask(os.umask(0o077) | hidden)


def read_source(path: Path, options: Options) -> Dataset:
    """Read data for the first time, by a cluster where a scheduler is given."""
    keep_private(path)
    if options.scheduler is not None:
        return read_remote(path, Choices(**options.of_data))
    if (address := url_of(path)) is not None:
        raise InvalidDataError(
            f"{address} is not a file of this machine; add --scheduler tcp://host:8786, or --scheduler local, "
            "to let a dask cluster read it."
        )
    with show_reading() as progress:
        return read_dataset(path, **options.of_data, progress=progress)


def load_for_session(file: Path, path: Path | None, scheduler: str | None = None) -> Dataset:
    """Read the data of an existing session file, from `path` or from where the file says that it is."""
    if not file.is_file():
        raise SessionFileError(f"There is no session file {file}.")
    source, recipe = _notes(file)
    if recipe is not None and recipe.kind == "bundled":
        return load_demo()
    if path is None:
        path = _find_data(file, source)
    keep_private(path)
    if recipe is None:
        return read_dataset(path)
    if recipe.remote:
        if scheduler is None:
            raise InvalidDataError(
                f"The data of {file} is read by a cluster; add --scheduler, as at the beginning."
            )
        return read_remote(path, recipe_choices(recipe), recipe)
    with show_reading() as progress:
        return read_recipe(path, recipe, progress)


def open_for(path: Path | None, dataset: Dataset, file: Path, **options: Any) -> Session:
    """Open or create the session file of a verb, and note in it where its data is."""
    session = open_session(dataset, file, **options)
    data = None if path is None or is_session(path) else path
    if data is not None or session.get_note("recipe") is None:
        keep_source(session, dataset, data)
    return session


def keep_source(session: Session, dataset: Dataset, path: Path | None) -> None:
    """Note in the session file which data it is about and how that was read."""
    source = None if path is None else url_of(path) or str(path.absolute())
    # Never another recipe: with one that was guessed from a table with more columns, the first is not readable.
    recipe = session.get_note("recipe") or dataset.recipe.to_json()
    # Written only where it changed, so that looking at a session does not touch its file.
    if session.get_note("data") != source or session.get_note("recipe") != recipe:
        session.set_note(data=source, recipe=recipe)


def open_session(dataset: Dataset, file: Path | None, **options: Any) -> Session:
    """Return a session on a data set, in a file that is created or resumed, or in memory without a file.

    Unless a method is named, a new session has the one that makes most of the answers: ADDER where the rows are at
    hand and not so many that its first question takes long, COBRAS for series and on a cluster.
    """
    from cobras.session.session import Session  # while the data is read, another thread imports it

    X: Any = dataset.X
    distance: Any = dataset.recipe.features
    method = options.get("method")
    is_new = file is None or not file.is_file() or not file.stat().st_size
    if dataset.series is None or distance not in ("dtw", "kshape"):
        if is_new and method is None:
            options["method"] = default_method(None if is_dask(X) else len(X))
    else:
        from cobras.spaces.series import SeriesSpace

        if method is not None and registration(method).needs_rows:
            raise InvalidDataError(f"{method} clusters rows of numbers, not series; add --features points.")
        if is_new and method in (None, "cobras"):
            # The better choice with series: see docs/guides/series.md.
            options = {"branch": "smallest", **options}
        with show_reading() as progress:
            X = SeriesSpace(
                dataset.series,
                distance=distance,
                n_jobs=os.cpu_count() or 1,
                progress=lambda part: progress(round(100 * part), 100),
            )
            X.root(0)  # compares all pairs
    return Session(X, **options) if file is None else Session.open(file, X, **options)


@contextmanager
def show_reading() -> Iterator[Callable[[int, int], None]]:
    """Draw a bar on standard error once reading has taken two seconds; on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console, begin = Console(stderr=True), time.monotonic()
    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("")

    def progress(done: int, total: int) -> None:
        if time.monotonic() - begin > 2:
            bar.start()
            bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()


def _notes(file: Path) -> tuple[str | None, Recipe | None]:
    with Journal(file) as journal:  # the session itself opens only once its data is there
        stored = journal.get_meta("note:recipe")
        return journal.get_meta("note:data"), None if stored is None else Recipe.from_json(stored)


def _find_data(file: Path, source: str | None) -> Path:
    if source is None:
        raise InvalidDataError(f"{file} does not say where its data is; give the path of the data as well.")
    if url_of(Path(source)) is not None or is_pattern(Path(source)):
        return Path(source)
    # The second place: the data and the session file may have been moved together.
    for path in (Path(source), file.absolute().parent / Path(source).name):
        if path.exists():
            return path
    raise InvalidDataError(
        f"The data of {file} is gone: there is no {source}. Give its path if it has moved."
    )
