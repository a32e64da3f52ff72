"""make_song_features."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from skmtc import MultitaskPlaylistRanker, RidgeRanker
from skmtc._table import read_memberships
from skmtc.datasets import make_playlists
from skmtc.features import SongRoles, guess_song_roles, make_song_features


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


def test_everything_known_is_used(X, songs_and_membership):
    assert parts(make_song_features(X)) == {
        "numeric": ["year", *(f"x{j}" for j in range(8))],
        "key": ["key"],
        "tags": ["genre"],
        "artist": ["artist"],
        "identity": ["artist"],
        "tag_identity": ["genre"],
        "popularity": ["song"],
        "song": ["song"],
    }
    songs, membership = songs_and_membership
    features = make_song_features(X, random_state=0).fit_transform(songs, membership)
    assert issparse(features)
    assert np.isfinite(features.data).all()


def test_blocks_start_equal_times_their_weights(X, songs_and_membership):
    songs, membership = songs_and_membership
    transformer = make_song_features(X, random_state=0)
    features = transformer.fit_transform(songs, membership).toarray()
    for name, columns in transformer.output_indices_.items():
        if name in ("remainder", "popularity"):
            continue
        block = features[:, columns]
        length = np.sqrt((block[block.any(axis=1)] ** 2).sum(axis=1).mean())
        assert length == pytest.approx(3 * transformer.transformer_weights.get(name, 1.0), rel=1e-5)
    popularity = features[:, transformer.output_indices_["popularity"]]
    assert popularity.std() == pytest.approx(1.0)


def test_the_set_for_new_songs_has_nothing_of_the_songs_own_history(X):
    new = make_song_features(X, new_songs=True)
    assert set(parts(make_song_features(X))) - set(parts(new)) == {"popularity", "song"}
    cold = make_song_features(X, new_songs=True, artist=None)
    assert set(parts(cold)) == {"numeric", "key", "tags", "tag_identity"}


def test_a_table_of_ids_alone():
    X = pd.DataFrame({"user_id": [1, 1, 2], "playlist_id": [1, 1, 2], "song_id": [5, 6, 6]})
    X["pos"] = [0, 1, 0]
    transformer = make_song_features(X)
    assert parts(transformer) == {"popularity": ["song_id"], "song": ["song_id"]}
    with pytest.raises(
        ValueError, match=r"columns that describe songs; got none beside.*'song_id'"
    ):
        make_song_features(X, new_songs=True)


def test_text_dates_and_vectors(X):
    songs = X["song"].drop_duplicates()
    rng = np.random.default_rng(0)
    words = np.array(["blue", "moon", "sky", "high", "river", "red"])
    known = pd.DataFrame(
        {
            "song": songs,
            "title": [f"{' '.join(rng.choice(words, 3))} {i}" for i in range(len(songs))],
            "released": pd.date_range("2001-01-01", periods=len(songs)).astype(str),
            "audio": list(rng.standard_normal((len(songs), 4))),
        }
    )
    table = X.merge(known, on="song")
    assert "text=['title']" in guess_song_roles(table).left_out["title"]
    transformer = make_song_features(table, text="title", random_state=0)
    assert parts(transformer) | {"text": ["title"], "date": ["released"], "vector": ["audio"]} == (
        parts(transformer)
    )
    ranker = small_ranker(transformer).fit(table)
    counts = pd.Series([name.split("__")[0] for name in ranker.feature_names_out_]).value_counts()
    assert (counts["date"], counts["vector"], counts["text"]) == (1, 4, 5)


def test_the_most_popular_songs_are_not_all_alike():
    # 200 songs are in one playlist, the others in 20 to 30: about 7 deviations above the mean.
    popular = {1000: 25, 1001: 25, 1002: 20, 1003: 30}
    song = np.concatenate([np.arange(200), *(np.full(n, m) for m, n in popular.items())])
    playlist = np.concatenate([np.arange(200) % 30, *(np.arange(n) for n in popular.values())])
    X = pd.DataFrame({"user": playlist, "playlist": playlist, "song": song})
    table = read_memberships(X, user="user", playlist="playlist", song="song")
    features = make_song_features(song="song").set_params(song="drop")
    popularity = features.fit_transform(table.song_rows, csr_array(table.membership.T)).ravel()
    assert 4 < popularity[-2] < popularity[-1] < 10


def song_vectors(X, roles=None, **parameters):
    """Return the features that a ranker makes of a table."""
    features = make_song_features(X if roles is None else roles, random_state=0, **parameters)
    return RidgeRanker(song_features=features).fit(X).song_vectors_.toarray()


def test_renamed_and_permuted_tags_change_nothing(X):
    cells = X["genre"].map({"rock": "b", "pop": "c", "rock|pop": "c|b"})
    renamed = song_vectors(X.assign(genre=cells))
    np.testing.assert_allclose(renamed, song_vectors(X), atol=1e-6)


def test_constant_and_duplicated_columns_change_nothing(X):
    more = X.assign(constant=1.0, copy=X["year"], again=X["genre"])
    # Of two equal columns either may be used: the order of features may change, not their products.
    products, expected = (vectors @ vectors.T for vectors in (song_vectors(more), song_vectors(X)))
    np.testing.assert_allclose(products, expected, atol=1e-9)


def test_the_unit_of_a_number_changes_nothing(X):
    larger = X.assign(year=X["year"] * 1e6)
    np.testing.assert_allclose(song_vectors(larger), song_vectors(X), atol=1e-9)


def test_an_unseen_artist_scores_like_the_mean_of_all_artists(X):
    features = make_song_features(X, new_songs=True, random_state=0)
    ranker = small_ranker(features).fit(X)
    songs = X.drop_duplicates("song")
    new = songs.assign(song=[f"new {i}" for i in range(len(songs))])
    # One song with the artist of each song of the catalogue in turn, and of nobody known.
    of_all = new.assign(**new.iloc[0][["year", "genre", "key", *(f"x{j}" for j in range(8))]])
    asked = of_all.assign(user=X["user"].iloc[0], playlist=X["playlist"].iloc[0])
    unseen = asked.head(1).assign(artist="nobody knows")
    assert ranker.predict(unseen)[0] == pytest.approx(ranker.predict(asked).mean(), abs=1e-4)


def test_rankers_that_cannot_use_identities_leave_them_out(X):
    features = make_song_features(X, random_state=0)
    multitask = small_ranker(features).fit(X)
    assert not any("identity" in name for name in multitask.feature_names_out_)
    assert isinstance(multitask.song_vectors_, np.ndarray)
    assert dict(features.get_params())["identity"] != "drop"  # the ranker works on a clone
    ridge = RidgeRanker(song_features=features).fit(X)
    assert {"identity", "tag_identity"} <= {n.split("__")[0] for n in ridge.feature_names_out_}
    # They are used where there is nothing else.
    album = X.assign(album=pd.factorize(X["song"])[0] % 9).astype({"album": str})
    only = make_song_features(SongRoles(identity=["album"]), new_songs=True)
    assert len(small_ranker(only).fit(album).feature_names_out_) == 9 + 1


def test_a_guess_can_be_read_back_and_changed(X):
    roles = guess_song_roles(X)
    assert parts(make_song_features(roles)) == parts(make_song_features(X))
    roles.numeric, roles.tags = ["year"], []
    changed = parts(make_song_features(roles, key=None))
    assert changed["numeric"] == ["year"]
    assert not {"tags", "key"} & set(changed)


def test_positions_for_arrays(X):
    array = X[["playlist", "song", "artist", "year", "x0"]].to_numpy(dtype=object)
    features = make_song_features(song=1, artist=2, numeric=[3, 4], random_state=0)
    features.set_params(artist__encode__vector_size=3, song__encode__vector_size=4)
    ranker = small_ranker(features, user=None, playlist=0, song=1).fit(array)
    assert ranker.song_vectors_.shape == (X["song"].nunique(), 2 + 3 + 1 + 4 + 1)


def test_one_row_per_song_in_a_ranker_and_new_songs(X):
    is_new = X["song"].isin(X["song"].unique()[:10]).to_numpy()
    features = make_song_features(X, new_songs=True, random_state=0)
    ranker = small_ranker(features).fit(X[~is_new])
    assert len(ranker.song_vectors_) == X.loc[~is_new, "song"].nunique()
    assert np.isfinite(ranker.predict(X[is_new])).all()
    new = X[is_new].drop_duplicates("song").drop(columns=["user", "playlist"])
    songs, _ = ranker.recommend(X[["user"]].head(2), candidates=new)
    assert set(songs.ravel()) <= set(X.loc[is_new, "song"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_tunes_a_part(X, n_jobs):
    search = GridSearchCV(
        small_ranker(make_song_features(X, random_state=0)),
        {"song_features__artist__encode__vector_size": [2, 5]},
        cv=GroupKFold(2),
        n_jobs=n_jobs,
        error_score="raise",
    )
    search.fit(X, groups=X["playlist"])
    size = search.best_params_["song_features__artist__encode__vector_size"]
    names = search.best_estimator_.feature_names_out_
    assert sum("artist_vector" in name for name in names) == size
    alone = small_ranker(make_song_features(X, random_state=0))
    alone.set_params(song_features__artist__encode__vector_size=size).fit(X)
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
        assert "a new artist" not in encoders["artist"]["encode"].vocabulary_[0]
        assert sorted(encoders["tags"]["encode"].tags_[0]) == ["pop", "rock"]
    np.testing.assert_array_equal(*vectors)


def test_pandas_output_keeps_songs(X, songs_and_membership):
    songs, membership = songs_and_membership
    transformer = make_song_features(X, random_state=0)
    transformer.set_params(identity="drop", tag_identity="drop").set_output(transform="pandas")
    frame = transformer.fit_transform(songs, membership)
    assert frame.index.equals(songs.index)
    assert frame.columns.tolist() == transformer.get_feature_names_out().tolist()
    assert {
        "numeric__year",
        "key__key_cos",
        "tags__genre_rock",
        "popularity__song_popularity",
    } <= set(frame.columns)


def test_columns_that_say_nothing_and_extreme_values(X):
    X = X.assign(constant=3.0, extreme=np.where(X["song"] == X["song"][0], 1e12, 0.0))
    missing = X.assign(empty=np.nan)
    features = make_song_features(missing, numeric=["constant", "extreme", "empty"], random_state=0)
    ranker = small_ranker(features).fit(missing)
    np.testing.assert_allclose(ranker.song_vectors_[:, [0, 2]], 0, atol=1e-12)
    # One song of 80 is far out: its value is clipped before the block is scaled.
    extreme = ranker.song_vectors_[:, 1]
    assert extreme.max() - np.sort(extreme)[-2] < 3 * 9


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"tags": "style"}, ValueError, "role `tags` must be in the table; got 'style'"),
        ({"numeric": ["artist"]}, TypeError, "role `numeric` must have numbers; got 'artist'"),
        ({"clip": -1}, ValueError, "`clip` must be a number above 0; got -1"),
    ],
)
def test_wrong_parameters(X, parameters, error, message):
    with pytest.raises(error, match=message):
        make_song_features(X, **parameters)


def test_nothing_to_use():
    with pytest.raises(ValueError, match="at least one column with a role; got none"):
        make_song_features(new_songs=True)


def test_a_column_without_artists_is_refused_by_name(X):
    with pytest.raises(ValueError, match="Column 'artist' must"):
        small_ranker(make_song_features(X)).fit(X.assign(artist=None))


def test_a_fold_without_tags_can_be_fitted(X):
    ranker = small_ranker(make_song_features(X, random_state=0)).fit(X.assign(genre=None))
    assert np.isfinite(ranker.song_vectors_).all()


def test_pandas_output_as_a_setting_of_all_does_no_harm(X):
    features = make_song_features(X, random_state=0)
    with config_context(transform_output="pandas"):
        ranker = RidgeRanker(song_features=features).fit(X)
    np.testing.assert_array_equal(ranker.song_vectors_.toarray(), song_vectors(X))
