"""The compile cache: a second start compiles nothing, wherever it can be written, and a stale one is not read."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cobras

START = """
import os, sys, tempfile
import numpy as np
from cobras.spaces.kernels import lloyd
X = np.arange(10.0)[:, None] ** 2
from cobras.spaces.kernels.kmeans import kmeans
assert len(set(kmeans(X, 2, np.random.default_rng(0)).labels)) == 2
called = lloyd.pack, lloyd.seed, lloyd.lloyd
print("hits", sum(sum(f.stats.cache_hits.values()) for f in called))
print("misses", sum(sum(f.stats.cache_misses.values()) for f in called))
"""
SMALL = """
import os, tempfile
tempfile.tempdir = os.environ["TMPDIR"]  # else it would look for another one that can be written
import numpy as np
from cobras.spaces.kernels import lloyd
assert lloyd.dot(np.ones(3), np.ones(3)) == 3
"""
CHECK = """
assert not any(os.access(os.environ[name], os.W_OK) for name in ("HOME", "PYTHONPATH")), "not read-only"
assert lloyd.__file__.startswith(os.environ["PYTHONPATH"])
"""


def start(code: str, *, preexec_fn: Callable[[], object] | None = None, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        preexec_fn=preexec_fn,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_a_second_start_compiles_nothing(tmp_path: Path) -> None:
    assert start(START, NUMBA_CACHE_DIR=str(tmp_path)) == ["hits", "0", "misses", "3"]
    assert start(START, NUMBA_CACHE_DIR=str(tmp_path)) == ["hits", "3", "misses", "0"]


def obey_permissions() -> None:
    """Drop root's right to write anything: nobody else may be able to read this interpreter."""
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux capabilities")
@pytest.mark.parametrize("writable", ["temporary directory", "nothing"])
def test_works_where_the_install_and_the_home_are_read_only(tmp_path: Path, writable: str) -> None:
    source, home, temporary = (tmp_path / name for name in ("install", "home", "temporary"))
    package = Path(cobras.__file__).parent
    shutil.copytree(package, source / "cobras", ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    temporary.mkdir()
    closed = [home, source, *source.rglob("*"), *([temporary] if writable == "nothing" else [])]
    for path in closed:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    environment["PYTHONPATH"] = str(source)
    try:
        start(SMALL + CHECK, preexec_fn=obey_permissions, **environment)
    finally:
        for path in closed:
            path.chmod(0o755)
    kept = [path.parent.parent for path in temporary.rglob("*.nbi")]
    assert bool(kept) == (writable == "temporary directory")
    assert all(path.stat().st_mode & 0o077 == 0 for path in temporary.iterdir()), "private to the user"


CALLEE = """
from cobras.spaces.kernels.compile import kernel

NUMBER = {number}

@kernel()
def inner(x):
    return x + {more}
"""
CALLER = """
from callee import NUMBER, inner
from cobras.spaces.kernels.compile import kernel

@kernel()
def outer(x):
    return 100 * inner(x) + NUMBER

print(outer(1), sum(outer.stats.cache_hits.values()))
"""


def test_a_cache_is_stale_when_another_file_that_is_compiled_in_changes(tmp_path: Path) -> None:
    """Every cache lies in one folder, and only the file of the callee changes."""
    (tmp_path / "caller.py").write_text(CALLER)
    path = os.pathsep.join([str(tmp_path), str(Path(cobras.__file__).parents[1])])
    said = []
    for number, more in ((5, 1), (5, 1), (6, 1), (6, 2)):
        (tmp_path / "callee.py").write_text(CALLEE.format(number=number, more=more))
        said.append(start("import caller", PYTHONPATH=path, NUMBA_CACHE_DIR=str(tmp_path / "cache")))
    assert said == [["205", "0"], ["205", "1"], ["206", "0"], ["306", "0"]]
