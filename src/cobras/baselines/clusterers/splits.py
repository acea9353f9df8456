"""The search of COSC above a single descent: the best cut in two, and repeated ones for more clusters."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh

from cobras.baselines.clusterers.ratiodca import Cut, CutProblem
from cobras.core.types import BoolArray, FloatArray, IndexArray

N_GAMMAS = 60  # the doubling ends long before, unless cannot-links form an odd cycle
NARROW = 0.01  # the search for the smallest gamma ends at this relative width
PERTURBATIONS, PATIENCE = np.arange(0.001, 0.1, 0.01), 5
TOLERANCE = 1e-4  # of the eigenvector: it is only a start
WORSE = attrgetter("n_violations", "value")  # what makes a cut worse than another
DENSE = 64  # vertices up to which all eigenvectors are computed at once


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look for a cut: starts per split, whole recursions, inner iterations, perturbed restarts."""

    n_starts: int = 10
    n_runs: int = 1
    max_inner: int = 10_000
    perturbation: bool = True
    jump: bool = False


def best_cut(
    W: Any,
    volume: FloatArray,
    apart: IndexArray,
    effort: Effort,
    rng: np.random.Generator,
    warm: IndexArray | None = None,
) -> Cut:
    """The best cut found that violates nothing (or, with odd cycles, no more than a repaired one)."""
    problem = CutProblem.of(W, volume, apart)
    cuts = distinct_cuts(
        [problem.descend(f, 0.0, effort.max_inner) for f in start_vectors(problem, W, effort, rng, warm)]
    )
    if effort.perturbation:
        cuts = distinct_cuts([descend_from_perturbed(problem, cut, 0.0, effort, rng) for cut in cuts])
    best = cuts[0]
    if best.n_violations == 0:
        return best
    repaired = repair(problem, best)
    linked = np.union1d(problem.left, problem.right)
    vectors = [repaired.vector, harmonic_vector(W, repaired.side, linked)]
    if warm is not None and warm.min() < warm.max():
        vectors.append(repair(problem, one_against_rest(problem, warm)).vector)
    if not effort.jump:
        vectors += [cut.vector for cut in cuts]
        return smallest_gamma_cut(problem, vectors, repaired, effort, rng)
    # At this gamma the best cut and the repaired one cost the same.
    dearer = best.n_violations * best.balance - repaired.n_violations * repaired.balance
    gamma = max((repaired.value - best.value) / dearer, 0.2) if dearer > 0.0 else 0.2
    cuts = [problem.descend(f, gamma * (1.0 + NARROW), effort.max_inner) for f in vectors]
    return min([repaired, *(repair(problem, cut) for cut in cuts)], key=WORSE)


def smallest_gamma_cut(
    problem: CutProblem, vectors: list[FloatArray], feasible: Cut, effort: Effort, rng: np.random.Generator
) -> Cut:
    """Double gamma until the best cut is feasible, then bisect to the smallest gamma where it is."""
    gamma, low, high = 0.2, 0.0, np.inf
    for _ in range(N_GAMMAS):
        cuts = distinct_cuts([problem.descend(f, gamma, effort.max_inner) for f in vectors], gamma)
        if effort.perturbation:
            cuts = distinct_cuts(
                [descend_from_perturbed(problem, cut, gamma, effort, rng) for cut in cuts], gamma
            )
        repaired = repair(problem, cuts[0])
        feasible = min(feasible, repaired, key=WORSE)
        if cuts[0].n_violations <= feasible.n_violations:
            high = gamma
        else:
            low = gamma
        if high - low < NARROW * high:
            break
        gamma = 0.5 * (low + high) if high < np.inf else 2.0 * gamma
        vectors = [cut.vector for cut in distinct_cuts([*cuts, repaired, feasible], gamma)]
    return feasible


def start_vectors(
    problem: CutProblem, W: Any, effort: Effort, rng: np.random.Generator, warm: IndexArray | None
) -> list[FloatArray]:
    """The second eigenvector, the best of the earlier clusters against the rest, and random vectors."""
    vectors = [second_eigenvector(W, problem.volume, rng)]
    if warm is not None and warm.min() < warm.max():
        vectors.append(one_against_rest(problem, warm).vector)
    vectors += [rng.standard_normal(len(problem.volume)) for _ in range(effort.n_starts - len(vectors))]
    return vectors


def one_against_rest(problem: CutProblem, labels: IndexArray) -> Cut:
    """The cluster that is cheapest to cut off."""
    return min((problem.cut(labels == label) for label in np.unique(labels)), key=lambda cut: cut.value)


def distinct_cuts(cuts: list[Cut], gamma: float = 0.0) -> list[Cut]:
    """The different cuts, cheapest first; a set and the rest are the same cut."""
    return sorted(
        {(cut.side ^ cut.side[0]).tobytes(): cut for cut in cuts}.values(), key=lambda cut: cut.cost(gamma)
    )


def descend_from_perturbed(
    problem: CutProblem, cut: Cut, gamma: float, effort: Effort, rng: np.random.Generator
) -> Cut:
    """The best cut after descents from slightly perturbed copies, until five in a row bring nothing."""
    n_failures = 0
    for width in PERTURBATIONS:
        perturbed = cut.side + width * rng.standard_normal(len(cut.side))
        other = problem.descend(perturbed, gamma, effort.max_inner)
        if other.cost(gamma) < cut.cost(gamma) * (1.0 - 1e-12):
            cut, n_failures = other, 0
        else:
            n_failures += 1
        if n_failures == PATIENCE:
            break
    return cut


def repair(problem: CutProblem, cut: Cut) -> Cut:
    """The cut with one end of every cannot-link inside a side, the end that is held less firmly, moved across."""
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


