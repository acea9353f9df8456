"""What one can see of a session that runs."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cobras import InvalidDataError, LabelOracle, Session, run

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("method", ["cobras", "adder"])
def test_ids_stay_while_numbers_change(method, tmp_path):
    path = tmp_path / "s.cobras"
    with Session.open(path, X, method, 0) as session:
        run(session, LabelOracle(y), until=lambda s: s.n_answers >= 30)
        ids = [session.cluster_ids_at(n) for n in range(31)]
        assert ids[0] == tuple(range(session.partitions[0].n_clusters))
        assert ids[30] == session.cluster_ids_
        for n in range(30):
            shared = np.zeros((len(ids[n]), len(ids[n + 1])), int)
            np.add.at(shared, (session.labels_at(n), session.labels_at(n + 1)), 1)
            a, b = np.unravel_index(shared.argmax(), shared.shape)
            if (shared == shared[a, b]).sum() == 1:  # the two that share most
                assert ids[n][a] == ids[n + 1][b]
        session.undo()
        assert session.cluster_ids_ == ids[29]
        session.redo()
    with Session.open(path, X) as session:
        assert [session.cluster_ids_at(n) for n in range(31)] == ids
        with pytest.raises(InvalidDataError, match="no clustering after 31"):
            session.cluster_ids_at(31)


def test_ids_are_the_same_whenever_they_are_asked_for():
    often, once = (Session(X, random_state=0, method="cobras") for _ in range(2))
    for n in range(40):
        for session in (often, once):
            run(session, LabelOracle(y), until=lambda s, n=n: s.n_answers > n)
        assert len(often.cluster_ids_) == often.partition.n_clusters
    assert often.cluster_ids_ == once.cluster_ids_


def test_the_moment_is_another_one_after_every_change_and_only_then(tmp_path):
    with Session.open(tmp_path / "s.cobras", X, "cobras", 0) as session:
        session.ask()
        changes = [
            lambda: session.tell(True, session.ask()),
            session.undo,
            session.redo,
            lambda: session.name(0, "roses"),
            lambda: session.add_constraint(0, 100, False),
        ]
        for change in changes:
            before = session.moment
            _ = session.labels_, session.history, session.progress, session.board(3), session.ask()
            assert session.moment is before is not None
            change()
            assert session.moment is not before
