"""ADDER: active clustering by diffusion of answers and entropy-driven refinement.

Like COBRAS it begins with a few super-instances, compares their representatives, and has a coarse clustering after
a few answers. It differs in what an answer does:

* *Diffusion.* An instance does not follow the representative of its super-instance. Its cluster is predicted from
  all instances whose cluster is known, by predictors that are trusted as far as they predict the known instances
  from each other (`cobras.methods.adder.predictors`).
* *Likeness.* Clusters whose relation was not asked are shown as one where the answers to other pairs make this
  likely (`cobras.methods.adder.similarity`).
* *Refinement.* The next instance is one in whose surroundings the prediction is most uncertain. It is compared with
  the clusters in the order of belief, so that one or two answers usually place it.
* *Doubt.* An answer that the others contradict is asked again, once, by another pair (`recheck`).
"""

from __future__ import annotations

from collections.abc import Generator

from cobras.core.constraints import Constraints
from cobras.core.exceptions import InvalidDataError
from cobras.core.types import Answer, Pair
from cobras.methods.adder.predictors import chosen_predictors
from cobras.methods.adder.recheck import Doubt
from cobras.methods.adder.state import Options, Scene
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
        Which predictors speak, separated by spaces, or "all"; see `cobras.methods.adder.predictors`.
    """
    if not isinstance(space, VectorSpace):
        raise InvalidDataError("ADDER looks at neighbours of rows, so it needs a table of numbers.")
    options = Options(n_parts, join, calm, doubt, chosen_predictors(predictors))
    scene = Scene(space, constraints, seed, options)
    tried: set[int] = set()
    settled: set[Pair] = set()
    compared = False
    while True:
        try:
            if not compared:
                yield from compare_first_parts(scene)
                compared = not scene.split_finer()
            elif (doubtful := scene.doubtful(settled)) is not None:
                yield from ask_again(scene, doubtful, settled, stop_belief)
            elif (instance := scene.most_uncertain(tried)) is not None:
                tried.add(instance)
                yield from place(scene, instance, stop_belief)
            else:
                for instance in sorted({*scene.seeds(), *tried}):  # what was too unlikely to be asked
                    yield from place(scene, instance, 0)
                yield Step(None, scene.partition())
        except Reconsider:
            scene.heed_promises()


def compare_first_parts(scene: Scene) -> Generator[Step, Answer, None]:
    """Ask about the two parts whose relation would, if it is not as believed, put most pairs of instances right."""
    unsure: set[tuple[int, int]] = set()
    while (two := scene.most_telling(unsure)) is not None:
        pairs = scene.nearest_pairs(*two)
        answer = yield from ask(scene.constraints, pairs, scene.partition(), scene.relation)
        if answer is Answer.UNSURE:
            unsure.add(two)


def place(scene: Scene, instance: int, stop_belief: float) -> Generator[Step, Answer, None]:
    """Compare an instance with the clusters in the order of belief, until one takes it or none is likely."""
    if not scene.may_ask_about(instance):
        return
    for cluster in scene.in_order_of_belief(instance, stop_belief):
        if scene.relation(instance, cluster) is None:
            pairs = scene.nearest_pairs(instance, cluster)
            yield from ask(scene.constraints, pairs, scene.partition(), scene.relation)
        if scene.relation(instance, cluster) is Answer.SAME:
            return


def ask_again(
    scene: Scene, doubtful: Doubt, settled: set[Pair], stop_belief: float
) -> Generator[Step, Answer, None]:
    """Take a doubtful answer out and ask about another pair in its place; if this confirms it, it comes back."""
    constraints, pair, partition = scene.constraints, doubtful.pair, scene.partition()
    pairs = scene.second_pairs(doubtful)
    constraints.doubt(pair)
    try:
        answer = yield from ask(constraints, pairs, partition, scene.relation)
    finally:  # the person may speak of something else instead, or of this very pair
        if pair in constraints.doubted:
            constraints.restore(pair)
    settled.add(pair)
    settled.update(Pair(i, j).ordered for i, j in pairs)
    if doubtful.answer is Answer.SAME and answer is Answer.DIFFERENT:
        yield from place(scene, doubtful.sides[0][0], stop_belief)
