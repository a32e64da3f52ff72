"""The tiled pass against one big product."""

import numpy as np
import pytest
from problems import make_problem
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc.optimize import _pass
from skmtc.optimize._pass import NEAR_FEATURES, TiledPass, near_rows


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(_pass, "BLOCK_ROWS", 5)
    monkeypatch.setattr(_pass, "TILE_SONGS", 4)


def _problem(dtype=np.float64, n_sparse=0):
    features, membership, _ = make_problem(3, n_songs=30)
    rng = np.random.default_rng(2)
    sparse = np.zeros((30, n_sparse))
    sparse[rng.integers(0, 30, size=(2, n_sparse)), np.arange(n_sparse)] = rng.normal(size=n_sparse)
    features = np.hstack([features[:, :2], sparse, features[:, 2:]])
    features = np.hstack([features, np.ones((30, 1))]).astype(dtype)
    weights = np.random.default_rng(1).normal(scale=0.5, size=(12, features.shape[1]))
    return features, membership, weights


def _expected(features, membership, weights):
    exp = np.exp(weights @ features.T) * (membership.toarray() == 0)
    return exp.sum(axis=1), exp @ features


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_sparse", [0, 3, 70])
def test_sums_equal_one_big_product(convert, n_jobs, n_sparse):
    features, membership, weights = _problem(n_sparse=n_sparse)
    exp, exp_features = _expected(features, membership, weights)
    tiled = TiledPass(convert(features), membership, n_jobs)
    for _ in range(2):  # the second pass uses the stored masks
        sums = tiled.negative_sums(weights)
        np.testing.assert_allclose(sums.exp, exp)
        np.testing.assert_allclose(sums.exp_features, exp_features)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("n_sparse", [0, 63, 64])
def test_columns_with_few_non_zeros_are_multiplied_as_csr(convert, n_sparse):
    features, membership, weights = _problem(n_sparse=n_sparse)
    columns = TiledPass(convert(features), membership)._columns
    # Of dense features, a few sparse columns are not worth a product of their own.
    assert columns.is_split == (n_sparse >= 64 or (convert is csr_array and n_sparse > 0))
    dense, sparse, _ = columns.take(weights)
    assert dense.shape[1] + (0 if sparse is None else len(sparse)) == features.shape[1]
    if columns.is_split:
        assert dense.shape[1] == 5  # four drawn columns and the constant


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("n_sparse", [0, 70])
def test_a_choice_of_rows_is_masked_by_its_own_positives(n_sparse):
    features, membership, weights = _problem(n_sparse=n_sparse)
    rows = np.array([7, 2, 11, 0, 3, 8, 1])
    exp, exp_features = _expected(features, membership, weights)
    sums = TiledPass(features, membership).negative_sums(weights[rows], rows)
    np.testing.assert_allclose(sums.exp, exp[rows])
    np.testing.assert_allclose(sums.exp_features, exp_features[rows])


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("offsets", [False, True])
def test_playlists_with_equal_weights_share_a_sum(convert, offsets):
    features, membership, weights = _problem()
    groups = np.array([0, 0, -1, 3, 3, 3, 0, -1, 9, 9, -1, 5])
    for group in (0, 3, 9):
        weights[groups == group] = weights[groups == group][0]
    # Playlist 4 holds nearly all the mass, so that nothing must be subtracted from it.
    held = membership.tolil()
    held[4] = 1
    held[4, 0] = 0
    membership = csr_array(held)
    log_weights = np.random.default_rng(2).normal(size=30) if offsets else None
    tiled = TiledPass(convert(features), membership, 2, offsets=log_weights)
    expected = tiled.negative_sums(weights)
    sums = tiled.negative_sums(weights, groups=groups)
    np.testing.assert_allclose(sums.exp, expected.exp, rtol=1e-12)
    np.testing.assert_allclose(sums.exp_features, expected.exp_features, rtol=1e-9, atol=1e-12)
    rows = np.array([8, 9, 4, 3, 5, 2])
    some = tiled.negative_sums(weights[rows], rows, groups=groups[rows])
    np.testing.assert_allclose(some.exp, expected.exp[rows], rtol=1e-12)
    tolerance = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(some.exp_features, expected.exp_features[rows], **tolerance)


