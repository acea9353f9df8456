"""Modules that pickled estimators of older versions name, and where their classes are defined now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "cobras.clusterers": "cobras.baselines.clusterers",
    "cobras.clusterers.copkmeans": "cobras.baselines.clusterers.copkmeans",
    "cobras.clusterers.cosc": "cobras.baselines.clusterers.cosc",
    "cobras.clusterers.mpck_metrics": "cobras.baselines.clusterers.metrics",
    "cobras.clusterers.mpckmeans": "cobras.baselines.clusterers.mpckmeans",
    "cobras.estimators.adder": "cobras.estimators.active",
    "cobras.estimators.cobras": "cobras.estimators.active",
    "cobras.partition": "cobras.core.partition",
}


class MovedFinder(MetaPathFinder, Loader):
    """Finds a module under its old name; nothing is imported before somebody asks for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of that old name, if there was one."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the old one."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])
