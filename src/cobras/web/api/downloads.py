"""The result as files to download: tables, answers, constraints, and a report as one HTML cluster."""

from __future__ import annotations

import base64
import json
import tempfile
import time
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from fastapi import Response

from cobras import __version__
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray, LabelArray
from cobras.core.writers import answers_as_rows, csv_frame, with_clusters, write_frame
from cobras.data import Dataset
from cobras.web.api import models
from cobras.web.context import Context, progress_model
from cobras.web.view import View

CSV, PARQUET, HTML = "text/csv; charset=utf-8", "application/vnd.apache.parquet", "text/html; charset=utf-8"
MEDIA_TYPES = ("text/csv", PARQUET, "application/json", "text/html")
FORMATS = ("csv", "parquet", "answers", "constraints", "html")
N_SHOWN = 8  # members of a cluster in the report, typical and unusual each
N_DOTS = 5_000  # points on its map, evenly spaced
SIZE = 640  # side of its map, in pixels
# The colours of the page: the first six are Okabe and Ito's, told apart by the colour-blind. Further clusters share
# them; their numbers on the map tell which is which.
PALETTE = ("0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "7a28d8", "5e2f10", "251a86", "d6114a")
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
figure { display: inline-block; margin: 0 .8rem .8rem 0; max-width: 14rem; font-size: 13px; vertical-align: top; }
figure img { width: 64px; image-rendering: pixelated; display: block; border: 1px solid #ccc; }
.chip { display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin-right: .4em; }
.quiet { color: #666; } svg { max-width: 100%; height: auto; border: 1px solid #ddd; }
"""


class File(NamedTuple):
    """The name of a file, what it is, and what it holds."""

    name: str
    media_type: str
    content: bytes

    def response(self) -> Response:
        """Return it as a file to be saved, not shown."""
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(self.name, errors='replace')}"
        }
        return Response(self.content, media_type=self.media_type, headers=headers)


def labels_file(dataset: Dataset, view: View, stem: str, suffix: str, escape: bool) -> File:
    """Return all original columns, with the cluster and its name, as CSV or Parquet."""
    if dataset.large is not None:
        raise InvalidDataError(
            "The table is too large to be sent to a page; end the server and use cobras export."
        )
    frame = with_clusters(dataset.frame, view.labels, dict(view.names))
    with tempfile.TemporaryDirectory() as folder:
        content = write_frame(frame, Path(folder, f"clusters.{suffix}"), escape=escape).read_bytes()
    return File(f"{stem}-clusters.{suffix}", CSV if suffix == "csv" else PARQUET, content)


def answers_file(dataset: Dataset, view: View, stem: str) -> File:
    """Return all answers and constraints with the person's own ids, as JSON."""
    text = json.dumps(answers_as_rows(view.records, dataset.names), indent=1, default=str)
    return File(f"{stem}-answers.json", "application/json", text.encode())


def constraints_file(dataset: Dataset, view: View, stem: str, escape: bool) -> File:
    """Return must-links and cannot-links with the person's own ids, as CSV; unsure answers are neither."""
    import polars as pl

    ids, kinds = dataset.names, ("must_link", "cannot_link")
    pairs_of = zip(kinds, view.constraints or (), strict=False)
    rows = [(str(ids[i]), str(ids[j]), kind) for kind, pairs in pairs_of for i, j in pairs.tolist()]
    frame = pl.DataFrame(rows, dict.fromkeys(("i", "j", "constraint"), pl.String), orient="row")
    return File(f"{stem}-constraints.csv", CSV, csv_frame(frame, escape=escape).write_csv().encode())


def report_file(context: Context, view: View, stem: str) -> File:
    """Return the report of a view: a page that needs no other file, all text escaped."""
    # By f-strings: a template engine would be one more dependency (Jinja2 and MarkupSafe: 1.4 MB, 0.13 s to import)
    # for 70 lines. A test serves data full of markup and finds none of it in the report.
    clusters = context.clusters.describe(view, N_SHOWN)
    progress = progress_model(view)
    title = f"{context.name}: {_count(len(clusters), 'cluster')}"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{_count(progress.n_items, 'item')}, {_count(progress.n_answers, 'answer')}, "
        f"{len(progress.unsatisfied)} of them not satisfied, {progress.n_set_aside} set aside. "
        f"{escape(progress.reason)}</p>",
        "<h2>Map</h2>",
        map_svg(context.map.coordinates, view.shown_labels, view.colours),
        "<h2>Clusters</h2>",
        *(_cluster(context, cluster) for cluster in clusters),
        "<h2>Answers</h2>",
        _answers(context, view),
        "<h2>Settings</h2>",
        _settings(context, view),
        "</html>",
    ]
    return File(f"{stem}-report.html", HTML, "\n".join(parts).encode(errors="replace"))


def map_svg(coordinates: FloatArray, labels: LabelArray, colours: tuple[int, ...]) -> str:
    """Return the map as a drawing, with the number of each cluster where most of it lies."""
    chosen = np.arange(0, len(labels), max(1, -(-len(labels) // N_DOTS)))
    x, y = SIZE * coordinates[:, 0], SIZE * (1 - coordinates[:, 1])
    dots, numbers = [], []
    for number, colour in enumerate(colours):
        # A line of no length with round ends is a dot: the shortest way to draw thousands of them.
        path = "".join(f"M{x[i]:.1f} {y[i]:.1f}h0" for i in chosen[labels[chosen] == number])
        dots.append(f"<path d='{path}' stroke='{_colour(colour)}'/>")
        # A small cluster may have no row in the sample.
        if len(rows := np.flatnonzero(labels == number)):
            at = f"x='{np.median(x[rows]):.1f}' y='{np.median(y[rows]):.1f}'"
            numbers.append(f"<text {at}>{number}</text>")
    return (
        f"<svg viewBox='-10 -10 {SIZE + 20} {SIZE + 20}' width='{SIZE}' role='img' aria-label='Map of all items'>"
        f"<g stroke-width='4' stroke-linecap='round' stroke-opacity='.7' fill='none'>{''.join(dots)}</g>"
        "<g font-family='sans-serif' font-size='18' font-weight='bold' text-anchor='middle' stroke='#fff' "
        f"stroke-width='3' paint-order='stroke'>{''.join(numbers)}</g></svg>"
    )


def _cluster(context: Context, cluster: models.Cluster) -> str:
    name = cluster.name or cluster.suggestion
    marks = [word for word, on in (("pure", cluster.pure), ("complete", cluster.complete)) if on]
    facts = ", ".join([_count(cluster.size, "item"), f"{100 * cluster.share:.1f} %", *marks])
    rows = [("typical", cluster.representatives), ("unusual", cluster.unusual)]
    figures = "".join(
        f"<p class=quiet>{word}</p>{''.join(_figure(context, item) for item in items)}"
        for word, items in rows
        if items
    )
    chip = f"<span class=chip style='background:{_colour(cluster.colour)}'></span>"
    heading = f"{chip}{cluster.number}{' · ' + escape(name) if name else ''}"
    return f"<section><h3>{heading}</h3><p>{facts}</p>{figures}</section>"


def _figure(context: Context, item: models.Thumbnail) -> str:
    picture = context.cards.picture(item.i, "small") if item.image else None
    image = ""
    if picture is not None:
        data = base64.b64encode(picture[0]).decode()
        image = f"<img alt='' src='data:{picture[1]};base64,{data}'>"
    return f"<figure>{image}<figcaption><b>{escape(item.id)}</b> {escape(item.text)}</figcaption></figure>"


def _answers(context: Context, view: View) -> str:
    lines = [
        f"<tr><td>{record.index + 1}<td>{_brief(record.left)}<td>{_brief(record.right)}"
        f"<td>{record.answer}<td>{'' if record.satisfied else 'not satisfied'}"
        f"{'' if record.in_force else 'not in force'}"
        for record in context.records(view, view.records)
    ]
    return f"<table><tr><th>#<th>item<th>item<th>answer<th>{''.join(lines)}</table>"


def _brief(item: models.Thumbnail) -> str:
    return f"{escape(item.id)} <span class=quiet>{escape(item.text)}</span>"


def _settings(context: Context, view: View) -> str:
    settings = {
        "data": context.name,
        "session": context.session_file,
        **{name: value for name, value in view.parameters.items() if value is not None},
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "cobras": __version__,
    }
    lines = [f"<tr><th>{escape(str(name))}<td>{escape(str(value))}" for name, value in settings.items()]
    notes = "".join(f"<li>{escape(note)}" for note in context.dataset.notes)
    return f"<table>{''.join(lines)}</table><ul>{notes}</ul>"


def _colour(index: int) -> str:
    return f"#{PALETTE[index % len(PALETTE)]}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
