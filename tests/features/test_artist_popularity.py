"""ArtistPopularityEncoder."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skmtc.features import ArtistPopularityEncoder


def test_playcounts_are_sums_over_songs():
    rng = np.random.default_rng(0)
    membership = csr_array(np.maximum(0, rng.integers(-20, 10, size=(50, 30))))
    artists = rng.integers(7, size=50)
    features = ArtistPopularityEncoder().fit_transform(artists[:, None], membership)
    in_playlist = membership.toarray() > 0
    expected = [in_playlist[artists == artist].sum() for artist in artists]
    np.testing.assert_array_equal(features[:, 0], expected)


@pytest.fixture
def encoder():
    songs = pd.DataFrame({"artist": ["a", "a", "b", None]})
    return ArtistPopularityEncoder().fit(songs, csr_array([[1, 2], [2, 0], [0, 1], [3, 3]]))


def test_new_and_missing_artists_count_zero(encoder):
    new = pd.DataFrame({"artist": ["b", "a", "c", None]})
    np.testing.assert_array_equal(encoder.transform(new)[:, 0], [1, 3, 0, 0])


def test_log(encoder):
    new = pd.DataFrame({"artist": ["a", "c"]})
    logs = encoder.set_params(log=True).transform(new)
    np.testing.assert_allclose(logs[:, 0], [np.log(4), 0])


def test_name(encoder):
    assert encoder.get_feature_names_out().tolist() == ["artist_popularity"]


def test_a_column_without_artists_is_refused():
    songs = pd.DataFrame({"artist": [None, None]})
    with pytest.raises(ValueError, match=r"'artist' must have a value .* got 2 missing values"):
        ArtistPopularityEncoder().fit(songs)
