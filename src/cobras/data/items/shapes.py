"""Images by their outlines and colours, with NumPy alone: what they are compared by where no network is installed.

Three parts: where in the image edges of which direction are (histograms of oriented gradients); how the directions
of all edges together repeat around the circle, which is the same wherever a thing lies, however large and turned it
is; how much of the image has which colour. Each part counts alike, so a clustering can follow any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobras.core.types import FloatArray, IndexArray

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 64  # pixels of the copy in which edges are looked for
N_CELLS = 4  # of a side, each with a histogram of its own
N_DIRECTIONS = 9  # of an edge in a cell, dark beside light or the other way round
N_TURNS = 36  # directions from dark to light, of the whole image
N_HARMONICS = 12  # how often they may repeat around the circle
N_HUES, N_GREYS = 12, 6
PARTS = (N_CELLS**2 * N_DIRECTIONS, N_HARMONICS, N_HUES + N_GREYS)  # columns of each part
LEAST = 0.02  # the variance below which a part is not brought to 1: there is nothing but noise in it
_TINY = 1e-6


def describe_shapes(image: Image) -> bytes:
    """The three parts of an image, one after the other, as float32."""
    across, down, strength = _gradients(image)
    parts = (_cells(across, down, strength), _harmonics(across, down, strength), _colours(image))
    return np.concatenate(parts).astype(np.float32).tobytes()


def part_scales(rows: FloatArray) -> tuple[float, ...]:
    """The factors by which all parts get the same variance over the images."""
    parts = np.split(rows.astype(np.float64), np.cumsum(PARTS)[:-1], axis=1)
    return tuple(float(1 / np.sqrt(max(part.var(axis=0).sum(), LEAST))) for part in parts)


def scale_parts(rows: FloatArray, scales: Sequence[float]) -> FloatArray:
    """The features: each part times its factor."""
    X: FloatArray = rows * np.repeat(np.asarray(scales, np.float32), PARTS)
    return X


def _gradients(image: Image) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How much brighter it gets to the right and downwards at each pixel, in the colour that changes most."""
    from PIL.Image import Resampling

    pixels = np.asarray(image.resize((SIDE, SIDE), Resampling.BILINEAR), np.float32) / 255
    across, down = np.zeros_like(pixels), np.zeros_like(pixels)
    across[:, 1:-1] = pixels[:, 2:] - pixels[:, :-2]
    down[1:-1] = pixels[2:] - pixels[:-2]
    strength = np.hypot(across, down)
    most = strength.argmax(axis=2)[..., None]
    found = (np.take_along_axis(values, most, axis=2)[..., 0] for values in (across, down, strength))
    return next(found), next(found), next(found)


def _histogram(
    angles: FloatArray, weights: FloatArray, n: int, place: IndexArray | int, n_places: int
) -> FloatArray:
    """The weights of angles, counted in turns, in n directions of each place; each goes to the two nearest ones."""
    at = np.mod(angles, 1) * n
    below = np.floor(at).astype(np.intp)
    share, first = at - below, np.asarray(place) * n
    low = np.bincount((first + below % n).ravel(), (weights * (1 - share)).ravel(), n_places * n)
    high = np.bincount((first + (below + 1) % n).ravel(), (weights * share).ravel(), n_places * n)
    both: FloatArray = np.asarray(low + high, np.float64).reshape(n_places, n)
    return both


def _cells(across: FloatArray, down: FloatArray, strength: FloatArray) -> FloatArray:
    """The directions of edges in each cell, relative to the strength of edges around it; of length 1."""
    cell = np.arange(SIDE) * N_CELLS // SIDE
    place = cell[:, None] * N_CELLS + cell
    turns = np.arctan2(down, across) / np.pi  # of half a circle
    found = _histogram(turns, strength, N_DIRECTIONS, place, N_CELLS**2)
    inked = found.sum(axis=1).reshape(N_CELLS, N_CELLS)
    padded = np.pad(inked, 1, mode="edge")
    nearby = [padded[i : i + N_CELLS, j : j + N_CELLS] for i in range(3) for j in range(3)]
    around = np.mean(nearby, axis=0)
    relative = np.sqrt(found / (around.ravel() + inked.mean() / 4 + _TINY)[:, None]).ravel()
    cells: FloatArray = relative / (np.linalg.norm(relative) + _TINY)
    return cells


def _harmonics(across: FloatArray, down: FloatArray, strength: FloatArray) -> FloatArray:
    """How strongly the directions of all edges repeat once, twice, ... around the circle: 4 times for a square."""
    turns = np.arctan2(down, across) / (2 * np.pi)
    directions = _histogram(turns, strength, N_TURNS, 0, 1)[0]
    waves = np.abs(np.fft.rfft(directions))
    found: FloatArray = waves[1 : N_HARMONICS + 1] / (waves[0] + _TINY)
    return found


def _colours(image: Image) -> FloatArray:
    """The amounts of hues, by how strong they are, and of greys; of length 1."""
    small = np.asarray(image.resize((SIDE // 2, SIDE // 2)).convert("HSV"), np.float32).reshape(-1, 3) / 255
    hue, saturation, value = small.T
    hues = np.bincount((hue * N_HUES).astype(np.intp) % N_HUES, saturation * value, N_HUES)
    greys = np.bincount(np.minimum((value * N_GREYS).astype(np.intp), N_GREYS - 1), 1 - saturation, N_GREYS)
    amounts = np.sqrt(np.concatenate([hues, greys]) / len(small))
    found: FloatArray = amounts / (np.linalg.norm(amounts) + _TINY)
    return found
