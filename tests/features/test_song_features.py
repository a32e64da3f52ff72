"""make_song_features."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from skmtc import MultitaskPlaylistRanker
from skmtc._table import read_memberships
from skmtc.datasets import make_playlists
from skmtc.features import guess_song_roles, make_song_features


@pytest.fixture(scope="module")
def X():
    X = make_playlists(n_users=20, n_playlists=60, n_songs=80, n_artists=12, random_state=0)
    codes = pd.factorize(X["song"])[0]
    X["genre"] = np.array(["rock", "pop", "rock|pop", None], dtype=object)[codes % 4]
    X["key"] = codes % 12
    return X


@pytest.fixture(scope="module")
def songs_and_membership(X):
    table = read_memberships(X, user="user", playlist="playlist", song="song")
    return table.song_rows, csr_array(table.membership.T)


def parts(transformer):
    return {name: columns for name, _, columns in transformer.transformers}


def small_ranker(features, **parameters):
    return MultitaskPlaylistRanker(song_features=features, tol=0.05, **parameters)


def test_the_set_of_the_paper(X, songs_and_membership):
    assert parts(make_song_features(X)) == {
        "numeric": ["year", *(f"x{j}" for j in range(8))],
        "key": ["key"],
        "genre": ["genre"],
        "artist": ["artist"],
        "artist_popularity": ["artist"],
        "popularity": ["song"],
    }
    songs, membership = songs_and_membership
    transformer = make_song_features(X, random_state=0)
    features = transformer.fit_transform(songs, membership)
    assert features.shape == (len(songs), 9 + 2 + 2 + 50 + 1 + 1)
    assert np.isfinite(features).all()
    assert np.abs(features).max() <= 4


def test_the_set_for_new_songs_has_nothing_of_the_songs_own_history(X):
    assert "popularity" not in parts(make_song_features(X, popularity=False))
    cold = make_song_features(X, popularity=False, artist=None)
    assert set(parts(cold)) == {"numeric", "key", "genre"}
    assert parts(make_song_features(X, popularity=False, artist=None, embedding="song"))["song"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {"artist"}),
        ({"artist": None}, {"song"}),
        ({"embedding": "song"}, {"song"}),
        ({"embedding": "both"}, {"artist", "song"}),
        ({"embedding": False}, set()),
    ],
)
def test_embeddings(X, parameters, expected):
    assert set(parts(make_song_features(X, **parameters))) & {"artist", "song"} == expected


def test_a_table_of_ids_alone():
    X = pd.DataFrame({"user_id": [1, 1, 2], "playlist_id": [1, 1, 2], "song_id": [5, 6, 6]})
    X["pos"] = [0, 1, 0]
    transformer = make_song_features(X, embedding=True)
    assert parts(transformer) == {"popularity": ["song_id"], "song": ["song_id"]}


def test_the_most_popular_songs_are_not_all_alike():
    # 200 songs are in one playlist, the others in 20 to 30: about 7 deviations above the mean.
    popular = {1000: 25, 1001: 25, 1002: 20, 1003: 30}
    song = np.concatenate([np.arange(200), *(np.full(n, m) for m, n in popular.items())])
    playlist = np.concatenate([np.arange(200) % 30, *(np.arange(n) for n in popular.values())])
    X = pd.DataFrame({"user": playlist, "playlist": playlist, "song": song})
    table = read_memberships(X, user="user", playlist="playlist", song="song")
    features = make_song_features(X[["song"]], embedding=False)
    popularity = features.fit_transform(table.song_rows, csr_array(table.membership.T)).ravel()
    assert 4 < popularity[-2] < popularity[-1] < 10


def test_a_guess_can_be_read_back_and_changed(X):
    roles = guess_song_roles(X)
    assert parts(make_song_features(roles)) == parts(make_song_features(X))
    roles.numeric, roles.genre = ["year"], None
    changed = parts(make_song_features(roles, key=None))
    assert changed["numeric"] == ["year"]
    assert not {"genre", "key"} & set(changed)


def test_positions_for_arrays(X):
    array = X[["playlist", "song", "artist", "year", "x0"]].to_numpy(dtype=object)
    features = make_song_features(song=1, artist=2, numeric=[3, 4], random_state=0)
    features.set_params(artist__vector_size=3)
    ranker = small_ranker(features, user=None, playlist=0, song=1).fit(array)
    assert ranker.song_vectors_.shape == (X["song"].nunique(), 2 + 3 + 1 + 1 + 1)


def test_one_row_per_song_in_a_ranker_and_new_songs(X):
    is_new = X["song"].isin(X["song"].unique()[:10]).to_numpy()
    features = make_song_features(X, popularity=False, random_state=0)
    ranker = small_ranker(features).fit(X[~is_new])
    assert len(ranker.song_vectors_) == X.loc[~is_new, "song"].nunique()
    assert np.isfinite(ranker.predict(X[is_new])).all()
    songs, _ = ranker.recommend(X[["user"]].head(2), candidates=X[is_new].drop_duplicates("song"))
    assert set(songs.ravel()) <= set(X.loc[is_new, "song"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_tunes_a_part(X, n_jobs):
    search = GridSearchCV(
        small_ranker(make_song_features(X, random_state=0)),
        {"song_features__artist__vector_size": [2, 5]},
        cv=GroupKFold(2),
        n_jobs=n_jobs,
        error_score="raise",
    )
    search.fit(X, groups=X["playlist"])
    size = search.best_params_["song_features__artist__vector_size"]
    names = search.best_estimator_.feature_names_out_
    assert sum("artist_vector" in name for name in names) == size
    alone = small_ranker(make_song_features(X, random_state=0))
    alone.set_params(song_features__artist__vector_size=size).fit(X)
    np.testing.assert_array_equal(alone.song_vectors_, search.best_estimator_.song_vectors_)


def test_features_of_a_fold_depend_on_its_training_rows_only(X):
    train, test = next(GroupKFold(3).split(X, groups=X["playlist"]))
    changed = X.copy()
    rows = changed.index[test]
    changed.loc[rows, "song"] = changed.loc[rows, "song"].sample(frac=1, random_state=0).to_numpy()
    changed.loc[rows, "artist"] = "a new artist"
    changed.loc[rows, "genre"] = "polka"
    changed.loc[rows, "year"] = 9999
    vectors = []
    for table in (X, changed):
        # The names and types of columns are all that is read from the whole table.
        ranker = small_ranker(make_song_features(guess_song_roles(X), random_state=0))
        folds = cross_validate(ranker, table, cv=[(train, test)], return_estimator=True)
        ranker = folds["estimator"][0]
        vectors.append(ranker.song_vectors_)
        encoders = ranker.song_features_.named_transformers_
        assert "a new artist" not in encoders["artist"].vocabulary_[0]
        assert encoders["genre"].genres_[0].tolist() == ["pop", "rock"]
    np.testing.assert_array_equal(*vectors)


def test_pandas_output_keeps_songs(X, songs_and_membership):
    songs, membership = songs_and_membership
    transformer = make_song_features(X, random_state=0).set_output(transform="pandas")
    frame = transformer.fit_transform(songs, membership)
    assert frame.index.equals(songs.index)
    assert frame.columns.tolist() == transformer.get_feature_names_out().tolist()
    assert {
        "numeric__year",
        "key__key_cos",
        "genre__genre_rock",
        "popularity__song_popularity",
    } <= set(frame.columns)


def test_columns_that_say_nothing_and_extreme_values(X):
    X = X.assign(constant=3.0, extreme=np.where(X["song"] == X["song"][0], 1e12, 0.0))
    missing = X.assign(empty=np.nan)
    features = make_song_features(missing, numeric=["constant", "extreme", "empty"], random_state=0)
    ranker = small_ranker(features).fit(missing)
    np.testing.assert_allclose(ranker.song_vectors_[:, [0, 2]], 0, atol=1e-12)
    assert ranker.song_vectors_[:, 1].max() == 4.0


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"genre": "style"}, ValueError, "role `genre` must be in the table; got 'style'"),
        ({"genre": "x0"}, TypeError, "role `genre` must have names, codes"),
        ({"numeric": ["artist"]}, TypeError, "role `numeric` must have numbers; got 'artist'"),
        ({"song": None}, ValueError, "With popularity=True the song column must be known"),
        ({"artist": None, "embedding": "artist"}, ValueError, "With embedding='artist' the artist"),
        ({"embedding": "genre"}, ValueError, r"`embedding` must be one of .* got 'genre'"),
        ({"clip": -1}, ValueError, "`clip` must be a number above 0; got -1"),
    ],
)
def test_wrong_parameters(X, parameters, error, message):
    with pytest.raises(error, match=message):
        make_song_features(X, **parameters)


def test_nothing_to_use():
    with pytest.raises(ValueError, match="at least one column with a role; got none"):
        make_song_features(popularity=False)


@pytest.mark.parametrize("column", ["genre", "artist"])
def test_a_column_without_values_is_refused_by_name(X, column):
    empty = X.assign(**{column: None})
    with pytest.raises(ValueError, match=f"Column '{column}' must"):
        small_ranker(make_song_features(X)).fit(empty)
