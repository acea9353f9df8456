"""A report as a list of blocks, written as one HTML page that needs no other file, and as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TypeAlias

from cobras.bench.report.style import INK, LINE, PAPER
from cobras.bench.report.verdicts import Check

COLOURS = {INK: "ink", LINE: "line", PAPER: "paper"}  # of a figure, and what the page calls them
MARKS = {True: "✓", False: "✗", None: "?"}  # a part of a claim is true, false, or unclear


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: `svg` is its text, `name` that of its files without the suffix."""

    name: str
    title: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows; `strong` are the cells (row, column) that stand out."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Claims:
    """The check-list."""

    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Text of which every character counts, shown on request."""

    title: str
    text: str


Block: TypeAlias = Heading | Text | Picture | Table | Claims | Code


def write_html(title: str, blocks: Sequence[Block]) -> str:
    """One page with all figures inside; whatever comes from the results is escaped."""
    template = Template((files("cobras.bench") / "report.html").read_text(encoding="utf-8"))
    body = "\n".join(_html(block) for block in blocks)
    contents = "".join(
        f'<a href="#{_anchor(block.text)}">{_safe(block.text)}</a>'
        for block in blocks
        if isinstance(block, Heading)
    )
    return template.substitute(title=_safe(title), contents=contents, body=body)


def write_markdown(title: str, blocks: Sequence[Block]) -> str:
    """The same in Markdown, with the figures as files beside it."""
    return "\n\n".join([f"# {_plain(title)}", *(_markdown(block) for block in blocks)]) + "\n"


def inline(svg: str, name: str) -> str:
    """An SVG file as part of a page: ids of its own, and colours that follow the page into dark mode."""

    def adapt(tag: re.Match[str]) -> str:
        text = re.sub(r'\bid="', f'id="{name}-', tag[0])
        text = re.sub(r'(url\(|href=")#', rf"\1#{name}-", text)
        for colour, variable in COLOURS.items():
            text = re.sub(re.escape(colour), f"var(--{variable})", text, flags=re.IGNORECASE)
        return re.sub(r' (width|height)="[^"]*"', "", text) if text.startswith("<svg") else text

    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r"<[^>]*>", adapt, svg)


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f'<h2 id="{_anchor(text)}">{_safe(text)}</h2>'
        case Text(text):
            return f"<p>{_safe(text)}</p>"
        case Picture(name, title, caption, svg):
            drawing = f'<div class="wide" role="img" aria-label="{_safe(title)}">{inline(svg, name)}</div>'
            words = f"<b>{_safe(title)}.</b> {_safe(caption)}"
            return f"<figure>{drawing}<figcaption>{words}</figcaption></figure>"
        case Table():
            return _html_table(block)
        case Claims(checks):
            return "".join(_html_check(number, check) for number, check in enumerate(checks, 1))
        case Code(title, text):
            return f"<details><summary>{_safe(title)}</summary><pre>{_safe(text)}</pre></details>"


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_safe(cell)}</th>' for cell in table.header)
    rows = []
    for i, (name, *cells) in enumerate(table.rows):
        marked = (
            f"<td>{f'<b>{_safe(cell)}</b>' if (i, j) in table.strong else _safe(cell)}</td>"
            for j, cell in enumerate(cells, 1)
        )
        rows.append(f'<tr><th scope="row">{_safe(name)}</th>{"".join(marked)}</tr>')
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    caption = f"<p class=note>{_safe(table.caption)}</p>" if table.caption else ""
    inside = f"{caption}<div class=wide>{body}</div>"
    if table.folded:
        return f"<details><summary>{_safe(table.title)}</summary>{inside}</details>"
    return f"<h3>{_safe(table.title)}</h3>{inside}"


def _html_check(number: int, check: Check) -> str:
    verdict = check.verdict
    parts = "".join(
        f'<li><span aria-label="{_said(part.true)}">{MARKS[part.true]}</span>{_safe(part.text)}</li>'
        for part in check.parts
    )
    return (
        f'<section class="check {verdict.name.lower()}"><p><b>{number}. {_safe(check.claim)}</b> '
        f"<span class=verdict>{_safe(verdict)}</span></p>"
        f"<ul>{parts or f'<li>{_safe(check.missing)}</li>'}</ul>"
        f"<p class=note>Rule: {_safe(check.rule)}</p></section>"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {_plain(text)}"
        case Text(text):
            return _plain(text)
        case Picture(name, title, caption):
            return f"![{_plain(title)}](figures/{name}.svg)\n\n**{_plain(title)}.** {_plain(caption)}"
        case Table():
            return _markdown_table(block)
        case Claims(checks):
            header = "| | What the paper claims | What we measured | Verdict |\n|---|---|---|---|"
            return "\n".join(
                [header, *(_markdown_check(number, check) for number, check in enumerate(checks, 1))]
            )
        case Code(title, text):
            fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
            return f"{_plain(title)}:\n\n{fence}\n{text}\n{fence}"


def _markdown_table(table: Table) -> str:
    lines = [f"### {_plain(table.title)}", ""]
    lines += [_plain(table.caption), ""] if table.caption else []
    lines += [f"| {' | '.join(map(_plain, table.header))} |", f"|---|{'---:|' * (len(table.header) - 1)}"]
    for i, row in enumerate(table.rows):
        cells = [
            f"**{_plain(cell)}**" if (i, j) in table.strong else _plain(cell) for j, cell in enumerate(row)
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _markdown_check(number: int, check: Check) -> str:
    parts = "<br>".join(f"{MARKS[part.true]} {_plain(part.text)}" for part in check.parts)
    claim = f"{_plain(check.claim)}<br>*Rule: {_plain(check.rule)}*"
    return f"| {number} | {claim} | {parts or _plain(check.missing)} | **{check.verdict}** |"


def _safe(text: str) -> str:
    """Text that HTML takes as it stands, with numbers kept beside their units."""
    return html.escape(re.sub(r"(?<=\d) (?=(%|ms|s|min|h)\b|%)", "\u00a0", text))


def _plain(text: str) -> str:
    """Text that Markdown takes as it stands."""
    text = re.sub(r"([\\`*_\[\]|#])", r"\\\1", text)
    return html.escape(text, quote=False).replace("\n", " ")


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _said(true: bool | None) -> str:
    return {True: "true", False: "false", None: "unclear"}[true]
