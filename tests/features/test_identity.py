"""IdentityEncoder."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

from skmtc.features import IdentityEncoder


def test_one_sparse_feature_per_frequent_value():
    songs = pd.DataFrame(
        {"artist": ["b", "a", "b", None, "c", "a"], "album": [1.0, 1, 2, 2, 3, np.nan]}
    )
    encoder = IdentityEncoder().fit(songs)
    assert encoder.get_feature_names_out().tolist() == [
        "artist_a",
        "artist_b",
        "album_1.0",
        "album_2.0",
    ]
    features = encoder.transform(songs)
    assert issparse(features)
    assert features.toarray().tolist() == [
        [0, 1, 1, 0],
        [1, 0, 1, 0],
        [0, 1, 0, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 0, 0, 0],
    ]
    assert encoder.n_unknown_ == [2, 2]


def test_new_and_missing_values_are_rows_of_zeros():
    encoder = IdentityEncoder().fit(pd.DataFrame({"artist": ["a", "a", "b"]}))
    new = encoder.transform(pd.DataFrame({"artist": ["c", None, "b"]}, dtype=object))
    assert new.nnz == 0


def test_memory_grows_with_songs_only():
    rng = np.random.default_rng(0)
    songs = pd.DataFrame({"artist": rng.integers(0, 50_000, 200_000)})
    features = IdentityEncoder().fit_transform(songs)
    assert features.shape[1] > 40_000
    assert features.nnz <= len(songs)


def test_a_column_without_values_is_a_feature_of_zeros():
    empty = pd.DataFrame({"album": [None, None]}, dtype=object)
    assert IdentityEncoder().fit_transform(empty).shape == (2, 1)


def test_wrong_parameter():
    with pytest.raises(ValueError, match="`min_frequency` must be a positive integer"):
        IdentityEncoder(min_frequency=0).fit(pd.DataFrame({"artist": ["a"]}))


def test_max_categories_keeps_the_values_of_most_songs():
    artists = pd.DataFrame({"artist": ["a"] * 2 + ["b"] * 4 + ["c"] * 3 + ["d"] * 3 + ["e"]})
    encoder = IdentityEncoder(max_categories=2).fit(artists)
    assert encoder.ids_[0].tolist() == ["b", "c"]
    assert encoder.n_unknown_ == [len(artists) - 7]
    few = IdentityEncoder(max_categories=9).fit(artists)
    assert few.ids_[0].tolist() == IdentityEncoder().fit(artists).ids_[0].tolist()
    with pytest.raises(ValueError, match="`max_categories` must be an integer of 1 or more; got 0"):
        IdentityEncoder(max_categories=0).fit(artists)
