"""What all rankers share: predict, score, recommend."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.metrics import roc_auc_score

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists

FEATURES = [f"x{j}" for j in range(8)]


@pytest.fixture(scope="module")
def X():
    return make_playlists(n_users=15, n_playlists=40, n_songs=80, random_state=2).drop(
        columns=["year", "genre", "gender"]
    )


@pytest.fixture(scope="module")
def ranker(X):
    return MultitaskPlaylistRanker(user_l2=0.1, playlist_l1=0.3, tol=0.01).fit(X)


@pytest.fixture(scope="module")
def new_songs(X):
    table = X.drop_duplicates("song")[["song", "artist", *FEATURES]].iloc[:12]
    return table.assign(song="new " + table["song"], x0=table["x0"] + 1)


def test_predict_keeps_the_order_of_rows(X, ranker):
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(ranker.predict(X.iloc[order]), ranker.predict(X)[order])
    with config_context(working_memory=1e-3):
        np.testing.assert_array_equal(ranker.predict(X), ranker.predict(X))


def test_vectors_multiply_to_predictions(X, ranker):
    queries, songs = ranker.query_vectors(X), ranker.song_vectors()
    columns = [ranker.songs_.tolist().index(s) for s in X["song"]]
    products = (queries * songs[columns]).sum(axis=1)
    np.testing.assert_allclose(products, ranker.predict(X))


def test_score_is_the_mean_auc_over_playlists(X, ranker):
    test = X.assign(playlist="new " + X["playlist"])
    catalogue = X.drop_duplicates("song").sort_values("song")
    areas = []
    for _, rows in test.groupby("playlist"):
        query = rows.iloc[[0] * len(catalogue)][["user", "playlist", "age", "country"]]
        asked = pd.concat(
            [
                query.reset_index(drop=True),
                catalogue[["song", "artist", *FEATURES]].reset_index(drop=True),
            ],
            axis=1,
        )
        relevant = catalogue["song"].isin(rows["song"])
        areas.append(roc_auc_score(relevant, ranker.predict(asked[X.columns])))
    assert ranker.score(test) == pytest.approx(np.mean(areas))
    with config_context(working_memory=1e-3):
        assert ranker.score(test) == pytest.approx(np.mean(areas))


def test_score_does_not_count_training_songs_of_a_known_playlist(X):
    # Half of each playlist in training; the other half is to be found among the rest.
    half = X.groupby("playlist").cumcount() % 2 == 0
    train, test = X[half], X[~half]
    test = test[test["song"].isin(train["song"])]
    ranker = MultitaskPlaylistRanker(tol=0.01).fit(train)
    scores = ranker.query_vectors(test.drop_duplicates("playlist")) @ ranker.song_vectors().T
    areas = []
    for row, playlist in zip(scores, test["playlist"].drop_duplicates(), strict=True):
        known = train.loc[train["playlist"] == playlist, "song"]
        candidates = ~np.isin(ranker.songs_, known)
        relevant = np.isin(ranker.songs_, test.loc[test["playlist"] == playlist, "song"])
        areas.append(roc_auc_score(relevant[candidates], row[candidates]))
    assert ranker.score(test) == pytest.approx(np.mean(areas))


def test_score_of_new_songs_is_among_new_songs(X, ranker, new_songs):
    rows = X.drop_duplicates("playlist")[["user", "playlist", "age", "country"]].iloc[:6]
    test = pd.concat(
        [rows.reset_index(drop=True), new_songs.iloc[:6].reset_index(drop=True)], axis=1
    )[X.columns]
    scores = ranker.query_vectors(rows) @ ranker.song_vectors(new_songs.iloc[:6]).T
    areas = [roc_auc_score(np.arange(6) == i, scores[i]) for i in range(6)]
    assert ranker.score(test) == pytest.approx(np.mean(areas))
    # Together with known songs, new songs join the catalogue: nothing is dropped.
    mixed = pd.concat([test, X[X["playlist"] == "playlist9"]])
    assert 0 < ranker.score(mixed) < 1


def test_recommend_gives_the_best_songs_that_are_not_seen(X, ranker):
    queries = X[["user", "playlist"]].drop_duplicates()
    songs, scores = ranker.recommend(queries, n_recommendations=7)
    assert songs.shape == scores.shape == (40, 7)
    assert (np.diff(scores, axis=1) <= 0).all()
    every = ranker.query_vectors(queries) @ ranker.song_vectors().T
    for row, playlist in enumerate(queries["playlist"]):
        seen = np.isin(ranker.songs_, X.loc[X["playlist"] == playlist, "song"])
        best = np.sort(every[row][~seen])[::-1][:7]
        np.testing.assert_allclose(scores[row], best)
        assert not set(songs[row]) & set(ranker.songs_[seen])
    with config_context(working_memory=1e-3):
        np.testing.assert_array_equal(ranker.recommend(queries, n_recommendations=7)[0], songs)


def test_recommend_may_repeat_what_is_seen(X, ranker):
    queries = pd.DataFrame({"playlist": ["playlist3"]})
    n_songs = X["song"].nunique()
    songs, _ = ranker.recommend(queries, n_recommendations=n_songs, exclude_seen=False)
    assert set(songs[0]) == set(X["song"])


def test_recommend_among_candidates(X, ranker, new_songs):
    queries = X[["user", "playlist"]].drop_duplicates().iloc[:5]
    some = ranker.songs_[[30, 2, 11, 40]]
    songs, _ = ranker.recommend(queries, n_recommendations=4, candidates=some, exclude_seen=False)
    assert all(set(row) == set(some) for row in songs)
    fresh, fresh_scores = ranker.recommend(queries, n_recommendations=12, candidates=new_songs)
    assert all(set(row) == set(new_songs["song"]) for row in fresh)
    vectors = ranker.query_vectors(queries) @ ranker.song_vectors(new_songs).T
    np.testing.assert_allclose(fresh_scores, -np.sort(-vectors, axis=1))
    mixed = pd.concat([new_songs, X.drop_duplicates("song")[new_songs.columns].iloc[:3]])
    both, _ = ranker.recommend(queries, n_recommendations=15, candidates=mixed, exclude_seen=False)
    assert all(set(row) == set(mixed["song"]) for row in both)


def test_seen_songs_are_found_among_candidates(X, ranker):
    seen = X.loc[X["playlist"] == "playlist3", "song"].to_numpy()
    other = np.setdiff1d(ranker.songs_, seen)[:3]
    songs, _ = ranker.recommend(
        pd.DataFrame({"playlist": ["playlist3"]}),
        n_recommendations=3,
        candidates=np.concatenate([seen, other]),
    )
    assert set(songs[0]) == set(other)


def test_samples_follow_the_softmax_of_scores(X, ranker):
    queries = pd.DataFrame({"user": ["user1"] * 4000})
    some = ranker.songs_[:4]
    drawn, scores = ranker.recommend(
        queries,
        n_recommendations=2,
        candidates=some,
        sample=True,
        temperature=2.0,
        random_state=0,
    )
    assert (drawn[:, 0] != drawn[:, 1]).all()
    every = ranker.query_vectors(queries[:1]) @ ranker.song_vectors(some).T
    expected = np.exp(every[0] / 2.0)
    expected /= expected.sum()
    shares = [(drawn[:, 0] == song).mean() for song in some]
    np.testing.assert_allclose(shares, expected, atol=0.04)
    by_song = dict(zip(some, every[0], strict=True))
    np.testing.assert_allclose(scores[0], [by_song[s] for s in drawn[0]])


def test_samples_depend_on_the_seed_alone(X, ranker):
    queries = X[["user"]].iloc[::9]
    options = {"sample": True, "random_state": 3}
    one, _ = ranker.recommend(queries, **options)
    with config_context(working_memory=1e-3):
        two, _ = ranker.recommend(queries, **options)
    np.testing.assert_array_equal(one, two)
    other, _ = ranker.recommend(queries, sample=True, random_state=4)
    assert (one != other).any()


def test_blemishes_are_counted_and_reported_in_one_warning(X):
    songs = X.drop_duplicates("song")
    full = songs.assign(playlist="full", user="user0", age=X["age"].iloc[0], country="AU")
    blemished = pd.concat([X, X.iloc[:3], full])
    with pytest.warns(UserWarning, match="Left out of fit: 3 repeated rows; 1 playlists") as caught:
        ranker = MultitaskPlaylistRanker(song_features=_features(), tol=0.05).fit(blemished)
    assert len(caught) == 1
    assert ranker.left_out_ == {"repeated rows": 3, "playlists with every song": 1}
    assert "full" not in ranker.playlists_


def _features():
    return ColumnTransformer([("x", "passthrough", FEATURES)])


def test_only_full_playlists_teach_nothing():
    X = pd.DataFrame({"user": "u", "playlist": ["p", "p", "q", "q"], "song": ["a", "b"] * 2})
    ranker = MultitaskPlaylistRanker()
    with pytest.warns(UserWarning, match="2 playlists with every song"):
        ranker.fit(X.assign(tempo=[1.0, 2.0, 1.0, 2.0]))
    assert ranker.predict(X.assign(tempo=0.0)).tolist() == [0, 0, 0, 0]


def _queries(**changes):
    return pd.DataFrame({"user": ["user1"]} | changes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_recommendations": 500}, "number of candidate songs: [0-9]+; got 500. Pass fewer"),
        ({"n_recommendations": 0}, "positive integer; got 0"),
        ({"n_recommendations": 2.0}, "positive integer"),
        ({"candidates": ["song1", "nope"]}, r"2 ids, 1 of them unknown: \['nope'\]"),
        ({"candidates": np.array([], dtype=str)}, "got 0 ids"),
        ({"candidates": ["song1", "song1"]}, "distinct songs; got 'song1' more than once"),
        ({"sample": True, "temperature": 0}, "`temperature` must be above 0; got 0"),
    ],
)
def test_bad_requests_are_reported(ranker, options, message):
    with pytest.raises(ValueError, match=message):
        ranker.recommend(_queries(), **({"n_recommendations": 1} | options))


def test_a_playlist_with_too_much_seen_is_reported(X, ranker):
    n_seen = (X["playlist"] == "playlist3").sum()
    n_songs = len(ranker.songs_)
    message = f"{n_songs}, of which a playlist already has {n_seen}; got {n_songs}"
    with pytest.raises(ValueError, match=message):
        ranker.recommend(pd.DataFrame({"playlist": ["playlist3"]}), n_recommendations=n_songs)


def test_a_known_playlist_keeps_its_owner(X, ranker):
    row = X.iloc[[0]].assign(user="user3")
    with pytest.raises(ValueError, match=r"known playlist must keep its owner; got .*'user3'"):
        ranker.predict(row)


def test_ids_of_another_type_are_reported(X, ranker):
    with pytest.raises(TypeError, match="user ids must be of the same type"):
        ranker.recommend(pd.DataFrame({"user": [3]}))
    with pytest.raises(ValueError, match="must have a song id"):
        ranker.predict(X.assign(song=None))


def test_playlists_without_negatives_cannot_be_scored(X, ranker, new_songs):
    one = X.iloc[[0]].assign(song="new")
    with pytest.raises(ValueError, match="auc needs a playlist with at least one candidate"):
        ranker.score(one)


@pytest.mark.parametrize("candidates", [{"s1", "s2"}, "s1", {"song": ["s1"]}, 3])
def test_candidates_of_another_kind_are_refused(ranker, X, candidates):
    with pytest.raises(TypeError, match="`candidates` must be None, a list or array of song ids"):
        ranker.recommend(X[["user"]].head(2), candidates=candidates)
