"""What to ask next: one file per method."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from cobras.baselines.cobs.cobs import cobs
from cobras.baselines.explore import explore_consolidate, min_max
from cobras.baselines.npu.npu import npu
from cobras.core.exceptions import InvalidDataError
from cobras.methods.adder.method import adder
from cobras.methods.cobra import cobra
from cobras.methods.cobras import cobras
from cobras.methods.protocol import Method, Reconsider, Step, Steps

__all__ = [
    "HONOUR_MARKS",
    "METHODS",
    "Method",
    "Reconsider",
    "Step",
    "Steps",
    "adder",
    "cobra",
    "cobras",
    "cobs",
    "explore_consolidate",
    "find_method",
    "min_max",
    "npu",
    "with_defaults",
]

METHODS: dict[str, Method] = {
    "cobras": cobras,
    "cobra": cobra,
    "cobs": cobs,
    "npu": npu,
    "explore_consolidate": explore_consolidate,
    "min_max": min_max,
    "adder": adder,
}

HONOUR_MARKS = {cobras, cobra, adder}


def find_method(method: str | Method) -> Method:
    """A method by its name, by "module:function", or as it is."""
    if callable(method):
        return method
    if method in METHODS:
        return METHODS[method]
    module, _, name = method.partition(":")
    try:
        found: Method = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise InvalidDataError(
            f"There is no method {method!r}. Use one of {', '.join(METHODS)}, or 'module:function' for your own."
        ) from None
    return found


def with_defaults(method: Method, options: dict[str, Any]) -> dict[str, Any]:
    """All options of a method: those given, and its defaults for the others."""
    parameters = inspect.signature(method).parameters.values()
    allowed = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    if unknown := sorted(options.keys() - allowed.keys()):
        raise InvalidDataError(
            f"{getattr(method, '__name__', 'The method')} has no option {', '.join(unknown)}. "
            f"It has {', '.join(allowed) or 'none'}."
        )
    return allowed | options
