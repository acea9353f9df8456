"""The constraint store against a brute-force closure."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Answer, Constraints, InconsistentAnswersError, Pair

N = 7
said = st.lists(
    st.tuples(
        st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([Answer.SAME, Answer.DIFFERENT])
    ).filter(lambda t: t[0] != t[1]),
    max_size=15,
)


def closure(answers):
    """Repeat the two rules until nothing is new."""
    same = {(i, i) for i in range(N)}
    apart = set()
    for i, j, answer in answers:
        (same if answer is Answer.SAME else apart).update({(i, j), (j, i)})
    while True:
        more = {(i, m) for (i, j), (k, m) in itertools.product(same, same) if j == k} - same
        far = {(i, m) for (i, j), (k, m) in itertools.product(same, apart) if j == k}
        far = (far | {(j, i) for i, j in far}) - apart
        if not more and not far:
            return same, apart
        same |= more
        apart |= far


@given(said)
def test_relations_equal_the_closure(answers):
    constraints, taken = Constraints(), []
    for i, j, answer in answers:
        same, apart = closure(taken)
        contradicts = (i, j) in (apart if answer is Answer.SAME else same)
        if contradicts:
            before = list(constraints)
            with pytest.raises(InconsistentAnswersError) as caught:
                constraints.add(i, j, answer)
            assert list(constraints) == before
            check_chain(caught.value.chain, taken, i, j, implied=Answer(1 - answer))
        else:
            constraints.add(i, j, answer)
            taken.append((i, j, answer))
    same, apart = closure(taken)
    for i, j in itertools.product(range(N), range(N)):
        expected = Answer.SAME if (i, j) in same else Answer.DIFFERENT if (i, j) in apart else None
        assert constraints.relation(i, j) is expected
        if expected is not None and i != j:
            check_chain(constraints.explain(i, j), taken, i, j, expected)


def check_chain(chain, taken, i, j, implied):
    """Every link was answered, links meet end to end from i to j, and at most one is a cannot-link."""
    answered = {Pair(a, b).ordered: answer for a, b, answer in taken}
    here = i
    for pair, answer in chain:
        assert answered[pair] is answer
        assert here in pair
        here = pair.j if pair.i == here else pair.i
    assert here == j
    assert [a for _, a in chain].count(Answer.DIFFERENT) == (implied is Answer.DIFFERENT)


def test_the_error_names_the_chain():
    constraints = Constraints()
    constraints.add(1, 2, Answer.SAME)
    constraints.add(3, 2, Answer.DIFFERENT)
    with pytest.raises(InconsistentAnswersError, match="1 and 2 are same, 2 and 3 are different"):
        constraints.add(1, 3, Answer.SAME)


def test_unsure_is_no_constraint_until_settled():
    constraints = Constraints()
    constraints.add(5, 1, Answer.UNSURE)
    assert constraints.relation(1, 5) is None
    assert list(constraints.set_aside) == [Pair(1, 5)]
    constraints.add(1, 5, Answer.SAME)
    assert not constraints.set_aside
    assert constraints.relation(5, 1) is Answer.SAME


def test_a_long_chain_needs_no_recursion():
    constraints = Constraints()
    for i in range(5000):
        constraints.add(i, i + 1, Answer.SAME)
    assert constraints.relation(0, 5000) is Answer.SAME
    assert len(constraints.explain(0, 5000)) == 5000


def consistent(answers):
    constraints = Constraints()
    for i, j, answer in answers:
        if constraints.relation(i, j) in (None, answer):
            constraints.add(i, j, answer)
    return constraints


def relations(constraints):
    return [constraints.relation(i, j) for i, j in itertools.combinations(range(N), 2)]


@given(said, st.data())
def test_without_a_doubted_answer_only_the_others_count(answers, data):
    constraints = consistent(answers)
    if not len(constraints):
        return
    before, order = relations(constraints), list(constraints)
    pair, answer = data.draw(st.sampled_from(order))
    constraints.doubt(pair)
    others = [(p, a) for p, a in order if p != pair]
    assert list(constraints) == others
    assert constraints.doubted == {pair: answer}
    assert relations(constraints) == relations(consistent([(*p, a) for p, a in others]))
    constraints.restore(pair)
    assert constraints.doubted == {}
    assert relations(constraints) == before


@given(said)
def test_a_doubted_answer_that_is_contradicted_meanwhile_stays_out(answers):
    constraints = consistent(answers)
    for pair, answer, _ in list(constraints.decisive_answers()):
        constraints.doubt(pair)
        constraints.add(*pair, Answer(1 - answer))
        constraints.restore(pair)
        assert constraints.doubted == {pair: answer}
        assert constraints.answer_to(*pair) is not answer
        return


@given(said)
def test_decisive_answers_are_those_without_which_less_is_known(answers):
    constraints = consistent(answers)
    decisive = {pair: (answer, sides) for pair, answer, sides in constraints.decisive_answers()}
    for pair, answer in constraints:
        without = consistent([(*p, a) for p, a in constraints if p != pair])
        assert (without.relation(*pair) is None) == (pair in decisive)
        if pair in decisive:
            sides = sorted(
                sorted(i for i in range(N) if without.relation(i, end) is Answer.SAME) for end in pair
            )
            assert (answer, sorted(decisive[pair][1])) == (decisive[pair][0], sides)
            assert len(decisive[pair][1][0]) <= len(decisive[pair][1][1])


@given(said)
def test_a_copy_says_the_same_and_goes_its_own_way(answers):
    constraints = consistent(answers)
    copy, before = constraints.copy(), relations(constraints)
    assert list(copy) == list(constraints)
    assert copy.rows() == constraints.rows()
    assert relations(copy) == before
    for i, j in itertools.combinations(range(N), 2):
        if copy.relation(i, j) is None:
            copy.add(i, j, Answer.SAME)
            assert copy.relation(i, j) is Answer.SAME
    assert relations(constraints) == before
