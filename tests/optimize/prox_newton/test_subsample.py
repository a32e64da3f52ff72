"""The sample of songs has the moments of the catalogue."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skmtc.optimize._pass import TiledPass
from skmtc.optimize.prox_newton._subsample import sampled_pass


def _catalogue(heavy=False):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(3000, 4))
    if heavy:
        features[7] = 40.0
    features = np.column_stack([features, np.ones(3000)])
    shared = np.array([0.5, -0.3, 0.0, 0.2, -1.0]) / (20 if heavy else 1)
    # One playlist with a single song: sums over the rest are those of the catalogue.
    membership = csr_array(([1], ([0], [11])), shape=(1, 3000))
    return features, shared, membership, rng


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_sums_at_the_shared_weights_are_those_of_the_catalogue(convert):
    features, shared, _, rng = _catalogue()
    empty = csr_array((1, 3000))
    sample = sampled_pass(convert(features), empty, shared, 400, rng, None)
    assert sample.n_songs < 450
    full = TiledPass(features, empty)
    at = shared[None]
    np.testing.assert_allclose(sample.negative_sums(at).exp, full.negative_sums(at).exp)
    np.testing.assert_allclose(
        sample.negative_sums(at).exp_features, full.negative_sums(at).exp_features, rtol=1e-8
    )
    # The second moment, off the constant column.
    direction = np.array([0.3, 0.2, -0.5, 0.4, 0.0])
    step = 1e-4

    def bend(tiled):
        sums = [np.log(tiled.negative_sums(at + s * direction).exp) for s in (-step, 0, step)]
        return (sums[0] - 2 * sums[1] + sums[2]) / step**2

    np.testing.assert_allclose(bend(sample), bend(full), rtol=1e-5)


def test_sums_near_the_shared_weights_are_close():
    features, shared, membership, rng = _catalogue()
    sample = sampled_pass(features, membership, shared, 400, rng, None)
    full = TiledPass(features, membership)
    near = shared[None] + 0.3 * rng.normal(size=(1, 5))
    np.testing.assert_allclose(
        sample.negative_sums(near).exp, full.negative_sums(near).exp, rtol=0.05
    )


def test_songs_far_from_all_others_are_sampled():
    features, shared, membership, rng = _catalogue(heavy=True)
    sample = sampled_pass(features, membership, shared, 400, rng, None)
    assert np.abs(sample.features[:, :-1]).max() > 20


def test_own_songs_do_not_count():
    features, shared, _, rng = _catalogue()
    every = csr_array(np.ones((1, 3000)))
    assert sampled_pass(features, every, shared, 400, rng, None).negative_sums(
        shared[None]
    ).exp == [0.0]