@pytest.mark.usefixtures("small_tiles")
def test_no_playlist_means_all_songs():
    features, membership, weights = _problem()
    rows = np.array([3, -1, 5])
    sums = TiledPass(features, membership).negative_sums(weights[rows], rows)
    np.testing.assert_allclose(sums.exp[1], np.exp(features @ weights[-1]).sum())
    np.testing.assert_allclose(sums.exp[0], _expected(features, membership, weights)[0][3])


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("n_sparse", [0, 70])
def test_counts_from_a_threshold_include_ties(n_sparse):
    features, membership, weights = _problem(n_sparse=n_sparse)
    features, weights = features.round(), (8 * weights).round()  # sums without rounding
    scores = weights @ features.T
    threshold = scores[:, 0]  # song 0 is in no playlist, so it always counts itself
    expected = ((scores >= threshold[:, None]) & (membership.toarray() == 0)).sum(axis=1)
    counts = TiledPass(features, membership).weigh_negatives_from(weights, threshold)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.usefixtures("small_tiles")
def test_same_bits_for_any_number_of_threads():
    features, membership, weights = _problem(np.float32)
    one, two, three = (
        TiledPass(features, membership, n_jobs).negative_sums(weights) for n_jobs in (1, 2, 3)
    )
    assert np.array_equal(one.exp_features, two.exp_features)
    assert np.array_equal(one.exp_features, three.exp_features)


def test_a_row_that_overflows_does_not_touch_others():
    features, membership, weights = _problem(np.float32)
    exp = TiledPass(features, membership).negative_sums(weights).exp
    weights[4] = 1e6
    sums = TiledPass(features, membership).negative_sums(weights).exp
    assert not np.isfinite(sums[4])
    np.testing.assert_array_equal(np.delete(sums, 4), np.delete(exp, 4))


def _similar_rows(seed=0, n_users=12, n_features=24, dtype=np.float32):
    """Make rows of users, most of which differ from their user in up to two features."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=0.3, size=(n_users, n_features)).astype(dtype)
    weights = np.repeat(weights, rng.integers(1, 9, n_users), axis=0)
    for row in weights[rng.random(len(weights)) < 0.7]:
        row[rng.integers(0, n_features, 2)] += rng.normal(size=2)
    return weights


@pytest.mark.parametrize("seed", range(5))
def test_near_rows_add_up_to_the_weights(seed):
    weights = _similar_rows(seed)
    near = near_rows(weights)
    rows = near.bases[near.base_of_row] + near.apart.toarray()
    np.testing.assert_allclose(rows, weights, rtol=1e-6, atol=1e-6)
    assert len(near.bases) < len(weights)
    # A row is its own base if it differs from the one before in many features.
    n_apart = np.count_nonzero(np.diff(weights, axis=0), axis=1)
    starts_run = np.diff(near.base_of_row) == 1
    np.testing.assert_array_equal(starts_run, n_apart > NEAR_FEATURES * weights.shape[1])


def test_rows_that_have_little_in_common_are_left_as_they_are():
    weights = np.random.default_rng(0).normal(size=(40, 24)).astype(np.float32)
    assert near_rows(weights) is None
    assert len(near_rows(np.tile(weights[:1], (40, 1))).bases) == 1


@pytest.mark.parametrize("with_offsets", [False, True])
def test_sums_of_similar_rows_equal_those_of_each_alone(with_offsets, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(loading, "WORTHWHILE_EXPONENTIALS", 0)
    monkeypatch.setattr(_pass, "BLOCK_ROWS", 16)
    monkeypatch.setattr(_pass, "TILE_SONGS", 50)
    rng = np.random.default_rng(1)
    weights = _similar_rows()
    features = rng.normal(size=(170, 24)).astype(np.float32)
    features[:, -1] = 1.0
    membership = csr_array(rng.random((len(weights), 170)) < 0.1)
    offsets = rng.normal(size=170) if with_offsets else None
    found = [
        TiledPass(features, membership, n_jobs, offsets=offsets).negative_sums(weights)
        for n_jobs in (1, 3)
    ]
    assert np.array_equal(found[0].exp_features, found[1].exp_features)
    slow = TiledPass(features.astype(np.float64), membership, offsets=offsets)
    expected = slow.negative_sums(weights.astype(np.float64))
    np.testing.assert_allclose(found[0].exp, expected.exp, rtol=2e-5)
    scale = np.abs(expected.exp_features).max()
    np.testing.assert_allclose(found[0].exp_features, expected.exp_features, atol=2e-5 * scale)
    assert TiledPass(features, membership)._columns.take(weights[:16]).near is not None
