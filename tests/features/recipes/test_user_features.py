"""make_user_features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.features import guess_user_roles, make_song_features, make_user_features


@pytest.fixture
def users():
    rng = np.random.RandomState(0)
    users = pd.DataFrame(
        {
            "user": np.arange(40),
            "age": rng.randint(16, 70, size=40).astype(float),
            "gender": rng.choice(["f", "m"], size=40),
            "country": rng.choice(["AU", "DE", "US", "NZ"], size=40),
        }
    ).astype({"gender": object, "country": object})
    users.loc[[0, 5], "age"] = np.nan
    users.loc[[1, 5], "gender"] = None
    users.loc[[2, 5], "country"] = None
    return users


def test_features_are_finite_and_of_like_size(users):
    features = make_user_features(users).fit_transform(users)
    assert features.shape == (40, 1 + 2 + 4)
    assert np.abs(features).max() <= 4
    np.testing.assert_allclose(features[:, 1:3].sum(axis=1), users["gender"].notna())
    np.testing.assert_allclose(features[:, 3:].sum(axis=1), users["country"].notna())


def test_a_missing_attribute_is_neutral(users):
    features = make_user_features(users).fit_transform(users)
    np.testing.assert_allclose(features[5], 0, atol=1e-12)
    np.testing.assert_allclose(features[0, 0], 0, atol=1e-12)
    np.testing.assert_array_equal(features[1, 1:3], 0)


def test_cities_and_tags_of_users():
    rng = np.random.default_rng(0)
    cities = np.array([f"city {i}" for i in range(500)])
    users = pd.DataFrame(
        {
            "user": np.arange(3000),
            "city": rng.choice(cities, 3000, p=rng.dirichlet(np.full(500, 0.2))),
            "likes": ["|".join(rng.choice(["jazz", "rock", "pop"], 2)) for _ in range(3000)],
        }
    )
    transformer = make_user_features(users, random_state=0).fit(users)
    assert transformer.transform(users).shape == (3000, 64 + 3)
    common = users["city"].value_counts().index[0]
    asked = pd.DataFrame({"user": [9999], "city": [common], "likes": [None]}, dtype=object)
    likeness = cosine_similarity(transformer.transform(asked), transformer.transform(users))[0]
    is_near = (users["city"] == common).to_numpy()
    assert likeness[is_near].min() > likeness[~is_near].max() + 0.3


def test_new_users_may_have_new_values(users):
    transformer = make_user_features(users).fit(users)
    new = pd.DataFrame(
        {"user": [99, 98], "age": [1e6, None], "gender": ["x", None], "country": ["FR", "AU"]}
    )
    features = transformer.transform(new)
    assert features[0, 0] == 4.0
    np.testing.assert_array_equal(features[0, 1:3], features[1, 1:3])
    likeness = cosine_similarity(features[1:], transformer.transform(users))[0]
    assert users.loc[int(likeness.argmax()), "country"] == "AU"


def test_rare_names_are_ignored(users):
    users.loc[3, "country"] = "FR"
    names = make_user_features(users, min_frequency=2).fit(users).get_feature_names_out()
    assert "categorical__country_FR" not in names
    assert "categorical__country_AU" in names


def test_a_guess_can_be_changed(users):
    roles = guess_user_roles(users)
    roles.categorical.remove("gender")
    names = make_user_features(roles).fit(users).get_feature_names_out()
    assert not any("gender" in name for name in names)
    without = make_user_features(roles, numeric=None)
    assert [name for name, _, _ in without.transformers] == ["categorical"]


def test_new_users_of_a_ranker_lean_like_users_with_their_attributes():
    X = make_playlists(n_users=60, n_playlists=150, n_songs=120, random_state=0)
    X = X.drop(columns="gender")
    ranker = MultitaskPlaylistRanker(
        song_features=make_song_features(X, artist=None, random_state=0),
        user_features=make_user_features(X),
        user_l2=0.1,
        n_neighbors=5,
        tol=0.01,
    ).fit(X)
    new = pd.DataFrame({"user": ["new"] * 2, "age": [40, 40], "country": ["AU", "DE"]})
    first, second = ranker.query_vectors(new)
    known = X.drop_duplicates("user").set_index("user").loc[ranker.users_]
    by_country = {
        country: ranker.user_coef_[(known["country"] == country).to_numpy()].mean(axis=0)
        for country in ("AU", "DE")
    }
    toward = by_country["AU"] - by_country["DE"]
    assert (first - second) @ toward > 0


def test_nothing_to_use():
    with pytest.raises(ValueError, match="at least one column with a role; got none"):
        make_user_features(pd.DataFrame({"user": [1, 2]}))
