"""The report: one page that needs no other file, to be printed or sent to somebody who has no cobras.

By f-strings: a template engine would be one more dependency (Jinja2 and MarkupSafe: 1.4 MB, 0.13 s to import). A
test serves data full of markup and finds none of it in the report.
"""

from __future__ import annotations

import base64
import time
from html import escape
from pathlib import Path

import numpy as np

from cobras import __version__
from cobras.core.types import FloatArray, LabelArray
from cobras.data.tables.columns import isolate
from cobras.web.api import listings, models
from cobras.web.api.downloads import File
from cobras.web.context import Context, progress_model
from cobras.web.profiles.drawings import columns_html, members_html
from cobras.web.view import View

HTML = "text/html; charset=utf-8"
N_PROFILED = 60  # clusters that are described, the largest ones
N_DOTS = 5_000  # points on the map, evenly spaced
SIZE = 640  # side of the map, in pixels
LABEL = 28  # characters of a name on the map
LETTER, LINE = 8.4, 17.0  # about how wide a letter on it is, and how high a line
# The colours of the page: the first six are Okabe and Ito's, told apart by the colour-blind. Further clusters share
# them; their numbers on the map tell which is which.
PALETTE = ("0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "7a28d8", "5e2f10", "251a86", "d6114a")


def report_file(context: Context, view: View, stem: str) -> File:
    """Return the report of a view, all text escaped."""
    clusters = sorted(context.clusters.describe(view, 1), key=lambda cluster: -cluster.size)
    context.map.wait()  # a program may never have asked for it
    title = context.name
    style = Path(__file__).with_name("report.css").read_text("utf-8")
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width'>",
        f"<title>{escape(title)}: {_count(len(clusters), 'cluster')}</title><style>{style}</style>",
        f"<header><p class=kicker>Clusters of</p><h1><bdi>{escape(title)}</bdi></h1>",
        f"{_facts(view, len(clusters))}</header>",
        "<h2>Overview</h2>",
        _overview(clusters),
        map_svg(context.map.coordinates, view.shown_labels, view.colours, _labels(view, clusters)),
        "<h2>The clusters</h2>",
        "<p class=key><span class=own>the cluster</span><span class=rest>all other items</span></p>",
        *(_cluster(context, view, cluster) for cluster in clusters[:N_PROFILED]),
        _left_out(clusters),
        "<h2>How it was made</h2>",
        _settings(context, view),
        "<h2>All answers</h2>",
        _answers(context, view),
        "</html>",
    ]
    return File(f"{stem}-report.html", HTML, "\n".join(parts).encode(errors="replace"))


def _facts(view: View, n_clusters: int) -> str:
    progress = progress_model(view)
    numbers = [
        (f"{progress.n_items:,}", "item" if progress.n_items == 1 else "items"),
        (f"{n_clusters:,}", "cluster" if n_clusters == 1 else "clusters"),
        (
            f"{progress.n_answers:,}",
            "answer by a person" if progress.n_answers == 1 else "answers by a person",
        ),
    ]
    if progress.expected_ari is not None and progress.ari_range is not None:
        low, high = progress.ari_range
        words = f"expected agreement with what was meant (ARI, {low:.2f} to {high:.2f})"
        numbers.append((f"{progress.expected_ari:.2f}", words))
    cells = "".join(f"<div><dt>{word}<dd>{number}</div>" for number, word in numbers)
    return f"<dl class=facts>{cells}</dl>"


def _title(cluster: listings.Cluster) -> str:
    return cluster.name or cluster.suggestion or f"Cluster {cluster.id}"


def _labels(view: View, clusters: list[listings.Cluster]) -> list[str]:
    """What stands on the map at each cluster, by number: its id and, where it has one, its name."""
    found = [str(number) for number in view.ids]
    for cluster in clusters:
        if name := cluster.name or cluster.suggestion:
            short = name if len(name) <= LABEL else f"{name[: LABEL - 1]}…"
            found[cluster.number] = f"{cluster.id} {isolate(short)}"
    return found


def _overview(clusters: list[listings.Cluster]) -> str:
    most = max((cluster.share for cluster in clusters), default=1.0)
    lines = "".join(
        f"<tr><td>{_chip(cluster)}{cluster.id}<td class=name><bdi>{escape(_title(cluster))}</bdi>"
        f"<td class=number>{cluster.size:,}<td class=number>{cluster.share:.1%}"
        f"<td class=bar><i style='width:{100 * cluster.share / most:.1f}%;"
        f"background:{_colour(cluster.colour)}'></i>"
        for cluster in clusters
    )
    head = "<thead><tr><th>no.<th>name<th class=number>items<th class=number>share<th></thead>"
    return f"<table class=overview>{head}<tbody>{lines}</table>"


