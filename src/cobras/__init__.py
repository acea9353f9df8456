"""Cluster data the way you mean it: answer a few same-or-different questions.

The public names stand in `__init__.pyi`. Each is imported when it is first used, so `import cobras` stays light.
"""

import os
import sys

# `python -m cobras` puts the working directory first, but a file random.py beside the data is not to be run, not
# even by the imports below. Meanwhile sys.argv[0] is "-m"; what is run is the word before the arguments.
if (
    sys.argv[:1] == ["-m"]
    and sys.orig_argv[-len(sys.argv) :][:1] in (["cobras"], ["-mcobras"])
    and sys.path[0] in ("", os.getcwd())  # noqa: PTH109
    and not sys.flags.safe_path
):
    del sys.path[0]

from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import lazy_loader

_import_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Modules that pickled estimators of the first version name, and where their classes are defined now.
_MOVED = {
    "cobras.clusterers": "cobras.baselines.clusterers",
    "cobras.clusterers.copkmeans": "cobras.baselines.clusterers.copkmeans",
    "cobras.clusterers.cosc": "cobras.baselines.clusterers.cosc",
    "cobras.clusterers.mpck_metrics": "cobras.baselines.clusterers.metrics",
    "cobras.clusterers.mpckmeans": "cobras.baselines.clusterers.mpckmeans",
    "cobras.estimators.adder": "cobras.estimators.active",
    "cobras.estimators.cobras": "cobras.estimators.active",
    "cobras.partition": "cobras.core.partition",
}


class _MovedFinder(MetaPathFinder, Loader):
    """Finds a module under its old name; nothing is imported before somebody asks for it."""

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in _MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(_MOVED[module.__name__])


# Before the finder of files, which would load a second copy of a module in a folder that has moved.
sys.meta_path.insert(0, _MovedFinder())


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("cobras-clustering")
    if name not in __all__:
        raise AttributeError(f"module 'cobras' has no attribute {name!r}")
    return _import_public(name)
