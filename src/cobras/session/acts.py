"""What a person does to clusters, or knows of them, as events, and what each of these says about pairs.

A cluster may hold several must-link components: that of COBRAS is represented by one, but ADDER also puts together
what is likely the same. A move says that the rows are the same as the largest component of the target, and
different from the largest one of where they were. It does not say so of the others, since a cluster that is not
pure may hold what they belong to. A merge says that all components inside the two clusters are one.

What contradicts the answers is refused, unless it is to be done anyway: then the answers in the way are taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from cobras.core.board import Board, pairs_of_groups
from cobras.core.checks import as_said, as_whole_number
from cobras.core.constraints import Constraints
from cobras.core.edits import EditedPartition
from cobras.core.exceptions import InvalidDataError
from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import Answer, Event, Pair
from cobras.spaces.base import RemoteSpace, Space


class KnownRows:
    """The rows that something is known about, by the cluster in which each is shown."""

    def __init__(
        self, partition: Partition, constraints: Constraints, homes: dict[int, SuperInstance] | None = None
    ) -> None:
        self._partition, self._constraints = partition, constraints
        self._rows: dict[int, list[int]] = {}
        for row, number in partition.clusters_of(constraints.rows(), homes).items():
            self._rows.setdefault(number, []).append(row)

    @property
    def clusters(self) -> list[int]:
        """The clusters that something is known about."""
        return sorted(self._rows)

    def of(self, cluster: int) -> list[int]:
        """The rows of one cluster that something is known about."""
        return self._rows.get(cluster, [])

    def main(self, cluster: int, without: Collection[int] = ()) -> Iterator[int]:
        """One row for each must-link component in a cluster, the largest one first; or its representatives.

        Large is one whose rows represent many others.
        """
        rows, component = [row for row in self.of(cluster) if row not in without], self._constraints.component
        parts = [
            s for s in self._partition.cluster(cluster).super_instances if s.representative not in without
        ]
        if not rows:
            yield from (s.representative for s in parts)
        size, known = Counter(map(component, rows)), set(rows)
        for s in parts:
            if s.representative in known:
                size[component(s.representative)] += len(s)
        # A representative is what the person has seen of the cluster.
        shown = {component(row): row for row in reversed([*(s.representative for s in parts), *rows])}
        yield from (shown[root] for root, _ in size.most_common())


class Acts:
    """Makes events from what a person does; what contradicts the answers raises.

    Parameters
    ----------
    space : Space
    partition : Partition
        The clustering that is shown.
    constraints : Constraints
        What is known.
    homes : dict
        The memo of `Partition.clusters_of`.
    implied : collection of Pair
        What is known of these follows from what else is known.
    """

    def __init__(
        self,
        space: Space,
        partition: Partition,
        constraints: Constraints,
        homes: dict[int, SuperInstance],
        implied: Collection[Pair] = (),
    ) -> None:
        self._implied = implied
        self._space, self._partition, self._constraints, self._homes = space, partition, constraints, homes

    @cached_property
    def _known(self) -> KnownRows:
        return KnownRows(self._partition, self._constraints, self._homes)

    def move(
        self, rows: Iterable[int], to: int | None, names: Collection[int], anyway: bool = False
    ) -> Event:
        """Move rows to another cluster or, with None, out of theirs; `names` are the rows that carry names."""
        moved = self._rows(rows)
        if isinstance(self._space, RemoteSpace):
            raise InvalidDataError(
                "On a cluster of machines no single row can be moved. Merge or split clusters."
            )
        # Of all pairs of moved rows those with the first one are enough: the others follow.
        said: list[tuple[Pair, Answer]] = [(Pair(moved[0], row), Answer.SAME) for row in moved[1:]]
        if to is not None:
            self._partition.cluster(to)
            target = self._target(to, moved)
            if target is not None:
                said.append((Pair(moved[0], target), Answer.SAME))
        homes = self._partition.clusters_of(moved, self._homes)
        stays: dict[int, int] = {}
        for cluster in dict.fromkeys(homes.values()):
            if cluster != to and (row := self._row_that_stays(cluster, moved)) is not None:
                stays[cluster] = row
                first = next(i for i in moved if homes[i] == cluster)
                said.append((Pair(first, row), Answer.DIFFERENT))
        if to is None and not stays:
            raise InvalidDataError(
                "All items of the cluster were chosen. Choose some of them, or a cluster to move to."
            )
        known, against = self._take_back(said, moved, anyway)
        # Rows that are known to be the same go with them.
        others = [i for row in moved for i in known.members(row) if i not in homes]
        for row, cluster in self._partition.clusters_of(others, self._homes).items():
            if cluster in homes.values() and cluster != to:
                homes[row] = cluster
        # A name belongs to the cluster, not to the row that carried it: one that stays carries it from now on.
        renamed = [[row, stays[homes[row]]] for row in names if row in homes and homes[row] in stays]
        return Event("move", {"rows": list(homes), "said": _as_lists(said), "names": renamed, **against})

    def merge(self, a: int, b: int, anyway: bool = False) -> Event:
        """Make one of two clusters."""
        if a == b:
            raise InvalidDataError(f"Cluster {a} is one already. Give the numbers of two clusters.")
        for number in (a, b):
            self._partition.cluster(number)
        (first, *more), (second, *others) = (list(self._known.main(number)) for number in (a, b))
        said = [(Pair(first, second), Answer.SAME)]
        trial, against = self._take_back(said, (), anyway)
        trial.add(first, second, Answer.SAME)
        # A component with rows in other clusters would bring these along.
        inside = {row for number in (a, b) for row in self._known.of(number)}
        for row in [*more, *others]:
            if trial.relation(first, row) is None and inside.issuperset(trial.members(row)):
                trial.add(first, row, Answer.SAME)
                said.append((Pair(first, row), Answer.SAME))
        return Event("merge", {"said": _as_lists(said), **against})

    def split(self, cluster: int) -> Event:
        """Ask inside a cluster next."""
        chosen = self._partition.cluster(cluster)
        if len(chosen) < 2:
            raise InvalidDataError(f"Cluster {cluster} holds one item, which cannot be split.")
        marks = self.marks(cluster)
        if any(mark in self._constraints.pure or mark in self._constraints.complete for mark in marks):
            raise InvalidDataError(f"Cluster {cluster} is marked as pure or complete. Remove the mark first.")
        return Event("split", {"row": chosen.representatives[0], "super_instances": marks})

    def typical_row(self, cluster: int) -> int:
        """A row that stands for a cluster: one that was answered or, without answers, of its largest part."""
        parts = self._partition.cluster(cluster).super_instances
        return (
            next(self._known.main(cluster)) if self._known.of(cluster) else max(parts, key=len).representative
        )

    def marks(self, cluster: int) -> list[tuple[int, int]]:
        """What the method knows the super-instances of a cluster by; rows that were moved there have none."""
        whole = self._partition.whole if isinstance(self._partition, EditedPartition) else None
        parts = self._partition.cluster(cluster).super_instances
        if whole is None:
            return [s.mark for s in parts]
        found = [whole[s].mark for s in parts if s in whole]
        if not found:
            raise InvalidDataError(f"Cluster {cluster} holds only items that were moved there, one by one.")
        return found

    def add_known(self, labelled: Mapping[Any, list[int]], must_link: Any, cannot_link: Any) -> Event:
        """Say at once what is known of many rows: those of each label, whose text is a name, and links."""
        groups = list(labelled.values())
        said = as_said(must_link, cannot_link, self._space.n)
        together = (*pairs_of_groups(groups), *said)
        if not together:
            raise InvalidDataError(
                "Nothing is said about any two rows. Give labels of two rows or more, must-links or cannot-links."
            )
        self._constraints.check_all(together)
        names = {rows[0]: label.strip() for label, rows in labelled.items() if isinstance(label, str)}
        # A half of a character cannot be written.
        texts = [[row, name.encode("utf-8", "replace").decode()] for row, name in names.items() if name]
        return Event("known", {"groups": groups, "said": _as_lists(said), "texts": texts})

    def sort(self, board: Board, groups: Iterable[Sequence[int]], may_contradict: bool) -> Event:
        """Sort a board."""
        if not may_contradict:
            self._constraints.check_all(board.pairs(groups))
        body = {"cards": board.cards, "piles": board.piles, "groups": board.check(groups)}
        return Event("board", {key: _lists(value) for key, value in body.items()})

    def _take_back(
        self, said: Sequence[tuple[Pair, Answer]], moved: Sequence[int], anyway: bool
    ) -> tuple[Constraints, dict[str, Any]]:
        """What is known without the answers in the way, and the part of the event that names them; else raise."""
        known = self._constraints.without(self._implied)
        against = answers_against(known, said, moved) if anyway else {}
        known = known.without(against)
        known.check_all(tuple(said))
        return known, {"against": _as_lists(against.items())} if against else {}

    def _rows(self, rows: Iterable[int]) -> list[int]:
        try:
            found = list(dict.fromkeys(as_whole_number(row, "A row") for row in rows))
        except TypeError:
            raise InvalidDataError(f"Rows are given as a list of row numbers, not as {rows!r}.") from None
        if not found:
            raise InvalidDataError("Nothing was chosen. Give one row or more.")
        if strange := [row for row in found if not 0 <= row < self._space.n]:
            raise InvalidDataError(f"There is no row {strange[0]}; rows go from 0 to {self._space.n - 1}.")
        return found

    def _target(self, cluster: int, moved: Sequence[int]) -> int | None:
        """The row of a cluster that the moved ones are the same as; if possible, no answer says otherwise."""
        found = list(self._known.main(cluster, moved))
        relation = self._constraints.relation
        fitting = [row for row in found if all(relation(row, i) is not Answer.DIFFERENT for i in moved)]
        return [*fitting, *found][0] if found else self._row_that_stays(cluster, moved)

    def _row_that_stays(self, cluster: int, moved: Sequence[int]) -> int | None:
        """A row of a cluster that the moved ones are different from; None if all of it is moved."""
        for row in self._known.main(cluster, moved):
            return row
        gone = set(moved)
        for s in self._partition.cluster(cluster).super_instances:
            typical = self._space.representatives(s, len(gone) + 1) if s.n_train else ()
            for row in (*typical, *s.members.tolist()):
                if row not in gone:
                    return int(row)
        return None


def answers_against(
    constraints: Constraints, said: Iterable[tuple[Pair, Answer]], moved: Sequence[int]
) -> dict[Pair, Answer]:
    """The answers that stand in the way of a move or a merge.

    These are must-links between rows that are moved and what they leave, and cannot-links inside what becomes one.
    What else is the same as the moved rows goes with them, so that nothing more has to be taken back.
    """
    said, here, joined = tuple(said), set(moved), Constraints()
    crossing = []
    for pair, answer in constraints:
        if answer is Answer.SAME and (pair.i in here) != (pair.j in here):
            crossing.append(pair)
        elif answer is Answer.SAME:
            joined.add(*pair, answer)
    left = joined.components(
        i for pair, answer in said if answer is Answer.DIFFERENT for i in pair if i not in here
    )
    against: dict[Pair, Answer] = {}
    for pair in crossing:
        if joined.component(pair.j if pair.i in here else pair.i) in left:
            against[pair] = Answer.SAME
    for pair in (*crossing, *(pair for pair, answer in said if answer is Answer.SAME)):
        if pair not in against:
            joined.add(*pair, Answer.SAME)
    apart = (pair for pair, answer in constraints if answer is Answer.DIFFERENT)
    return against | {pair: Answer.DIFFERENT for pair in apart if joined.relation(*pair) is Answer.SAME}


def _as_lists(said: Iterable[tuple[Pair, Answer]]) -> list[list[int]]:
    return [[*pair, int(answer)] for pair, answer in said]


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value
