"""ADDER: active clustering by diffusion of answers and entropy-driven refinement; our own method.

Like COBRAS it begins with one cluster and a few super-instances, compares their representatives, and has a coarse
clustering after a few answers. It differs in what an answer does:

* *Diffusion.* An instance does not follow the representative of its super-instance. Its cluster is predicted from
  all instances whose cluster is known, by predictors that are trusted as far as they predict the known instances
  from each other (`predictors`, `mixture`).
* *Similarity.* Clusters whose relation was not asked are shown as one where the answers to other pairs make this
  likely (`similarity`).
* *Refinement.* The next instance is one in whose surroundings the prediction is most uncertain. It is compared with
  the likeliest clusters first, so that one or two answers usually place it (`state`).
* *Rechecking.* An answer that the others contradict is asked again, once, by another pair (`recheck`).
* *Sorting.* In place of a pair, several rows that teach different things can be sorted at once (`state`).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from itertools import islice
from numbers import Real
from typing import NamedTuple

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition
from cobras.core.types import Answer, Pair
from cobras.methods.adder.certainty import Certainty
from cobras.methods.adder.geometry.points import split_all
from cobras.methods.adder.knowledge import FEW, Options, with_nodes
from cobras.methods.adder.predictors import predictor_names
from cobras.methods.adder.recheck import Recheck, share_of_wrong_answers
from cobras.methods.adder.state import State
from cobras.methods.inside import search_inside
from cobras.methods.protocol import Grown, Reconsider, Step, Steps, ask, representative_pairs, scope_of
from cobras.spaces.base import EmbeddedSpace, Space, VectorSpace


class Until(NamedTuple):
    """How long an instance is compared with clusters; see the options of `adder`."""

    stop_belief: float
    exclusion: float


TO_THE_END = Until(0, 1)
PATIENCE = 6  # answers about the first parts after which they may be found too coarse
WEIGHT_OF_SAME = 2  # so many times "different" one "same" outweighs, as evidence of many clusters
SURPLUS = 3  # times "different" from which on clusters seem to be many
MANY = 48  # first parts from which on clusters are surely many


def adder(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_parts: int = 12,
    stop_belief: float = 0.05,
    exclusion: float = 0.8,
    join: float = 1 / 3,
    calm: float = 0.1,
    doubt: float = 0.15,
    predictors: str = "all",
) -> Steps:
    """Compare the first parts, then place one uncertain instance after another.

    Parameters
    ----------
    n_parts : int
        Super-instances of the first split.
    stop_belief : float
        A new instance is not compared with clusters that are less likely than this.
    exclusion : float
        A new instance that differs from the likeliest clusters is taken to be in the next one, without a question,
        if that is at least so likely; 1 always asks.
    join : float
        Clusters whose relation was not asked are shown as one if they are at least so likely the same: too many
        small clusters cost more than a wrong join.
    calm : float
        What an instance adds to the uncertainty around it, however sure the prediction is.
    doubt : float
        An answer is asked again, once and by a second pair, if the share of pairs of instances that it probably
        puts wrong is larger than this, divided by the number of instances asked about; 1000 never asks again.
    predictors : str
        Names of predictors, separated by spaces, or "all"; see `cobras.methods.adder.predictors`.
    """
    if not isinstance(space, (VectorSpace, EmbeddedSpace)):
        raise InvalidDataError(
            "ADDER looks at neighbours, so it needs a table of numbers or series in memory."
        )
    numbers = {"stop_belief": stop_belief, "exclusion": exclusion, "join": join, "calm": calm, "doubt": doubt}
    for name, value in numbers.items():
        if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
            raise InvalidDataError(f"{name} must be a finite number from 0 on, not {value!r}.")
    options = Options(n_parts, join, calm, doubt, predictor_names(predictors))
    until = Until(stop_belief, exclusion)
    rechecked = set[Pair]()
    is_compared, is_fine, to_split = False, False, None
    n_start = n_before = len(constraints)
    unsure: set[tuple[int, int]] = set()
    placing: int | None = None  # a mark or a constraint between two of its comparisons does not end them
    state: State | None = None
    while True:
        try:
            if state is None:
                if not is_anything_known(constraints):
                    yield from compare_first_two(space, constraints, seed, options)
                state = State(space, constraints, seed, options)
            if to_split is not None:
                inside, to_split = to_split, None
                yield from search_inside(space, constraints, inside)
            elif placing is not None:
                yield from place(state, placing, until)
                placing = None
            elif (placing := state.most_uncertain_new_row()) is not None:
                state.tried.add(placing)
            elif not is_compared:
                yield from compare_first_parts(state, n_start, n_before)
                is_compared, is_known = True, len(constraints) - n_start >= FEW
            elif not is_fine and (is_known or seem_many(constraints, n_start)):
                # After rows were added, old ones stay where they are until the next answer. A few parts that are
                # mostly the same are fine enough.
                are_fine = len(state.first_parts) <= MANY and are_mostly_same(constraints, n_before)
                is_fine = state.is_held or are_fine or not state.split_finer()
                is_compared, n_before = is_fine, len(constraints)
            elif (doubtful := state.answer_to_recheck(rechecked)) is not None:
                yield from ask_again(state, doubtful, rechecked, until)
            elif (two := state.most_informative_pair()) is not None and two not in unsure:
                if (yield from compare(state, two)) is Answer.UNSURE:
                    unsure.add(two)
            elif (placing := state.most_uncertain()) is not None:
                state.tried.add(placing)
            else:
                # At last what was inferred, one by one, and the comparisons that were too unlikely to be asked.
                for instance in (*state.inferred, *sorted({*state.seeds(), *state.tried})):
                    state.inferred.pop(instance, None)
                    yield from place(state, instance, TO_THE_END)
                yield Step(None, state.partition(), beliefs=Certainty(state))
        except (Grown, Reconsider) as signal:
            space = signal.space if isinstance(signal, Grown) else space
            if state is None:
                state = State(space, constraints, seed, options)
            elif isinstance(signal, Grown):
                # New rows come first.
                state, placing = state.grown(signal), None
            shown = signal.growth.partition if isinstance(signal, Grown) else signal.partition
            to_split = with_nodes(shown) if shown is not None and constraints.to_split else None


def is_anything_known(constraints: Constraints) -> bool:
    """Whether the person has said anything: an answer, unsure included, a mark, or what is to be split."""
    said = constraints.set_aside, constraints.pure, constraints.complete, constraints.to_split
    return len(constraints) > 0 or any(said)


def compare_first_two(
    space: VectorSpace | EmbeddedSpace, constraints: Constraints, seed: int, options: Options
) -> Generator[Step, Answer, Answer]:
    """Ask whether the largest part and the one nearest to it belong together; until then all is one cluster.

    This needs nothing but the parts. All else is measured while the person looks at the question.
    """
    parts = split_all(space, seed, options.n_parts)
    if len(parts) < 2:
        return Answer.UNSURE
    partition, board = Partition.of([parts]), lambda n: State(space, constraints, seed, options).board(n)
    apart = space.distances(parts[:1], parts[1:])[0]
    first, second = parts[0], parts[1 + int(apart.argmin())]
    pairs, scope = representative_pairs(space, first, second), scope_of([first], [second])
    return (yield from ask(constraints, pairs, partition, constraints.relation, board, scope=scope))


def seem_many(constraints: Constraints, n_start: int) -> bool:
    """Whether clusters seem to be many, judging from the answers since the first `n_start`, however few."""
    said = [answer for _, answer in islice(constraints, n_start, None)]
    return said.count(Answer.DIFFERENT) - WEIGHT_OF_SAME * said.count(Answer.SAME) >= SURPLUS


def are_mostly_same(constraints: Constraints, n_before: int) -> bool:
    """Whether more answers after the first `n_before` were "same" than "different"."""
    said = [answer for _, answer in islice(constraints, n_before, None)]
    return said.count(Answer.SAME) > said.count(Answer.DIFFERENT)


def compare_first_parts(state: State, n_start: int, n_before: int) -> Generator[Step, Answer, None]:
    """Ask about the two parts whose relation, if it is not as predicted, puts most pairs of instances right.

    `n_start` is the number of answers before the first question, `n_before` that before the first one about these
    parts.
    """
    unsure: set[tuple[int, int]] = set()
    while (two := state.most_informative_parts(unsure)) is not None:
        # Many clusters show soon, as in the search of COBRAS for the level of a split. A board gives many answers.
        said = [answer for _, answer in islice(state.constraints, n_before, None)]
        are_many = said.count(Answer.DIFFERENT) >= 0.8 * len(said) or len(state.first_parts) >= MANY
        is_enough = len(said) >= PATIENCE and len(state.constraints) - n_start >= FEW
        if is_enough and are_many and state.is_too_coarse(0.75):
            return
        if (yield from compare(state, two)) is Answer.UNSURE:
            unsure.add(two)


def compare(state: State, two: tuple[int, int]) -> Generator[Step, Answer, Answer]:
    """Ask whether two components belong together, by their nearest instances."""
    pairs = state.nearest_pairs(*two)
    partition, scope = state.partition(), lambda: state.scope(*two)
    return ask(state.constraints, pairs, partition, state.relation, state.board, Certainty(state), scope)


def place(state: State, instance: int, until: Until) -> Generator[Step, Answer, None]:
    """Compare an instance with the clusters, likeliest first, until it belongs to one or none is likely.

    Where two clusters are known, "different from the first" nearly always means the second: this is not asked.
    """
    if not state.may_ask_about(instance):
        return
    # How likely it is in the known clusters that it was not found to differ from, and in none that is known.
    left, new, wrong = 1.0, state.chance_of_new_cluster(), share_of_wrong_answers(state.constraints)
    for cluster, p in state.likely_clusters(instance, until.stop_belief):
        is_sure = p >= until.exclusion * (left + new + wrong * (1 - left))
        # Not for a person who was seen to err: a wrong "different" would no longer show.
        if left < 1 and is_sure and not state.constraints.doubted:
            state.infer(instance, cluster)
            return
        if state.relation(instance, cluster) is None:
            yield from compare(state, (instance, cluster))
        match state.relation(instance, cluster):
            case Answer.SAME:
                return
            case Answer.DIFFERENT:
                left -= p


def ask_again(
    state: State, doubtful: Recheck, rechecked: set[Pair], until: Until
) -> Generator[Step, Answer, None]:
    """Take a doubtful answer out and ask about another pair in its place; if this confirms it, it comes back."""
    constraints, pair, partition = state.constraints, doubtful.pair, state.partition()
    # What is believed with the answer: the clustering that is shown has it, too.
    beliefs = Certainty(state, state.shown_probabilities())
    pairs = state.recheck_pairs(doubtful)
    constraints.doubt(pair)
    try:
        scope = lambda: state.scope(*pair)._replace(is_check=True)  # noqa: E731
        board = partial(state.board_with, pairs)
        answer = yield from ask(constraints, pairs, partition, state.relation, board, beliefs, scope)
        if answer not in (doubtful.answer, Answer.UNSURE) and doubtful.wrong < 0.5:
            # One answer against the other: what all the others say decides, and it speaks for the first.
            for i, j in pairs:
                if constraints.answer_to(i, j) is answer:
                    constraints.doubt(Pair(i, j).ordered)
    finally:
        # Also when `Reconsider` comes instead of an answer. It may be about this very pair.
        if pair in constraints.doubted:
            constraints.restore(pair)
    rechecked.add(pair)
    rechecked.update(Pair(i, j).ordered for i, j in pairs)
    if doubtful.answer is Answer.SAME and answer is Answer.DIFFERENT:
        yield from place(state, doubtful.sides[0][0], until)
