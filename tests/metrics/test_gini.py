"""The Gini index of recommendations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.metrics import gini_score
from skmtc.metrics._gini import gini

COUNTS = arrays(float, 6, elements=st.integers(0, 20).map(float))


@given(COUNTS.filter(lambda counts: counts.any()))
def test_is_half_the_relative_mean_difference(counts):
    differences = abs(counts[:, None] - counts).mean()
    assert gini(counts) == pytest.approx(differences / (2 * counts.mean()), abs=1e-12)


def test_extremes():
    assert gini_score(None, np.ones((3, 5)), k=2) == pytest.approx(0.0, abs=1e-12)
    assert gini_score(None, [[5, 4, 3, 2, 1]] * 3, k=1) == pytest.approx(1 - 1 / 5)
    assert np.isnan(gini_score(None, [[1, 2]], ignore=[[1, 1]]))
