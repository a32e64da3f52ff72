"""Padded positives against loops."""

import numpy as np
import pytest
from problems import make_problem
from scipy.sparse import csr_array

from skmtc.optimize.prox_newton._surrogate import PaddedPositives

PUSH = 2.0
FEATURES, MEMBERSHIP, _ = make_problem(0)


@pytest.fixture(params=[np.asarray, csr_array])
def case(request):
    features, membership = FEATURES, MEMBERSHIP
    weights = np.random.default_rng(1).normal(size=(membership.shape[0], features.shape[1]))
    padded = PaddedPositives(request.param(features), membership, PUSH)
    songs = [features[row > 0] for row in membership.toarray()]
    return padded, weights, songs


def test_soft_minimum(case):
    padded, weights, songs = case
    soft = padded.soft_minimum(weights)
    for i, x in enumerate(songs):
        exp = np.exp(-PUSH * x @ weights[i])
        np.testing.assert_allclose(soft.log_sum[i], np.log(exp.sum()))
        np.testing.assert_allclose(soft.mean[i], exp @ x / exp.sum())


def test_moments(case):
    padded, weights, songs = case
    shares = padded.soft_minimum(weights).shares
    directions = np.random.default_rng(2).normal(size=weights.shape)
    row_weights = np.random.default_rng(3).uniform(size=len(weights))
    squares, products = padded.mean_squares(shares), padded.mean_products(shares, directions)
    total = np.zeros((weights.shape[1], weights.shape[1]))
    for i, x in enumerate(songs):
        exp = np.exp(-PUSH * x @ weights[i])
        share = exp / exp.sum()
        np.testing.assert_allclose(squares[i], share @ x**2)
        np.testing.assert_allclose(products[i], share * (x @ directions[i]) @ x)
        total += row_weights[i] * (x.T * share) @ x
    weighted = padded.song_weights(shares, row_weights)
    np.testing.assert_allclose((FEATURES.T * weighted) @ FEATURES, total)


def test_large_scores_do_not_overflow(case):
    padded, weights, _ = case
    soft = padded.soft_minimum(1e4 * weights)
    assert np.isfinite(soft.log_sum).all()
    assert np.isfinite(soft.mean).all()
