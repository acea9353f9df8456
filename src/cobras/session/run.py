"""An oracle at the place of a person."""

from __future__ import annotations

from collections.abc import Callable

from cobras.core.exceptions import StopAsking
from cobras.core.types import Oracle
from cobras.session.session import Session


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
