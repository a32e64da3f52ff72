"""A test table as a fitted ranker sees it."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.metrics._auc import auc_per_playlist
from skmtc.rankers.scoring import distinct_rows


@pytest.fixture(scope="module")
def X():
    return make_playlists(n_users=12, n_playlists=40, n_songs=60, random_state=0).drop(
        columns="year"
    )


@pytest.fixture(scope="module")
def ranker(X):
    # Songs of high number are new.
    known = X["song"].str.removeprefix("song").astype(int) < 50
    return MultitaskPlaylistRanker(tol=0.1).fit(X[known])


def collect(test_set):
    """Put the blocks of a test_set together."""
    scores = np.full(test_set.y_true.shape, np.nan)
    for positions, ranking in test_set.rankings():
        assert np.isnan(scores[positions]).all()
        scores[positions] = ranking.y_score[ranking.row_of_playlist]
        np.testing.assert_array_equal(
            ranking.y_true.toarray(), test_set.y_true[positions].toarray()
        )
    return scores


@pytest.mark.parametrize("working_memory", [1024, 1e-3])
def test_blocks_hold_the_scores_of_all_playlists(X, ranker, working_memory):
    with config_context(working_memory=working_memory):
        test_set = ranker.__skmtc_test_set__(X)
        scores = collect(test_set)
    queries = pd.DataFrame({"user": test_set.users, "playlist": test_set.playlists})
    songs = X.drop_duplicates("song").set_index("song").loc[test_set.songs].reset_index()
    expected = ranker.query_vectors(queries) @ ranker.song_vectors(songs).T
    np.testing.assert_allclose(scores, expected)


def test_truth_and_what_is_ignored_are_those_of_the_tables(X, ranker):
    test_set = ranker.__skmtc_test_set__(X)
    assert set(test_set.songs) == set(ranker.songs_) | set(X["song"])
    for i, playlist in enumerate(test_set.playlists):
        held = set(X["song"][X["playlist"] == playlist])
        assert set(test_set.songs[test_set.y_true.toarray()[i]]) == held
        assert set(test_set.songs[test_set.ignore.toarray()[i]]) == held & set(ranker.songs_)


def test_candidates(X, ranker):
    new = X[~X["song"].isin(ranker.songs_)]
    assert set(ranker.__skmtc_test_set__(new).songs) == set(new["song"])
    assert set(ranker.__skmtc_test_set__(new, candidates="all").songs) == set(X["song"])
    old = X[X["song"].isin(ranker.songs_)]
    assert ranker.__skmtc_test_set__(old).songs.tolist() == ranker.songs_.tolist()
    with pytest.raises(ValueError, match=r"`candidates` must be one of \['all', 'auto'\]; got 'a"):
        ranker.__skmtc_test_set__(X, candidates="any")


def test_settings_are_read_from_ids(X, ranker):
    old, new = X[X["song"].isin(ranker.songs_)], X[~X["song"].isin(ranker.songs_)]
    tables = {
        "nothing cold": old,
        "cold songs": new,
        "cold playlist": old.assign(playlist="new " + old["playlist"]),
        "cold user": old.assign(playlist="n " + old["playlist"], user="n " + old["user"]),
        "cold playlist + cold songs": new.assign(playlist="new " + new["playlist"]),
        "cold user + cold songs": new.assign(playlist="n " + new["playlist"], user="n"),
    }
    for setting, table in tables.items():
        assert set(ranker.__skmtc_test_set__(table).settings) == {setting}
    ownerless = PopularityRanker(user=None).fit(old)
    assert set(ownerless.__skmtc_test_set__(tables["cold playlist"]).settings) == {"cold playlist"}
    assert (
        ownerless.__skmtc_test_set__(old).users.tolist()
        == ownerless.__skmtc_test_set__(old).playlists.tolist()
    )


def test_popularity_is_the_share_of_training_playlists(X, ranker):
    test_set = ranker.__skmtc_test_set__(X)
    old = X[X["song"].isin(ranker.songs_)]
    n_playlists = old["playlist"].nunique()
    counts = old.groupby("song")["playlist"].nunique()
    expected = counts.reindex(test_set.songs).fillna(1.0) / n_playlists
    np.testing.assert_allclose(test_set.popularity, expected)


def rows_made(ranker, X):
    """Count the rows of scores that are made."""
    return sum(len(ranking.y_score) for _, ranking in ranker.__skmtc_test_set__(X).rankings())


def test_equal_queries_are_scored_once(X):
    ranker = MultitaskPlaylistRanker(tol=0.1).fit(X)
    new_playlists = X.assign(playlist="new " + X["playlist"])
    assert rows_made(ranker, new_playlists) == X["user"].nunique()
    assert rows_made(ranker, new_playlists.assign(user="new " + X["user"])) == 1


def test_sharing_scores_changes_no_value(X, ranker):
    old = X[X["song"].isin(ranker.songs_)]
    table = old.assign(playlist="new " + old["playlist"])
    test_set = ranker.__skmtc_test_set__(table)
    together = np.empty(len(test_set.playlists))
    for positions, ranking in test_set.rankings():
        together[positions] = auc_per_playlist(ranking)
    alone = [ranker.score(table[table["playlist"] == p]) for p in test_set.playlists]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_distinct_rows(convert):
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    first, inverse = distinct_rows(convert(rows))
    assert first.tolist() == [0, 1, 3]
    assert inverse.tolist() == [0, 1, 0, 2, 1]
