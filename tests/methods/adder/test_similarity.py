"""The model of how similar members of a cluster are, against a loop over all hypotheses."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import Answer, Constraints
from cobras.methods.adder.geometry.relations import BLOCKS, MEASURES, SHARES
from cobras.methods.adder.similarity import (
    ACROSS,
    FAR_SAME,
    INSIDE,
    OPEN,
    REGIONS,
    SLIP,
    STEEPNESSES,
    THRESHOLDS,
    Similarity,
    chance_of_far_same,
)

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

    grid = [(measure, t, s) for measure in MEASURES for t in THRESHOLDS for s in STEEPNESSES]
    expected = total = 0.0
    for measure, t, s in grid:
        weight = len(MEASURES) / len(grid)
        for pair, answer in answers.items():
            p = p_same(measure, t, s, *pair)
            weight *= p if answer is Answer.SAME else 1 - p
        expected += weight * p_same(measure, t, s, 5, 70)
        total += weight
    for block in iris.blocks:
        # One answer after the other, each under what those before it say about pairs in one block or across two.
        shares = {True: list(INSIDE), False: list(ACROSS)}
        weight = 1 / len(BLOCKS)
        for (i, j), answer in answers.items():
            share = shares[bool(block[i] == block[j])]
            is_different = answer is Answer.DIFFERENT
            weight *= share[is_different] / sum(share)
            share[is_different] += 1
        share = shares[bool(block[5] == block[70])]
        expected += weight * share[0] / sum(share)
        total += weight
    found = Similarity(iris, constraints).probabilities(np.array([5, 70]))
    np.testing.assert_allclose(found[0, 1], expected / total)
    np.testing.assert_allclose(found, found.T)


def test_blocks_lose_their_weight_where_the_answers_are_about_something_else(iris):
    """Pairs of one block that are different, and the other way round."""
    constraints, block = Constraints(), iris.blocks[0]
    here, there = (np.flatnonzero(block == number) for number in (0, 1))
    for i, j in zip(here[:8], there[:8], strict=True):
        constraints.add(int(i), int(j), Answer.SAME)
        constraints.add(int(i), int(here[-1]), Answer.DIFFERENT)
    likely = Similarity(iris, constraints).probabilities(np.array([here[9], here[10], there[9]]))
    assert likely[0, 1] < 0.95
    assert (np.diag(likely) > 0.5).all()


@pytest.mark.parametrize(("n_same", "n_different"), [(0, 0), (0, 30), (2, 9)])
def test_the_chance_of_a_far_pair_from_the_definition(n_same, n_different):
    """Two hypotheses, weighted by how likely each makes the answers."""
    weights = np.array([1 - REGIONS, REGIONS])
    weights *= [rate**n_same * (1 - rate) ** n_different for rate in FAR_SAME]
    expected = np.average(FAR_SAME, weights=weights)
    np.testing.assert_allclose(chance_of_far_same(n_same, n_different), expected)


def test_the_chance_of_a_far_pair_after_any_number_of_answers():
    np.testing.assert_allclose(chance_of_far_same(10_000, 0), FAR_SAME[1])
    np.testing.assert_allclose(chance_of_far_same(0, 10_000), FAR_SAME[0])


def test_answers_about_far_pairs_are_counted(iris):
    """Of pairs that are nearly surely different none is the same; then one is."""
    constraints = Constraints()
    for i, j in np.random.default_rng(0).integers(0, len(X), (60, 2)).tolist():
        if i != j and {y[i], y[j]} != {0, 2}:
            constraints.add(i, j, Answer.of(bool(y[i] == y[j])))
    n_far = 0, far_answers(iris, constraints)
    assert n_far[1] > 10
    assert Similarity(iris, constraints).far_same == chance_of_far_same(*n_far)
    constraints.add(0, 110, Answer.SAME)
    assert Similarity(iris, constraints).far_same == chance_of_far_same(1, far_answers(iris, constraints) - 1)


def far_answers(points, constraints):
    """How many answers are about pairs that are nearly surely different."""
    similarity = Similarity(points, constraints)
    return sum(similarity.probabilities(np.array([*pair]))[0, 1] < OPEN for pair, _ in constraints)
