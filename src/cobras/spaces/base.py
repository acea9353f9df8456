"""How the data is cut: a space splits super-instances, names representatives and measures distances."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from cobras.core.partition import Partition, SuperInstance
from cobras.core.types import BoolArray, FloatArray, IndexArray


@runtime_checkable
class Space(Protocol):
    """All that a method may know about the data."""

    n: int

    def root(self, seed: int) -> SuperInstance:
        """The super-instance that holds everything."""

    def split(
        self, s: SuperInstance, k: int, among: Literal["all", "train"] = "all", draw: int = 0
    ) -> tuple[SuperInstance, ...]:
        """At most k parts, each with a training member; a single one when it cannot be split.

        With `among="train"` only training members decide on the parts, and the others follow the nearest one.
        The same call gives the same parts; another `draw` uses other random numbers.
        """

    def representatives(self, s: SuperInstance, count: int) -> tuple[int, ...]:
        """The medoid, then the next best training members, at most `count`."""

    def distances(self, a: Sequence[SuperInstance], b: Sequence[SuperInstance]) -> FloatArray:
        """The distance between every super-instance of a and every one of b."""


@runtime_checkable
class VectorSpace(Space, Protocol):
    """A space of rows of numbers, for methods that hand all of them to another clusterer.

    Attributes
    ----------
    X : array of shape (n, d)
    train : array of bool, or None
        Which rows may be shown; None for all.
    memo : dict
        What a method computed, under a key that says from what: a replay finds it there.
    """

    X: FloatArray
    train: BoolArray | None
    memo: dict[Any, Any]

    def partition(self, labels: IndexArray) -> Partition:
        """A clustering given by labels: one super-instance for each cluster."""


def digest(*parts: bytes | IndexArray) -> bytes:
    """Sixteen bytes that tell these arrays from others: a short key for the memo of a space."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.tobytes()
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.digest()


@runtime_checkable
class RemoteSpace(Space, Protocol):
    """A space on other machines, which writes labels where the rows lie."""

    def export_labels(
        self, folder: str | os.PathLike[str], partition: Partition, names: Mapping[int, str] | None = None
    ) -> None:
        """Write the labels of all instances from where they lie into a folder."""
