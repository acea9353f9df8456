"""A report as a list of blocks, written as one HTML page that needs no other file, and as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from string import Template
from typing import TypeAlias

INK, LINE, PAPER = "#1b1b1b", "#d8d8d8", "#ffffff"
# The colours of a figure, and the variables of the page that take their place in dark mode.
COLOURS = {INK: "ink", LINE: "line", PAPER: "paper"}
MARKS = {True: ("✓", "true"), False: ("✗", "false"), None: ("?", "unclear")}


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a section."""

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
    """A table whose first column names its rows; `strong` are the cells (row, column) printed in bold."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()
    folded: bool = False  # hidden in HTML until it is clicked


class Verdict(StrEnum):
    """Whether a claim is supported by the results."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNCLEAR = "unclear"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Part:
    """A measured statement; `true` is None when the error is too large to tell."""

    text: str
    true: bool | None


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, the rule by which it is checked, and what was measured or why nothing was.

    Examples
    --------
    >>> Check("Grass is green.", "Its hue is 120.", (Part("the hue is 118 ± 5", None),)).verdict.value
    'unclear'
    """

    claim: str
    rule: str
    parts: tuple[Part, ...]
    missing: str = ""

    @property
    def verdict(self) -> Verdict:
        """A claim holds if all parts are true, and does not hold if one is false."""
        found = [part.true for part in self.parts]
        if not found:
            return Verdict.NOT_MEASURED
        if False in found:
            return Verdict.FAILS
        return Verdict.UNCLEAR if None in found else Verdict.HOLDS


@dataclass(frozen=True, slots=True)
class Claims:
    """The list of all checks."""

    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Text in which every character matters, hidden until it is clicked."""

    title: str
    text: str


# A text is a paragraph.
Block: TypeAlias = str | Heading | Picture | Table | Claims | Code


def html_page(title: str, blocks: Sequence[Block]) -> str:
    """One page with all figures inside; everything that comes from the results is escaped."""
    # By f-strings: six kinds of block take 60 lines here, and every text goes through _escape_html, which a test
    # with hostile names checks. jinja2 and markupsafe would be 1.4 MB of new dependencies for this page.
    template = Template((files("cobras.bench.report") / "report.html").read_text(encoding="utf-8"))
    body = "\n".join(_html(block) for block in blocks)
    contents = "".join(
        f'<a href="#{_anchor(block.text)}">{_escape_html(block.text)}</a>'
        for block in blocks
        if isinstance(block, Heading)
    )
    return template.substitute(title=_escape_html(title), contents=contents, body=body)


def markdown_page(title: str, blocks: Sequence[Block]) -> str:
    """The same in Markdown, with the figures as files beside it."""
    return "\n\n".join([f"# {_escape_markdown(title)}", *(_markdown(block) for block in blocks)]) + "\n"


