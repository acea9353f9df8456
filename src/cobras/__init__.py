"""Cluster data the way you mean it: answer a few same-or-different questions.

The public names stand in `__init__.pyi`. Each is imported when it is first used, so `import cobras` stays light.
"""

import sys
from typing import Any

import lazy_loader

from cobras.moved import MovedFinder

# Before the finder of files, which would load a second copy of a module in a folder that has moved.
sys.meta_path.insert(0, MovedFinder())
_find, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("cobras-clustering")
    return _find(name)
