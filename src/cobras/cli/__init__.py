"""The command `cobras`: one file per verb, one line per error; and what several verbs print.

Nothing heavy is imported before a verb runs, so that `cobras --help` answers at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from cobras.cli import ask, bench, demo, export, predict, run, serve
from cobras.cli.options import with_options

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module, verb in (
    (demo, demo.demo),
    (serve, serve.serve),
    (ask, ask.ask),
    (run, run.run),
    (export, export.export),
    (predict, predict.predict),
):
    app.command(epilog=module.EXAMPLE)(with_options(verb))
app.add_typer(bench.bench, name="bench")


@app.callback(invoke_without_command=True, epilog="Example: cobras demo")
def cobras(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from. Any verb takes it.")
    ] = False,
) -> None:
    """Cluster data the way you mean it: answer a few same-or-different questions."""
    if version:
        from cobras import __version__

        print(f"cobras {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the return value is its exit code.

    0 when all went well, 2 with one line on standard error when something was wrong with what was given, 130 after
    Ctrl-C.
    """
    # What polars frees goes back to the system after 0.1 s: a table of 160 MB then takes 590 MB in all, not 700.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:100,muzzy_decay_ms:0")
    if arguments is None:
        # Python processes that this one starts (dask, joblib) do not look for modules in the working directory: a
        # file numpy.py beside the data would be run.
        os.environ["PYTHONSAFEPATH"] = "1"
        # The name of a file need not be UTF-8; it is printed as it is.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="surrogateescape")
        if hasattr(signal, "SIGALRM") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            for number in (signal.SIGINT, signal.SIGALRM):
                signal.signal(number, _interrupt)
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Taken out here, because typer would accept it before the verb only.
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    umask = os.umask(0o077)  # which a verb on private data changes
    os.umask(umask)
    code = _run(given, debug)
    os.umask(umask)
    if arguments is None and any(thread.name.startswith("cobras-") for thread in threading.enumerate()):
        # The interpreter may abort when it ends while a thread computes; every answer is on disk by now.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):  # the terminal may be gone
                stream.flush()
        os._exit(code)
    return code


def _run(given: list[str], debug: bool) -> int:
    try:
        # Not standalone: errors are to reach the lines below instead of typer's own messages.
        return int(app(given, prog_name="cobras", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except SystemExit as end:  # a signal
        return int(end.code or 0)
    except Exception as error:
        if debug:
            traceback.print_exc()
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return 1 if _is_defect(error) else 2


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but not within an import, which could keep a lock that other threads wait for."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            signal.setitimer(signal.ITIMER_REAL, 0.02)  # and then once more
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _is_defect(error: Exception) -> bool:
    """Whether an error is our fault: neither a sentence of ours nor wrong usage."""
    from cobras.core.exceptions import CobrasError

    return not isinstance(error, CobrasError) and not hasattr(error, "format_message")


def _sentence(error: Exception) -> str:
    from cobras.core.exceptions import CobrasError

    if isinstance(error, CobrasError):
        return str(error).replace("random_state", "--seed")  # the shell's word for it
    if hasattr(error, "format_message"):  # wrong usage, in the words of the argument parser
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".")
        said += "" if said.endswith("?") else "."
        return f"{said} See {context.command_path if context else 'cobras'} --help."
    text = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {text[0]} (a defect of cobras; --debug shows where)"


def make_console() -> Console:
    """Return standard output as a console; what its encoding cannot hold is replaced, not an error."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, emoji=False, markup=False)


@contextlib.contextmanager
def status_line(console: Console, text: str) -> Iterator[None]:
    """Show what is being done until it is done; on a terminal only."""
    if not console.is_terminal:
        yield
        return
    from rich.control import Control
    from rich.segment import ControlType

    console.print(text, style="dim", end="", no_wrap=True, overflow="crop")
    try:
        yield
    finally:
        console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


def relative_path(path: Path) -> str:
    """Return the path from the current folder where it is below that, else as it is."""
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)


def summary(file: Path, *counts: str) -> str:
    """Return the last line of a verb that asks: where the answers are and how to export them."""
    name, out = shlex.quote(relative_path(file)), shlex.quote(f"{file.stem}-clusters.csv")
    said = f"{name}: {', '.join(counts)}" if counts else name
    return f"Saved in {said}. To export: {command_name()} export {name} --out {out}"


def command_name() -> str:
    """Return what to type for `cobras`: also where it is not on the PATH, as in a `.venv` that is not active."""
    given = Path(sys.argv[0])
    if shutil.which("cobras"):
        return "cobras"
    if given.name == "cobras":
        return shlex.quote(relative_path(given))
    if given.parts[-2:] == ("cobras", "__main__.py"):
        return f"{shlex.quote(relative_path(Path(sys.executable)))} -m cobras"
    return "cobras"
