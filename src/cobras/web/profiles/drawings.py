"""The profile of a cluster as HTML with drawings, for the report; all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cobras.web.api.explanations import Curve, Distribution, Member, Profile, Share, Shares

WIDTH, HEIGHT = 240, 54  # of a drawing, in its own units
SLIGHT = 0.02  # share of missing values that is worth a remark


def columns_html(profile: Profile) -> str:
    """What tells a cluster apart: a figure for each column and each channel, and the words."""
    figures = [_column(column) for column in profile.columns]
    for k, curve in enumerate(profile.curves, 1):
        title = f"Channel {k}" if len(profile.curves) > 1 else "Mean curve"
        figures.append(_figure(title, "band: 80 % of the series", curve_svg(curve), "wide"))
    if profile.words:
        figures.append(_figure("Words", "share of the texts that have them", _bars(profile.words), "wide"))
    return f"<div class=plots>{''.join(figures)}</div>" if figures else ""


def members_html(profile: Profile) -> str:
    """Typical and unusual members as one table."""
    if not profile.typical:
        return ""
    heads = "".join(f"<th scope=col><bdi>{escape(name)}</bdi>" for name in ("item", *profile.headers))
    groups = [("Typical", profile.typical), ("Unusual", profile.unusual)]
    width = 1 + len(profile.headers)
    bodies = "".join(
        f"<tbody><tr><th class=group colspan={width}>{title}{''.join(map(_member, members))}"
        for title, members in groups
        if members
    )
    return f"<div class=members><table><thead><tr>{heads}</thead>{bodies}</table></div>"


def _member(member: Member) -> str:
    cells = "".join(f"<td><bdi>{escape(cell) if cell else '–'}</bdi>" for cell in member.cells)
    return f"<tr><td class=id><bdi>{escape(member.id)}</bdi>{cells}"


def _column(column: Distribution | Shares) -> str:
    gone = ""
    if max(column.missing, column.missing_outside) >= SLIGHT:
        gone = f"<p class=small>not known: {column.missing:.0%} · rest {column.missing_outside:.0%}</p>"
    if isinstance(column, Shares):
        return _figure(column.name, "", _bars(column.values) + gone)
    ends = f"<p class='small ends'><span>{escape(column.low)}</span><span>{escape(column.high)}</span></p>"
    middles = f"<b>{escape(column.middle)}</b> · rest {escape(column.middle_outside)}"
    return _figure(column.name, middles, distribution_svg(column) + ends + gone)


def _figure(title: str, facts: str, content: str, kind: str = "") -> str:
    """A figure; `facts` and `content` are markup already."""
    caption = f"<b><bdi>{escape(title)}</bdi></b><span>{facts}</span>"
    return f"<figure class='{kind}'><figcaption>{caption}</figcaption>{content}</figure>"


def _bars(values: Sequence[Share]) -> str:
    lines = "".join(
        f"<dt><bdi>{escape(share.value)}</bdi><dd><span class=track>"
        f"<i class=own style='width:{100 * share.inside:.1f}%'></i>"
        f"<i class=rest style='width:{100 * share.outside:.1f}%'></i></span>"
        f"<b>{share.inside:.0%}</b><span>{share.outside:.0%}</span>"
        for share in values
    )
    return f"<dl class=bars>{lines}</dl>"


def distribution_svg(column: Distribution) -> str:
    """Where the values of a column lie: the cluster filled, the rest as a line."""
    n, most = len(column.inside), max(*column.inside, *column.outside, 1e-9)

    def steps(shares: Sequence[float]) -> str:
        heights = (HEIGHT - (HEIGHT - 3) * share / most for share in shares)
        return "".join(f"V{y:.1f}H{WIDTH * (k + 1) / n:.1f}" for k, y in enumerate(heights))

    middle = WIDTH * column.at
    return (
        f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' preserveAspectRatio=none aria-hidden=true>"
        f"<path class=area d='M0 {HEIGHT}{steps(column.inside)}V{HEIGHT}Z'/>"
        f"<path class=line d='M0 {HEIGHT}{steps(column.outside)}'/><path class=axis d='M0 {HEIGHT}H{WIDTH}'/>"
        f"<path class=middle d='M{middle:.1f} {HEIGHT}v-9'/></svg>"
    )


def curve_svg(curve: Curve) -> str:
    """The mean of series with its band, and the mean of the rest."""
    known = [v for line in (curve.low, curve.high, curve.mean, curve.rest) for v in line if v is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)

    def points(line: Sequence[float | None]) -> list[str]:
        scaled = [None if v is None else (v - low) / ((high - low) or 1) for v in line]
        step = WIDTH / max(1, len(line) - 1)
        return [
            f"{k * step:.1f} {2 * HEIGHT - 3 - v * (2 * HEIGHT - 6):.1f}"
            for k, v in enumerate(scaled)
            if v is not None
        ]

    def path(found: list[str]) -> str:
        return f"M{'L'.join(found)}" if found else ""

    band = path([*points(curve.high), *points(curve.low)[::-1]])
    return (
        f"<svg class=tall viewBox='0 0 {WIDTH} {2 * HEIGHT}' preserveAspectRatio=none aria-hidden=true>"
        f"<path class=band d='{band}{'Z' * bool(band)}'/><path class=line d='{path(points(curve.rest))}'/>"
        f"<path class=mean d='{path(points(curve.mean))}'/></svg>"
    )
