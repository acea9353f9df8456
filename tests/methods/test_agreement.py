"""Question by question the same as the authors' package, cobras-ts, when both make the same splits.

`benchmarks/peers/agreement.py` compares the two with their own k-means, over many seeds.
"""

import numpy as np
import pytest
from benchmarks.peers.peer import REFERENCE, run_cobras_ts
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from cobras import LabelOracle, Session, SuperInstance, run

N_QUERIES = 60


class SharedSplits:
    """A space that splits by scikit-learn's k-means with one seed, as cobras-ts is made to do."""

    def __init__(self, X):
        self.X, self.n = X, len(X)

    def part(self, members):
        centroid = self.X[members].mean(axis=0)
        medoid = members[np.linalg.norm(self.X[members] - centroid, axis=1).argmin()]
        return SuperInstance(members, int(medoid), centroid, len(members))

    def root(self, seed):
        return self.part(np.arange(self.n))

    def split(self, s, k, among="all", draw=0):
        model = KMeans(min(k, len(s)), n_init=1, random_state=0).fit(self.X[s.members])
        return tuple(self.part(s.members[model.labels_ == g]) for g in range(model.n_clusters))

    def representatives(self, s, count):
        return (s.representative,)

    def distances(self, a, b):
        return np.linalg.norm(np.array([[s.centroid - t.centroid for t in b] for s in a]), axis=2)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_questions_and_the_same_clusterings(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2 + seed, size=100)
    X = rng.normal(size=(100, 2)) + 2 * rng.normal(size=(2 + seed, 2))[y]
    with threadpool_limits(1):
        # One query more: the last report of cobras-ts depends on its budget.
        peer = run_cobras_ts(X, y, N_QUERIES + 1, n_init=1, seed=seed, kmeans_seed=0)
        options = {name: value for name, value in REFERENCE.items() if name != "full_restarts"}
        session = Session(SharedSplits(X), "cobras", random_state=0, **options)
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= N_QUERIES)
    asked = [record.pair.ordered for record in session.history]
    assert asked == peer.pairs[:N_QUERIES]
    # With the answer that ends the first search cobras-ts still reports one cluster, and we the parts of the split.
    first_parts = next(q for q in range(N_QUERIES) if session.partitions[q].n_clusters > 1)
    for q, theirs in enumerate(peer.labels_per_query[: N_QUERIES + 1]):
        is_late = q == first_parts and len(set(theirs)) == 1
        assert is_late or adjusted_rand_score(session.labels_at(q), theirs) == 1, q
