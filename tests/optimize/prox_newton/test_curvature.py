"""Moments and learned curvature."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.optimize.prox_newton._curvature import (
    Curvature,
    SplitFeatures,
    learn_curvature,
    tilted_moments,
)
from skmtc.optimize.prox_newton._surrogate import Expansion


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_tilted_moments_are_weighted_moments(convert, weighted):
    rng = np.random.default_rng(0)
    features, scores = rng.normal(size=(50, 3)), rng.normal(size=50)
    weights = rng.uniform(size=50) if weighted else None
    moments = tilted_moments(convert(features), scores, weights)
    share = np.exp(scores) * (1 if weights is None else weights)
    share /= share.sum()
    np.testing.assert_allclose(moments.mean, share @ features)
    np.testing.assert_allclose(
        moments.covariance, np.cov(features.T, aweights=share, bias=True), atol=1e-12
    )


KINDS = {
    "dense": lambda rng: rng.normal(size=(300, 5)) + 4,
    "sparse": lambda rng: csr_array(rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.3)),
    # columns with few non-zeros, apart from dense ones that are far from zero
    "split": lambda rng: np.hstack(
        [rng.normal(size=(300, 3)) + 300, 1.0 * (rng.random((300, 70)) < 0.05)]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_split_features_have_the_same_gram_matrix_and_moments(kind):
    rng = np.random.default_rng(0)
    features = KINDS[kind](rng)
    rows = features.toarray() if kind == "sparse" else features
    weights, scores = rng.uniform(size=300), rng.normal(size=300)
    split = SplitFeatures(features)
    total = sum(w * np.outer(x, x) for w, x in zip(weights, rows, strict=True))
    np.testing.assert_allclose(split.gram(weights), total, rtol=1e-10, atol=1e-10)
    share = np.exp(scores) / np.exp(scores).sum()
    moments = split.moments(scores)
    np.testing.assert_allclose(moments.mean, share @ rows)
    np.testing.assert_allclose(
        moments.covariance, np.cov(rows.T, aweights=share, bias=True), atol=1e-10
    )


def _log_sum_case():
    """Take a step between two points of true log-sum-exps."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(200, 4))
    before = 0.3 * rng.normal(size=(6, 4))
    after = before + 0.5 * rng.normal(size=(6, 4))

    def gradient(weights):
        exp = np.exp(weights @ features.T)
        return exp @ features / exp.sum(axis=1, keepdims=True)

    mean, new_mean = gradient(before), gradient(after)
    step = after - before
    return step, new_mean - mean, np.cov(features.T)


def _expansion(step, curvature, covariance):
    zeros = np.zeros_like(step)
    return Expansion(zeros, zeros[:, 0], zeros, *curvature, covariance)


def test_with_pairs_the_model_meets_the_change_of_the_gradient():
    step, change, covariance = _log_sum_case()
    old = Curvature(np.ones(len(step)), None, None)
    new = learn_curvature(old, step, change, covariance)
    np.testing.assert_allclose(_expansion(step, new, covariance).product(step), change)
    products = [
        _expansion(step, new, covariance).product(np.tile(unit, (len(step), 1)))
        for unit in np.eye(4)
    ]
    assert np.linalg.eigvalsh(np.stack(products, axis=2)).min() > 0


def test_steps_that_teach_nothing_change_nothing():
    step, change, covariance = _log_sum_case()
    step[0] = change[0] = 0.0
    change[1] = np.nan
    old = Curvature(np.full(len(step), 2.0), None, None)
    new = learn_curvature(old, step, change, covariance)
    assert new.scale[0] == new.scale[1] == 2.0
    for pair in (new.removed, new.added):
        assert not pair[:2].any()
        assert pair[2:].any(axis=1).all()


def test_scales_fall_slowly_if_asked():
    step, change, covariance = _log_sum_case()
    old = Curvature(np.full(len(step), 100.0), None, None)
    new = learn_curvature(old, step, change, covariance, keep=0.8)
    np.testing.assert_allclose(new.scale, 80.0)