def inline_svg(svg: str, name: str) -> str:
    """The text of an SVG file as part of a page, with ids of its own and colours that change in dark mode."""

    def adapt(tag: re.Match[str]) -> str:
        text = re.sub(r'\bid="', f'id="{name}-', tag[0])
        text = re.sub(r'(url\(|href=")#', rf"\1#{name}-", text)
        for colour, variable in COLOURS.items():
            text = re.sub(re.escape(colour), f"var(--{variable})", text, flags=re.IGNORECASE)
        return re.sub(r' (width|height)="[^"]*"', "", text) if text.startswith("<svg") else text

    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # Inside tags only: names of methods and tasks, which may look like a colour or an id, stay as they are.
    return re.sub(r"<[^>]*>", adapt, svg)


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f'<h2 id="{_anchor(text)}">{_escape_html(text)}</h2>'
        case str():
            return f"<p>{_escape_html(block)}</p>"
        case Picture(name, title, caption, svg):
            label = _escape_html(title)
            drawing = f'<div class="wide" role="img" aria-label="{label}">{inline_svg(svg, name)}</div>'
            return (
                f"<figure>{drawing}<figcaption><b>{label}.</b> {_escape_html(caption)}</figcaption></figure>"
            )
        case Table():
            return _html_table(block)
        case Claims(checks):
            return "".join(_html_check(number, check) for number, check in enumerate(checks, 1))
        case Code(title, text):
            return (
                f"<details><summary>{_escape_html(title)}</summary><pre>{_escape_html(text)}</pre></details>"
            )


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_escape_html(cell)}</th>' for cell in table.header)
    rows = []
    for i, (name, *cells) in enumerate(table.rows):
        values = (
            f"<td>{f'<b>{_escape_html(cell)}</b>' if (i, j) in table.strong else _escape_html(cell)}</td>"
            for j, cell in enumerate(cells, 1)
        )
        rows.append(f'<tr><th scope="row">{_escape_html(name)}</th>{"".join(values)}</tr>')
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    caption = f"<p class=note>{_escape_html(table.caption)}</p>" if table.caption else ""
    inside = f"{caption}<div class=wide>{body}</div>"
    if table.folded:
        return f"<details><summary>{_escape_html(table.title)}</summary>{inside}</details>"
    return f"<h3>{_escape_html(table.title)}</h3>{inside}"


def _html_check(number: int, check: Check) -> str:
    parts = "".join(
        f'<li><span aria-label="{MARKS[part.true][1]}">{MARKS[part.true][0]}</span>{_escape_html(part.text)}</li>'
        for part in check.parts
    )
    return (
        f'<section class="check {check.verdict.name.lower()}"><p><b>{number}. {_escape_html(check.claim)}</b> '
        f"<span class=verdict>{_escape_html(check.verdict)}</span></p>"
        f"<ul>{parts or f'<li>{_escape_html(check.missing)}</li>'}</ul>"
        f"<p class=note>Rule: {_escape_html(check.rule)}</p></section>"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {_escape_markdown(text)}"
        case str():
            return _escape_markdown(block)
        case Picture(name, title, caption):
            label = _escape_markdown(title)
            return f"![{label}](figures/{name}.svg)\n\n**{label}.** {_escape_markdown(caption)}"
        case Table():
            return _markdown_table(block)
        case Claims(checks):
            header = "| | What the paper claims | What we measured | Verdict |\n|---|---|---|---|"
            return "\n".join(
                [header, *(_markdown_check(number, check) for number, check in enumerate(checks, 1))]
            )
        case Code(title, text):
            # A fence must be longer than any run of backticks inside.
            fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
            return f"{_escape_markdown(title)}:\n\n{fence}\n{text}\n{fence}"


def _markdown_table(table: Table) -> str:
    lines = [f"### {_escape_markdown(table.title)}", ""]
    lines += [_escape_markdown(table.caption), ""] if table.caption else []
    lines += [
        f"| {' | '.join(map(_escape_markdown, table.header))} |",
        f"|---|{'---:|' * (len(table.header) - 1)}",
    ]
    for i, row in enumerate(table.rows):
        cells = map(_escape_markdown, row)
        strong = (f"**{cell}**" if (i, j) in table.strong else cell for j, cell in enumerate(cells))
        lines.append(f"| {' | '.join(strong)} |")
    return "\n".join(lines)


def _markdown_check(number: int, check: Check) -> str:
    parts = "<br>".join(f"{MARKS[part.true][0]} {_escape_markdown(part.text)}" for part in check.parts)
    claim = f"{_escape_markdown(check.claim)}<br>*Rule: {_escape_markdown(check.rule)}*"
    return f"| {number} | {claim} | {parts or _escape_markdown(check.missing)} | **{check.verdict}** |"


def _escape_html(text: str) -> str:
    """Text for HTML, with hard spaces between numbers and their units."""
    return html.escape(re.sub(r"(?<=\d) (?=(%|ms|s|min|h)\b|%)", "\u00a0", text))


def _escape_markdown(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]|#])", r"\\\1", text)
    return html.escape(text, quote=False).replace("\n", " ")


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