def map_svg(coordinates: FloatArray, labels: LabelArray, colours: tuple[int, ...], names: list[str]) -> str:
    """Return the map as a drawing, with the name of each cluster where most of it lies."""
    chosen = np.arange(0, len(labels), max(1, -(-len(labels) // N_DOTS)))
    x, y = SIZE * coordinates[:, 0], SIZE * (1 - coordinates[:, 1])
    dots, places = [], []
    for number, colour in enumerate(colours):
        # A line of no length with round ends is a dot: the shortest way to draw thousands of them.
        path = "".join(f"M{x[i]:.1f} {y[i]:.1f}h0" for i in chosen[labels[chosen] == number])
        dots.append(f"<path d='{path}' stroke='{_colour(colour)}'/>")
        # A small cluster may have no row in the sample.
        if len(rows := np.flatnonzero(labels == number)):
            places.append((float(np.median(x[rows])), float(np.median(y[rows])), names[number]))
    texts = "".join(
        f"<text x='{left:.1f}' y='{top:.1f}'>{escape(name)}</text>" for left, top, name in _spread(places)
    )
    width = min(10.0, max(4.0, 120 / len(chosen) ** 0.5))  # few dots are large enough to be seen on a phone
    low, high = float(y.min()) - 22, float(y.max()) + 22
    return (
        f"<svg class=map viewBox='-10 {low:.0f} {SIZE + 20} {high - low:.0f}' role=img "
        "aria-label='Map of all items'>"
        f"<g stroke-width='{width:.1f}' stroke-linecap='round' stroke-opacity='.7' fill='none'>{''.join(dots)}</g>"
        "<g font-size='15' font-weight='600' text-anchor='middle' stroke='#fff' stroke-width='4' "
        f"stroke-linejoin='round' paint-order='stroke'>{texts}</g></svg>"
        "<p class=small>Items that are alike lie close together.</p>"
    )


def _spread(places: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Names inside the drawing, and below those that they would cover."""
    found: list[tuple[float, float, str]] = []
    for left, top, name in sorted(places, key=lambda place: place[1]):
        half = LETTER * len(name) / 2
        left = min(max(left, half), SIZE - half) if 2 * half < SIZE else SIZE / 2
        for other, height, text in found:
            if abs(other - left) < half + LETTER * len(text) / 2 and abs(height - top) < LINE:
                top = height + LINE
        found.append((left, top, name))
    return found


def _cluster(context: Context, view: View, cluster: listings.Cluster) -> str:
    profile = context.clusters.profile(view, cluster.number)
    marks = [word for word, on in (("pure", cluster.pure), ("complete", cluster.complete)) if on]
    facts = ", ".join([_count(cluster.size, "item"), f"{cluster.share:.1%}", *marks])
    sheet = "".join(_picture(context, item) for item in profile.pictures)
    return (
        f"<section style='--own:{_colour(cluster.colour)}'>"
        f"<h3>{_chip(cluster)}<span class=id>{cluster.id}</span><bdi>{escape(_title(cluster))}</bdi>"
        f"<span class=size>{facts}</span></h3>"
        f"{columns_html(profile)}{f'<div class=sheet>{sheet}</div>' if sheet else ''}"
        f"{members_html(profile)}</section>"
    )


def _picture(context: Context, item: models.Thumbnail) -> str:
    picture = context.cards.picture(item.i, "small") if item.image else None
    if picture is None:
        return ""
    data = base64.b64encode(picture[0]).decode()
    return f"<img alt='{escape(item.id, quote=True)}' src='data:{picture[1]};base64,{data}'>"


def _left_out(clusters: list[listings.Cluster]) -> str:
    n = len(clusters) - N_PROFILED
    return f"<p class=small>{_count(n, 'smaller cluster')} are not described here.</p>" if n > 0 else ""


def _answers(context: Context, view: View) -> str:
    lines = [
        f"<tr><td class=number>{record.number or '+'}<td>{_brief(record.left)}<td>{_brief(record.right)}"
        f"<td>{record.answer or record.kind}<td>{_remark(record)}"
        for record in context.records(view, view.records)
    ]
    head = "<thead><tr><th class=number>no.<th>item<th>item<th>answer<th></thead>"
    return f"<table class=answers>{head}<tbody>{''.join(lines)}</table>"


def _remark(record: models.Record) -> str:
    void = f"{record.n_void} of {_count(record.n_pairs, 'pair')} no longer in force" if record.n_void else ""
    if record.n_void == record.n_pairs:
        void = "no longer applies" if record.n_void else ""
    return ", ".join(filter(None, (void, "" if record.satisfied else "not satisfied")))


def _brief(item: models.Thumbnail | None) -> str:
    if item is None:
        return ""
    return f"<bdi>{escape(item.id)}</bdi> <bdi class=small>{escape(item.text)}</bdi>"


def _settings(context: Context, view: View) -> str:
    progress = progress_model(view)
    said = (
        f"{_count(progress.n_answers, 'answer')}, {len(progress.unsatisfied)} of them not satisfied, "
        f"{progress.n_set_aside} set aside. {escape(progress.reason)}"
    )
    settings = {
        "data": context.name,
        "session": context.session_file,
        **{name: value for name, value in view.parameters.items() if value is not None},
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "cobras": __version__,
    }
    lines = [f"<tr><th>{escape(str(name))}<td>{escape(str(value))}" for name, value in settings.items()]
    notes = "".join(f"<li>{escape(note)}" for note in context.dataset.notes)
    return f"<p>{said}</p><ul>{notes}</ul><table class=settings>{''.join(lines)}</table>"


def _chip(cluster: listings.Cluster) -> str:
    return f"<span class=chip style='background:{_colour(cluster.colour)}'></span>"


def _colour(index: int) -> str:
    return f"#{PALETTE[index % len(PALETTE)]}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
