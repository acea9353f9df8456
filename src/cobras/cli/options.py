"""What the command line says about the data, the method, the session file and the cluster, the same for all verbs.

Nothing heavy is imported here: `--help` reads this file.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

LOCAL = "local"
TO_CONNECT = 5  # seconds
# Ctrl-C in a terminal goes to every process of the group; the workers are to be ended by the client alone.
IGNORE_INTERRUPT = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"

FILES = (
    "A table (.csv, .tsv, .parquet, .jsonl, .xlsx, .arrow, .npy, .npz), a folder of Parquet, images or texts, or "
    "time series (.ts, or a table with --kind series)"
)
DataPath = Annotated[Path, typer.Argument(metavar="PATH", help=f"{FILES}; or a session file.")]
SessionPath = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where answers are kept. [default: beside the data, as NAME.cobras]"),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let a dask cluster read and split Parquet files: tcp://host:8786, or local for this machine.",
    ),
]

Grow = Annotated[
    bool | None,
    typer.Option(
        "--grow", help="Take in the rows that were added at the end of the data since the session began."
    ),
]
TYPE_HELP = "What a column is: number, category, text, date, or day-first or month-first for dates."
WEIGHT_HELP = "How much differences in a column count: 2 is twice, 0.5 half."


def repeatable(flag: str, metavar: str, words: str) -> Any:
    """Describe an option that may be given several times."""
    return typer.Option(flag, metavar=metavar, help=f"{words} May be repeated.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that `ask`, `run` and `serve` share; `with_options` adds them to a verb."""

    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column with known classes: never used, never shown."),
    ] = None
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")] = None
    drop: Annotated[list[str] | None, repeatable("--drop", "COLUMN", "A column to leave out.")] = None
    use: Annotated[
        list[str] | None, repeatable("--use", "COLUMN", "A column to use although it looks like a name.")
    ] = None
    types: Annotated[list[str] | None, repeatable("--type", "COLUMN=TYPE", TYPE_HELP)] = None
    weights: Annotated[list[str] | None, repeatable("--weight", "COLUMN=NUMBER", WEIGHT_HELP)] = None
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="table, text, image or series. [default: guessed]")
    ] = None
    text: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that holds texts.")] = None
    image: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that names image files.")
    ] = None
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own vectors, a row for each item, in place of the features."),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to compare: efficientnet, shapes or pixels for images, lsi or sentences for texts, dtw, "
            "kshape or points for series. [default: the first that is installed]",
        ),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The sheet of an Excel file. [default: the first that holds a table]"
        ),
    ] = None
    known: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|FILE",
            help="What is known before the first question: a column of labels with gaps, or a file of labels, "
            "must-links and cannot-links.",
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="adder, cobras, cobra, cobs, npu, explore_consolidate or min_max. [default: adder; cobras on "
            "a cluster]",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")] = (
        None
    )
    settings: Annotated[
        list[str] | None, repeatable("--set", "NAME=VALUE", "An option of the method, such as n_clusters=3.")
    ] = None
    grow: Grow = None
    scheduler: Scheduler = None

    @property
    def of_data(self) -> dict[str, Any]:
        """The arguments of `read_dataset` that were given."""
        names = ("label", "id", "drop", "use", "kind", "text", "image", "vectors", "features", "sheet")
        given = {name: value for name in names if (value := getattr(self, name))}
        if is_column(self.known) and self.known != self.label:
            # It would be a feature: the very thing that is to be found out.
            given["drop"] = [*given.get("drop", ()), self.known]
        if self.types:
            given["types"] = dict(_split_pair(pair, "--type", "zip=category") for pair in self.types)
        if self.weights:
            pairs = (_split_pair(pair, "--weight", "price=2") for pair in self.weights)
            given["weights"] = {name: _number(weight) for name, weight in pairs}
        return given

    @property
    def of_session(self) -> dict[str, Any]:
        """The arguments of `Session`; a value of --set that reads as JSON is a number, true, false or null."""
        from cobras.core.exceptions import InvalidDataError

        options: dict[str, Any] = {"method": self.method, "random_state": self.seed}
        for setting in self.settings or []:
            name, found, value = setting.partition("=")
            if not found or not name:
                raise InvalidDataError(f"--set takes NAME=VALUE, such as n_clusters=3, not {setting!r}.")
            try:
                options[name.strip()] = json.loads(value)
            except ValueError:
                options[name.strip()] = value
        return options


