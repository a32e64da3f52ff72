"""The compiled exponential."""

import numpy as np
import pytest

from skmtc._kernels.loading import compiled_exp


def _exp(values):
    out = np.array(values, dtype=np.float32)
    compiled_exp()(out)
    return out


@pytest.mark.parametrize(("reach", "error"), [(5, 2.5e-7), (87, 5e-7)])
def test_its_error_is_below_that_of_a_rounded_score(reach, error):
    x = np.linspace(-reach, reach, 1_000_003).astype(np.float32)
    np.testing.assert_allclose(_exp(x), np.exp(x.astype(np.float64)), rtol=error)
    rounding = np.spacing(np.float32(reach)) / 2  # of the score
    assert error < 2 * max(rounding, np.finfo(np.float32).eps)


def test_whole_octaves_by_hand():
    octaves = np.arange(-120, 121)
    np.testing.assert_allclose(_exp(octaves * np.log(2)), 2.0**octaves, rtol=1e-5)
    assert _exp([0.0])[0] == 1.0


def test_tails():
    low, high = _exp([-88, -1e4, -np.inf]), _exp([89, 1e4, np.inf])
    assert (low < 2e-38).all()
    assert np.isinf(high).all()
    assert np.isnan(_exp([np.nan])).all()
