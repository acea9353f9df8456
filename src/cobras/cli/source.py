"""Where a session's data is: a note in the session file, so that no command needs the first one's options."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobras.cli.options import DataOptions, is_session
from cobras.core.checks import is_dask
from cobras.core.exceptions import DataChangedError, InvalidDataError, SessionFileError
from cobras.data import Dataset, load_demo, read_dataset, read_recipe
from cobras.data.read import choices_of, recipe_choices
from cobras.data.recipe import Recipe
from cobras.data.tables.parquet import has_pattern
from cobras.data.tables.remote import as_url, read_remote
from cobras.methods.registry import default_method, registration
from cobras.session.journal import Journal

if TYPE_CHECKING:
    from cobras.session.session import Session


def keep_source(session: Session, dataset: Dataset, path: Path | None) -> None:
    """Note in the session file which data it is about and how that was read."""
    source = None if path is None else as_url(path) or str(path.absolute())
    recipe = dataset.recipe.to_json()
    if session.get_note("data") != source or session.get_note("recipe") != recipe:
        session.set_note(data=source, recipe=recipe)


def read_source(
    path: Path, options: DataOptions, scheduler: str | None, progress: Callable[[int, int], None]
) -> Dataset:
    """Read data anew, by a cluster where a scheduler is given."""
    if scheduler is not None:
        return read_remote(path, choices_of(**options.given()))  # type: ignore[arg-type]
    if (address := as_url(path)) is not None:
        raise InvalidDataError(
            f"{address} is not a file of this machine; add --scheduler tcp://host:8786, or --scheduler local, "
            "to let a dask cluster read it."
        )
    return read_dataset(path, **options.given(), progress=progress)  # type: ignore[arg-type]


def load_data(path: Path, file: Path, options: DataOptions, scheduler: str | None = None) -> Dataset:
    """The data to ask about: read anew for a new session, and as it was read before for an old one."""
    if is_session(path):
        if options.given():
            raise InvalidDataError(
                f"{path.name} is a session file, which says all about its data; add no options for it."
            )
        return load_for_session(path, None, scheduler)
    recipe = _notes(file)[1] if file.is_file() and file.stat().st_size else None
    if recipe is None:
        with showing_progress() as progress:
            return read_source(path, options, scheduler, progress)
    for option, given in options.given().items():
        before = getattr(recipe, option)
        if isinstance(given, list):
            given = tuple(given)
        if (str(Path(str(given)).absolute()) if option == "vectors" else given) != before:
            kept = " ".join(
                f"--{option} {value}" for value in (before if isinstance(before, tuple) else [before])
            )
            raise DataChangedError(
                f"{file} was made {'with ' + kept if before else f'without --{option}'}. "
                f"Leave --{option} out, or begin another session with --session."
            )
    return load_for_session(file, path, scheduler)


def load_for_session(file: Path, path: Path | None, scheduler: str | None = None) -> Dataset:
    """The data of an existing session file; `path` where the file's own note is not to be trusted."""
    if not file.is_file():
        raise SessionFileError(f"There is no session file {file}.")
    source, recipe = _notes(file)
    if recipe is not None and recipe.kind == "bundled":
        return load_demo()
    if path is None:
        path = _found(file, source)
    if recipe is None:
        return read_dataset(path)
    if recipe.remote:
        if scheduler is None:
            raise InvalidDataError(
                f"The data of {file} is read by a cluster; add --scheduler, as at the beginning."
            )
        return read_remote(path, recipe_choices(recipe), recipe)
    with showing_progress() as progress:
        return read_recipe(path, recipe, progress)


def open_session(dataset: Dataset, file: Path | None, **options: Any) -> Session:
    """A session on a data set, in a file that is created or resumed; series are compared as series.

    Unless a method is named, a new session has the one that makes most of the answers: ADDER where the rows are at
    hand and not so many that its first question takes long, COBRAS for series and on a cluster.
    """
    X: Any = dataset.X
    distance: Any = dataset.recipe.features
    is_new = file is None or not file.is_file() or not file.stat().st_size
    if dataset.series is None or distance not in ("dtw", "kshape"):
        if is_new and options.get("method") is None:
            options["method"] = default_method(None if is_dask(X) else len(X))
        return _opened(X, file, options)
    from cobras.spaces.series import SeriesSpace

    if (method := options.get("method")) is not None and registration(method).needs_rows:
        raise InvalidDataError(f"{method} clusters rows of numbers, not series; add --features points.")
    if is_new and method in (None, "cobras"):
        options = {"branch": "smallest", **options}  # the better choice with series: see docs/series.md
    with showing_progress() as progress:
        X = SeriesSpace(
            dataset.series,
            distance=distance,
            n_jobs=os.cpu_count() or 1,
            progress=lambda part: progress(round(100 * part), 100),
        )
        X.root(0)  # compares all pairs
    return _opened(X, file, options)


def _opened(X: Any, file: Path | None, options: dict[str, Any]) -> Session:
    from cobras.session.session import Session  # while the data is read, another thread loads it

    if file is None:
        return Session(X, **options)
    return Session.open(file, X, **options)


@contextmanager
def showing_progress() -> Iterator[Callable[[int, int], None]]:
    """What draws a bar on standard error once reading has taken two seconds; on a terminal only."""
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


def _found(file: Path, source: str | None) -> Path:
    if source is None:
        raise InvalidDataError(f"{file} does not say where its data is; give the path of the data as well.")
    if as_url(Path(source)) is not None or has_pattern(Path(source)):
        return Path(source)
    for path in (Path(source), file.absolute().parent / Path(source).name):  # both may have moved together
        if path.exists():
            return path
    raise InvalidDataError(
        f"The data of {file} is gone: there is no {source}. Give its path if it has moved."
    )
