"""Hypothesis profiles, everyday and long, and the table that `make soak` prints.

Everyday examples are the same in every run, so that a change is judged by itself and not by luck; `make soak` draws
new ones, and many more.
"""

import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

IS_SOAK = bool(os.environ.get("COBRAS_SOAK"))
quiet = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=40, derandomize=True, **quiet)
settings.register_profile("soak", max_examples=1000, **quiet)
settings.load_profile("soak" if IS_SOAK else "default")


@pytest.fixture
def report_tried(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """A function that a test calls once it held: what was tried, how often, and figures by their words."""

    def report(what: str, n_tried: int, **figures: float) -> None:
        record_property(what, (n_tried, figures))

    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if IS_SOAK:
        for line in table_lines(terminalreporter.stats):
            terminalreporter.write_line(line)


def table_lines(stats: dict[str, list]) -> Iterator[str]:
    """What was tried, in all processes of xdist: whole numbers are added, of others the largest is shown."""
    rows: dict[str, tuple[int, dict[str, float]]] = {}
    for what, (n_tried, figures) in (
        pair for report in stats.get("passed", []) for pair in report.user_properties
    ):
        total, known = rows.get(what, (0, {}))
        for words, value in figures.items():
            before = known.get(words, 0)
            known[words] = before + value if isinstance(value, int) else max(before, value)
        rows[what] = total + n_tried, known
    yield f"\n{'what was tried':<52} {'how often':>9}  lost"
    for what, (n_tried, figures) in sorted(rows.items()):
        found = [f"{v:,}" if isinstance(v, int) else f"{v:.1f}" for v in figures.values()]
        words = ", ".join(f"{text} {name}" for text, name in zip(found, figures, strict=True)).replace(
            "_", " "
        )
        yield f"{what:<52} {n_tried:>9,}  nothing; {words}"
    for report in stats.get("failed", []) + stats.get("error", []):
        yield f"{report.nodeid}: FAILED"
