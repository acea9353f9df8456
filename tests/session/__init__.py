"""What tests of sessions begin with: the iris flowers, and a session on them after some right answers."""

from typing import Any

from sklearn.datasets import load_iris

from cobras import LabelOracle, Session, run

X, y = load_iris(return_X_y=True)


def answered(n: int, **options: Any) -> Session:
    session = Session(X, **{"method": "cobras", "random_state": 0, **options})
    return run(session, LabelOracle(y), until=lambda s: s.n_answers >= n)
