"""PopularityEncoder."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skmtc.features import PopularityEncoder


@pytest.fixture
def songs():
    return pd.DataFrame({"song": ["s1", "s2", "s3"]})


@pytest.fixture
def membership():
    return csr_array([[1, 2, 1], [2, 0, 0], [0, 0, 0]])


def test_popularity_is_the_log_of_the_number_of_playlists():
    rng = np.random.default_rng(0)
    membership = csr_array(np.maximum(0, rng.integers(-20, 10, size=(50, 30))))
    songs = pd.DataFrame({"song": rng.permutation(50)})
    features = PopularityEncoder().fit_transform(songs, membership)
    np.testing.assert_allclose(np.expm1(features[:, 0]), (membership.toarray() > 0).sum(axis=1))


def test_positions_and_stored_zeros_do_not_count(songs, membership):
    once = membership.copy()
    once.data[:] = 1
    padded = csr_array((np.append(once.data, 0), np.append(once.indices, 2), [0, 3, 4, 5]))
    expected = PopularityEncoder().fit_transform(songs, membership)
    np.testing.assert_array_equal(PopularityEncoder().fit_transform(songs, once), expected)
    np.testing.assert_array_equal(PopularityEncoder().fit_transform(songs, padded), expected)
    assert padded.nnz == 5  # the caller's matrix is left alone


@pytest.mark.parametrize(
    ("unseen", "expected"), [("zero", 0.0), ("mean", (np.log(4) + np.log(2) + 0) / 3)]
)
def test_songs_without_history(songs, membership, unseen, expected):
    encoder = PopularityEncoder(unseen=unseen).fit(songs, membership)
    new = encoder.transform(pd.DataFrame({"song": ["s1", "new", None]}))
    np.testing.assert_allclose(new[:, 0], [np.log(4), expected, expected])


def test_songs_without_history_can_be_an_error(songs, membership):
    encoder = PopularityEncoder(unseen="error").fit(songs, membership)
    np.testing.assert_allclose(encoder.transform(songs)[:2, 0], np.log([4, 2]))
    with pytest.raises(ValueError, match=r"got 2 new ones, the first of them 'x'"):
        encoder.transform(pd.DataFrame({"song": ["s1", "x", "y"]}))


def test_without_membership_every_row_is_in_one_playlist(songs):
    for y in (None, [0.5, -1.0, 2.0]):
        np.testing.assert_allclose(PopularityEncoder().fit_transform(songs, y), np.log(2))


def test_names(songs, membership):
    encoder = PopularityEncoder().fit(songs, membership)
    assert encoder.get_feature_names_out().tolist() == ["song_popularity"]
    frame = encoder.set_output(transform="pandas").transform(songs.set_index([[7, 8, 9]]))
    assert frame.columns.tolist() == ["song_popularity"]
    assert frame.index.tolist() == [7, 8, 9]


def test_wrong_unseen(songs):
    with pytest.raises(ValueError, match=r"`unseen` must be one of .* got 'drop'"):
        PopularityEncoder(unseen="drop").fit(songs)


def test_ids_of_another_type_are_refused(songs, membership):
    encoder = PopularityEncoder().fit(songs, membership)
    with pytest.raises(TypeError, match=r"song ids must be of the same type as in fit"):
        encoder.transform(pd.DataFrame({"song": [1, 2]}))
