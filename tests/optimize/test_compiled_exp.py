"""The compiled exponential."""

import numpy as np

from skmtc.optimize._compiled import compiled_exp


def _exp(values):
    out = np.array(values, dtype=np.float32)
    compiled_exp()(out)
    return out


def test_it_is_exact_to_the_last_digits():
    x = np.linspace(-87, 88, 1_000_003).astype(np.float32)
    np.testing.assert_allclose(_exp(x), np.exp(x.astype(np.float64)), rtol=2e-7)


def test_whole_octaves_by_hand():
    octaves = np.arange(-120, 121)
    np.testing.assert_allclose(_exp(octaves * np.log(2)), 2.0**octaves, rtol=1e-5)
    assert _exp([0.0])[0] == 1.0


def test_tails():
    low, high = _exp([-88, -1e4, -np.inf]), _exp([89, 1e4, np.inf])
    assert (low < 2e-38).all()
    assert np.isinf(high).all()
    assert np.isnan(_exp([np.nan])).all()
