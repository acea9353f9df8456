"""The few characters that are not letters, and what stands in for them where the encoding lacks them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Marks used on the screen.

    `bar` goes from an empty to a full cell; `shades` from paper to ink.
    """

    dot: str
    more: str
    tick: str
    missing: str
    differ: str
    alike: str
    bar: str
    shades: str
    blocks: bool


UNICODE = Glyphs("·", "…", "✓", "–", "≠", "=", " ▏▎▍▌▋▊▉█", " ░▒▓█", True)
ASCII = Glyphs("|", "...", "ok:", "-", "!=", "=", "  #", " .:-=+*#%@", False)


def glyphs_for(encoding: str) -> Glyphs:
    """The marks that an encoding can hold.

    Examples
    --------
    >>> glyphs_for("utf-8").tick, glyphs_for("ascii").tick, glyphs_for("latin-1").tick
    ('✓', 'ok:', 'ok:')
    """
    try:
        "".join(
            [UNICODE.dot, UNICODE.more, UNICODE.tick, UNICODE.differ, UNICODE.bar, UNICODE.shades, "▀"]
        ).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
