"""How results are shown in a notebook: a heading, a table and a line, as HTML without scripts or styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from cobras.core.types import ClusterNames, StableIds

N_SHOWN = 20  # rows of a table


def quantity(number: int, word: str) -> str:
    """A number and a noun.

    Examples
    --------
    >>> quantity(1, "answer"), quantity(2, "answer"), quantity(0, "query")
    ('1 answer', '2 answers', '0 queries')
    """
    many = f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"
    return f"{number} {word if number == 1 else many}"


def show_html(
    heading: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], lines: Iterable[str] = ()
) -> str:
    """Return a heading, a table of at most twenty rows and some lines; all texts are escaped.

    Examples
    --------
    >>> show_html("1 cluster", ["name"], [["<b>"]])
    '<div><strong>1 cluster</strong><table><tr><th>name</th></tr><tr><td>&lt;b&gt;</td></tr></table></div>'
    """
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows[:N_SHOWN]
    )
    more = [f"and {len(rows) - N_SHOWN} more"] if len(rows) > N_SHOWN else []
    table = f"<table><tr>{head}</tr>{body}</table>" if rows else ""
    text = "".join(f"<p>{escape(line)}</p>" for line in (*more, *lines))
    return f"<div><strong>{escape(heading)}</strong>{table}{text}</div>"


def cluster_rows(
    sizes: Sequence[int],
    ids: StableIds = None,
    names: ClusterNames = None,
    marks: ClusterNames = None,
) -> tuple[list[str], list[list[Any]]]:
    """The columns and rows of a table of clusters, the largest first; what no cluster has is no column.

    Examples
    --------
    >>> cluster_rows([3, 5], names={0: "roses"})
    (['cluster', 'rows', 'name'], [[1, 5, ''], [0, 3, 'roses']])
    """
    order = sorted(range(len(sizes)), key=lambda number: (-sizes[number], number))
    columns: dict[str, list[Any]] = {"cluster": order, "rows": [sizes[number] for number in order]}
    if ids is not None and list(ids) != list(range(len(ids))):
        columns["id"] = [ids[number] for number in order]
    for word, texts in (("name", names), ("mark", marks)):
        if texts:
            columns[word] = [texts.get(number, "") for number in order]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]
