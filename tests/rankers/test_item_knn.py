"""Item kNN against cosines of the whole matrix, and what stands in for the history of the new."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.metrics.pairwise import cosine_similarity

from skmtc import ItemKNNRanker, PopularityRanker
from skmtc._utils.sparse import cost_batches
from skmtc.datasets import make_playlists
from skmtc.rankers._item_knn import _largest

X = make_playlists(15, 60, 50, 10, mean_length=6, random_state=0)[
    ["user", "playlist", "song", "artist"]
]


def _cosines(weighting):
    held = pd.crosstab(X["playlist"], X["song"]).to_numpy().clip(max=1)
    if weighting == "tfidf":
        held = held * np.log(held.shape[1] / held.sum(axis=1, keepdims=True))
    return cosine_similarity(held.T)


@pytest.mark.parametrize("weighting", ["tfidf", "cosine"])
def test_similarities_are_cosines(weighting):
    ranker = ItemKNNRanker(n_neighbors=50, weighting=weighting).fit(X)
    np.testing.assert_allclose(ranker.similarity_.toarray(), _cosines(weighting), atol=1e-6)
    np.testing.assert_allclose(ranker.similarity_.diagonal(), 1.0, rtol=1e-6)


def test_a_song_keeps_its_nearest_neighbours():
    ranker, expected = ItemKNNRanker(n_neighbors=7).fit(X), _cosines("tfidf")
    for row, cosines in zip(ranker.similarity_, expected, strict=True):
        kept = np.sort(row.data)[::-1]
        largest = np.sort(cosines)[::-1][:7]
        np.testing.assert_allclose(kept, largest[: len(kept)], atol=1e-6)
        assert len(kept) == min(7, np.count_nonzero(cosines))


def test_scores_are_sums_of_similarities():
    ranker, cosines = ItemKNNRanker(n_neighbors=50).fit(X), _cosines("tfidf")
    catalogue = pd.DataFrame({"song": ranker.songs_, "artist": "a"})
    user = X["user"].iloc[0]
    counts = pd.crosstab(X["user"], X["song"]).loc[user].to_numpy()
    new = ranker.predict(catalogue.assign(user=user, playlist="new")[X.columns])
    np.testing.assert_allclose(new, cosines @ counts, atol=1e-4)
    playlist = X["playlist"].iloc[0]
    held = np.isin(ranker.songs_, X["song"][X["playlist"] == playlist])
    known = ranker.predict(catalogue.assign(user=user, playlist=playlist)[X.columns])
    np.testing.assert_allclose(known, cosines @ held, atol=1e-4)


def test_new_users_get_popular_songs():
    nobody = pd.DataFrame({"user": ["nobody"]})
    songs, scores = ItemKNNRanker().fit(X).recommend(nobody, n_recommendations=20)
    expected, _ = PopularityRanker().fit(X).recommend(nobody, n_recommendations=20)
    np.testing.assert_array_equal(songs, expected)
    assert (scores < 1e-6).all()


def test_new_songs_have_the_mean_neighbours_of_their_artists():
    ranker = ItemKNNRanker(n_neighbors=50).fit(X)
    artist = X["artist"].iloc[0]
    own = np.isin(ranker.songs_, X["song"][X["artist"] == artist])
    new = pd.DataFrame({"song": ["n1", "n2", "n3"], "artist": [artist, "nobody", None]})
    vectors = ranker.song_vectors(new).toarray()
    expected = _cosines("tfidf")[own].mean(axis=0)
    np.testing.assert_allclose(vectors[0, :-1], expected, atol=1e-6)
    assert (vectors[1:] == 0).all()
    assert vectors[0, -1] == pytest.approx(own @ ranker.popularity_ / ranker.popularity_.sum())


def test_without_artists_new_songs_are_all_alike():
    ranker = ItemKNNRanker().fit(X.drop(columns="artist"))
    new = pd.DataFrame({"song": ["n1", "n2"]})
    with pytest.warns(UserWarning, match="same score for all 2 songs"):
        ranker.recommend(X[["user", "playlist"]].head(1), n_recommendations=2, candidates=new)


def test_blocks_change_nothing():
    expected = ItemKNNRanker(n_neighbors=9).fit(X).similarity_
    with config_context(working_memory=1e-3):
        found = ItemKNNRanker(n_neighbors=9).fit(X).similarity_
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_batches_cover_all_rows_and_stay_small():
    costs = np.array([5, 1, 1, 9, 30, 0, 2, 2])
    batches = list(cost_batches(costs, 10))
    assert np.concatenate([np.arange(8)[batch] for batch in batches]).tolist() == list(range(8))
    assert all(costs[b][1:].sum() <= 10 for b in batches)
    assert len(batches) > 2


def test_of_equal_entries_the_first_columns_are_kept():
    matrix = csr_array(np.array([[1.0, 3, 1, 3, 1], [0, 0, 2, 0, 0]]))
    assert _largest(matrix, 3).toarray().tolist() == [[1, 3, 0, 3, 0], [0, 0, 2, 0, 0]]


@pytest.mark.parametrize(("name", "value"), [("n_neighbors", 0), ("weighting", "bm25")])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        ItemKNNRanker(**{name: value}).fit(X)


def test_where_every_playlist_is_full_nothing_is_learned():
    full = pd.DataFrame({"user": ["u"] * 2, "playlist": ["p"] * 2, "song": ["s1", "s2"]})
    with pytest.warns(UserWarning, match="1 playlists with every song"):
        ranker = ItemKNNRanker().fit(full)
    assert (ranker.predict(full) == 0).all()
