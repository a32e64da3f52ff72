"""Numbers within limits."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features.recipes._clip import Clip


def test_numbers_are_clipped_on_both_sides():
    X = pd.DataFrame({"a": [-9.0, 0.5, 9.0], "b": [1.0, -3.0, np.nan]})
    clip = Clip(2.0).fit(X)
    expected = [[-2.0, 1.0], [0.5, -2.0], [2.0, np.nan]]
    np.testing.assert_array_equal(clip.transform(X), expected)
    assert clip.get_feature_names_out().tolist() == ["a", "b"]


def test_the_limit_must_be_positive():
    with pytest.raises(ValueError, match="`limit` must be a number above 0; got 0"):
        Clip(0).fit([[1.0]])
