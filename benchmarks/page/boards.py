"""How long a person waits for the next board of six cards after sorting one, without a browser.

    python -m benchmarks.page.boards [--rows 10000 200000] [--boards 40]

Sorting a board and finding the next one, in one thread and with nothing computed ahead: what the page shows after a
person has looked at a board comes no later than this. Wall time: measure on a machine that does nothing else.
"""

import argparse
import time

import numpy as np

from benchmarks import blobs
from cobras import LabelOracle, Session
from cobras.session.oracles import groups_by_pairs

AIMS = {10_000: 50, 200_000: 200}  # milliseconds, at the 95th percentile


def waits(n_rows: int, n_boards: int) -> list[float]:
    """Milliseconds from the sorted board to the next one."""
    X, y = blobs(n_rows)
    session, oracle, found = Session(X, random_state=0), LabelOracle(y), list[float]()
    while (board := session.board(6)) is not None and len(found) < n_boards:
        groups = groups_by_pairs(oracle, board)
        start = time.perf_counter()
        session.sort(board, groups)
        session.board(6)
        found.append(1000 * (time.perf_counter() - start))
    return found


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=list(AIMS))
    parser.add_argument("--boards", type=int, default=40)
    options = parser.parse_args()
    waits(2000, 5)  # compiles
    for n_rows in options.rows:
        found = waits(n_rows, options.boards)
        aim = f" (aim {AIMS[n_rows]})" if n_rows in AIMS else ""
        median, most = np.median(found), np.percentile(found, 95)
        print(
            f"{n_rows:>9,} rows, {len(found)} boards: median {median:.0f} ms, 95 % below {most:.0f} ms{aim}"
        )


if __name__ == "__main__":
    main()
