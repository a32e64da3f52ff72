"""From one value per playlist to one value."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skmtc.metrics._average import average_playlists, check_k, mean_weights, ratio_or_nan


def test_mean_over_playlists_and_over_users():
    values = np.array([1.0, 3.0, 8.0])
    assert average_playlists(values, "macro", name="It") == 4.0
    # ana has the mean 2, bob 8.
    users = np.array(["ana", "ana", "bob"])
    assert average_playlists(values, "macro", name="It", users=users) == 5.0
    assert average_playlists(values, None, name="It") is values


def test_undefined_playlists_are_counted_and_left_out():
    values = np.array([1.0, np.nan, 3.0])
    with pytest.warns(UndefinedMetricWarning, match="It is not defined for 1 of 3 playlists"):
        assert average_playlists(values, "macro", name="It") == 2.0


def test_users_without_a_defined_value_do_not_count():
    weights = mean_weights(np.array([True, True, False, False]), np.array([1, 1, 1, 2]))
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_ratios():
    np.testing.assert_array_equal(
        ratio_or_nan(np.array([1.0, 0.0]), np.array([4, 0])), [0.25, np.nan]
    )


def test_bad_choices_are_reported():
    with pytest.raises(ValueError, match="`average` must be 'macro' or None; got 'micro'"):
        average_playlists(np.array([1.0]), "micro", name="It")
    for k in (0, 1.5, True, "ten"):
        with pytest.raises(ValueError, match="`k` must be a positive integer"):
            check_k(k)
