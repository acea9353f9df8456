"""What is shown: the clustering, how likely each point is elsewhere, and how good all of it is expected to be."""

from __future__ import annotations

from typing import Self

import numpy as np

from cobras.core.partition import Partition
from cobras.core.types import Answer, FloatArray, IndexArray
from cobras.methods.adder.knowledge import Knowledge, sums_between
from cobras.methods.adder.mixture import Prediction, expected_ari, predict_at, row_shares
from cobras.methods.adder.predictors import Rows
from cobras.methods.adder.recheck import believed_clusters
from cobras.methods.protocol import Grown, Growth
from cobras.spaces.base import digest


class Clustering(Knowledge):
    """The clustering that follows from what is known, and what is believed of it."""

    def partition(self) -> Partition:
        """What a person would get by stopping now."""

        def make() -> Partition:
            return self.points.partition(self._shown_clusters(), self._marks.parts())

        # Answers that are not in force still count as votes where a seed is shown.
        return self._memoise(make, "partition", tuple(self.constraints.doubted.items()))

    def shown_probabilities(self) -> tuple[FloatArray, IndexArray]:
        """How likely each point is in each of the clusters that are shown, in their order; and in which it is."""
        shown, p = self._shown_clusters(), self._prediction().p
        first = self.points.of([c.super_instances[0].first for c in self.partition().clusters])
        column = {group: number for number, group in enumerate(shown[first].tolist())}
        number: IndexArray = np.array([column[c] for c in shown.tolist()])
        found = np.zeros((len(p), len(first)))
        for group, at in sorted(column.items()):
            if group < p.shape[1]:
                found[:, at] = p[:, group]
            else:
                # A complete cluster: nothing else can be in it, and none of its points elsewhere.
                found[shown == group] = 0
                found[shown == group, at] = 1
        return row_shares(found), number

    def new_probabilities(self, rows: Rows) -> FloatArray | None:
        """How likely new rows are in each cluster that is shown; None where not only answers decide that."""
        if self._marks or self.is_held:
            return None
        found = self._prediction()
        first = self.points.of([c.super_instances[0].first for c in self.partition().clusters])
        p = predict_at(rows, self.points, found.known, found.trust)
        return row_shares(p[:, self._shown_clusters()[first]])

    def expected_ari(self, shown: tuple[FloatArray, IndexArray] | None = None) -> float:
        """The adjusted Rand index that the clustering is expected to have; points that answers put there are sure.

        `shown` are the probabilities and clusters of points, where the constraints as they are give others.
        """

        def make() -> float:
            p, number = shown or self.shown_probabilities()
            p, known = p.copy(), self.points.of(self.settled_instances())
            p[known] = 0
            p[known, number[known]] = 1
            return expected_ari(p, number, self.points.weight, self._chances_between(number, p.shape[1]))

        if shown is not None:
            return make()
        return self._memoise(make, "expected", tuple(self.constraints.doubted.items()))

    def _shown_clusters(self) -> IndexArray:
        """The group in which each point is shown; complete clusters come after all groups."""
        found = self._prediction()
        known, p, *_ = found
        clusters: IndexArray = p.argmax(axis=1)
        clusters[known.points] = self._believed_clusters(found)
        for points in self._marks.clusters(complete=False):
            inside = points[np.isin(points, known.points)]
            clusters[points] = clusters[(inside if len(inside) else points)[0]]
        # Complete clusters get numbers of their own: nothing else can be in them.
        for new, points in enumerate(self._marks.clusters(complete=True), start=p.shape[1]):
            clusters[points] = new
        return clusters

    def _believed_clusters(self, found: Prediction) -> IndexArray:
        """The cluster in which each seed is shown: where the answers put it, unless some were wrong."""
        if not self.constraints.doubted:
            return found.known.clusters
        votes = self._votes(Answer.SAME), self._votes(Answer.DIFFERENT)
        return believed_clusters(found.known, found.left_out, *votes)

    def _votes(self, said: Answer) -> FloatArray:
        """How often each two seeds got this answer, whether it is in force or not."""
        at = {i: x for x, i in enumerate(self.seeds())}
        votes = np.zeros((len(at), len(at)))
        for pair, answer in (*self.constraints, *self.constraints.doubted.items()):
            if answer is said and pair.i in at and pair.j in at:
                votes[at[pair.i], at[pair.j]] += 1
                votes[at[pair.j], at[pair.i]] += 1
        return votes

    def _chances_between(self, number: IndexArray, n_clusters: int) -> FloatArray:
        """How likely each two clusters that are shown are one; `number` is the one of each point."""
        roots, complete = self._roots(), self._in_complete()
        at = self.points.of(roots)
        of = number[at]
        size = np.bincount(of, minlength=n_clusters)
        apart = self._apart() | complete[at] | complete[at][:, None]
        np.fill_diagonal(apart, False)
        chances = sums_between(self._chances(), of, n_clusters) / np.maximum(np.outer(size, size), 1)
        chances[sums_between(apart, of, n_clusters) > 0] = 0
        np.fill_diagonal(chances, 1)
        return chances

    def grown(self, signal: Grown) -> Self:
        """The same knowledge about more rows.

        Points stay what they are; new rows are further points or, where there are many, join the nearest ones. What
        is believed of old points stays until the next answer, and new points are believed to be where the session
        has put them.
        """
        growth, partition = signal.growth, self.partition()
        before, shown = self._prediction(), self._shown_clusters()
        parts = self.points.grown_parts(tuple(self.first_parts), signal)
        found = type(self)(signal.space, self.constraints, self._seed, self._options, parts)
        found.tried, found.inferred, found._new = self.tried, self.inferred, growth.unsure.tolist()
        # While a cluster is being split, an older clustering is shown: of that nothing is believed.
        if signal.partition is partition:
            # The column of each cluster in the prediction; a complete one has none.
            at = self.points.of([c.super_instances[0].first for c in partition.clusters])
            found._hold(before, shown[at].tolist(), growth, self.points.n)
        return found

    def _hold(self, before: Prediction, columns: list[int], growth: Growth, n_old: int) -> None:
        """Believe of the old points what was believed before, and of new ones where the session has put them."""
        likely = self.points.means(growth.likely)[n_old:]
        # Each new row is where it most likely belongs.
        homes = growth.likely.argmax(axis=1)[self.points.instance[n_old:] - self.points.n_instances]
        p = np.zeros((len(likely), before.p.shape[1]))
        has_column = [x for x, column in enumerate(columns) if column < p.shape[1]]
        p[:, [columns[x] for x in has_column]] = likely[:, has_column]
        # The likeliest is where the session has put a point, also where two are equally likely.
        for x, home in enumerate(homes.tolist()):
            if columns[home] < p.shape[1]:
                p[x, columns[home]] = p[x].max() + 1e-9
        p = np.vstack([before.p, row_shares(p)])
        self._start = (*self._start, digest(p.tobytes()))
        self._held = self._key(), before._replace(p=p)
