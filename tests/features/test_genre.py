"""GenreEncoder."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from skmtc.features import GenreEncoder


def encode(genres, new=None, **parameters):
    encoder = GenreEncoder(**parameters).fit(pd.DataFrame({"genre": genres}))
    return encoder, encoder.transform(pd.DataFrame({"genre": genres if new is None else new}))


def test_single_genres_are_encoded_like_any_names():
    rng = np.random.default_rng(0)
    songs = rng.choice(["rock", "pop", "folk", "jazz"], size=(60, 2)).astype(object)
    expected = OneHotEncoder(sparse_output=False)
    np.testing.assert_array_equal(
        GenreEncoder().fit_transform(songs), expected.fit_transform(songs)
    )
    encoder = GenreEncoder().fit(songs)
    assert encoder.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


def test_the_mean_over_known_songs_stays_the_same():
    genres = ["rock", "pop", "rock|pop|folk", None, "rock", ""]
    encoder, features = encode(genres)
    known = [0, 1, 2, 4]
    np.testing.assert_allclose(features.mean(axis=0), features[known].mean(axis=0))
    np.testing.assert_allclose(features[3], [1 / 4, 2 / 4, 3 / 4])
    assert encoder.n_unknown_ == [2]


@pytest.mark.parametrize(
    "cell",
    [
        "rock | pop",
        "|pop|rock||",
        ["rock", "pop"],
        ("pop", "rock", None),
        {"rock", "pop"},
        np.array(["rock", "pop", "pop"]),
        ["rock|pop"],
    ],
)
def test_several_genres_of_a_song(cell):
    _, features = encode(["rock", "pop", "folk"], new=[cell, "folk"])
    np.testing.assert_array_equal(features, [[0, 1, 1], [1, 0, 0]])


def test_another_separator_and_none():
    encoder, features = encode(["R&B, soul", "soul"], separator=",")
    assert encoder.get_feature_names_out().tolist() == ["genre_R&B", "genre_soul"]
    np.testing.assert_array_equal(features, [[1, 1], [0, 1]])
    encoder, _ = encode(["a|b", "b"], separator=None)
    assert encoder.genres_[0].tolist() == ["a|b", "b"]


@pytest.mark.parametrize("unknown", [None, np.nan, pd.NA, "", "  ", [], "polka", ["polka", "ska"]])
def test_unknown_genres_get_frequencies(unknown):
    _, features = encode(["rock", "rock", "pop", "rock"], new=[unknown, "pop"])
    np.testing.assert_allclose(features, [[0.25, 0.75], [1, 0]])


def test_an_unseen_genre_beside_a_known_one_does_not_count():
    _, features = encode(["rock", "pop"], new=["pop|polka"])
    np.testing.assert_array_equal(features, [[1, 0]])


@pytest.mark.parametrize("min_frequency", [2, 0.3])
def test_rare_genres_are_pooled(min_frequency):
    genres = ["rock", "rock", "pop", "pop", "ska", "polka"]
    encoder, features = encode(
        genres, new=[*genres, "ska|polka|rock", "new"], min_frequency=min_frequency
    )
    names = encoder.get_feature_names_out().tolist()
    assert names == ["genre_pop", "genre_rock", "genre_infrequent"]
    assert encoder.infrequent_genres_[0].tolist() == ["polka", "ska"]
    np.testing.assert_array_equal(features[[0, 2, 4, 5]], np.eye(3)[[1, 0, 2, 2]])
    np.testing.assert_array_equal(features[6], [0, 1, 1])
    np.testing.assert_allclose(features[7], 1 / 3)  # an unseen genre is unknown, not rare


def test_a_genre_that_a_song_has_twice_counts_once():
    encoder, _ = encode(["ska|ska", "rock", "rock"], min_frequency=2)
    assert encoder.infrequent_genres_[0].tolist() == ["ska"]


def test_the_pooled_feature_has_a_name_of_its_own():
    encoder, _ = encode(["infrequent", "infrequent", "ska"], min_frequency=2)
    assert encoder.get_feature_names_out().tolist() == ["genre_infrequent", "genre_infrequent_"]


def test_all_genres_may_be_rare():
    encoder, features = encode(["a", "b", None], min_frequency=2)
    assert encoder.get_feature_names_out().tolist() == ["genre_infrequent"]
    np.testing.assert_array_equal(features, [[1], [1], [1]])


def test_codes_and_categories_are_genres_too():
    _, features = encode([3, 1, None])
    np.testing.assert_allclose(features, [[0, 1], [1, 0], [0.5, 0.5]])
    _, features = encode(pd.Categorical(["b", "a", None], categories=["c", "b", "a"]))
    np.testing.assert_allclose(features, [[0, 1], [1, 0], [0.5, 0.5]])


@pytest.mark.parametrize(
    "wrong", [{"rock": 1}, [["rock"]], [{"rock": 1}], pd.Timestamp("2020-01-01"), b"rock"]
)
def test_wrong_types(wrong):
    with pytest.raises(TypeError, match=r"A genre must be a string .* in column 'genre'"):
        encode(pd.Series([wrong, "rock"], dtype=object))


def test_numbers_among_strings():
    with pytest.raises(TypeError, match="genre ids must all be of one type"):
        encode(pd.Series([1, "rock"], dtype=object))


def test_a_column_without_genres_is_refused():
    with pytest.raises(ValueError, match=r"'genre' must name a genre .* got 2 rows without"):
        encode([None, ""])


@pytest.mark.parametrize("min_frequency", [0, -1, 1.0, 0.0, True, "2"])
def test_wrong_min_frequency(min_frequency):
    with pytest.raises(ValueError, match=r"`min_frequency` must be a positive integer"):
        encode(["rock"], min_frequency=min_frequency)


@pytest.mark.parametrize("separator", ["", 7])
def test_wrong_separator(separator):
    with pytest.raises(ValueError, match="`separator` must be a string that is not empty"):
        encode(["rock"], separator=separator)
