"""`cobras bench`: the paper's experiment, or one's own, from a TOML file to a report."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cobras.bench.results import Run
    from cobras.bench.trial import Trial

bench = typer.Typer(
    help="Compare methods as the COBRAS paper does.", no_args_is_help=True, rich_markup_mode=None
)

DATA = typer.Option(metavar="DIR", help="Where the data sets lie; else COBRAS_DATA, the cache, a download.")
JSON = typer.Option("--json", help="Print JSON and nothing else.")


@bench.command(
    "run", epilog="Example: cobras bench run experiments/paper.toml --method COBRAS --method COBRA-25"
)
def run(
    path: Annotated[
        Path, typer.Argument(metavar="EXPERIMENT", help="A .toml file; see docs/results/experiments.md.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where results go; beside the file by default.")
    ] = None,
    data: Annotated[Path | None, DATA] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this method. May be repeated.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this task. May be repeated.")
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes; -1 for one per core.")] = -1,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Make all runs of an experiment that are not there yet.

    Stop it whenever you like: the same command goes on from there.
    """
    from cobras.bench.experiment import read_experiment
    from cobras.bench.runner import run_experiment

    experiment = read_experiment(path)
    folder = out or path.with_suffix("")
    forecast = Forecast(jobs)
    try:
        with forecast.bar:
            n_made = run_experiment(
                experiment,
                folder,
                data=data,
                methods=method or [],
                tasks=task or [],
                n_jobs=jobs,
                watcher=forecast,
            )
    except KeyboardInterrupt:
        print("Stopped; the runs that had ended are saved, and the same command goes on.", file=sys.stderr)
        raise
    if as_json:
        print(json.dumps({"folder": str(folder), "n_runs": n_made, "n_runs_before": forecast.n_before}))
    else:
        print(
            f"{n_made} runs made, {forecast.n_before} were there. For the report: cobras bench report {folder}"
        )


@bench.command(
    "report",
    epilog="Example: cobras bench report experiments/adder.toml experiments/paper.toml --out docs/adder",
)
def report(
    experiments: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="EXPERIMENT...",
            help="The .toml file, or the folder of its results; experiments/paper.toml by default. Several with "
            "the same folds and seed make one report, up to the smallest number of queries, named after the first.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the report goes; with the results by default.")
    ] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Write figures, tables and a check-list of the paper's claims as HTML and Markdown."""
    from cobras.bench.report import write_report

    given = experiments or [Path("experiments/paper.toml")]
    folders = [path.with_suffix("") if path.suffix == ".toml" else path for path in given]
    page = write_report(*folders, out=out)
    print(json.dumps({"report": str(page)}) if as_json else page)


@bench.command("tasks", epilog="Example: cobras bench tasks --data ~/uci")
def tasks(data: Annotated[Path | None, DATA] = None, as_json: Annotated[bool, JSON] = False) -> None:
    """List the tasks of the paper, the unseen and the generated ones, and where their data was found.

    Rows of the file, missing cells (gaps), rows removed because they came twice, instances used, columns, number of
    classes (K), and the sizes of the smallest and the largest class.
    """
    from rich.table import Table

    from cobras.bench.tasks import describe_tasks
    from cobras.cli import make_console

    records = [asdict(record) for record in describe_tasks(data)]
    if as_json:
        print(json.dumps(records))
        return
    table = Table(box=None, padding=(0, 1, 0, 0))
    heads = {
        "name": "task",
        "where": "data",
        "n_rows": "rows",
        "n_missing": "gaps",
        "n_duplicates": "twice",
        "n_instances": "used",
        "n_features": "cols",
        "n_classes": "K",
        "smallest": "least",
        "largest": "most",
    }
    for name, head in heads.items():
        table.add_column(head, justify="left" if name in ("name", "where") else "right", no_wrap=True)
    for record in records:
        table.add_row(*("" if record[name] is None else str(record[name]) for name in heads))
    make_console().print(table)


class Forecast:
    """A bar with the time that is left, judged by what runs of the same method and task took."""

    def __init__(self, n_jobs: int) -> None:
        import joblib
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self.n_jobs: int = joblib.effective_n_jobs(n_jobs)
        self.n_before = 0
        self.bar = Progress(
            TextColumn("runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._waiting: dict[tuple[str, str], int] = defaultdict(int)
        self._cost: dict[tuple[str, str], tuple[float, int]] = {}

    def start(self, waiting: Sequence[Trial], done: Sequence[Mapping[str, Any]]) -> None:
        """Set up the bar."""
        # Runs of an earlier start tell how long the others will take.
        self.n_before = len(done)
        for run in done:
            self._count(run["method"], run["task"], run["seconds"])
        for trial in waiting:
            self._waiting[trial.contestant.name, trial.task.name] += 1
        self._row = self.bar.add_task("", total=len(waiting), left="")
        if self.bar.disable:
            print(f"{len(waiting)} runs to make on {self.n_jobs} processes.", file=sys.stderr)

    def add_run(self, run: Run) -> None:
        """Move the bar."""
        self._count(run.method, run.task, run.seconds)
        self._waiting[run.method, run.task] -= 1
        self.bar.update(self._row, advance=1, left=f"about {duration(self.seconds_left())} left")

    def seconds_left(self) -> float:
        """The cost of what waits: as before on the same task, else as the method's other tasks."""
        of_method: dict[str, list[float]] = defaultdict(list)
        for (method, _), (total, n) in self._cost.items():
            of_method[method].append(total / n)
        all_means = [mean for means in of_method.values() for mean in means] or [0.0]
        left = 0.0  # seconds of one process
        for (method, task), n_waiting in self._waiting.items():
            means = of_method.get(method, all_means)
            total, n = self._cost.get((method, task), (sum(means), len(means)))
            left += n_waiting * total / n
        return left / self.n_jobs

    def _count(self, method: str, task: str, seconds: float) -> None:
        total, n = self._cost.get((method, task), (0.0, 0))
        self._cost[method, task] = total + seconds, n + 1


def duration(seconds: float) -> str:
    """Hours and minutes, or minutes, or seconds.

    Examples
    --------
    >>> duration(59), duration(600), duration(5400)
    ('59 s', '10 min', '1 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
