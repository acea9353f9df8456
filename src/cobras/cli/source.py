"""From the data of a verb to a session on it.

A session file notes where its data is and how it was read, so that later commands need no options.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobras.cli.options import Options, is_session, raise_is_session
from cobras.core.exceptions import DataChangedError, DataGrownError, InvalidDataError, SessionFileError
from cobras.data import Dataset, load_demo, read_dataset, read_recipe
from cobras.data.guess import Choices
from cobras.data.newitems import notes_on_added_rows
from cobras.data.read import read_choices
from cobras.data.recipe import Recipe
from cobras.data.resume import recipe_choices
from cobras.data.tables.files import is_pattern, url_of
from cobras.data.tables.large.remote import read_remote
from cobras.methods.registry import registration
from cobras.session.file import holds_session, stored_notes
from cobras.session.journal import Journal

if TYPE_CHECKING:
    from cobras.session.session import Session


def load_data(path: Path | None, file: Path, options: Options, required: str | None = None) -> Dataset:
    """Return the data to ask about: the bundled digits without a path, else new data, or that of a session file.

    `required` is an option that the verb cannot do without.
    """
    if path is None:
        return load_demo()
    if is_session(path):
        if options.of_data:
            raise_is_session(path)
        return load_for_session(path, None, options.scheduler)
    _, recipe = _notes(file)
    if recipe is None:
        return read_source(path, options)
    # Options may be repeated, but once something was said not changed: other features would be another table.
    choices = Choices(**options.of_data)
    for option in options.of_data:
        before, name = getattr(recipe, option), {"types": "type", "weights": "weight"}.get(option, option)
        if option == "drop" and not options.drop:
            name = "known"
        if option == "label" and before is None and choices.label in recipe.drop:
            continue  # what was left out was neither used nor shown, and nor is a label
        if getattr(choices, option) != before:
            if _is_unused(file):
                dataset = read_source(path, options)
                file.unlink()
                return dataset
            values = before if isinstance(before, tuple) else [before]
            kept = " ".join(
                f"--{name} {_pair(value) if isinstance(value, tuple) else value}" for value in values
            )
            made, do = (
                ("with " + kept, "Give the same") if before else (f"without --{name}", f"Leave --{name} out")
            )
            ways = "Begin" if not before and option == required else f"{do}, or begin"
            raise DataChangedError(f"{file} was made {made}. {ways} another session with --session.")
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


def load_for_session(
    file: Path, path: Path | None, scheduler: str | None = None, beside: Path | None = None
) -> Dataset:
    """Read the data of an existing session file, from `path` or from where the file says that it is.

    Data that has moved is looked for `beside` the session file; `file` itself may be a copy of that.
    """
    if not file.is_file():
        raise SessionFileError(f"There is no session file {file}.")
    source, recipe = _notes(file)
    if recipe is not None and recipe.kind == "bundled":
        return load_demo()
    if path is None:
        path = _find_data(beside or file, source)
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


def open_for(
    path: Path | None,
    dataset: Dataset,
    file: Path,
    known: str | None = None,
    *,
    grow: bool | None = None,
    **options: Any,
) -> Session:
    """Open or create the session file of a verb, with what is known, and note in it where its data is."""
    is_new = not holds_session(file)
    session = open_session(dataset, file, grow=grow, **options)
    try:
        if known is not None:
            from cobras.cli.known import add_known

            add_known(session, dataset, known)
    except BaseException:
        session.close()
        if is_new:
            file.unlink()
        raise
    data = None if path is None or is_session(path) else path
    if data is not None or session.get_note("recipe") is None:
        keep_source(session, dataset, data)
    # What is there now stays. Otherwise Python looks at all of it now and then, in the middle of an answer, which
    # takes 0.12 s for the 0.2 million objects of the libraries.
    gc.collect()
    gc.freeze()
    return session


@dataclass(frozen=True, slots=True)
class FileSource:
    """Data in files of this machine, which a page may read in another way, and its session file."""

    path: Path
    file: Path

    @classmethod
    def of(cls, path: Path | None, file: Path, dataset: Dataset) -> FileSource | None:
        """The source of data that was read; None of what can only be read in one way."""
        if dataset.is_remote or dataset.recipe.kind in ("bundled", "series"):
            return None
        return cls(_find_data(file, _notes(file)[0]) if path is None or is_session(path) else path, file)

    def read(self, choices: Choices) -> Dataset:
        """The data, read by these choices."""
        return read_choices(self.path, choices)

    def begin_again(self, session: Session, dataset: Dataset) -> tuple[Session, str]:
        """Close a session and return one on the same rows with other features, in the same file.

        Also the name of the file in which the old one is kept; empty where nothing had been done in it.
        """
        new = self.file.with_name(f".{self.file.name}.new")
        new.unlink(missing_ok=True)
        method, kept = session.parameters["method"], ""
        try:
            with session.carry_over(new, dataset.X) as carried:
                carried.set_note(data=session.get_note("data"), recipe=dataset.recipe.to_json())
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        has_content = session.can_undo or session.can_redo
        session.close()
        if has_content:
            numbers = (self.file.with_name(f"{self.file.stem}-{k}{self.file.suffix}") for k in count(1))
            old = next(path for path in numbers if not path.exists())
            kept = old.name
            try:
                os.link(self.file, old)  # so that there is a session file of the usual name at every moment
            except OSError:  # some file systems have no second names
                self.file.rename(old)
        new.replace(self.file)
        return open_session(dataset, self.file, method=method), kept


def keep_source(session: Session, dataset: Dataset, path: Path | None) -> None:
    """Note in the session file which data it is about and how that was read."""
    source = None if path is None else url_of(path) or str(path.absolute())
    # Never another recipe: with one that was guessed from a table with more columns, the first is not readable.
    recipe = session.get_note("recipe") or dataset.recipe.to_json()
    # Written only where it changed, so that looking at a session does not touch its file.
    if session.get_note("data") != source or session.get_note("recipe") != recipe:
        session.set_note(data=source, recipe=recipe)


def open_session(dataset: Dataset, file: Path | None, *, grow: bool | None = None, **options: Any) -> Session:
    """Return a session on a data set, in a file that is created or resumed, or in memory without a file.

    Unless a method is named, a new session has the one that makes most of the answers, see `Session`. Rows that
    were added at the end of the data are taken in with `grow`, and refused without.
    """
    from cobras.session.session import Session  # while the data is read, another thread imports it

    X: Any = dataset.X
    method = options.get("method")
    is_new = file is None or not holds_session(file)
    if dataset.series is not None and (distance := dataset.distance) is not None:
        from cobras.spaces.series import SeriesSpace

        if method is not None and not registration(method).takes_series:
            raise InvalidDataError(f"{method} clusters rows of numbers, not series; add --features points.")
        if is_new and method == "cobras":
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
    if file is None:
        return Session(X, **options)
    try:
        session = open_whole(file, X, **options)
    except DataGrownError as error:
        if not grow:
            raise
        # What does not fit is said before anything is written.
        notes = notes_on_added_rows(dataset, error.n_before, Path(_notes(file)[0] or file.stem).name)
        session = open_whole(file, X, grow=True, **options)
        n_added = error.n_rows - error.n_before
        took_in = f"Took in {n_added} row{'s' * (n_added > 1)} at the end."
        print("\n".join([took_in, *notes]), file=sys.stderr)
    # The rows that are shown are those of the data set, which undo cannot make fewer.
    session.keeps_rows = True
    return session


def open_whole(file: Path, X: Any, *, grow: bool = False, **options: Any) -> Session:
    """Open a session file that has all rows of X; with `grow`, add those that it lacks."""
    from cobras.session.session import Session

    session = Session.open(file, X, grow=grow, **options)
    n = session.space.n
    if isinstance(X, np.ndarray) and n < len(X):  # the others were taken back
        if not grow:
            session.close()
            raise DataGrownError(file.name, n, len(X))
        session.append(X[n:])
    return session


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
    source, recipe = stored_notes(file)
    return source, None if recipe is None else Recipe.from_json(recipe)


def _is_unused(file: Path) -> bool:
    with Journal(file) as journal:
        return not journal.events()


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
        f"The data of {file} is gone: there is no {source}. If it has moved, say where: "
        f"cobras serve PATH --session {file}, or --data PATH for export and predict."
    )


def _pair(pair: tuple[str, str | float]) -> str:
    name, value = pair
    return f"{name}={value if isinstance(value, str) else f'{value:g}'}"