def _split_pair(pair: str, option: str, example: str) -> tuple[str, str]:
    """The column and the value of an option; the name of a column may hold =."""
    from cobras.core.exceptions import InvalidDataError

    name, found, value = pair.rpartition("=")
    if not found or not name:
        raise InvalidDataError(f"{option} takes COLUMN=VALUE, such as {example}, not {pair!r}.")
    return name, value.strip()


def _number(text: str) -> Any:
    """The number that a text holds, or the text itself, which the reader of the data refuses."""
    try:
        return float(text)
    except ValueError:
        return text


def with_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with an option for each field of `Options` in place of its parameter `options`.

    A field that the verb has a parameter of its own for, with another default or help, keeps that one.
    """
    own = dict(inspect.signature(verb, eval_str=True).parameters)
    if own.pop("options", None) is None:
        return verb
    hints = get_type_hints(Options, include_extras=True)
    names = [field.name for field in fields(Options)]
    shared = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[name])
        for name in names
    }

    @wraps(verb)
    def call(**given: Any) -> None:
        options = Options(**{name: given[name] for name in names})
        try:
            verb(**{name: given[name] for name in own}, options=options)
        except ValueError as error:
            if is_column(options.known) and f" has no column {options.known!r}; " in str(error):
                # What is no file is taken for a column, but either may have been meant.
                raise type(error)(f"There is no file {options.known}, and {error}") from None
            raise

    # typer reads the signature: first what is required, so that a usage line begins with PATH.
    merged = sorted({**shared, **own}.values(), key=lambda p: p.default is not p.empty)
    keywords = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in merged]
    call.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return call


def is_column(known: str | None) -> bool:
    """Whether `--known` names a column: everything that is no file does."""
    return known is not None and not Path(known).is_file()


def check_budget(max_queries: int | None) -> None:
    """Refuse a budget below zero."""
    from cobras.core.exceptions import InvalidDataError

    if max_queries is not None and max_queries < 0:
        raise InvalidDataError(f"--max-queries must be 0 or more, not {max_queries}.")


def is_session(path: Path) -> bool:
    """Whether a path is that of a session, not of data.

    Examples
    --------
    >>> is_session(Path("flowers.cobras"))
    True
    """
    return path.suffix == ".cobras" and not path.is_dir()


def session_file(path: Path, session: Path | None) -> Path:
    """Return where the answers about a path are kept.

    Examples
    --------
    >>> print(session_file(Path("my/flowers.csv"), None))
    my/flowers.cobras
    >>> print(session_file(Path("s3://bucket/flowers/*.parquet"), None))
    flowers.cobras
    """
    if is_session(path):
        if session is not None:
            raise_is_session(path)
        return path
    if session is not None:
        return session
    plain = path
    # A pattern means many files: the session is named after the folder they are in.
    while any(sign in plain.name for sign in "*?[") and not plain.exists():
        plain = plain.parent
    # An address is not a place where a file can be made: the session goes into the current folder.
    if re.match(r"[a-z][a-z0-9+.-]+:/", path.as_posix()) and not path.exists():
        return Path(f"{plain.stem or 'data'}.cobras")
    if plain.is_dir():
        plain = plain if plain.name not in ("", "..") else plain.resolve()
        usual, own = (
            plain.with_name(f"{plain.name or 'data'}{end}") for end in (".cobras", "-folder.cobras")
        )
    else:
        usual, own = plain.with_suffix(".cobras"), plain.with_name(f"{plain.name}.cobras")
    # A table may have the name of another one but for the suffix; each has its own session.
    return own if own.exists() or _is_about_another(usual, plain) else usual


def place_of_answers(path: Path | None, file: Path) -> str:
    """Return the sentence that says in which session file answers are kept, and why that has not the usual name."""
    from cobras.cli import relative_path

    reason = ""
    if path is not None and file.name == f"{path.name}.cobras":
        usual = file.with_name(f"{path.stem}.cobras")
        if usual != file and _is_about_another(usual, path):
            reason = f", since {relative_path(usual)} is about another file"
    return f"Answers are saved in {relative_path(file)}{reason}."


def check_session_file(file: Path) -> None:
    """Refuse data in place of the session file that must be given, and name that file where there is one."""
    from cobras.core.exceptions import SessionFileError

    if file.is_file():
        with suppress(OSError), file.open("rb") as opened:
            if opened.read(6) == b"SQLite":
                return
    kept = session_file(file, None)
    if kept != file and kept.is_file():
        raise SessionFileError(f"{file} is not a session file. The answers about it are in {kept}.")
    if not file.is_file():
        raise SessionFileError(f"There is no session file {file}.")
    if not is_session(file):
        raise SessionFileError(
            f"{file} is not a session file, and there are no answers about it yet. Begin with cobras serve {file}."
        )


def _is_about_another(file: Path, data: Path) -> bool:
    """Whether a session file is about another file that is still there, such as a table with another suffix."""
    if not file.is_file() or not data.exists():
        return False
    from cobras.core.exceptions import SessionFileError
    from cobras.session.file import stored_notes

    try:
        source, _ = stored_notes(file)
    except SessionFileError:  # whoever opens the session says what is wrong with it
        return False
    # The session may have been moved together with its data.
    if source is None or Path(source).name == data.name:
        return False
    places = (Path(source), file.absolute().with_name(Path(source).name))
    return any(place.exists() and not place.samefile(data) for place in places)


def raise_is_session(path: Path) -> None:
    """Refuse options beside a session file."""
    from cobras.core.exceptions import InvalidDataError

    raise InvalidDataError(
        f"{path.name} is a session file, which says all about its data; add no options for it."
    )


@contextmanager
def connect_dask(scheduler: str | None) -> Iterator[None]:
    """Connect to the dask cluster that is named, if any; "local" starts worker processes on this machine."""
    if scheduler is None:
        yield
        return
    import asyncio
    import logging

    from cobras.core.exceptions import InvalidDataError

    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InvalidDataError(
            "--scheduler needs dask, which is not installed; pip install 'cobras-clustering[dask]'."
        ) from None
    # After Ctrl-C, asyncio would report every task of dask that nobody waits for, and tornado what dask fails to
    # cancel, from their own thread: it is too late to silence them then. What matters is raised here anyway.
    for name in ("asyncio", "tornado.application", "distributed"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler == LOCAL:
        # A worker that starts slowly on a busy machine would otherwise be given up.
        patience = {"distributed.deploy.lost-worker-timeout": "1 day"}
        with (
            dask.config.set(patience),
            LocalCluster(
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # ":0" alone listens on all addresses
                silence_logs=logging.CRITICAL,  # an error on a worker is raised here anyway
                preload=IGNORE_INTERRUPT,
            ) as cluster,
            Client(cluster),
        ):
            yield
        return
    try:
        asyncio.run(_check_scheduler(scheduler))
        client = Client(scheduler)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidDataError(
            f"There is no dask scheduler at {scheduler}; give an address such as tcp://host:8786, or {LOCAL}."
        ) from error
    with client:
        if not client.nthreads():  # no error: some clusters start workers when there is work
            print(
                f"The scheduler {scheduler} has no workers yet; waiting for one.", file=sys.stderr, flush=True
            )
        yield


async def _check_scheduler(scheduler: str) -> None:
    """Connect once, with a time limit: a client would wait for ever where something else listens and is silent."""
    import asyncio

    from distributed import Security
    from distributed.comm import connect

    async with asyncio.timeout(TO_CONNECT):
        comm = await connect(scheduler, **Security().get_connection_args("client"))
        await comm.close()
