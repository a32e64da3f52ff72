"""CircularEncoder."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features import CircularEncoder


def test_equal_steps_are_equal_distances_all_around():
    points = CircularEncoder().fit_transform(np.arange(13.0)[:, None])
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps[0])
    np.testing.assert_allclose(points[12], points[0], atol=1e-12)


def test_quarters_of_a_period():
    points = CircularEncoder(period=8).fit_transform([[0, 2], [4, 6]])
    np.testing.assert_allclose(points, [[1, 0, 0, 1], [-1, 0, 0, -1]], atol=1e-12)


def test_unknown_values_are_the_centre():
    keys = pd.DataFrame({"key": pd.array([None, -1, 0], dtype="Int64")})
    np.testing.assert_array_equal(CircularEncoder().fit_transform(keys), [[0, 0], [0, 0], [1, 0]])


def test_names_are_in_the_order_of_features():
    encoder = CircularEncoder().set_output(transform="pandas")
    frame = encoder.fit_transform(pd.DataFrame({"key": [3], "hour": [0]}))
    assert frame.columns.tolist() == ["key_cos", "key_sin", "hour_cos", "hour_sin"]
    np.testing.assert_allclose(frame, [[0, 1, 1, 0]], atol=1e-12)


def test_wrong_period():
    with pytest.raises(ValueError, match="`period` must be a number above 0; got 0"):
        CircularEncoder(period=0).fit([[1.0]])
