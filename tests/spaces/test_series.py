"""Laws of the space of series, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cobras import COBRAS, DataChangedError, InvalidDataError, Session, Space
from cobras.spaces.kernels.dtw import dtw_matrix
from cobras.spaces.series import MOST_SERIES, SeriesSpace, standardize, stretch
from tests.spaces.data import seeds, series


@st.composite
def spaces(draw):
    values = draw(series())
    rng = np.random.default_rng(draw(seeds))
    train = None
    if draw(st.booleans()):
        train = rng.random(len(values)) < 0.6
        train[rng.integers(len(values))] = True
    return SeriesSpace(
        values, train, distance=draw(st.sampled_from(["dtw", "kshape"])), normalise=draw(st.booleans())
    )


def test_equal_series_are_at_distance_0_and_stay_together():
    values = np.repeat(np.random.default_rng(0).normal(size=(3, 40)), 20, axis=0)
    for distance in ("dtw", "kshape"):
        space = SeriesSpace(values, distance=distance)
        parts = space.split(space.root(0), 3)
        assert sorted(part.members.tolist() for part in parts) == np.arange(60).reshape(3, 20).tolist()
        assert all(space.split(part, 2) == (part,) for part in parts)


@given(spaces(), st.integers(1, 9), st.sampled_from(["all", "train"]), seeds)
def test_parts_partition_their_parent_and_hold_training_members(space, k, among, seed):
    assert isinstance(space, Space)
    shown = np.ones(space.n, bool) if space.train is None else space.train
    root = space.root(seed)
    for parent in [root, *space.split(root, 3)]:
        parts = space.split(parent, k, among)
        assert 1 <= len(parts) <= max(1, min(k, parent.n_train))
        assert len({part.path for part in parts}) == len(parts)
        np.testing.assert_array_equal(np.sort(np.concatenate([p.members for p in parts])), parent.members)
        for part in parts:
            assert (np.diff(part.members) > 0).all()
            assert part.n_train == shown[part.members].sum() >= 1
            assert shown[part.representative]
            assert part.representative in part.members
            found = space.representatives(part, 3)
            assert found[0] == part.representative
            assert len(set(found)) == len(found) == min(3, part.n_train)
            assert shown[list(found)].all()
            assert set(found) <= set(part.members.tolist())
    distances = space.distances(parts, [root, *parts])
    assert distances.shape == (len(parts), 1 + len(parts))
    assert np.isfinite(distances).all()
    assert (distances >= -1e-5).all()


@given(spaces(), st.integers(2, 9))
def test_splits_belong_to_their_node_and_not_to_the_order_of_calls(space, k):
    other = SeriesSpace(
        space.values,
        space.train,
        distance=space.parameters["distance"],
        normalise=space.parameters["normalise"],
    )
    state = np.random.get_state()[1].tolist()
    other.split(other.root(1), k)
    other.split(other.root(0), k + 1)
    a, b = (s.split(s.root(0), k) for s in (space, other))
    assert [p.members.tolist() for p in a] == [p.members.tolist() for p in b]
    assert all(p is q for p, q in zip(space.split(space.root(0), k), a, strict=True))
    assert np.random.get_state()[1].tolist() == state


@given(spaces())
def test_different_training_series_can_always_be_split(space):
    if space.parameters["distance"] != "dtw" or space.parameters["normalise"]:
        return
    parts = space.split(space.root(0), 2, "train")
    shown = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    distances = dtw_matrix(np.nan_to_num(space.values), space.lengths, 0.1)[shown[0], shown]
    assert len(parts) == 1 + (distances > 0).any()


@given(spaces())
def test_the_medoid_has_the_largest_affinity_to_the_other_training_members(space):
    if space.parameters["distance"] != "dtw":
        return
    shown = np.arange(space.n) if space.train is None else np.flatnonzero(space.train)
    distances = space._geometry.distances[np.ix_(shown, shown)].astype(float)
    affinity = np.exp(-0.5 * distances).sum(axis=1)
    at = shown.tolist().index(space.root(0).representative)
    assert affinity[at] >= affinity.max() * (1 - 1e-9)


def test_kshape_finds_shifted_shapes():
    t, rng = np.arange(80), np.random.default_rng(0)
    begin = rng.integers(5, 40, 60)
    y = np.arange(60) % 2
    values = [
        np.exp(-(((t - b) / 4) ** 2)) - kind * np.exp(-(((t - b - 10) / 4) ** 2))
        for b, kind in zip(begin, y, strict=True)
    ]
    space = SeriesSpace(values + rng.normal(0, 0.02, (60, 80)), distance="kshape")
    labels = np.empty(60)
    for g, part in enumerate(space.split(space.root(0), 2)):
        labels[part.members] = g
    assert adjusted_rand_score(y, labels) == 1


def test_lengths_gaps_and_scales_do_not_matter_where_they_should_not():
    t = np.linspace(0, 6, 60)
    whole = np.vstack([np.sin(t), np.cos(t), np.sin(2 * t)])
    with_gap = whole.copy()
    with_gap[1, 20] = np.nan
    padded = np.hstack([with_gap, np.full((3, 7), np.nan)])
    for values in (list(whole), list(1e9 * with_gap + 5e9), padded, padded[:, None]):
        space = SeriesSpace(values)
        assert space.lengths.tolist() == [60, 60, 60]
        np.testing.assert_allclose(
            space._geometry.distances, SeriesSpace(whole)._geometry.distances, atol=2e-3
        )
    unknown = np.stack([whole, np.full_like(whole, np.nan)], axis=1)  # a channel without a number
    np.testing.assert_allclose(
        SeriesSpace(unknown)._geometry.distances, SeriesSpace(whole)._geometry.distances, atol=1e-5
    )
    stretched = SeriesSpace([whole[0], whole[0][::2], whole[1]], distance="kshape")
    parts = stretched.split(stretched.root(0), 2)
    assert sorted(part.members.tolist() for part in parts) == [[0, 1], [2]]


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        ([[1, 2], ["a", 3]], {}, "must hold numbers"),
        ([], {}, "There are no series"),
        (np.zeros((2, 0)), {}, r"but the shape is \(2, 1, 0\)"),
        (np.zeros(3), {}, r"but the shape is \(3,\)"),
        ([[1, 2], [np.nan]], {}, "Series 1 holds no number"),
        ([[1, np.inf]], {}, "Series 0 holds infinity"),
        ([[1, 2], [3, -1e16]], {}, "Series 1 holds"),
        ([np.zeros((1, 4)), np.zeros((2, 4))], {}, "same number of channels"),
        (np.zeros((2, 3)), {"distance": "dwt"}, "one of dtw, kshape, not 'dwt'"),
        (np.zeros((2, 3)), {"window": 10}, "between 0 and 1"),
        (np.zeros((2, 3)), {"n_jobs": 0}, "from 1 on, not 0"),
        (np.zeros((2, 3)), {"train": [0, 1]}, "boolean mask"),
        (np.zeros((2, 3)), {"train": [False, False]}, "nothing could be asked"),
        (np.zeros((MOST_SERIES + 1, 2)), {}, "compares every pair"),
    ],
)
def test_what_cannot_be_clustered_is_refused_in_one_sentence(values, options, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        SeriesSpace(values, **options)


def waves(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    values = np.sin(np.linspace(0, 9, 50) * (1 + y[:, None])) + rng.normal(0, 0.2, (n, 50))
    return values, y


@pytest.mark.parametrize("distance", ["dtw", "kshape"])
def test_the_estimators_take_a_space(distance):
    values, y = waves()
    train = np.arange(len(y)) % 4 > 0
    model = COBRAS(max_queries=40, random_state=0).fit(SeriesSpace(values, train, distance=distance), y)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert train[model.queries_[:, :2]].all()
    with pytest.raises(InvalidDataError, match="no predict"):
        model.predict(values)
    with pytest.raises(InvalidDataError, match="knows which rows"):
        COBRAS().fit(SeriesSpace(values), y, train_indices=[0, 1])
    assert model.fit(values, y).predict(values).shape == y.shape


def test_a_session_file_knows_its_series(tmp_path):
    values, y = waves()
    path = tmp_path / "waves.cobras"
    with Session.open(path, SeriesSpace(values, window=0.2), random_state=1, method="cobras") as session:
        for _ in range(5):
            pair = session.ask()
            session.tell(y[pair.i] == y[pair.j], pair)
        asked, labels = session.ask(), session.labels_
    with Session.open(path, SeriesSpace(values, window=0.2, n_jobs=2), method="cobras") as session:
        assert session.ask() == asked
        np.testing.assert_array_equal(session.labels_, labels)
        assert session.parameters["window"] == 0.2
    other = values.copy()
    other[7, 3] += 1
    refused = [
        (SeriesSpace(other, window=0.2), "another table"),
        (SeriesSpace(values), "made with window=0.2"),
        (SeriesSpace(values, distance="kshape"), "made with distance='dtw'"),
        (SeriesSpace(values, y > 0, window=0.2), "other train_indices"),
        (SeriesSpace(values.reshape(40, 2, 25), window=0.2), "made with channels=1"),
        (values, "made with a space of series"),
    ]
    for X, sentence in refused:
        with pytest.raises(DataChangedError, match=sentence):
            Session.open(path, X)


def test_a_file_of_a_table_is_not_opened_with_series(tmp_path):
    values, _ = waves()
    Session.open(tmp_path / "table.cobras", values, random_state=1, method="cobras").close()
    with pytest.raises(DataChangedError, match="made with a plain table"):
        Session.open(tmp_path / "table.cobras", SeriesSpace(values), method="cobras")


def test_series_are_standardized_up_to_their_end_and_stretched_from_end_to_end():
    values = np.array([[[1.0, 3.0, 0.0]], [[5.0, 5.0, 5.0]], [[1e200, 2e200, 3e200]]])
    found = standardize(values, np.array([2, 3, 3]))
    np.testing.assert_allclose(found[:, 0], [[-1, 1, 0], [0, 0, 0], np.array([-1, 0, 1]) * 1.5**0.5])
    longer = stretch(values[:2], np.array([2, 3]))
    np.testing.assert_allclose(longer[:, 0], [[1, 2, 3], [5, 5, 5]])
