"""Clusterings beside each other: by super-instances as by rows, with colours that stay."""

from __future__ import annotations

import contextlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cobras import Session
from cobras.core.exceptions import InconsistentAnswersError, InvalidDataError
from cobras.web.view import TimelinePoint, next_colours, update_timeline

METHODS = {"cobras": {}, "cobra": {}, "min_max": {"n_clusters": 3}}


def a_session(seed: int, answers: list[int], method: str = "cobras") -> Session:
    X = np.random.default_rng(seed).normal(size=(40, 2))
    session = Session(X, method, random_state=seed, **METHODS[method])
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell({1: True, 0: False, -1: None}[answer], pair)
    return session


def timeline(points: tuple[TimelinePoint, ...], session: Session) -> tuple[TimelinePoint, ...]:
    ids = [session.cluster_ids_at(n) for n in range(session.n_answers + 1)]
    return update_timeline(points, session.partitions, ids)


@given(seed=st.integers(0, 99), answers=st.lists(st.sampled_from([1, 0, 0, -1]), min_size=1, max_size=45))
def test_the_timeline_does_not_depend_on_when_it_was_updated(seed: int, answers: list[int]) -> None:
    session = a_session(seed, [])
    points: tuple[TimelinePoint, ...] = ()
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell({1: True, 0: False, -1: None}[answer], pair)
            points = timeline(points, session)
            if answer == -1:
                session.undo()
                points = timeline(points, session)
                session.redo()
    live, late = timeline(points, session), timeline((), session)
    assert [p.colours for p in live] == [p.colours for p in late]
    assert [p.stable_share for p in live] == [p.stable_share for p in late]
    assert live[-1].stable_share == session.progress.stable_share


@given(
    seed=st.integers(0, 99),
    answers=st.lists(st.sampled_from([1, 0, 0, "merge", "move"]), min_size=1, max_size=30),
)
def test_a_cluster_on_the_screen_keeps_its_colour(seed: int, answers: list[int | str]) -> None:
    """Whatever is done, an id that stays has the colour that it had; no two clusters have the same one."""
    session = a_session(seed, [])
    points = timeline((), session)
    for step in answers:
        if step == "merge" and session.partition.n_clusters > 1:
            with contextlib.suppress(InconsistentAnswersError):
                session.merge(0, session.partition.n_clusters - 1)
        elif step == "move":
            with contextlib.suppress(InvalidDataError, InconsistentAnswersError):
                session.move([seed % 40], None)
        elif isinstance(step, int) and (pair := session.ask()) is not None:
            session.tell(bool(step), pair)
        before = dict(zip(points[-1].ids, points[-1].colours, strict=True))
        points = timeline(points, session)
        now = dict(zip(points[-1].ids, points[-1].colours, strict=True))
        assert points[-1].ids == session.cluster_ids_
        assert len(set(now.values())) == len(now)
        assert all(now[i] == before[i] for i in before.keys() & now.keys())


@given(
    st.dictionaries(st.integers(0, 9), st.integers(0, 20)),
    st.lists(st.integers(0, 14), unique=True),
    st.dictionaries(st.integers(0, 14), st.integers(0, 20)),
)
def test_new_clusters_get_free_colours(before: dict[int, int], ids: list[int], shown: dict[int, int]) -> None:
    before = {
        i: colour for k, (i, colour) in enumerate(before.items()) if colour not in list(before.values())[:k]
    }
    found = next_colours(before, ids, shown)
    assert len(set(found)) == len(found) == len(ids)
    assert all(colour == before[i] for i, colour in zip(ids, found, strict=True) if i in before)
