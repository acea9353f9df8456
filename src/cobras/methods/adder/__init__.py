"""ADDER: active clustering by diffusion of answers and entropy-driven refinement; our own method.

Like COBRAS it begins with a few super-instances, compares their representatives, and has a coarse clustering after
a few answers. It differs in what an answer does:

* *Diffusion.* An instance does not follow the representative of its super-instance. Its cluster is predicted from
  all instances whose cluster is known, by predictors that are trusted as far as they predict the known instances
  from each other (`predictors`).
* *Similarity.* Clusters whose relation was not asked are shown as one where the answers to other pairs make this
  likely (`similarity`).
* *Refinement.* The next instance is one in whose surroundings the prediction is most uncertain. It is compared with
  the likeliest clusters first, so that one or two answers usually place it (`state`).
* *Rechecking.* An answer that the others contradict is asked again, once, by another pair (`recheck`).
"""

from __future__ import annotations

from collections.abc import Generator

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, Pair
from cobras.methods.adder.predictors import predictor_names
from cobras.methods.adder.recheck import Recheck
from cobras.methods.adder.state import Options, State
from cobras.methods.protocol import Reconsider, Step, Steps, ask
from cobras.spaces.base import Space, VectorSpace


def adder(
    space: Space,
    constraints: Constraints,
    seed: int,
    *,
    n_parts: int = 12,
    stop_belief: float = 0.05,
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
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("ADDER looks at neighbours of rows, so it needs a table of numbers.")
    options = Options(n_parts, join, calm, doubt, predictor_names(predictors))
    state = State(space, constraints, seed, options)
    tried: set[int] = set()
    rechecked: set[Pair] = set()
    is_compared = False
    while True:
        try:
            if not is_compared:
                yield from compare_first_parts(state)
                is_compared = not state.split_finer()
            elif (doubtful := state.answer_to_recheck(rechecked)) is not None:
                yield from ask_again(state, doubtful, rechecked, stop_belief)
            elif (instance := state.most_uncertain(tried)) is not None:
                tried.add(instance)
                yield from place(state, instance, stop_belief)
            else:
                # At last also the comparisons that were too unlikely to be asked.
                for instance in sorted({*state.seeds(), *tried}):
                    yield from place(state, instance, 0)
                yield Step(None, state.partition())
        except Reconsider:
            state.update_marks()


def compare_first_parts(state: State) -> Generator[Step, Answer, None]:
    """Ask about the two parts whose relation, if it is not as predicted, puts most pairs of instances right."""
    unsure: set[tuple[int, int]] = set()
    while (two := state.most_informative_parts(unsure)) is not None:
        pairs = state.nearest_pairs(*two)
        answer = yield from ask(state.constraints, pairs, state.partition(), state.relation)
        if answer is Answer.UNSURE:
            unsure.add(two)


def place(state: State, instance: int, stop_belief: float) -> Generator[Step, Answer, None]:
    """Compare an instance with the clusters, likeliest first, until it belongs to one or none is likely."""
    if not state.may_ask_about(instance):
        return
    for cluster in state.likely_clusters(instance, stop_belief):
        if state.relation(instance, cluster) is None:
            pairs = state.nearest_pairs(instance, cluster)
            yield from ask(state.constraints, pairs, state.partition(), state.relation)
        if state.relation(instance, cluster) is Answer.SAME:
            return


def ask_again(
    state: State, doubtful: Recheck, rechecked: set[Pair], stop_belief: float
) -> Generator[Step, Answer, None]:
    """Take a doubtful answer out and ask about another pair in its place; if this confirms it, it comes back."""
    constraints, pair, partition = state.constraints, doubtful.pair, state.partition()
    pairs = state.recheck_pairs(doubtful)
    constraints.doubt(pair)
    try:
        answer = yield from ask(constraints, pairs, partition, state.relation)
    finally:
        # Also when `Reconsider` comes instead of an answer. It may be about this very pair.
        if pair in constraints.doubted:
            constraints.restore(pair)
    rechecked.add(pair)
    rechecked.update(Pair(i, j).ordered for i, j in pairs)
    if doubtful.answer is Answer.SAME and answer is Answer.DIFFERENT:
        yield from place(state, doubtful.sides[0][0], stop_belief)
