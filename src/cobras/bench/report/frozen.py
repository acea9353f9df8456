"""Frozen points: those after the time limit had cut a run off, so that its last clustering is repeated."""

from __future__ import annotations

from collections.abc import Sequence

from cobras.bench.report.formats import percent
from cobras.bench.report.summary import Summary

MARK = "†"  # in tables


def is_frozen(summary: Summary, methods: Sequence[str], tasks: Sequence[str], query: int) -> bool:
    """Whether a run of one of these methods on one of these tasks had been cut off before so many queries."""
    return any(summary.frozen_shares(method, tasks)[query] > 0 for method in methods)


def frozen_sentence(summary: Summary, methods: Sequence[str], tasks: Sequence[str], mark: str = MARK) -> str:
    """What the mark means, and which runs are concerned; empty if no run was cut off."""
    last, parts = summary.n_queries, []
    for method in methods:
        share = summary.frozen_shares(method, tasks)
        if share[last] > 0:
            first = int((share > 0).argmax())
            parts.append(f"{method} from {first} queries on, {percent(share[last])} of its runs at {last}")
    if not parts:
        return ""
    return (
        f"{mark}: frozen points, where the time limit had cut off some runs before, so that their last clustering "
        f"is repeated ({'; '.join(parts)})."
    )
