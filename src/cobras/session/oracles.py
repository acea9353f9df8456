"""Who answers in place of a person, and the loop in which they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cobras.core.checks import as_labels
from cobras.core.exceptions import CobrasError, InvalidDataError, StopAsking
from cobras.core.types import Answer, Oracle, Pair, Record
from cobras.session.session import Session


class LabelOracle:
    """Answers from known labels.

    Examples
    --------
    >>> oracle = LabelOracle(["rose", "rose", "lily"])
    >>> oracle(0, 1), oracle(0, 2)
    (<Answer.SAME: 1>, <Answer.DIFFERENT: 0>)
    """

    def __init__(self, y: Any) -> None:
        self.y = as_labels(y)

    def __call__(self, i: int, j: int) -> Answer:
        """Same when the labels are equal."""
        return Answer.SAME if self.y[i] == self.y[j] else Answer.DIFFERENT


class NoisyOracle:
    """Answers from known labels, wrongly with a given probability; a pair gets the same answer every time.

    Examples
    --------
    >>> oracle = NoisyOracle([0, 0, 1], noise=1.0, random_state=0)
    >>> oracle(0, 1), oracle(1, 0)
    (<Answer.DIFFERENT: 0>, <Answer.DIFFERENT: 0>)
    """

    def __init__(self, y: Any, noise: float = 0.1, random_state: int = 0) -> None:
        if not 0 <= noise <= 1:
            raise InvalidDataError(f"noise is a probability from 0 to 1, not {noise!r}.")
        self.truth = LabelOracle(y)
        self.noise = noise
        self.random_state = random_state

    def __call__(self, i: int, j: int) -> Answer:
        """The truth, or its opposite; drawn from the pair, so that it does not depend on the order of calls."""
        pair = Pair(int(i), int(j)).ordered
        # One stream for each pair: the same answer whenever and however often it is asked.
        wrong = np.random.default_rng([self.random_state, *pair]).random() < self.noise
        truth = self.truth(*pair)
        return Answer(1 - truth) if wrong else truth


class RecordedOracle:
    """Answers that were given before: `session.history`, or pairs and their answers. Another pair raises.

    Of several answers to one pair the last counts.

    Examples
    --------
    >>> oracle = RecordedOracle([(Pair(4, 9), Answer.SAME)])
    >>> oracle(9, 4)
    <Answer.SAME: 1>
    """

    def __init__(self, answers: Iterable[Record | tuple[Pair, Answer]]) -> None:
        self.answers: dict[Pair, Answer] = {}
        for given in answers:
            pair, answer = (given.pair, given.answer) if isinstance(given, Record) else given
            self.answers[Pair(*pair).ordered] = Answer.of(answer)

    def __call__(self, i: int, j: int) -> Answer:
        """What was said about this pair."""
        try:
            return self.answers[Pair(int(i), int(j)).ordered]
        except KeyError:
            raise CobrasError(f"No answer was recorded for pair ({i}, {j}).") from None


def run(session: Session, oracle: Oracle, until: Callable[[Session], bool] | None = None) -> Session:
    """Let an oracle answer until nothing is left to ask, a condition holds, or the oracle raises `StopAsking`.

    Examples
    --------
    >>> session = run(Session([[0.0], [0.1], [5.0]], random_state=0), lambda i, j: abs(i - j) == 1 and i + j == 1)
    >>> session.labels_.tolist()
    [0, 0, 1]
    """
    while not (until is not None and until(session)) and (pair := session.ask()) is not None:
        try:
            answer = oracle(pair.i, pair.j)
        except StopAsking:
            break
        session.tell(answer, pair)
    return session
