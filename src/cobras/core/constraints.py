"""Constraints: what the answers say, and all that follows from it.

Must-links are an equivalence, and a cannot-link holds between whole must-link components: SAME(i, j) and
DIFFERENT(j, k) imply DIFFERENT(i, k). Two cannot-links imply nothing. Only instances that took part in an answer
are stored, so the cost does not depend on the size of the data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from cobras.core.exceptions import InconsistentAnswersError
from cobras.core.partition import SuperInstance
from cobras.core.types import Answer, IndexArray, Pair, Said


class ConstraintPairs(NamedTuple):
    """Must-links and cannot-links as two arrays of shape (m, 2)."""

    must_link: IndexArray
    cannot_link: IndexArray


class Marked(NamedTuple):
    """A super-instance as it was when it was marked, and a number that those of one cluster share."""

    super_instance: SuperInstance
    number: int


class Constraints:
    """Must-link components and the cannot-links between them.

    Attributes
    ----------
    set_aside : dict of Pair
        Pairs answered with unsure, in order; they never become constraints.
    pure : set of (int, int)
        Marks of super-instances that the person marked as pure: do not split them.
    complete : dict of (int, int) to int
        Marks of super-instances that the person marked as complete, and a number that those of one cluster
        share: do not touch them.
    marked : dict of (int, int) to Marked
        What these marks name, as far as it was shown: a method may make other super-instances later.
    to_split : dict of (int, int) to int
        Marks of the super-instances of clusters that the person wants to be split, and a number that those of one
        cluster share: ask inside them first. The session removes a cluster once a DIFFERENT was found inside it, or
        the method asks about something else.
    volunteered : set of Pair
        Pairs of constraints that the person added without being asked, and what moves and merges say.
    doubted : dict of Pair to Answer
        Answers that are not in force, because the method asks again, a second answer contradicted them, or a
        person took them back by a move or a merge.
    n_changes : int
        How often an answer was added or taken out of force.

    Examples
    --------
    >>> constraints = Constraints()
    >>> constraints.add(1, 2, Answer.SAME)
    >>> constraints.add(2, 3, Answer.DIFFERENT)
    >>> constraints.relation(1, 3)
    <Answer.DIFFERENT: 0>
    >>> constraints.add(3, 1, Answer.SAME)
    Traceback (most recent call last):
    ...
    cobras.core.exceptions.InconsistentAnswersError: Answer SAME for pair (3, 1) contradicts earlier answers: ...
    """

    def __init__(self) -> None:
        # The root of every instance that was joined to another, and the members of each component by its root.
        # `_apart` is symmetric and holds roots alone; `_must_links` is a spanning forest of the components.
        self._root: dict[int, int] = {}
        self._component: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._must_links: dict[int, list[int]] = {}
        self._answers: dict[Pair, Answer] = {}
        self._rows: dict[int, None] = {}  # those of all answers; a dict keeps their order
        self.set_aside: dict[Pair, None] = {}
        self.pure: set[tuple[int, int]] = set()
        self.complete: dict[tuple[int, int], int] = {}
        self.marked: dict[tuple[int, int], Marked] = {}
        self.to_split: dict[tuple[int, int], int] = {}
        self.volunteered: set[Pair] = set()
        self.doubted: dict[Pair, Answer] = {}
        self.n_changes = 0

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[tuple[Pair, Answer]]:
        """All pairs answered with same or different, in the order of the answers."""
        return iter(self._answers.items())

    def pairs(self) -> ConstraintPairs:
        """The answers as they were given, without what they imply."""
        split: dict[Answer, list[Pair]] = {Answer.SAME: [], Answer.DIFFERENT: []}
        for pair, answer in self:
            split[answer].append(pair)
        return ConstraintPairs(*(np.array(found, dtype=np.int64).reshape(-1, 2) for found in split.values()))

    def rows(self) -> list[int]:
        """The instances that something is known about, in the order in which they came up."""
        return list(self._rows)

    def members(self, i: int) -> tuple[int, ...]:
        """The must-link component of instance i."""
        return tuple(self._component.get(self.component(i), (i,)))

    def component(self, i: int) -> int:
        """The root of the must-link component of instance i: one of its instances."""
        return self._root.get(i, i)

    def components(self, instances: Iterable[int]) -> set[int]:
        """The must-link components of several instances."""
        root = self._root
        return {root.get(i, i) for i in instances}

    def apart_from(self, root: int) -> Iterable[int]:
        """The components, by root, that cannot be linked with the component of `root`."""
        return self._apart.get(root, ())

    def relation(self, i: int, j: int) -> Answer | None:
        """SAME or DIFFERENT where the answers imply it, else None."""
        a, b = self.component(i), self.component(j)
        if a == b:
            return Answer.SAME
        return Answer.DIFFERENT if b in self._apart.get(a, ()) else None

    def answer_to(self, i: int, j: int) -> Answer | None:
        """The answer to this very pair, whatever the others imply."""
        return self._answers.get(Pair(i, j).ordered)

    def check(self, i: int, j: int, answer: Answer) -> None:
        """Raise `InconsistentAnswersError` if the answer contradicts what is known."""
        known = self.relation(i, j)
        if answer is not Answer.UNSURE and known is not None and known is not answer:
            raise InconsistentAnswersError(Pair(i, j), answer, self.explain(i, j))

    def check_all(self, said: Said) -> None:
        """Raise `InconsistentAnswersError` if several answers contradict what is known, or each other."""
        for pair, answer in said:
            self.check(*pair, answer)
        trial = Constraints()
        for pair, answer in chain(self, said):
            try:
                trial.add(*pair, answer)
            except InconsistentAnswersError as error:
                given = {other.ordered for other, _ in said}
                if all(step in given for step, _ in error.chain):
                    raise InconsistentAnswersError(pair, answer, error.chain, at_once=True) from None
                raise

    def add(self, i: int, j: int, answer: Answer) -> None:
        """Add one answer; one that contradicts the others raises and changes nothing."""
        self.check(i, j, answer)
        pair = Pair(int(i), int(j)).ordered
        if answer is Answer.UNSURE:
            self.set_aside.setdefault(pair)
            return
        self.set_aside.pop(pair, None)
        if self.doubted.get(pair) is answer:
            del self.doubted[pair]
        self.n_changes += 1
        self._answers[pair] = answer
        self._rows.update(dict.fromkeys(pair))
        a, b = self.component(pair.i), self.component(pair.j)
        if answer is Answer.DIFFERENT:
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)
        elif a != b:
            self._must_links.setdefault(pair.i, []).append(pair.j)
            self._must_links.setdefault(pair.j, []).append(pair.i)
            self._join(a, b)

    def without(self, pairs: Container[Pair]) -> Constraints:
        """What all other answers say."""
        others = Constraints()
        for pair, answer in self:
            if pair not in pairs:
                others.add(*pair, answer)
        return others

    def copy(self) -> Constraints:
        """The same answers, to which others may be added: much faster than by adding all of them again."""
        found = Constraints()
        found._root, found._answers, found._rows = self._root.copy(), self._answers.copy(), self._rows.copy()
        found._component = {root: members.copy() for root, members in self._component.items()}
        found._apart = {root: others.copy() for root, others in self._apart.items()}
        found._must_links = {i: others.copy() for i, others in self._must_links.items()}
        return found

    def doubt(self, pair: Pair) -> None:
        """Take an answer out of force, and with it all that only it implied."""
        self.doubted[pair] = self._answers[pair]
        self.n_changes += 1
        self.forget({pair})

    def forget(self, pairs: Collection[Pair]) -> None:
        """Drop answers, and with them all that only they implied."""
        if not pairs:
            return
        # Components cannot be split, so all others are added anew: O(number of answers).
        others = [said for said in self if said[0] not in pairs]
        for table in (self._root, self._component, self._apart, self._must_links, self._answers, self._rows):
            table.clear()
        for other, answer in others:
            self.add(*other, answer)

    def restore(self, pair: Pair) -> None:
        """Bring a doubted answer back, unless it contradicts what has been said meanwhile."""
        if self.relation(*pair) in (None, self.doubted[pair]):
            self.add(*pair, self.doubted[pair])

    def decisive_answers(self) -> Iterator[tuple[Pair, Answer, tuple[list[int], list[int]]]]:
        """Every answer without which the relation of two sides is unknown, and the sides, the smaller one first."""
        apart: dict[tuple[int, int], list[Pair]] = {}
        # Answered with same when that was implied already: such a pair closes a cycle of must-links.
        chords: list[Pair] = []
        for pair, answer in self:
            if answer is Answer.DIFFERENT:
                a, b = sorted((self.component(pair.i), self.component(pair.j)))
                apart.setdefault((a, b), []).append(pair)
            elif pair.j not in self._must_links.get(pair.i, ()):
                chords.append(pair)
        for (a, b), pairs in apart.items():
            if len(pairs) == 1:
                sides = self._component.get(a, [a]), self._component.get(b, [b])
                yield pairs[0], Answer.DIFFERENT, smaller_first(*sides)
        for root, members in self._component.items():
            for pair, beyond in self._branches(root):
                if not any((i in beyond) != (j in beyond) for i, j in chords):
                    yield pair, Answer.SAME, smaller_first(beyond, [i for i in members if i not in beyond])

    def _branches(self, root: int) -> Iterator[tuple[Pair, dict[int, None]]]:
        """Every must-link of a component, with the instances beyond it as seen from the root."""
        parent, order = {root: root}, [root]
        for here in order:
            for there in self._must_links[here]:
                if there not in parent:
                    parent[there] = here
                    order.append(there)
        # From the leaves to the root. Dicts without values are sets that keep their order, so runs are repeatable.
        beyond: dict[int, dict[int, None]] = {}
        for i in reversed(order[1:]):
            branch = beyond.setdefault(i, {})
            branch[i] = None
            yield Pair(parent[i], i).ordered, branch
            beyond.setdefault(parent[i], {}).update(branch)

    def _join(self, a: int, b: int) -> None:
        """Join two components by relabelling the smaller one: each instance is relabelled at most log2(n) times."""
        large, small = self._component.pop(a, [a]), self._component.pop(b, [b])
        if len(large) < len(small):
            a, b, large, small = b, a, small, large
        large += small
        self._component[a] = large
        self._root.update(dict.fromkeys(small, a))
        for other in self._apart.pop(b, ()):
            self._apart[other].remove(b)
            self._apart[other].add(a)
            self._apart.setdefault(a, set()).add(other)

    def explain(self, i: int, j: int) -> tuple[tuple[Pair, Answer], ...]:
        """The chain of answers that implies the relation of i and j; empty when none does."""
        known = self.relation(i, j)
        if known is None or i == j:
            return ()
        if known is Answer.SAME:
            return self._path(i, j)
        # All answers are searched, because this runs only where a contradiction is reported.
        a, b = self.component(i), self.component(j)
        for pair, answer in self._answers.items():
            if answer is Answer.DIFFERENT:
                for near, far in ((pair.i, pair.j), (pair.j, pair.i)):
                    if self.component(near) == a and self.component(far) == b:
                        return (*self._path(i, near), (pair, answer), *self._path(far, j))
        raise AssertionError("a cannot-link between components stems from an answer")

    def _path(self, start: int, goal: int) -> tuple[tuple[Pair, Answer], ...]:
        """Must-links from start to goal, by breadth-first search."""
        came_from = {start: start}
        queue = deque([start])
        while goal not in came_from:
            here = queue.popleft()
            for there in self._must_links.get(here, ()):
                if there not in came_from:
                    came_from[there] = here
                    queue.append(there)
        steps = []
        while goal != start:
            steps.append((Pair(came_from[goal], goal).ordered, Answer.SAME))
            goal = came_from[goal]
        return tuple(reversed(steps))


def smaller_first(a: Iterable[int], b: Iterable[int]) -> tuple[list[int], list[int]]:
    """Two sets of instances, ascending, the smaller one first."""
    small, large = sorted((sorted(a), sorted(b)), key=lambda side: (len(side), side))
    return small, large
