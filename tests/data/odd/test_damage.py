"""Four hundred damaged files: no traceback, no abort, no hang and little memory; a sample of them as a rule."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cobras.core.exceptions import CobrasError
from cobras.data import read_dataset
from tests.data.odd.damage import damaged_files, write_folder

EVERY = 1 if os.environ.get("COBRAS_SOAK") else 4
MEMORY = 2 << 30  # bytes
SECONDS = 20  # of processor time, so that other work on the machine does not count


def main() -> None:
    """Read every folder or file that standard input names, and print what came of it."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for line in sys.stdin:
        path, started = Path(json.loads(line)), time.process_time()
        try:
            read_dataset(path, features="pixels" if path.is_dir() and any(path.glob("*.png")) else None)
            found = ""
        except CobrasError as error:
            found = str(error)
        except BaseException as error:
            found = f"{type(error).__name__}: {error}\n"
        print(json.dumps([found, time.process_time() - started]), flush=True)


def test_damaged_files_are_read_or_refused(tmp_path: Path, report_tried: Callable[..., None]) -> None:
    """In a process that an abort may end, with a limit on its memory."""
    all_files = list(damaged_files())
    assert len(all_files) >= 400
    chosen = all_files[::EVERY]
    paths = [write_folder(tmp_path / str(k), name, data) for k, (_, name, data) in enumerate(chosen)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.data.odd.test_damage"],
        cwd=Path(__file__).parents[3],
        input="".join(f"{json.dumps(str(path))}\n" for path in paths),
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "RUST_BACKTRACE": "0"},
        capture_output=True,
        text=True,
        timeout=1_200,
        check=False,
    )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(chosen), f"{chosen[len(results)][0]}: {done.stderr[-500:]}"
    for (what, *_), (found, seconds) in zip(chosen, results, strict=True):
        assert "\n" not in found, (what, found)
        assert found == "" or found.endswith("."), (what, found)
        assert len(found) < 600, what
        assert seconds < SECONDS, what
    n_read = sum(found == "" for found, _ in results)
    assert 0.1 < n_read / len(results) < 0.9
    report_tried(
        "a damaged file",
        len(results),
        refused=len(results) - n_read,
        read=n_read,
        s_at_most=max(seconds for _, seconds in results),
    )


if __name__ == "__main__":
    main()
