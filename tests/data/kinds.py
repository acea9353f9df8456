"""Small files of every kind, as people have them on their disks, with what an export must give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

N = 16


@dataclass(frozen=True)
class Files:
    """Where the data is, how the command is told of it, what is exported, and words that must never be seen."""

    path: str
    options: list[str]
    exported: pl.DataFrame
    secrets: tuple[str, ...]


def table(folder: Path) -> Files:
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue"])[np.arange(N) % 2]
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=N).round(3),
            "id": [f"k{i}" for i in reversed(range(N))],
            "colour": colour,
            "kind": [f"secret-{word}" for word in colour],
            "when": ["2024-05-06", "2023-01-02"] * (N // 2),
        }
    )
    frame.write_excel(folder / "t.xlsx")
    return Files("t.xlsx", ["--label", "kind"], frame, ("secret",))


def images(folder: Path) -> Files:
    """Dark and bright ones in every format, among them PGM in words (P2) and in bytes (P5), of 8 and 16 bits."""
    formats = ("png", "jpg", "webp", "gif", "P2.8.pgm", "P5.8.pgm", "P2.16.pgm", "P5.16.pgm")
    names = []
    for k in range(N):
        name = f"{'nightfall' if k % 2 else 'daybreak'}/p {k:02} ☂.{formats[k // 2]}"
        path = folder / "my photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("pgm"):
            path.write_bytes(_pgm((10 if k % 2 else 240) + k, name))
        else:
            Image.new("RGB", (40, 30), (30 + k, 0, 0) if k % 2 else (200 + k, 255, 255)).save(path)
        names.append(name)
    return Files(
        "my photos", ["--label", "folder", "--features", "pixels"], _listed(names), ("nightfall", "daybreak")
    )


def _pgm(level: int, name: str) -> bytes:
    """One grey, 0 to 255, written as the name says."""
    most = 65535 if ".16." in name else 255
    grey = level * most // 255
    if ".P2." in name:
        return f"P2\n# grey\n40 30\n{most}\n{f'{grey} ' * 1200}\n".encode()
    return f"P5\n40 30\n{most}\n".encode() + 1200 * grey.to_bytes(most.bit_length() // 8, "big")


def texts(folder: Path) -> Files:
    words = ("rose tulip soil spade", "anchor tide rope sail")
    names = []
    for k in range(N):
        name = f"{'seashore' if k % 2 else 'garden'}/letter{k:02}.txt"
        path = folder / "letters" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{words[k % 2]} number {k}")
        names.append(name)
    return Files("letters", ["--label", "folder"], _listed(names), ("seashore", "garden"))


def series(folder: Path) -> Files:
    """A row for each moment, and the series of different lengths."""
    rows = []
    for k in range(N):
        t = np.linspace(0, 6, 40)[: 34 + k % 7]
        values = np.sin((1 + 2 * (k % 2)) * t + k / 50).round(4)
        rows.append(
            pl.DataFrame({"volt": values, "engine": f"e{k}", "time": t, "pace": ("sluggish", "brisk")[k % 2]})
        )
    frame = pl.concat(rows)
    frame.sample(fraction=1, shuffle=True, seed=0).sort("engine", maintain_order=True).write_csv(
        folder / "engines.csv"
    )
    order = sorted(range(N), key=lambda k: f"e{k}")
    exported = pl.DataFrame(
        {"engine": [f"e{k}" for k in order], "pace": [("sluggish", "brisk")[k % 2] for k in order]}
    )
    options = ["--kind", "series", "--id", "engine", "--label", "pace"]
    return Files("engines.csv", options, exported, ("sluggish", "brisk"))


def _listed(names: list[str]) -> pl.DataFrame:
    names = sorted(names)
    return pl.DataFrame({"file": names, "folder": [name.partition("/")[0] for name in names]})


KINDS: dict[str, Callable[[Path], Files]] = {"table": table, "image": images, "text": texts, "series": series}
