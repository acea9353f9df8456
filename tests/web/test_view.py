"""Clusterings beside each other: by super-instances as by rows, with colours that stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobras import Session
from cobras.core.progress import kept_share
from cobras.web.view import N_COLOURS, TimelinePoint, match_colours, update_timeline

METHODS = {"cobras": {}, "cobra": {}, "min_max": {"n_clusters": 3}}


def a_session(seed: int, answers: list[int], method: str = "cobras") -> Session:
    X = np.random.default_rng(seed).normal(size=(40, 2))
    session = Session(X, method, random_state=seed, **METHODS[method])
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell({1: True, 0: False, -1: None}[answer], pair)
    return session


@given(seed=st.integers(0, 99), answers=st.lists(st.sampled_from([1, 0, 0, -1]), min_size=1, max_size=45))
def test_the_timeline_does_not_depend_on_when_it_was_updated(seed: int, answers: list[int]) -> None:
    session = a_session(seed, [])
    points: tuple[TimelinePoint, ...] = ()
    for answer in answers:
        if (pair := session.ask()) is not None:
            session.tell({1: True, 0: False, -1: None}[answer], pair)
            points = update_timeline(points, session.partitions)
            if answer == -1:
                session.undo()
                points = update_timeline(points, session.partitions)
                session.redo()
    live, late = update_timeline(points, session.partitions), update_timeline((), session.partitions)
    assert [p.colours for p in live] == [p.colours for p in late]
    assert [p.stable_share for p in live] == [p.stable_share for p in late]
    assert live[-1].stable_share == session.progress.stable_share


tables = st.integers(1, 6).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 9), min_size=rows, max_size=rows), min_size=1, max_size=6)
)


@given(tables, st.permutations(range(2 * N_COLOURS)))
def test_no_two_clusters_share_a_colour_and_a_colour_is_kept(
    columns: list[list[int]], order: list[int]
) -> None:
    shared = np.array(columns).T
    before = order[: len(shared)]
    now = match_colours(before, shared)
    assert len(set(now)) == len(now) == shared.shape[1]
    assert max(now) < N_COLOURS  # at most six clusters
    kept = sum(shared[before.index(c), k] for k, c in enumerate(now) if c in before)
    if max(before) < N_COLOURS:  # then no assignment lets more items keep their colour
        assert kept / max(1, shared.sum()) == pytest.approx(kept_share(shared) if shared.any() else 0)


def test_with_many_clusters_every_colour_stays_until_a_distinct_one_is_free() -> None:
    many = 2 * N_COLOURS
    same = match_colours(range(many), np.eye(many, dtype=int))
    assert same == tuple(range(many))
    merged = np.eye(many, dtype=int)[:, ::2]
    merged[1::2] = np.eye(N_COLOURS, dtype=int)  # each odd cluster joins the even one before it
    colours = match_colours(range(many), merged)
    assert sorted(colours) == list(range(N_COLOURS))
    assert all(colour in (2 * k, 2 * k + 1) for k, colour in enumerate(colours[: N_COLOURS // 2]))
