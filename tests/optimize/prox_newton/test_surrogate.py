"""The surrogate: exact where it is expanded, and consistent everywhere."""

import numpy as np
import pytest
from problems import make_coef, make_objective

from skmtc.optimize._risks import playlist_losses, risk_terms
from skmtc.optimize.prox_newton._curvature import SplitFeatures
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, Expansion, PaddedPositives

LOSSES = ["classification", "ranking"]
PUSHES = [0.5, 1.0, 3.0]


def _surrogate(loss, push, *, pairs=True):
    objective = make_objective(0, push=push, loss=loss)
    weights = objective.weights(make_coef(objective))
    terms = risk_terms(objective, weights)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(objective.n_features, objective.n_features))
    scale = rng.uniform(0.5, 2.0, size=len(weights))
    covariance = root @ root.T
    # A pair must leave the model convex: p = sqrt(scale / d'Cd) C d is what BFGS removes.
    step = rng.normal(size=weights.shape)
    image = step @ covariance
    removed = image * np.sqrt(scale / (image * step).sum(axis=1))[:, None]
    expansion = Expansion(
        weights,
        np.log(terms.negative),
        terms.negative_gradient / terms.negative[:, None],
        scale,
        removed if pairs else None,
        rng.normal(size=weights.shape) if pairs else None,
        covariance,
    )
    positives = PaddedPositives(objective.features, objective.membership, push)
    return objective, BlockSurrogate(expansion, positives, loss), terms, rng


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("push", PUSHES)
def test_value_and_gradient_are_exact_where_it_is_expanded(loss, push):
    objective, surrogate, terms, _ = _surrogate(loss, push)
    losses, gradients = playlist_losses(objective, terms)
    at = surrogate.evaluate(surrogate.expansion.weights)
    np.testing.assert_allclose(at.value, losses)
    np.testing.assert_allclose(at.gradient, gradients, atol=1e-10)


@pytest.mark.parametrize("push", PUSHES)
def test_value_is_the_definition(push):
    _, surrogate, terms, rng = _surrogate("classification", push)
    expansion = surrogate.expansion
    step = 0.1 * rng.normal(size=expansion.weights.shape)
    at = surrogate.evaluate(expansion.weights + step)
    for i, d in enumerate(step):
        p, q = expansion.removed[i], expansion.added[i]
        model = expansion.scale[i] * expansion.covariance - np.outer(p, p) + np.outer(q, q)
        negative = terms.negative[i] * np.exp(expansion.mean[i] @ d + 0.5 * d @ model @ d)
        songs = next(g for g in surrogate.positives.groups if i in g.rows)
        x = songs.features[list(songs.rows).index(i)][: surrogate.positives.counts[i]]
        positive = np.exp(-push * x @ (expansion.weights[i] + d)).mean() / push
        np.testing.assert_allclose(at.value[i], negative + positive)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("pairs", [True, False])
def test_derivatives_agree_with_differences(loss, push, pairs):
    _, surrogate, _, rng = _surrogate(loss, push, pairs=pairs)
    weights = surrogate.expansion.weights + 0.1 * rng.normal(size=surrogate.expansion.weights.shape)
    direction = rng.normal(size=weights.shape)
    step = 1e-6
    at = surrogate.evaluate(weights)
    ahead = surrogate.evaluate(weights + step * direction)
    behind = surrogate.evaluate(weights - step * direction)
    slope = (ahead.value - behind.value) / (2 * step)
    np.testing.assert_allclose((at.gradient * direction).sum(axis=1), slope, rtol=1e-4)
    change = (ahead.gradient - behind.gradient) / (2 * step)
    product = surrogate.hessian_product(at, direction)
    np.testing.assert_allclose(product, change, rtol=1e-4, atol=1e-4 * np.abs(change).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_hessians_are_convex_and_their_pieces_agree(loss):
    objective, surrogate, _, _ = _surrogate(loss, 2.0)
    at = surrogate.evaluate(surrogate.expansion.weights)
    n, d = surrogate.expansion.weights.shape
    columns = []
    for j in range(d):
        unit = np.zeros((n, d))
        unit[:, j] = 1.0
        columns.append(surrogate.hessian_product(at, unit))
    hessians = np.stack(columns, axis=2)
    assert np.linalg.eigvalsh(hessians).min() > -1e-10
    diagonal = np.diagonal(hessians, axis1=1, axis2=2)
    np.testing.assert_allclose(surrogate.hessian_diagonal(at), diagonal)
    outside, song_weights = surrogate.hessian_sum(at)
    total = outside + SplitFeatures(objective.features).gram(song_weights)
    np.testing.assert_allclose(total, hessians.sum(axis=0))