@dataclass(frozen=True, slots=True)
class Splits:
    """Repeated splits in two: of the whole, then of the part whose best split is best, until there are k parts."""

    W: Any
    volume: FloatArray
    apart: IndexArray
    k: int
    effort: Effort
    rng: np.random.Generator
    warm: IndexArray | None

    def labels(self) -> IndexArray:
        """The parts after one recursion; another one draws other random starts."""
        labels: IndexArray = np.zeros(len(self.volume), dtype=np.int64)
        # The best split of every part that is not split yet.
        known: dict[int, Split] = {}
        n_met = 0
        for n_parts in range(2, self.k + 1):
            for part in range(n_parts - 1):
                members = np.flatnonzero(labels == part)
                if part not in known and len(members) > 1:
                    known[part] = self.best_split(members)
            split = known.pop(self.choose(known, n_parts, n_met))
            labels[split.leaving] = n_parts - 1
            n_met += split.n_met
        return labels

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
        n, m = len(self.volume), len(members)
        inside, problem = subproblem(self.W, self.volume, self.apart, members)
        k, n_apart = self.k if m == n else max(2, self.k * m // n), len(problem.left)
        tolerated = (k - 2) * n_apart // k
        # Edges to other parts.
        rest = self.W.sum(axis=0)[members] - inside.sum(axis=0)
        whole = rest.sum() / problem.volume.sum()

        def growth(cut: Cut) -> float:
            within = cut.value / cut.balance
            sides = (cut.side, ~cut.side)
            return float(sum((rest[s].sum() + within) / problem.volume[s].sum() for s in sides) - whole)

        cuts = self.candidates(problem, inside, tolerated, None if self.warm is None else self.warm[members])
        few = [cut for cut in cuts if cut.n_violations <= tolerated]
        best = min(few or cuts, key=growth)
        expected = k * (k - 1) * len(self.apart) / (self.k * (self.k - 1))
        return Split(members[best.side], growth(best), n_apart - best.n_violations, int(2 * expected // k))

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
            apart = np.stack([problem.left, problem.right], axis=1)
            inside, smaller = subproblem(W, problem.volume, apart, members)
            below = self.candidates(smaller, inside, tolerated, None if warm is None else warm[members])
            for cut in below:
                for others in (False, True):
                    side = np.full(n, others)
                    side[members] = cut.side
                    cuts.append(problem.cut(side))
        return cuts

    def descents(self, problem: CutProblem, W: Any, tolerated: int, warm: IndexArray | None) -> list[Cut]:
        """Raise gamma, five times at most, until the best cut violates few enough cannot-links."""
        vectors = start_vectors(problem, W, self.effort, self.rng, warm)
        gamma, step, value = 0.0, 0.1, np.inf
        tried: list[Cut] = []
        for _ in range(5):
            cuts = distinct_cuts([problem.descend(f, gamma, self.effort.max_inner) for f in vectors], gamma)
            tried += cuts
            if cuts[0].n_violations <= tolerated:
                return cuts
            if abs(cuts[0].value - value) < 1e-8:
                step *= 2.0
            gamma, value = gamma + step, cuts[0].value
            vectors = [cut.vector for cut in cuts]
            vectors += [
                self.rng.standard_normal(len(problem.volume)) for _ in range(self.effort.n_starts - len(cuts))
            ]
        return tried


def subproblem(
    W: Any, volume: FloatArray, apart: IndexArray, members: IndexArray
) -> tuple[sp.csr_array[Any, Any], CutProblem]:
    """The part of a graph between some of its vertices, as weights and as a problem."""
    inside = sp.csr_array(W[members][:, members])
    number = np.full(len(volume), -1)
    number[members] = np.arange(len(members))
    within = number[apart]
    return inside, CutProblem.of(inside, volume[members], within[(within >= 0).all(axis=1)])


def second_eigenvector(W: Any, volume: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A rough second eigenvector of (D - W) v = mu diag(volume) v; rng gives the start of the iteration."""
    degree, root = W.sum(axis=0), np.sqrt(volume)
    # No eigenvalue is larger: subtracted from it, the smallest become the largest, which the solver finds fast.
    highest = 2.0 * float((degree / volume).max())
    scaled = sp.diags_array(1.0 / root)
    flipped = scaled @ W @ scaled + sp.diags_array(highest - degree / volume)
    if len(volume) <= DENSE:
        return np.asarray(np.linalg.eigh(flipped.toarray())[1][:, -2] / root)
    # The first eigenvector is known and taken out, so that the solver finds the second alone.
    first = root / np.linalg.norm(root)

    def apply(x: FloatArray) -> FloatArray:
        return np.asarray(flipped @ x - highest * (first @ x) * first)

    start = rng.standard_normal(len(volume))
    operator = LinearOperator(flipped.shape, matvec=apply, dtype=np.float64)
    try:
        vectors = eigsh(operator, 1, which="LA", v0=start, tol=TOLERANCE, maxiter=200)[1]
    except ArpackNoConvergence:
        return start
    return np.asarray(vectors[:, 0] / root)


def harmonic_vector(W: Any, side: BoolArray, fixed: IndexArray) -> FloatArray:
    """The smoothest vector that is 1 or 0, as `side` says, at the fixed vertices."""
    free = np.setdiff1d(np.arange(len(side)), fixed)
    f = side.astype(np.float64)
    degree = W.sum(axis=0)[free]
    degree[degree == 0] = 1.0
    inside = sp.diags_array(degree) - W[free][:, free]
    f[free] = cg(
        inside, W[free][:, fixed] @ f[fixed], rtol=1e-3, maxiter=500, M=sp.diags_array(1.0 / degree)
    )[0]
    return f
