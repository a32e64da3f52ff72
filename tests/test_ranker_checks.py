"""Our own protocol, on every public ranker: whatever it learns, it behaves like the others."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder

import skmtc
from skmtc import (
    CollocatedArtistRanker,
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    StackingRanker,
)
from skmtc.datasets import make_playlists
from skmtc.rankers.history import TERMS

# Without a content model, all new songs have the same factors; a ranker tells so.
pytestmark = pytest.mark.filterwarnings("ignore:MatrixFactorizationRanker has the same score")

FEATURE_COLUMNS = ["x0", "x1", "x2", "x3"]
SONG_COLUMNS = ["song", "artist", "year", *FEATURE_COLUMNS]
USER_COLUMNS = ["user", "playlist", "age", "country"]
SONG_FEATURES = make_column_transformer(("passthrough", FEATURE_COLUMNS))
USER_FEATURES = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"]))
FEATURES = {"song_features": SONG_FEATURES, "user_features": USER_FEATURES}

RANKERS = [
    CollocatedArtistRanker(n_artists=3),
    OwnSongsRanker(),
    ItemKNNRanker(n_neighbors=8),
    MatrixFactorizationRanker(n_factors=4, n_neighbors=3, random_state=0, **FEATURES),
    MatrixFactorizationRanker(n_factors=4, target="user", content_model=None, random_state=0),
    MatrixFactorizationRanker(n_factors=4, target="playlist", random_state=0, **FEATURES),
    MultitaskPlaylistRanker(n_neighbors=3, tol=1e-12, random_state=0, **FEATURES),
    MultitaskPlaylistRanker(n_neighbors=3, history=TERMS, random_state=0, **FEATURES),
    MultitaskPlaylistRanker(
        n_neighbors=3, playlist_features=USER_FEATURES, random_state=0, **FEATURES
    ),
    PairwiseRanker(n_neighbors=3, random_state=0, **FEATURES),
    PopularityRanker(),
    RidgeRanker(n_neighbors=3, **FEATURES),
    SameArtistRanker(n_artists=3),
    StackingRanker(
        [
            ("popularity", PopularityRanker()),
            ("multitask", MultitaskPlaylistRanker(history=TERMS, random_state=0, **FEATURES)),
            ("ridge", RidgeRanker(n_neighbors=3, **FEATURES)),
        ],
        random_state=0,
    ),
]


def uses_chance(ranker):
    """Check whether pairs, first factors or playlists to hold out are drawn in the order of ids."""
    drawn = isinstance(ranker, MatrixFactorizationRanker | PairwiseRanker | StackingRanker)
    return drawn or getattr(ranker, "history", None) is not None


X_ALL = make_playlists(12, 36, 70, 15, n_features=4, random_state=3)[USER_COLUMNS + SONG_COLUMNS]
_, FIRST_OF_SONG = np.unique(X_ALL["song"], return_index=True)
NEW_SONGS = X_ALL["song"].iloc[FIRST_OF_SONG].to_numpy()[::6]
NEW_USERS = X_ALL["user"].unique()[::6]
NEW_PLAYLISTS = X_ALL.loc[~X_ALL["user"].isin(NEW_USERS), "playlist"].unique()[::6]

IS_COLD = {
    "cold songs": X_ALL["song"].isin(NEW_SONGS),
    "cold playlists": X_ALL["playlist"].isin(NEW_PLAYLISTS),
    "cold users": X_ALL["user"].isin(NEW_USERS),
}
COLD = np.logical_or.reduce(list(IS_COLD.values()))
X_TRAIN = X_ALL[~COLD].reset_index(drop=True)
SONG_TABLE = X_ALL.iloc[FIRST_OF_SONG][SONG_COLUMNS].reset_index(drop=True)
QUERIES = X_ALL.drop_duplicates("playlist")[USER_COLUMNS].reset_index(drop=True)


def each_ranker(test):
    """Run a test with every ranker, unfitted."""
    return pytest.mark.parametrize("ranker", RANKERS, ids=lambda r: type(r).__name__)(test)


def _all_pairs(queries, songs):
    """Make the membership table of every song in the playlist of every query."""
    return queries.merge(songs, how="cross")


def _relabelled(X, spell):
    columns = ["user", "playlist", "song", "artist"]
    return X.assign(**{c: X[c].map(spell) for c in columns if c in X})


def test_every_public_ranker_is_here():
    public = {name for name in skmtc.__all__ if name.endswith("Ranker")}
    assert {type(ranker).__name__ for ranker in RANKERS} == public


def test_all_settings_are_in_the_data():
    for is_cold in IS_COLD.values():
        assert is_cold.any()
    assert X_TRAIN["playlist"].isin(X_ALL["playlist"][IS_COLD["cold songs"]]).any()


@each_ranker
def test_recommend_gives_unseen_songs_in_the_order_of_predict(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    songs, scores = ranker.recommend(QUERIES, n_recommendations=7)
    assert songs.shape == scores.shape == (len(QUERIES), 7)
    assert (np.diff(scores, axis=1) <= 0).all()
    held = X_TRAIN.groupby("playlist")["song"].agg(set)
    known = SONG_TABLE[SONG_TABLE["song"].isin(ranker.songs_)]
    predicted = ranker.predict(_all_pairs(QUERIES, known)).reshape(len(QUERIES), len(known))
    tolerance = 1e-5 * max(1.0, abs(predicted).max())
    for i, playlist in enumerate(QUERIES["playlist"]):
        of_song = pd.Series(predicted[i], index=known["song"].to_numpy())
        seen = held.get(playlist, set())
        assert len(set(songs[i])) == 7
        assert not seen & set(songs[i])
        np.testing.assert_allclose(of_song[songs[i]], scores[i], atol=tolerance)
        others = of_song.drop(index=[*songs[i], *seen])
        assert (others <= scores[i, -1] + tolerance).all()


@each_ranker
@pytest.mark.parametrize("setting", IS_COLD)
def test_unknown_ids_are_scored_in_every_setting(ranker, setting):
    ranker = clone(ranker).fit(X_TRAIN)
    rows = X_ALL[IS_COLD[setting]]
    assert np.isfinite(ranker.predict(rows)).all()
    assert 0.0 <= ranker.score(rows) <= 1.0


@each_ranker
def test_a_user_of_whom_nothing_is_known_gets_songs(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    songs, scores = ranker.recommend(pd.DataFrame({"user": ["nobody", "no one"]}))
    assert np.isin(songs, ranker.songs_).all()
    np.testing.assert_array_equal(scores[0], scores[1])


@each_ranker
def test_new_songs_come_by_table(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    new = SONG_TABLE[SONG_TABLE["song"].isin(NEW_SONGS)]
    n_new = len(new)
    songs, scores = ranker.recommend(QUERIES, n_recommendations=n_new, candidates=new)
    assert (np.sort(songs, axis=1) == np.sort(new["song"])).all()
    predicted = ranker.predict(_all_pairs(QUERIES, new)).reshape(len(QUERIES), n_new)
    column = pd.Series(np.arange(n_new), index=new["song"].to_numpy())
    expected = [row[column[given]] for row, given in zip(predicted, songs, strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


@each_ranker
def test_known_and_new_songs_may_be_mixed(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    vectors = ranker.song_vectors(SONG_TABLE)
    is_new = ~SONG_TABLE["song"].isin(ranker.songs_).to_numpy()
    assert 0 < is_new.sum() < len(is_new)
    for part in (is_new, ~is_new):
        alone = ranker.song_vectors(SONG_TABLE[part])
        difference = abs(vectors[np.flatnonzero(part)] - alone).max()
        assert difference < 1e-5


@each_ranker
def test_the_order_of_rows_changes_nothing(ranker):
    shuffled = X_TRAIN.sample(frac=1, random_state=0)
    expected = clone(ranker).fit(X_TRAIN).predict(X_ALL)
    np.testing.assert_array_equal(clone(ranker).fit(shuffled).predict(X_ALL), expected)
    order = np.random.RandomState(0).permutation(len(X_ALL))
    again = clone(ranker).fit(X_TRAIN).predict(X_ALL.iloc[order])
    np.testing.assert_allclose(again, expected[order], rtol=1e-6, atol=1e-7)


@each_ranker
def test_the_spelling_of_ids_changes_nothing(ranker):
    expected = clone(ranker).fit(X_TRAIN).predict(X_ALL)
    spellings = ["id {}".format]
    if not uses_chance(ranker):
        spellings.append(lambda name: name[::-1])  # another order of ids
    for spell in spellings:
        again = clone(ranker).fit(_relabelled(X_TRAIN, spell)).predict(_relabelled(X_ALL, spell))
        np.testing.assert_allclose(again, expected, rtol=1e-6, atol=1e-6)


@each_ranker
def test_the_same_seed_gives_the_same_ranker_for_any_n_jobs(ranker):
    expected = clone(ranker).fit(X_TRAIN).predict(X_ALL)
    several = [None, 1, 2, 3] if "n_jobs" in ranker.get_params() else []
    for n_jobs in several:
        again = clone(ranker).set_params(n_jobs=n_jobs).fit(X_TRAIN).predict(X_ALL)
        np.testing.assert_array_equal(again, expected)
    again = clone(ranker).fit(X_ALL).fit(X_TRAIN).predict(X_ALL)
    np.testing.assert_array_equal(again, expected)


@each_ranker
def test_pickle_and_clone(ranker):
    fitted = clone(ranker).fit(X_TRAIN)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X_ALL), fitted.predict(X_ALL))
    np.testing.assert_array_equal(copy.recommend(QUERIES)[0], fitted.recommend(QUERIES)[0])
    unfitted = clone(fitted)
    assert repr(unfitted) == repr(ranker)
    assert not [name for name in vars(unfitted) if name.endswith("_")]


@each_ranker
def test_working_memory_changes_nothing(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    expected, recommended = ranker.predict(X_ALL), ranker.recommend(QUERIES)[1]
    with sklearn.config_context(working_memory=0.01):
        np.testing.assert_allclose(ranker.predict(X_ALL), expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ranker.recommend(QUERIES)[1], recommended, rtol=1e-5, atol=1e-6)


@each_ranker
def test_grid_search_in_every_setting(ranker):
    splits = [(np.flatnonzero(~cold), np.flatnonzero(cold)) for cold in IS_COLD.values()]
    search = GridSearchCV(clone(ranker), {"user": ["user", None]}, cv=splits, error_score="raise")
    search.fit(X_ALL)
    scores = search.cv_results_["mean_test_score"]
    assert ((scores > 0.4) & (scores <= 1.0)).all()
