"""Who answers in place of a person, and the loop in which they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np

from cobras.core.board import Board
from cobras.core.checks import as_labels, as_seed
from cobras.core.exceptions import CobrasError, InconsistentAnswersError, InvalidDataError, StopAsking
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
        try:
            return Answer.SAME if self.y[i] == self.y[j] else Answer.DIFFERENT
        except IndexError:
            raise InvalidDataError(
                f"There are {len(self.y)} labels, so none for each row of pair ({i}, {j}). Give one label per row."
            ) from None


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
            for pair, answer in given.said if isinstance(given, Record) else (given,):
                self.answers[Pair(*pair).ordered] = Answer.of(answer)

    def __call__(self, i: int, j: int) -> Answer:
        """What was said about this pair."""
        try:
            return self.answers[Pair(int(i), int(j)).ordered]
        except KeyError:
            raise CobrasError(f"No answer was recorded for pair ({i}, {j}).") from None


class HumanOracle:
    """Answers pairs and sorts boards as people do: with their errors, and in their time.

    Errors and times are those of crowd workers who sorted pictures of birds (WWW 2025; medians and rates computed
    from the tables that were published with it). On a board, one grouping is drawn: every card goes to a wrong
    pile, another one or a new one, with the probability that gives the rates of the study for boards of this size.
    A pair, and a board, gets the same answer every time.

    Parameters
    ----------
    y : array-like
        The true labels.
    level : {"exact", "careful", "crowd"}
        No errors; 3 % of the pairs, and of the cards, are wrong; or as many as in the study.
    random_state : int, optional
        The seed; drawn when left out.

    Attributes
    ----------
    seconds : float
        How long everything took so far. The medians of the study are taken, at every level.
    seconds_per_act : list of float
        How long each pair and each board took.

    Examples
    --------
    >>> oracle = HumanOracle([0, 0, 1, 1], random_state=0)
    >>> oracle(0, 1), oracle.sort(Board((1, 2, 3), (0,)))
    (<Answer.SAME: 1>, [[0, 1], [2, 3]])
    >>> oracle.seconds_per_act
    [3.2, 7.3]
    """

    def __init__(
        self,
        y: Any,
        level: Literal["exact", "careful", "crowd"] = "exact",
        random_state: int | None = None,
    ) -> None:
        if level not in LEVELS:
            raise InvalidDataError(f"level is one of {', '.join(LEVELS)}, not {level!r}.")
        self.truth = LabelOracle(y)
        self.level = level
        self.random_state = as_seed(random_state)
        self.seconds_per_act: list[float] = []

    @property
    def seconds(self) -> float:
        """How long everything took so far."""
        return sum(self.seconds_per_act)

    def __call__(self, i: int, j: int) -> Answer:
        """The truth, or its opposite."""
        pair = Pair(int(i), int(j)).ordered
        self.seconds_per_act.append(SECONDS_PER_PAIR)
        truth = self.truth(*pair)
        missed, false = LEVELS[self.level]
        chance = np.random.default_rng([self.random_state, *pair])
        return Answer(1 - truth) if chance.random() < (missed if truth else false) else truth

    def sort(self, board: Board) -> list[list[int]]:
        """The rows of a board in groups: each pile with the cards on it, then new piles."""
        self.seconds_per_act.append(seconds_of_board(len(board.cards)))
        y, chance = self.truth.y, np.random.default_rng([self.random_state, *board.cards, *board.piles])
        groups: dict[object, list[int]] = {}
        for pile in board.piles:
            groups.setdefault(y[pile], []).append(pile)
        right = list(dict.fromkeys([*groups, *(y[card] for card in board.cards)]))
        wrong, alone = self._errors(len(board.cards))
        for card in board.cards:
            home: object = y[card]
            if chance.random() < wrong:
                others = [label for label in right if label != home]
                # A new pile is named by its card.
                home = ("new", card)
                if others and chance.random() >= alone:
                    home = others[int(chance.integers(len(others)))]
            groups.setdefault(home, []).append(card)
        return list(groups.values())

    def _errors(self, n_cards: int) -> tuple[float, float]:
        """How often a card goes wrong, and how often it then begins a new pile."""
        if self.level == "crowd":
            return CROWD_BOARDS[min(max(n_cards, 2), max(CROWD_BOARDS))]
        return (0.03, 0.0) if self.level == "careful" else (0.0, 0.0)


# Pairs of one class called different, and pairs of two classes called the same; of birds in the study.
LEVELS = {"exact": (0.0, 0.0), "careful": (0.03, 0.03), "crowd": (0.30, 0.26)}
SECONDS_PER_PAIR = 3.2
# The medians for 2 to 8 cards; beyond that each card takes as long as the average one of eight.
SECONDS = {2: 4.8, 3: 7.3, 4: 10.5, 5: 14.6, 6: 18.5, 7: 22.9, 8: 25.6}
# For each number of cards: how often one goes wrong, and how often that one begins a new pile. With cards of five
# classes at random, as in the study, this gives the pairs that were missed and false there: .48 and .09 for two
# cards, .44 and .11 for six. For eight it gives .38 and .12, nearest to the .37 and .15 that were found.
CROWD_BOARDS = {
    2: (0.279, 0.776),
    3: (0.269, 0.677),
    4: (0.235, 0.402),
    5: (0.244, 0.258),
    6: (0.262, 0.319),
    7: (0.225, 0.031),
    8: (0.223, 0.0),
}


def seconds_of_board(n_cards: int) -> float:
    """How long a board of so many cards takes; one card is as quick as a pair.

    Examples
    --------
    >>> seconds_of_board(6), seconds_of_board(10)
    (18.5, 32.0)
    """
    if n_cards < min(SECONDS):
        return SECONDS_PER_PAIR
    largest = max(SECONDS)
    return SECONDS.get(n_cards, SECONDS[largest] / largest * n_cards)


def groups_by_pairs(oracle: Oracle, board: Board) -> list[list[int]]:
    """Sort a board by answers to pairs: each card is compared with the first row of every group, piles first.

    Groups that are the same as one card are one.

    Examples
    --------
    >>> groups_by_pairs(LabelOracle([0, 0, 1, 1]), Board((1, 2, 3), (0,)))
    [[0, 1], [2, 3]]
    """
    groups = [[pile] for pile in board.piles]
    for card in board.cards:
        answers = [Answer.of(oracle(group[0], card)) for group in groups]
        same = [group for group, answer in zip(groups, answers, strict=True) if answer is Answer.SAME]
        if same or Answer.UNSURE not in answers:
            groups = [group for group in groups if group not in same]
            groups.append([*chain(*same), card])
    return groups


def run(
    session: Session,
    oracle: Oracle,
    until: Callable[[Session], bool] | None = None,
    *,
    boards: int = 0,
) -> Session:
    """Let an oracle answer until nothing is left to ask, a condition holds, or the oracle raises `StopAsking`.

    With `boards`, it sorts boards of at most so many cards: by its method `sort`, like that of `HumanOracle`, or by
    answers to pairs. A card whose place contradicts earlier answers is left out, as unsure.

    Examples
    --------
    >>> session = Session([[0.0], [0.1], [5.0]], "cobras", random_state=0)
    >>> session = run(session, lambda i, j: i + j == 1)
    >>> session.labels_.tolist()
    [0, 0, 1]
    >>> run(Session([[0.0], [0.1], [5.0]], "cobras", random_state=0), LabelOracle([0, 0, 1]), boards=3).n_answers
    1
    """
    if not callable(oracle):
        raise InvalidDataError(f"An oracle is a function of two row numbers, not {oracle!r}.")
    if until is not None and not callable(until):
        raise InvalidDataError(f"until is a function of the session, not {until!r}.")
    while not (until is not None and until(session)) and (pair := session.ask()) is not None:
        board = session.board(boards) if boards else None
        try:
            if board is not None:
                sort = getattr(oracle, "sort", None)
                groups = groups_by_pairs(oracle, board) if sort is None else sort(board)
            else:
                answer = oracle(pair.i, pair.j)
        except StopAsking:
            break
        if board is not None:
            sort_what_fits(session, board, groups)
        else:
            session.tell(answer, pair)
    return session


def sort_what_fits(session: Session, board: Board, groups: Iterable[Sequence[int]]) -> None:
    """Sort a board; cards whose place contradicts earlier answers are left out."""
    left = [list(group) for group in groups]
    while True:
        try:
            session.sort(board, left)
            return
        except InconsistentAnswersError as error:
            doubtful = [row for row in error.pair if row in board.cards] or [error.pair.j]
            left = [[row for row in group if row not in doubtful[-1:]] for group in left]
