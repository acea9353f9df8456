"""From the command to the first question on a large CSV file, beside what polars needs to read it.

    python -m benchmarks.reading [--rows 1000000]

Two files of 20 columns: fractions only, and a mix of fractions, whole numbers, words, dates and gaps. Each line gives the
seconds of `polars.read_csv` alone (in a process that has imported it already, the best of three), those of `cobras
ask` from its start to its first question, the ratio, and the largest memory of `cobras ask`, as measured by the
system and with all libraries, in multiples of the feature matrix.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from cobras.data import read_dataset

N_COLUMNS = 20
ASK = "import sys; from cobras.cli import main; sys.exit(main(['ask', *sys.argv[1:]]))"
QUESTION = b"Should these two"


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
    with subprocess.Popen(
        [sys.executable, "-c", ASK, str(path), "--session", str(folder / "s.cobras"), "--seed", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
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
    """The best of three."""
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        pl.read_csv(path)
        took.append(time.perf_counter() - begin)
    return min(took)


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(
        description="Seconds and memory to the first question on a large CSV file."
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    n = parser.parse_args().rows
    print(
        f"{'':10}{'MB':>6}{'polars s':>10}{'cobras s':>10}{'ratio':>7}{'matrix MB':>11}{'peak MB':>9}{'ratio':>7}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, make in (("fractions", fractions), ("mixed", mixed)):
            path = folder / f"{kind}.csv"
            make(n).write_csv(path)
            width = read_dataset(_head(path)).X.shape[1]
            alone = polars_seconds(path)
            seconds, memory = min(first_question(path, folder) for _ in range(2))
            matrix = 8 * n * width
            print(
                f"{kind:10}{path.stat().st_size / 1e6:6.0f}{alone:10.2f}{seconds:10.2f}{seconds / alone:7.2f}"
                f"{matrix / 1e6:11.0f}{memory / 1e6:9.0f}{memory / matrix:7.2f}",
                flush=True,
            )
            path.unlink()


def _head(path: Path) -> Path:
    """The first rows in a file of their own: they have the same features."""
    head = path.with_name("head.csv")
    with path.open() as lines:
        head.write_text("".join(line for _, line in zip(range(5_000), lines, strict=False)))
    return head


if __name__ == "__main__":
    main()
