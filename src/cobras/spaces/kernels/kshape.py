"""k-Shape (Paparrizos and Gravano, 2015): series clustered by shape, wherever in time the shape begins.

The shape-based distance of two series is 1 - max over all shifts of their normalised cross-correlation. A centre is
the shape that correlates most with its members, each shifted to fit the centre before: the leading eigenvector of
their products. Correlations are Fourier transforms in single precision, those of the series made once; shifts found
in the assignment are used again for the centres, whose eigenvectors come from power iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from cobras.core.partition import SuperInstance
from cobras.core.threads import one_thread
from cobras.core.types import FloatArray, IndexArray
from cobras.spaces.kernels.kmeans import RandomSource

Spectra: TypeAlias = npt.NDArray[np.complexfloating[Any, Any]]

# By hand: cobras-ts with the package kshape takes 9 to 20 times as long (docs/guides/series.md), and kshape 1.0,
# the only version that fits it, does not run with NumPy 2.
MAX_ITER = 100
ALIKE = 1e-5  # shapes nearer than this are the same: single precision cannot tell
CHUNK = 1 << 21  # correlations at a time: 8 MB


class Fit(NamedTuple):
    """The similarity of each series with each centre, at its best, and how far it must be shifted for that."""

    similarity: FloatArray
    shift: IndexArray


class KShape:
    """Series grouped, ranked and compared by their shapes.

    Parameters
    ----------
    series : array of shape (n, channels, length)
        Finite numbers. A flat series, only zeros, is like no other.
    """

    def __init__(self, series: FloatArray) -> None:
        from scipy.fft import next_fast_len

        self.length = series.shape[2]
        self.series = series.astype(np.float32)
        norms = np.sqrt(np.einsum("ncl,ncl->n", self.series, self.series, dtype=np.float64))
        self.series /= np.where(norms > 0, norms, 1)[:, None, None].astype(np.float32)
        self._size = next_fast_len(2 * self.length - 1, real=True)
        self.spectra = self._transform(self.series)

    def groups(self, members: IndexArray, k: int, rng: RandomSource) -> tuple[IndexArray, FloatArray]:
        """Return a group number for every member, at most k of them, and the centres."""
        n = len(members)
        labels: IndexArray = (rng.random((n,)) * k).astype(np.intp)
        shift: IndexArray = np.zeros((n, k), np.intp)
        centres = np.zeros((k, *self.series.shape[1:]), np.float32)
        fitness = rng.random((n,))
        with one_thread():
            for _ in range(MAX_ITER):
                for g in range(k):
                    inside = np.flatnonzero(labels == g)
                    if len(inside):
                        centres[g] = self.centre(members[inside], shift[inside, g], centres[g])
                    else:  # an empty group begins again with the member that fits least where it is
                        centres[g] = self.series[members[fitness.argmin()]]
                        fitness[fitness.argmin()] = np.inf
                similarity, shift = self.fit(self.spectra[members], centres)
                before, labels, fitness = labels, similarity.argmax(axis=1), similarity.max(axis=1)
                if (before == labels).all():
                    break
        used, labels = np.unique(labels, return_inverse=True)
        return (labels, centres[used]) if len(used) > 1 else self._halve(members, similarity[:, used[0]])

    def describe(
        self, candidates: IndexArray, members: IndexArray, start: FloatArray | None
    ) -> tuple[IndexArray, FloatArray]:
        """Return the candidates, the one most similar to the centre of all members first, and that centre."""
        centre = start
        with one_thread():
            if centre is None:
                flat = np.zeros(self.series.shape[1:], np.float32)
                centre = self.centre(members, np.zeros(len(members), np.intp), flat)
            _, shift = self.fit(self.spectra[members], centre[None])
            centre = self.centre(members, shift[:, 0], centre)
        similarity, _ = self.fit(self.spectra[candidates], centre[None])
        return candidates[np.argsort(-similarity[:, 0], kind="stable")], centre

    def distances_to(self, members: IndexArray, parts: Sequence[SuperInstance]) -> FloatArray:
        """Return the distance of every member to the centre of every part."""
        return 1 - self.fit(self.spectra[members], np.array([part.centroid for part in parts])).similarity

    def squared_distances_to_series(self, others: IndexArray) -> FloatArray:
        """Return the squared Euclidean distance of every series to these, each at its best shift."""
        found: FloatArray = np.maximum(2 - 2 * self.fit(self.spectra, self.series[others]).similarity, 0)
        return found

    def distances_between(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """Return the distances of centres."""
        spectra = self._transform(np.array([s.centroid for s in a]))
        return 1 - self.fit(spectra, np.array([s.centroid for s in b])).similarity

    def _halve(self, members: IndexArray, similarity: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Return two groups where k-Shape found one: what is like the member farthest from the centre; the rest."""
        ends = self.series[members[[similarity.argmax(), similarity.argmin()]]]
        likeness = self.fit(self.spectra[members], ends).similarity
        labels: IndexArray = likeness.argmax(axis=1)
        labels[similarity.argmin()] = int(likeness[similarity.argmin(), 0] < 1 - ALIKE)
        return labels, ends

    def fit(self, spectra: Spectra, centres: FloatArray) -> Fit:
        """Correlate series, given by their transforms, with centres."""
        others = np.conj(self._transform(centres))
        step = max(1, CHUNK // (self._size * len(centres)))
        parts = [self._fit(spectra[a : a + step], others) for a in range(0, len(spectra), step)]
        return Fit(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))

    def _fit(self, spectra: Spectra, others: Spectra) -> Fit:
        from scipy.fft import irfft

        products = spectra[:, None, 0] * others[:, 0]
        for channel in range(1, spectra.shape[1]):
            products += spectra[:, None, channel] * others[:, channel]
        found = irfft(products, self._size, overwrite_x=True)
        shift = found.argmax(axis=2)
        similarity = np.take_along_axis(found, shift[:, :, None], axis=2)[:, :, 0]
        return Fit(similarity, np.where(shift < self.length, shift, shift - self._size))

    def _transform(self, series: FloatArray) -> Spectra:
        from scipy.fft import rfft

        spectra: Spectra = rfft(series, self._size)
        return spectra

    def centre(self, members: IndexArray, shift: IndexArray, before: FloatArray) -> FloatArray:
        """Return the shape of norm 1 that correlates most with the shifted members; 0 if they are flat."""
        aligned = self._shift(members, shift)
        aligned -= aligned.mean(axis=2, keepdims=True)
        rows = aligned.reshape(len(members), -1)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(norms > 1e-6, norms, np.inf)[:, None]
        shape = before.ravel()
        if not (rows @ shape).any():
            shape = rows[norms.argmax()]
        for _ in range(50):
            found = (rows @ shape) @ rows
            size = np.linalg.norm(found)
            if size < 1e-12:
                return np.zeros_like(before)
            found /= size
            change = np.abs(found - shape).max()
            shape = found
            if change < 1e-4:
                break
        return (shape if (rows @ shape).sum() >= 0 else -shape).reshape(before.shape)

    def _shift(self, members: IndexArray, shift: IndexArray) -> FloatArray:
        n, channels, length = len(members), *self.series.shape[1:]
        padded = np.zeros((n, channels, 3 * length), np.float32)
        padded[:, :, length : 2 * length] = self.series[members]
        return sliding_window_view(padded, length, axis=2)[np.arange(n), :, length + shift]
