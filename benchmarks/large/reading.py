"""From the command to the first question on a large CSV file, beside what polars needs to read it.

    python -m benchmarks.large.reading [--rows 1000000]

Two files of 20 columns: fractions only, and a mix of fractions, whole numbers, words, dates and gaps. Each line has
the seconds of `polars.read_csv` in a process of its own, start and import included, and those of `cobras ask` from
its start to its first question, taken in turn, the median of five each and the median of their ratios; the largest
memory of `cobras ask` as the system measures it, with all libraries, in multiples of the feature matrix; and what
of it is beyond what `cobras ask` takes on ten rows.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

from cobras.data import read_dataset

N_COLUMNS = 20
N_RUNS = 5
ASK = "import sys; from cobras.cli import main; sys.exit(main(['ask', *sys.argv[1:]]))"
QUESTION = b"Should these two"
# Children start as from a shell: without what importing polars, as this module does, says to its allocator in the
# environment, and with leave to keep compiled modules.
NOT_INHERITED = ("_RJEM_MALLOC_CONF", "PYTHONDONTWRITEBYTECODE")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}


def fractions(n: int) -> pl.DataFrame:
    """Blobs, written with six decimals."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(8, N_COLUMNS)) * 3
    X = centres[rng.integers(8, size=n)] + rng.normal(size=(n, N_COLUMNS))
    return pl.DataFrame({f"x{k}": x for k, x in enumerate(X.round(6).T)})


def mixed(n: int) -> pl.DataFrame:
    """Ten columns of fractions with a few gaps, five of whole numbers, three of words, one of dates, one of ids."""
    rng = np.random.default_rng(1)
    frame = fractions(n).select(pl.all().exclude([f"x{k}" for k in range(10, N_COLUMNS)]))
    gaps = pl.Series(rng.random(n) < 0.01)
    day = np.datetime64("2020-01-01")
    columns = {f"n{k}": rng.integers(1000, size=n) for k in range(5)}
    words = {f"w{k}": np.array(["red", "green", "blue"])[rng.integers(3, size=n)] for k in range(3)}
    frame = frame.with_columns(x3=pl.when(~gaps).then(pl.col("x3")))
    return frame.with_columns(
        **{name: pl.Series(values) for name, values in (columns | words).items()},
        when=pl.Series(day + rng.integers(1000, size=n).astype("m8[D]")),
        id=pl.Series(rng.permutation(n)),
    )


def first_question(path: Path, folder: Path) -> tuple[float, int]:
    """Seconds to the first question, and the largest resident memory in bytes."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", ASK, str(path), "--session", str(folder / "s.cobras"), "--seed", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        for line in process.stdout:
            if QUESTION in line:
                break
        seconds = time.perf_counter() - begin
        process.stdin.write(b"q")
        process.stdin.close()
        process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    (folder / "s.cobras").unlink()
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def polars_seconds(path: Path) -> float:
    """Start a process, import polars, read."""
    begin = time.perf_counter()
    read = f"import polars; polars.read_csv({str(path)!r})"
    subprocess.run([sys.executable, "-c", read], check=True, env=ENVIRONMENT)
    return time.perf_counter() - begin


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(
        description="Seconds and memory to the first question on a large CSV file."
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    n = parser.parse_args().rows
    heads = ("MB", "polars s", "cobras s", "ratio", "matrix MB", "peak MB", "ratio", "beyond")
    print(f"{'':10}" + "".join(f"{head:>10}" for head in heads))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, make in (("fractions", fractions), ("mixed", mixed)):
            path = folder / f"{kind}.csv"
            _apart(_write, make, n, path)  # a child inherits the peak of its parent, which must stay small
            width = read_dataset(_head(path, 5_000)).X.shape[1]
            _, idle = first_question(_head(path, 11), folder)
            runs = [(polars_seconds(path), *first_question(path, folder)) for _ in range(N_RUNS)]  # in turn
            alone, seconds = median(r[0] for r in runs), median(r[1] for r in runs)
            ratio, peak = median(r[1] / r[0] for r in runs), max(r[2] for r in runs)
            matrix = 8 * n * width
            found = (path.stat().st_size / 1e6, alone, seconds, ratio)
            memory = (matrix / 1e6, peak / 1e6, peak / matrix, (peak - idle) / matrix)
            print(f"{kind:10}" + "".join(f"{value:10.2f}" for value in (*found, *memory)), flush=True)
            path.unlink()


def _write(make: Callable[[int], pl.DataFrame], n: int, path: Path) -> None:
    make(n).write_csv(path)


def _apart(function: Callable[..., None], *arguments: object) -> None:
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    process.start()
    process.join()
    assert process.exitcode == 0


def _head(path: Path, n_lines: int) -> Path:
    """The first rows in a file of their own: they have the same features."""
    head = path.with_name("head.csv")
    with path.open() as lines:
        head.write_text("".join(line for _, line in zip(range(n_lines), lines, strict=False)))
    return head


if __name__ == "__main__":
    main()
