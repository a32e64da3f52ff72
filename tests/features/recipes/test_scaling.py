"""Numbers, made fit for linear models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skmtc.features import PopularityEncoder
from skmtc.features.recipes._scaling import scaled, scaled_numbers


def test_numbers_are_standardised_whatever_their_unit():
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(100, 1))
    features = scaled_numbers(4.0).fit_transform(values)
    np.testing.assert_allclose([features.mean(), features.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(scaled_numbers(4.0).fit_transform(1e6 * values + 5), features)


def test_outliers_are_clipped_in_fit_and_later():
    values = np.append(np.zeros(100), 1e9)[:, None]
    scaler = scaled_numbers(4.0).fit(values)
    assert scaler.transform(values).max() == 4.0
    assert scaler.transform([[-1e12]]).min() == -4.0


def test_missing_values_are_neutral():
    values = pd.DataFrame({"x": [1.0, 2.0, 9.0, None]})
    features = scaled_numbers(4.0).fit_transform(values)
    assert features[3] == pytest.approx(0)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [pd.DataFrame, np.asarray])
def test_infinite_values_count_as_missing(infinite, make):
    values = np.array([[1.0, 3.0], [2.0, 4.0], [9.0, 5.0], [np.nan, 6.0]])
    expected = scaled_numbers(4.0).fit(values)
    spoilt = make(np.where(np.isnan(values), infinite, values))
    scaler = scaled_numbers(4.0).fit(spoilt)
    np.testing.assert_array_equal(scaler.transform(spoilt), expected.transform(values))


@pytest.mark.parametrize("column", [[0.1] * 4, [np.nan] * 4, [None] * 4])
def test_columns_that_say_nothing_become_zero(column):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "nothing": column})
    features = scaled_numbers(4.0).fit_transform(table)
    assert features.shape == (4, 2)
    np.testing.assert_allclose(features[:, 1], 0, atol=1e-12)


def test_truth_values_and_nullable_numbers_are_numbers():
    table = pd.DataFrame({"a": [True, False], "b": pd.array([1, None], dtype="Int64")})
    features = scaled_numbers(4.0).fit_transform(table)
    np.testing.assert_allclose(features, [[1, 0], [-1, 0]])


def test_names_and_clones_survive():
    pipeline = clone(scaled(2.0, ("encode", PopularityEncoder()))).set_output(transform="pandas")
    frame = pipeline.fit_transform(pd.DataFrame({"song": ["s1", "s2"]}), [[1, 1], [2, 0]])
    assert frame.columns.tolist() == ["song_popularity"]
    np.testing.assert_allclose(frame.to_numpy(), [[1], [-1]])


def test_wrong_clip():
    with pytest.raises(ValueError, match="`clip` must be a number above 0; got 0"):
        scaled_numbers(0)
