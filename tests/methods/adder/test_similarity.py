"""The model of how similar members of a cluster are, against a loop over all hypotheses."""

import numpy as np
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.methods.adder.points import MEASURES, SHARES
from cobras.methods.adder.similarity import SLIP, STEEPNESSES, THRESHOLDS, Similarity

X, y = load_iris(return_X_y=True)


def test_similarity_learns_how_similar_members_are(iris):
    """For one person all three species differ, for the other the last two are one."""
    fine, coarse = Constraints(), Constraints()
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, len(X), (40, 2)):
        if i != j:
            for constraints, labels in ((fine, y), (coarse, np.minimum(y, 1))):
                constraints.add(i, j, Answer.SAME if labels[i] == labels[j] else Answer.DIFFERENT)
    at = np.array([60, 120])
    assert Similarity(iris, coarse).probabilities(at)[0, 1] > Similarity(iris, fine).probabilities(at)[0, 1]


def test_the_posterior_from_the_definition(iris):
    """p(same) of a pair: all measures, thresholds and steepnesses, weighted by the likelihood of the answers."""
    answers = {
        (0, 1): Answer.SAME,
        (0, 60): Answer.DIFFERENT,
        (60, 61): Answer.SAME,
        (60, 140): Answer.DIFFERENT,
    }
    constraints = Constraints()
    for pair, answer in answers.items():
        constraints.add(*pair, answer)

    def p_same(measure, t, s, i, j):
        (step,) = iris.similarity_steps(measure, np.array([i]), np.array([j]))
        u = SHARES[step]
        return SLIP + (1 - 2 * SLIP) / (1 + (u / t) ** s)

    expected = total = 0.0
    for measure in MEASURES:
        for t in THRESHOLDS:
            for s in STEEPNESSES:
                weight = 1.0
                for pair, answer in answers.items():
                    p = p_same(measure, t, s, *pair)
                    weight *= p if answer is Answer.SAME else 1 - p
                expected += weight * p_same(measure, t, s, 5, 70)
                total += weight
    found = Similarity(iris, constraints).probabilities(np.array([5, 70]))
    np.testing.assert_allclose(found[0, 1], expected / total)
    np.testing.assert_allclose(found, found.T)
