"""COSC: constrained 1-spectral clustering (Rangapuram and Hein, AISTATS 2012).

Must-linked rows become one vertex of the similarity graph. Two clusters are the best of several descents, gamma
raised until all cannot-links hold; more clusters come from repeated splits in two. It departs from the authors'
code as follows (see also `cobras.clusterers.ratiodca`):

- some starts are always cuts that meet the cannot-links, so that for two clusters none is violated that can hold:
  the best cut mended, and a harmonic function between the ends of cannot-links in place of constrained spectral
  clustering;
- starts that reached the same cut go on as one; with more than two clusters, new random ones take their places;
- the preset "fast", meant for clustering again after every few answers, has two starts, one run, 1000 inner
  iterations, and jumps to the gamma at which the best cut and the mended one cost the same;
- cannot-links that two clusters cannot meet (an odd cycle) are met as well as possible, as for more clusters.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from cobras.clusterers.closure import close
from cobras.clusterers.graph import (
    Kind,
    contract,
    harmonic,
    multiway_cut,
    neighbour_graph,
    second_eigenvector,
    two_colour,
)
from cobras.clusterers.ratiodca import Cut, CutProblem
from cobras.exceptions import InvalidDataError
from cobras.inputs import as_labels, as_matrix, as_seed, check_options
from cobras.types import FloatArray, IndexArray

N_GAMMAS = 60  # the doubling ends long before, unless cannot-links form an odd cycle
NARROW = 0.01  # the search for the smallest gamma ends at this relative width
PERTURBATIONS, PATIENCE = np.arange(0.001, 0.1, 0.01), 5


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look for a cut: starts per split, whole recursions, inner iterations, perturbed restarts."""

    n_starts: int = 10
    n_runs: int = 1
    max_inner: int = 10_000
    perturbation: bool = True
    jump: bool = False


