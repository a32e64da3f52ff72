"""make_playlist_features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from skmtc.features import PlaylistRoles, guess_playlist_roles, make_playlist_features

PLAYLISTS = pd.DataFrame(
    {
        "playlist": [1, 2, 3, 4, 5],
        "title": ["Running fast", "fast & loud", "R&B", "b sides", None],
        "description": ["for the gym", None, "slow", "rare", None],
    }
)


def test_shared_words_make_playlists_alike():
    likeness = cosine_similarity(make_playlist_features(PLAYLISTS).fit_transform(PLAYLISTS))
    assert likeness[0, 1] > 0.2
    assert likeness[2, 3] > 0.1  # a letter alone is a word
    assert likeness[0, 2] == likeness[1, 3] == 0
    np.testing.assert_array_equal(likeness[4], 0)


def test_the_order_of_words_case_and_separators_change_nothing():
    other = PLAYLISTS.assign(title=["fast|RUNNING", "Loud, fast", "b/R", "sides b", " "])
    features = make_playlist_features(PLAYLISTS).fit(PLAYLISTS)
    np.testing.assert_allclose(
        features.transform(other).toarray(), features.transform(PLAYLISTS).toarray()
    )


def test_new_words_and_missing_texts_are_zeros():
    features = make_playlist_features(PLAYLISTS).fit(PLAYLISTS)
    new = pd.DataFrame({"title": ["unheard", None, "fast"], "description": ["of", "", None]})
    made = features.transform(new).toarray()
    np.testing.assert_array_equal(made[:2], 0)
    assert np.linalg.norm(made[2]) == pytest.approx(1)


def test_features_stay_sparse_with_a_thousand_words():
    titles = pd.DataFrame({"title": [f"w{i % 997} w{i % 1009}" for i in range(3000)]})
    made = make_playlist_features(text="title").fit_transform(titles)
    assert made.shape[1] > 1000
    assert made.nnz <= 6000


def test_roles_and_columns_agree():
    roles = guess_playlist_roles(PLAYLISTS)
    assert roles.text == ["title", "description"]
    by_roles = make_playlist_features(roles).fit_transform(PLAYLISTS)
    by_table = make_playlist_features(PLAYLISTS).fit_transform(PLAYLISTS)
    by_name = make_playlist_features(text=["title", "description"]).fit_transform(PLAYLISTS)
    assert abs(by_roles - by_table).sum() == abs(by_roles - by_name).sum() == 0
    one = make_playlist_features(PlaylistRoles(text=["title"]), min_frequency=2)
    assert one.fit(PLAYLISTS).get_feature_names_out().tolist() == [
        "text__title_b",
        "text__title_fast",
    ]


def test_there_must_be_a_text():
    numbers = pd.DataFrame({"playlist": [1, 2], "followers": [3, 4]})
    with pytest.raises(ValueError, match=r"at least one column of text; got none.*Name the"):
        make_playlist_features(numbers)
