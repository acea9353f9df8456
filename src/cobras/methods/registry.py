"""The methods that are known by name, and what each of them can do.

This is the only place that says so: sessions, commands and pages ask here. A method is imported when it is asked
for, so that what is compared in the paper (`cobras.baselines`) is named here without being loaded.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from cobras.core.exceptions import InvalidDataError

if TYPE_CHECKING:
    from cobras.methods.protocol import Method


@dataclass(frozen=True, slots=True)
class Registered:
    """What is known about a method without importing it."""

    home: str  # "module:function"
    needs_rows: bool = True  # all rows of numbers in memory: no series, no data on a cluster
    honours_marks: bool = False  # does not split pure clusters, does not touch complete ones
    default_up_to: int = 0  # the largest number of rows for which it is the default
    retired_options: tuple[str, ...] = ()  # it had them once; session files may still hold them


METHODS: dict[str, Registered] = {
    "cobras": Registered("cobras.methods.cobras:cobras", needs_rows=False, honours_marks=True),
    "cobra": Registered("cobras.methods.cobra:cobra", needs_rows=False, honours_marks=True),
    "cobs": Registered("cobras.baselines.cobs:cobs"),
    "npu": Registered("cobras.baselines.npu:npu", retired_options=("forest",)),
    "explore_consolidate": Registered("cobras.baselines.explore:explore_consolidate"),
    "min_max": Registered("cobras.baselines.explore:min_max"),
    # Beyond this number of rows its first question takes seconds.
    "adder": Registered("cobras.methods.adder:adder", honours_marks=True, default_up_to=200_000),
}


def find_method(method: str | Method) -> Method:
    """A method by its name, by "module:function", or as it is."""
    if callable(method):
        return method
    home = "" if not isinstance(method, str) else METHODS[method].home if method in METHODS else method
    module, _, name = home.partition(":")
    try:
        # Without a function after the colon nothing is imported: importing runs code.
        found: Method | None = getattr(import_module(module), name) if name else None
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise InvalidDataError(
            f"There is no method {method!r}. Use one of {', '.join(METHODS)}, or 'module:function' for your own."
        )
    return found


def check_registered(method: str, file: str | os.PathLike[str]) -> None:
    """Refuse the method that a session file names if it is not one of cobras: importing it would run its code."""
    if method not in METHODS and method not in {known.home for known in METHODS.values()}:
        raise InvalidDataError(
            f"{PurePath(file).name} was made with method={method!r}, which is code outside cobras. If you trust "
            f"it, name it when you open the file: method={method!r}, or --method {method} in the shell."
        )


def registration(method: str | Method) -> Registered:
    """What a method can do; one of a user's own is trusted to work on every space and to honour marks."""
    if not isinstance(method, str):
        module, name = getattr(method, "__module__", ""), getattr(method, "__qualname__", "")
        method = f"{module}:{name}"
    by_home = {known.home: known for known in METHODS.values()}
    own = Registered(method, needs_rows=False, honours_marks=True)
    return METHODS.get(method) or by_home.get(method) or own


def default_method(n_rows: int | None) -> str:
    """The method that makes the most of the answers on so many rows; None for series and for data on a cluster."""
    at_hand = (
        name for name, known in METHODS.items() if n_rows is not None and n_rows <= known.default_up_to
    )
    return next(at_hand, "cobras")


def all_options(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """All options of a method: those given, and its defaults for the others."""
    name = getattr(method, "__name__", "The method")
    try:
        signature = inspect.signature(method)
        signature.bind_partial("space", "constraints", "seed")
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"{name} is no method: it must take a space, constraints and a seed, and its options by keyword."
        ) from None
    allowed = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    if unknown := sorted(given.keys() - allowed.keys()):
        raise InvalidDataError(
            f"{name} has no option {', '.join(unknown)}. It has {', '.join(allowed) or 'none'}."
        )
    return allowed | given
