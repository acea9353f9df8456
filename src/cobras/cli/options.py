"""What the command line says about the data, the method, the session file and the cluster, the same for all verbs.

Nothing heavy is imported here: `--help` reads this file.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

LOCAL = "local"
TO_CONNECT = 5  # seconds
# Ctrl-C in a terminal goes to every process of the group; the workers are to be ended by the client alone.
IGNORE_INTERRUPT = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"

DataPath = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A table (.csv, .tsv, .parquet, .jsonl, .xlsx, .arrow, .npy, .npz), a folder of Parquet, images or "
        "texts, time series (.ts, or a table with --kind series), or a session file.",
    ),
]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that `ask`, `run` and `serve` share; `with_options` adds them to a verb."""

    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column with known classes: never used, never shown."),
    ] = None
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")] = None
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out. May be repeated.")
    ] = None
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
            help="How to compare: efficientnet or pixels for images, lsi or sentences for texts, dtw, kshape or "
            "points for series. [default: the first that is installed]",
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="adder, cobras, cobra, cobs, npu, explore_consolidate or min_max. [default: adder; cobras "
            "for series, on a cluster and beyond 200,000 rows]",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same seed asks the same questions.")] = (
        None
    )
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the method, such as n_clusters=3. May be repeated.",
        ),
    ] = None
    scheduler: Scheduler = None

    @property
    def of_data(self) -> dict[str, Any]:
        """The arguments of `read_dataset` that were given."""
        names = ("label", "id", "drop", "kind", "text", "image", "vectors", "features")
        return {name: value for name in names if (value := getattr(self, name))}

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
        verb(**{name: given[name] for name in own}, options=options)

    # typer reads the signature: first what is required, so that a usage line begins with PATH.
    merged = sorted({**shared, **own}.values(), key=lambda p: p.default is not p.empty)
    keywords = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in merged]
    call.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return call


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
        named = plain if plain.name not in ("", "..") else plain.resolve()
        return named.with_name(f"{named.name or 'data'}.cobras")
    return plain.with_suffix(".cobras")


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
    # After Ctrl-C, asyncio would report every task of dask that nobody waits for, from its own thread: it is too
    # late to silence it then. What matters to the command is raised here anyway.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
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
