"""Weights of pair features: derivatives, optimum, and the truth that pairs are drawn from."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skmtc.optimize._pair_weights import (
    SMALLEST_SPREAD,
    PairLikelihood,
    Pairs,
    minimise_pairs,
    solve_pair_weights,
)


def sample_pairs(seed, *, n_playlists=30, n_songs=12, n_terms=2, coef=(1.0, 0.5, 0.0), n_drawn=3):
    """Draw scores and sparse features, and songs of playlists from their softmax."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_playlists, n_songs, 1))
    shape = (n_playlists, n_songs, n_terms)
    features = rng.exponential(size=shape) * (rng.random(shape) < 0.4)
    columns = np.concatenate([scores, features], axis=2)
    noisy = columns @ np.asarray(coef) + rng.gumbel(size=shape[:2])
    is_positive = noisy >= -np.sort(-noisy, axis=1)[:, [n_drawn - 1]]
    sizes = np.full(n_playlists, n_songs)
    offsets = np.zeros(n_playlists * n_songs)
    return Pairs(columns.reshape(-1, 1 + n_terms), offsets, is_positive.ravel(), sizes)


def transcribed(pairs, coef):
    """Transcribe the likelihood, playlist by playlist and song by song."""
    total, start = 0.0, 0
    for size in pairs.sizes:
        rows = range(start, start + size)
        scores = {r: float(pairs.columns[r] @ coef) for r in rows}
        log_sum = np.log(sum(np.exp(scores[r] + pairs.offsets[r]) for r in rows))
        inside = [scores[r] for r in rows if pairs.is_positive[r]]
        total += log_sum - sum(inside) / len(inside)
        start += size
    return total / len(pairs.sizes)


@pytest.mark.parametrize("seed", range(3))
def test_value_is_the_formula(seed):
    rng = np.random.default_rng(seed)
    pairs = sample_pairs(seed)
    pairs = pairs._replace(offsets=rng.uniform(0, 2, size=len(pairs.offsets)))
    coef = rng.normal(size=3)
    assert PairLikelihood(pairs).value(coef) == pytest.approx(transcribed(pairs, coef), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_those_of_the_value(seed):
    likelihood = PairLikelihood(sample_pairs(seed))
    coef = np.random.default_rng(seed).normal(size=3)
    value, gradient, hessian = likelihood.derivatives(coef)
    assert value == pytest.approx(likelihood.value(coef), rel=1e-14)
    for j, step in enumerate(1e-5 * np.eye(3)):
        slope = (likelihood.value(coef + step) - likelihood.value(coef - step)) / 2e-5
        assert gradient[j] == pytest.approx(slope, abs=1e-8)
        ahead, back = (likelihood.derivatives(coef + s)[1] for s in (step, -step))
        np.testing.assert_allclose(hessian[j], (ahead - back) / 2e-5, atol=1e-7)


@pytest.mark.parametrize("l1", [0.0, 0.02, 0.1])
def test_an_independent_solver_finds_nothing_lower(l1):
    pairs = sample_pairs(1)

    def penalised(parts):
        return (
            transcribed(pairs, np.append(parts[0], parts[1:3] - parts[3:])) + l1 * parts[1:].sum()
        )

    bounds = [(None, None)] + [(0, None)] * 4
    best = minimize(penalised, [1, 0, 0, 0, 0], method="L-BFGS-B", bounds=bounds, tol=1e-14)
    coef = minimise_pairs(pairs, l1)
    found = transcribed(pairs, coef) + l1 * np.abs(coef[1:]).sum()
    assert found <= best.fun + 1e-9
    np.testing.assert_allclose(coef, np.append(best.x[0], best.x[1:3] - best.x[3:]), atol=1e-3)


def test_the_truth_is_recovered_and_a_term_without_effect_is_zero():
    pairs = sample_pairs(0, n_playlists=4000, coef=(2.0, 1.0, 0.0), n_drawn=1)
    scale, weights = solve_pair_weights(pairs, 0.01)
    assert scale == pytest.approx(2.0, rel=0.05)
    assert weights[0] == pytest.approx(0.5, abs=0.05)
    assert weights[1] == 0.0


def test_the_scale_of_scores_scales_the_weights():
    pairs = sample_pairs(2)
    scale, weights = solve_pair_weights(pairs, 0.01)
    columns = pairs.columns * [10.0, 1.0, 1.0]
    scaled = solve_pair_weights(pairs._replace(columns=columns), 0.01)
    assert scaled[0] == pytest.approx(scale / 10, rel=1e-6)
    np.testing.assert_allclose(scaled[1], 10 * weights, rtol=1e-6)


def test_scores_that_mislead_do_not_turn_the_ranking_round():
    pairs = sample_pairs(0, coef=(-1.0, 1.0, 0.0), n_playlists=200)
    scale, weights = solve_pair_weights(pairs, 0.0)
    assert scale * pairs.columns[:, 0].std() == pytest.approx(SMALLEST_SPREAD)
    assert weights[0] > 0
    # Given that scale, the weights are the best.
    likelihood = PairLikelihood(pairs)
    gradient = likelihood.derivatives(scale * np.append(1.0, weights))[1]
    np.testing.assert_allclose(gradient[1:], 0.0, atol=1e-7)


def test_a_candidate_may_stand_for_several():
    pairs = sample_pairs(3, n_playlists=2, n_songs=3, n_drawn=1)
    rows = [0, 0, 1, 2, 3, 4, 5]
    # A copy of a candidate that is not in the playlist adds to the sum only.
    copied = Pairs(
        pairs.columns[rows], pairs.offsets[rows], pairs.is_positive[rows], np.array([4, 3])
    )
    copied.is_positive[0] = copied.is_positive[1] = False
    single = pairs._replace(is_positive=copied.is_positive[1:], offsets=pairs.offsets.copy())
    single.is_positive[1] = copied.is_positive[2] = True
    single.offsets[0] = np.log(2)
    coef = np.array([0.7, 0.3, -0.2])
    assert PairLikelihood(single).value(coef) == pytest.approx(PairLikelihood(copied).value(coef))


def test_scores_without_spread_leave_the_features():
    pairs = sample_pairs(4, coef=(0.0, 1.0, 0.0), n_playlists=300)
    pairs.columns[:, 0] = 0.0
    scale, weights = solve_pair_weights(pairs, 0.01)
    assert scale == 1.0
    assert weights[0] > 0.3


def test_nothing_to_learn_from():
    nothing = Pairs(np.zeros((0, 3)), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.intp))
    scale, weights = solve_pair_weights(nothing, 0.01)
    assert scale == 1.0
    assert weights.tolist() == [0.0, 0.0]
