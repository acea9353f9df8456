"""One switch for compiling numeric kernels with numba.

`kernel` is `numba.njit` with the settings of this package: serial, without the interpreter lock, cached on disk.
Numba keeps the cache beside the source file or, where that is read-only, in the user's cache directory.
Where neither can be written it refuses to decorate; then the cache goes to a private directory for
temporary files, and if even that fails every process compiles anew.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numba

Array: TypeAlias = Any  # numba infers element types; shapes stand in the docstrings of kernels
P = ParamSpec("P")
R = TypeVar("R")


def kernel(*fastmath: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Return a decorator that compiles a function on its first call, for each combination of argument types.

    Parameters
    ----------
    *fastmath : str
        LLVM fast-math flags that are safe for this function, such as ``"contract"`` and ``"reassoc"``.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        njit: Any = numba.njit
        try:
            return _stamp(njit(cache=True, **options)(function), function)
        except RuntimeError:  # "cannot cache function: no locator available"
            directory = _private_directory()
        settings: Any = numba.config
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(directory or "")
        try:
            return _stamp(njit(cache=directory is not None, **options)(function), function)
        finally:
            settings.CACHE_DIR = before  # read once, at decoration; other packages keep theirs

    return decorate


def _stamp(dispatcher: Any, function: Callable[P, R]) -> Callable[P, R]:
    """Let the cache of a kernel depend on all that is compiled into it."""
    # Numba finds a cache by the path of the source file, the name and the line of the function, and uses it only if
    # its stamp is that of the file: what a moved or renamed kernel left behind is never read. But kernels and
    # numbers from other files are compiled in as well, and numba does not notice when these files change.
    file = _cache_file(dispatcher)
    if file is not None:
        used = [getattr(function, "__globals__", {}).get(name) for name in function.__code__.co_names]
        callees = [_cache_file(value)._source_stamp for value in used if _cache_file(value) is not None]
        numbers = [value for value in used if isinstance(value, int | float)]
        file._source_stamp = (file._source_stamp, *callees, *numbers)
    return cast("Callable[P, R]", dispatcher)


def _cache_file(dispatcher: Any) -> Any:
    """Return what reads and writes the cache of a kernel; None for anything else."""
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return file if hasattr(file, "_source_stamp") else None


def _private_directory() -> Path | None:
    """Return a directory that only this user can write, or None: cached kernels are code that will be run."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    path = Path(tempfile.gettempdir()) / f"cobras-kernels-{user}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.lstat()
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError:
        return None
    mine = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and status.st_mode & 0o077 == 0)
    return path if mine and not path.is_symlink() else None