class COSC(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Constrained 1-spectral clustering: the normalised cut of a neighbour graph, under must- and cannot-links.

    All must-links hold. With two clusters all cannot-links hold that can; with more, as many as the splits manage.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_neighbors, scale, graph
        The similarity graph: see `cobras.clusterers.graph.neighbour_graph`, where `graph` is the `kind`. It is kept
        on the instance, so that fitting the same X again, with other constraints, does not build it again.
    vertex_weights : "degree" or "one"
        What balances the clusters: normalised cut or ratio cut.
    preset : "full" or "fast"
        The effort of the authors' code, or one for clustering again after every few answers.
    n_starts, n_runs, max_inner, perturbation : optional
        Parts of the preset to replace: starts per split, whole recursions (more than two clusters), iterations of
        the inner solver, and whether results are perturbed and descended from again (two clusters).
    random_state : int, RandomState or Generator, optional
        The seed of the random starts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of every row, numbered in the order of first rows.
    n_violations_ : int
        The given cannot-links with both rows in one cluster.
    cut_ : float
        The sum over clusters of cut / volume.
    affinity_matrix_ : sparse array of shape (n, n)
        The similarity graph.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> model = COSC(n_clusters=2, n_neighbors=2, random_state=0)
    >>> model.fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.fit(X, must_link=[(0, 3)], cannot_link=[(0, 5)]).labels_[[0, 3, 5]].tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_neighbors: int = 10,
        scale: float = 4.0,
        graph: Kind = "symmetric",
        vertex_weights: Literal["degree", "one"] = "degree",
        preset: Literal["full", "fast"] = "full",
        n_starts: int | None = None,
        n_runs: int | None = None,
        max_inner: int | None = None,
        perturbation: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.graph = graph
        self.vertex_weights = vertex_weights
        self.preset = preset
        self.n_starts = n_starts
        self.n_runs = n_runs
        self.max_inner = max_inner
        self.perturbation = perturbation
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        init_labels: Any = None,
    ) -> Self:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Numbers, without missing values.
        y : ignored
            For scikit-learn's sake.
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs of rows that belong, or do not belong, together. Pairs that contradict each other raise.
        init_labels : array-like of shape (n,), optional
            An earlier clustering of X, as one of the starts.
        """
        check_options(type(self).__init__, self.get_params(deep=False))
        if not (isinstance(self.scale, (int, float)) and 0 < self.scale < np.inf):
            raise InvalidDataError(f"scale must be a number above 0, not {self.scale!r}.")
        X = as_matrix(validate_data(self, X, dtype=(np.float64, np.float32), order="C"))
        n, k = len(X), self.n_clusters
        if k > n:
            raise InvalidDataError(f"n_clusters must be at most the number of rows, n_samples={n}, not {k}.")
        warm = None if init_labels is None else np.unique(as_labels(init_labels, n), return_inverse=True)[1]
        closed = close(n, must_link, cannot_link)
        if k > closed.n_components:
            raise InvalidDataError(
                f"n_clusters={k}, but the must-links join the rows to {closed.n_components} groups. "
                "Ask for fewer clusters or drop must-links."
            )
        self._prepare_graph(X)
        W = self.affinity_matrix_
        volume: FloatArray = (
            np.asarray(W.sum(axis=0), dtype=np.float64) if self.vertex_weights == "degree" else np.ones(n)
        )
        volume[volume == 0] = 1e-6 * max(float(volume.mean()), 1e-6)
        rng = np.random.default_rng(as_seed(self.random_state))
        found = cluster(W, volume, closed.component, closed.apart, k, self._effort(), rng, warm)
        first = np.unique(found, return_index=True)[1]
        self.labels_ = np.argsort(np.argsort(first)).astype(np.int32)[found]
        self.cut_ = multiway_cut(W, volume, self.labels_)
        pairs = np.asarray([] if cannot_link is None else cannot_link, dtype=np.int64).reshape(-1, 2)
        i, j = np.unique(np.sort(pairs, axis=1), axis=0).T
        self.n_violations_ = int(np.count_nonzero(self.labels_[i] == self.labels_[j]))
        return self

    def _prepare_graph(self, X: FloatArray) -> None:
        content = hashlib.blake2b(np.asarray(X).data, digest_size=16).digest()
        key = (content, X.shape, X.dtype.str, self.n_neighbors, self.scale, self.graph)
        if getattr(self, "_graph_key", None) != key:
            self.affinity_matrix_ = neighbour_graph(X, self.n_neighbors, self.scale, self.graph)
            self._graph_key = key

    def _effort(self) -> Effort:
        fast, two = self.preset == "fast", self.n_clusters <= 2
        effort = Effort(
            n_starts=2 if fast or not two else 10,
            n_runs=1 if fast else 5,
            max_inner=1000 if fast or not two else 10_000,
            perturbation=two and not fast,
            jump=fast,
        )
        given = {name: getattr(self, name) for name in ("n_starts", "n_runs", "max_inner", "perturbation")}
        return replace(effort, **{name: value for name, value in given.items() if value is not None})


def cluster(
    W: Any,
    volume: FloatArray,
    component: IndexArray,
    apart: IndexArray,
    k: int,
    effort: Effort,
    rng: np.random.Generator,
    warm: IndexArray | None = None,
) -> IndexArray:
    """Labels for the vertices of a graph; components stay whole and are kept apart where they can."""
    group = component
    if k == 2 and len(apart):
        joined = two_colour(int(component.max()) + 1, apart)
        group, apart = joined[component], np.unique(np.sort(joined[apart], axis=1), axis=0)
    n = int(group.max()) + 1
    if k == 1:
        return np.zeros(len(group), dtype=np.int64)
    if k == n:
        return group
    W = contract(W, group) / W.max()  # gamma is in units of the largest weight
    volume = np.bincount(group, volume).astype(np.float64)
    start = None
    if warm is not None:  # a group joined since then follows most of its rows
        votes = sp.coo_array((np.ones(len(group)), (group, warm))).toarray()
        start = votes.argmax(axis=1)
    if k == 2:
        return two_clusters(W, volume, apart, effort, rng, start).side.astype(np.int64)[group]
    runs = [Splits(W, volume, apart, k, effort, rng, start).labels for _ in range(effort.n_runs)]
    return min(runs, key=lambda labels: multiway_cut(W, volume, labels))[group]


def two_clusters(
    W: Any,
    volume: FloatArray,
    apart: IndexArray,
    effort: Effort,
    rng: np.random.Generator,
    warm: IndexArray | None = None,
) -> Cut:
    """The best cut found that violates nothing (or, with odd cycles, no more than a mended one)."""
    problem = CutProblem.of(W, volume, apart)
    cuts = distinct(
        [problem.descend(f, 0.0, effort.max_inner) for f in starts(problem, W, effort, rng, warm)]
    )
    if effort.perturbation:
        cuts = distinct([perturb(problem, cut, 0.0, effort, rng) for cut in cuts])
    best = cuts[0]
    if best.n_violations == 0:
        return best
    mended = mend(problem, best)
    vectors = [
        mended.side.astype(np.float64),
        harmonic(W, mended.side, np.union1d(problem.left, problem.right)),
    ]
    if warm is not None and warm.min() < warm.max():
        vectors.append(mend(problem, one_against_rest(problem, warm)).side.astype(np.float64))
    if not effort.jump:
        vectors += [cut.side.astype(np.float64) for cut in cuts]
        return narrow(problem, vectors, mended, effort, rng)
    dearer = best.n_violations * best.balance - mended.n_violations * mended.balance
    gamma = max((mended.value - best.value) / dearer, 0.2) if dearer > 0.0 else 0.2
    cuts = [problem.descend(f, gamma * (1.0 + NARROW), effort.max_inner) for f in vectors]
    return min([mended, *(mend(problem, cut) for cut in cuts)], key=faults)


def narrow(
    problem: CutProblem, vectors: list[FloatArray], feasible: Cut, effort: Effort, rng: np.random.Generator
) -> Cut:
    """Double gamma until the best cut is feasible, then bisect to the smallest gamma where it is."""
    gamma, low, high = 0.2, 0.0, np.inf
    for _ in range(N_GAMMAS):
        cuts = distinct([problem.descend(f, gamma, effort.max_inner) for f in vectors], gamma)
        if effort.perturbation:
            cuts = distinct([perturb(problem, cut, gamma, effort, rng) for cut in cuts], gamma)
        mended = mend(problem, cuts[0])
        feasible = min(feasible, mended, key=faults)
        if cuts[0].n_violations <= feasible.n_violations:
            high = gamma
        else:
            low = gamma
        if high - low < NARROW * high:
            break
        gamma = 0.5 * (low + high) if high < np.inf else 2.0 * gamma
        vectors = [cut.side.astype(np.float64) for cut in distinct([*cuts, mended, feasible], gamma)]
    return feasible


def faults(cut: Cut) -> tuple[int, float]:
    """What makes a cut worse than another: violations, then its value."""
    return cut.n_violations, cut.value


def starts(
    problem: CutProblem, W: Any, effort: Effort, rng: np.random.Generator, warm: IndexArray | None
) -> list[FloatArray]:
    """The second eigenvector, the best of the earlier clusters against the rest, and random vectors."""
    vectors = [second_eigenvector(W, problem.volume, rng)]
    if warm is not None and warm.min() < warm.max():
        vectors.append(one_against_rest(problem, warm).side.astype(np.float64))
    vectors += [rng.standard_normal(len(problem.volume)) for _ in range(effort.n_starts - len(vectors))]
    return vectors


def one_against_rest(problem: CutProblem, labels: IndexArray) -> Cut:
    """The cluster that is cheapest to cut off."""
    return min((problem.cut(labels == label) for label in np.unique(labels)), key=lambda cut: cut.value)


def distinct(cuts: list[Cut], gamma: float = 0.0) -> list[Cut]:
    """The different cuts, cheapest first; a set and the rest are the same cut."""
    return sorted(
        {(cut.side ^ cut.side[0]).tobytes(): cut for cut in cuts}.values(), key=lambda cut: cut.cost(gamma)
    )


def perturb(problem: CutProblem, cut: Cut, gamma: float, effort: Effort, rng: np.random.Generator) -> Cut:
    """Descend again from slightly disturbed copies, until five in a row bring nothing."""
    n_failures = 0
    for width in PERTURBATIONS:
        disturbed = cut.side + width * rng.standard_normal(len(cut.side))
        other = problem.descend(disturbed, gamma, effort.max_inner)
        if other.cost(gamma) < cut.cost(gamma) * (1.0 - 1e-12):
            cut, n_failures = other, 0
        else:
            n_failures += 1
        if n_failures == PATIENCE:
            break
    return cut


def mend(problem: CutProblem, cut: Cut) -> Cut:
    """Move, for every cannot-link inside a side, the end that is held less firmly to the other side."""
    if cut.n_violations == 0:
        return cut
    side = cut.side.copy()
    n, crossing = len(side), side[problem.tail] != side[problem.head]
    pull = np.where(crossing, -problem.weight, problem.weight)
    hold = np.bincount(problem.tail, pull, n) + np.bincount(problem.head, pull, n)
    for a, b in zip(problem.left.tolist(), problem.right.tolist(), strict=True):
        if side[a] == side[b]:
            weaker = a if hold[a] < hold[b] else b
            side[weaker] = not side[weaker]
    return problem.cut(side)


@dataclass(frozen=True, slots=True)
class Split:
    """A part in two: the vertices that leave it, what the multi-way cut grows by, cannot-links met and wanted."""

    leaving: IndexArray
    growth: float
    n_met: int
    n_wanted: int


class Splits:
    """One recursion: split the whole in two, then the part whose best split is best, until there are k parts."""

    def __init__(
        self,
        W: Any,
        volume: FloatArray,
        apart: IndexArray,
        k: int,
        effort: Effort,
        rng: np.random.Generator,
        warm: IndexArray | None,
    ) -> None:
        self.W, self.volume, self.apart, self.k = sp.csr_array(W), volume, apart, k
        self.effort, self.rng, self.warm = effort, rng, warm
        self.degree = W.sum(axis=0)
        self.labels = np.zeros(len(volume), dtype=np.int64)
        known: dict[int, Split] = {}
        n_met = 0
        for n_parts in range(2, k + 1):
            for part in range(n_parts - 1):
                members = np.flatnonzero(self.labels == part)
                if part not in known and len(members) > 1:
                    known[part] = self.best_split(members)
            part = self.choose(known, n_parts, n_met)
            split = known.pop(part)
            self.labels[split.leaving] = n_parts - 1
            n_met += split.n_met

    def choose(self, known: dict[int, Split], n_parts: int, n_met: int) -> int:
        """The part to split: enough cannot-links met, then the smallest growth; at last the most cannot-links."""
        share = len(self.apart) / (self.k * (self.k - 1))
        enough = {part: split for part, split in known.items() if split.n_met >= split.n_wanted}
        if n_parts == self.k or not enough:
            return min(known, key=lambda part: (-known[part].n_met, known[part].growth))
        most = max(split.n_met for split in enough.values())
        target = (2 * self.k - n_parts) * (n_parts - 1) * share
        good = [p for p, split in enough.items() if split.n_met == most or n_met + split.n_met >= target]
        return min(good, key=lambda part: enough[part].growth)

    def best_split(self, members: IndexArray) -> Split:
        """The split of a part that makes the multi-way cut grow least, among those with few enough violations."""
        n, m = len(self.labels), len(members)
        inside = sp.csr_array(self.W[members][:, members])
        number = np.full(n, -1)
        number[members] = np.arange(m)
        apart = number[self.apart]
        apart = apart[(apart >= 0).all(axis=1)]
        k = self.k if m == n else max(2, self.k * m // n)
        tolerated = (k - 2) * len(apart) // k
        problem = CutProblem.of(inside, self.volume[members], apart)
        rest = self.degree[members] - inside.sum(axis=0)  # edges to other parts
        whole = rest.sum() / problem.volume.sum()

        def growth(cut: Cut) -> float:
            within = cut.value / cut.balance
            sides = (cut.side, ~cut.side)
            return float(sum((rest[s].sum() + within) / problem.volume[s].sum() for s in sides) - whole)

        cuts = self.candidates(problem, inside, tolerated, None if self.warm is None else self.warm[members])
        few = [cut for cut in cuts if cut.n_violations <= tolerated]
        best = min(few or cuts, key=growth)
        expected = k * (k - 1) * len(self.apart) / (self.k * (self.k - 1))
        return Split(members[best.side], growth(best), len(apart) - best.n_violations, int(2 * expected // k))

    def candidates(self, problem: CutProblem, W: Any, tolerated: int, warm: IndexArray | None) -> list[Cut]:
        """Cuts of a part; in pieces: each piece alone, and cuts of large pieces, the others on either side."""
        n = len(problem.volume)
        if n == 2:
            return [problem.cut(np.array([False, True]))]
        n_pieces, piece = connected_components(W, directed=False)
        if n_pieces == 1:
            return self.descents(problem, W, tolerated, warm)
        cuts = [problem.cut(piece == p) for p in range(n_pieces)]
        shares = np.bincount(piece, problem.volume) / problem.volume.sum()
        for p in np.flatnonzero((shares >= 0.1) & (np.bincount(piece) > 1)):
            members = np.flatnonzero(piece == p)
            number = np.full(n, -1)
            number[members] = np.arange(len(members))
            apart = number[np.stack([problem.left, problem.right], axis=1)]
            inside = sp.csr_array(W[members][:, members])
            smaller = CutProblem.of(inside, problem.volume[members], apart[(apart >= 0).all(axis=1)])
            below = self.candidates(smaller, inside, tolerated, None if warm is None else warm[members])
            for cut in below:
                for others in (False, True):
                    side = np.full(n, others)
                    side[members] = cut.side
                    cuts.append(problem.cut(side))
        return cuts

    def descents(self, problem: CutProblem, W: Any, tolerated: int, warm: IndexArray | None) -> list[Cut]:
        """Raise gamma, five times at most, until the best cut violates few enough cannot-links."""
        vectors = starts(problem, W, self.effort, self.rng, warm)
        gamma, step, value = 0.0, 0.1, np.inf
        tried: list[Cut] = []
        for _ in range(5):
            cuts = distinct([problem.descend(f, gamma, self.effort.max_inner) for f in vectors], gamma)
            tried += cuts
            if cuts[0].n_violations <= tolerated:
                return cuts
            if abs(cuts[0].value - value) < 1e-8:
                step *= 2.0
            gamma, value = gamma + step, cuts[0].value
            vectors = [cut.side.astype(np.float64) for cut in cuts]
            vectors += [
                self.rng.standard_normal(len(problem.volume)) for _ in range(self.effort.n_starts - len(cuts))
            ]
        return tried
