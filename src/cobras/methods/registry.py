"""The methods that are known by name, and what each of them can do.

This is the only place that says so: sessions, commands and pages ask here. A method is imported when it is asked
for, so that what is compared in the paper (`cobras.baselines`) is named here without being loaded.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from cobras.core.checks import check_options
from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.spaces.base import EmbeddedSpace, RemoteSpace, Space, VectorSpace, choose_space

if TYPE_CHECKING:
    from cobras.methods.protocol import Method, Steps


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """What is known about a method without importing it."""

    home: str  # "module:function"
    takes_series: bool = False  # rather than rows of numbers
    takes_remote: bool = False  # data on other machines
    honours_marks: bool = False  # does not split pure clusters, does not touch complete ones
    honours_splits: bool = False  # asks inside a cluster first that the person wants to be split
    doubts: bool = False  # takes answers that contradict each other, and finds out which are wrong
    retired_options: tuple[str, ...] = ()  # it had them once; session files may still hold them


class PreparedMethod(NamedTuple):
    """A method that can be started, on its data.

    Attributes
    ----------
    space : Space
        The data.
    parameters : dict
        The method, the seed and all options.
    start : callable
        Starts the method on a space and some constraints.
    """

    space: Space
    parameters: dict[str, Any]
    start: Callable[[Space, Constraints], Steps]


METHODS: dict[str, MethodEntry] = {
    "cobras": MethodEntry(
        "cobras.methods.cobras:cobras",
        takes_series=True,
        takes_remote=True,
        honours_marks=True,
        honours_splits=True,
    ),
    "cobra": MethodEntry(
        "cobras.methods.cobra:cobra",
        takes_series=True,
        takes_remote=True,
        honours_marks=True,
        honours_splits=True,
    ),
    "cobs": MethodEntry("cobras.baselines.cobs:cobs"),
    "npu": MethodEntry("cobras.baselines.npu:npu", retired_options=("forest",)),
    "explore_consolidate": MethodEntry("cobras.baselines.explore:explore_consolidate"),
    "min_max": MethodEntry("cobras.baselines.explore:min_max"),
    "adder": MethodEntry(
        "cobras.methods.adder:adder",
        takes_series=True,
        honours_marks=True,
        honours_splits=True,
        doubts=True,
    ),
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


def registration(method: str | Method) -> MethodEntry:
    """What a method can do; one of a user's own is trusted to work on every space, to honour marks and splits."""
    if not isinstance(method, str):
        module, name = getattr(method, "__module__", ""), getattr(method, "__qualname__", "")
        method = f"{module}:{name}"
    by_home = {known.home: known for known in METHODS.values()}
    own = MethodEntry(method, takes_series=True, takes_remote=True, honours_marks=True, honours_splits=True)
    return METHODS.get(method) or by_home.get(method) or own


def default_method(space: Space) -> str:
    """The method that makes the most of the answers: ADDER, where it can compare all instances."""
    return "adder" if isinstance(space, (VectorSpace, EmbeddedSpace)) else "cobras"


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


def prepare(
    X: Any, method: str | Method | None, seed: int, train_indices: Any, options: dict[str, Any]
) -> PreparedMethod:
    """Choose the space of `as_rows(X)` and check all options, those of the method and those of the splits."""
    space, space_options = choose_space(X, train_indices, options)
    method = default_method(space) if method is None else method
    function = find_method(method)
    if isinstance(space, RemoteSpace) and not registration(method).takes_remote:
        raise InvalidDataError(
            f"{method} needs all rows in memory. On a cluster use cobras or cobra, or compute() X first."
        )
    own = all_options(function, {k: v for k, v in options.items() if k not in space_options})
    check_options(function, own)
    parameters = {"method": method, "random_state": seed, **space_options, **own}
    return PreparedMethod(
        space, parameters, lambda space, constraints: function(space, constraints, seed, **own)
    )
