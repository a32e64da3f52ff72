"""Weights of scores by the mean log rank."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from skmtc.optimize._log_rank import SHARPNESS, LogRank, compare_pairs, solve_log_rank
from skmtc.optimize._pair_weights import Pairs


def draw(n_playlists=60, n_songs=80, seed=0, columns=(1.0, 0.0)):
    """Draw playlists of songs with high truth; scores are mixtures of truth and noise."""
    rng = np.random.default_rng(seed)
    parts, positives = [], []
    for _ in range(n_playlists):
        truth = rng.standard_normal(n_songs)
        noisy = [share * truth + (1 - share) * rng.standard_normal(n_songs) for share in columns]
        parts.append(np.column_stack([n / n.std() for n in noisy]))
        is_positive = np.zeros(n_songs, dtype=bool)
        is_positive[np.argsort(-truth + 0.5 * rng.standard_normal(n_songs))[:4]] = True
        positives.append(is_positive)
    sizes = np.full(n_playlists, n_songs)
    return Pairs(np.vstack(parts), np.zeros(sizes.sum()), np.concatenate(positives), sizes)


def slow_mean_log_rank(pairs, weights):
    means, start = [], 0
    for size in pairs.sizes:
        rows = slice(start, start + size)
        scores, positive = pairs.columns[rows] @ weights, pairs.is_positive[rows]
        counts = np.exp(pairs.offsets[rows])
        ranks = [
            1
            + sum(
                count / (1 + np.exp(-SHARPNESS * (other - score)))
                for other, count in zip(scores[~positive], counts[~positive], strict=True)
            )
            for score in scores[positive]
        ]
        means.append(np.mean(np.log(ranks)))
        start += size
    return np.mean(means)


def test_the_formula():
    pairs = draw(5, 20, columns=(0.7, 0.3, 0.0))
    pairs = pairs._replace(offsets=np.random.default_rng(1).uniform(0, 2, len(pairs.offsets)))
    loss, weights = LogRank(compare_pairs(pairs)), np.array([0.5, 1.0, 0.2])
    expected = slow_mean_log_rank(pairs, weights)
    assert loss.derivatives(weights)[0] == pytest.approx(expected, rel=1e-5)
    assert loss.by_playlist(weights).mean() == pytest.approx(expected, rel=1e-5)


def test_the_gradient():
    pairs = draw(5, 20, columns=(0.7, 0.3))
    loss = LogRank(compare_pairs(pairs))
    error = check_grad(
        lambda w: loss.derivatives(w)[0], lambda w: loss.derivatives(w)[1], [0.4, 0.8], epsilon=1e-4
    )
    assert error < 1e-3


def test_the_true_score_gets_all_the_weight():
    np.testing.assert_array_equal(solve_log_rank(draw(columns=(1.0, 0.0))), [1.0, 0.0])
    np.testing.assert_array_equal(solve_log_rank(draw(columns=(0.0, 1.0, 0.0))), [0.0, 1.0, 0.0])


def test_scores_that_tell_different_things_share_the_weight():
    weights = solve_log_rank(draw(300, columns=(0.6, 0.6)))
    np.testing.assert_allclose(weights, [0.5, 0.5], atol=0.15)


def test_the_order_of_scores_changes_nothing():
    pairs = draw(columns=(0.7, 0.4, 0.0))
    order = [2, 0, 1]
    turned = pairs._replace(columns=pairs.columns[:, order])
    np.testing.assert_allclose(solve_log_rank(turned), solve_log_rank(pairs)[order], atol=1e-3)


def test_nothing_to_compare():
    nothing = Pairs(np.zeros((2, 3)), np.zeros(2), np.array([True, True]), np.array([1, 1]))
    np.testing.assert_allclose(solve_log_rank(nothing), 1 / 3)
