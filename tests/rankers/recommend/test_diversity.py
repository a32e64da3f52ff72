"""Maximal marginal relevance."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone

from skmtc import ItemKNNRanker, MultitaskPlaylistRanker, RidgeRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.metrics import intra_list_distance_score
from skmtc.model_selection import ColdPlaylistSplit
from skmtc.rankers.recommend import read_candidates
from skmtc.rankers.recommend._diversity import POOL, Diversify
from tests.test_ranker_checks import QUERIES, RANKERS, X_TRAIN

RNG = np.random.default_rng(0)


def _by_definition(scores, vectors, diversity, k, artists, most):
    """Choose one song after the other, as the formula says."""
    relevance = (scores - scores.min()) / (scores.max() - scores.min())
    chosen = []
    while len(chosen) < k:
        values = {}
        for song in range(len(scores)):
            same = sum(artists[song] == artists[other] for other in chosen)
            if song not in chosen and not (artists[song] >= 0 and same >= most):
                near = max((vectors[song] @ vectors[other] for other in chosen), default=0.0)
                values[song] = (1 - diversity) * relevance[song] - diversity * near
        if not values:
            return chosen + [-1] * (k - len(chosen))
        chosen.append(max(values, key=values.get))
    return chosen


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("diversity", "most"), [(0.0, 9), (0.3, 9), (0.7, 1), (1.0, 2)])
def test_is_the_greedy_choice_of_the_formula(diversity, most, sparse):
    vectors = RNG.standard_normal((30, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = np.stack([RNG.permutation(30)[:12] for _ in range(5)])
    scores = -np.sort(-RNG.standard_normal((5, 12)), axis=1)
    artists = RNG.integers(-1, 4, (5, 12))
    diversify = Diversify(csr_array(vectors) if sparse else vectors, diversity)
    places = diversify.choose(found, scores, 6, artists, most)
    for row in range(5):
        own = vectors[found[row]]
        expected = _by_definition(scores[row], own, diversity, 6, artists[row], most)
        assert places[row].tolist() == expected


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.filterwarnings("ignore:MatrixFactorizationRanker has the same score")
def test_no_diversity_is_the_plain_result_and_blocks_change_nothing(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    plain = ranker.recommend(QUERIES, n_recommendations=4)
    zero = ranker.recommend(QUERIES, n_recommendations=4, diversity=0)
    assert zero[0].tolist() == plain[0].tolist()
    assert zero[1].tobytes() == plain[1].tobytes()
    queries = pd.concat([QUERIES] * 20, ignore_index=True)
    options = {"n_recommendations": 4, "diversity": 0.6, "max_per_artist": 1}
    expected = ranker.recommend(queries, **options)
    with sklearn.config_context(working_memory=0.01):
        again = ranker.recommend(queries, **options)
    assert again[0].tolist() == expected[0].tolist()
    np.testing.assert_allclose(again[1], expected[1], rtol=1e-12)
    artists = X_TRAIN.drop_duplicates("song").set_index("song")["artist"]
    assert all(artists[row].is_unique for row in expected[0])
    one = ranker.recommend(QUERIES.iloc[[0]], n_recommendations=4, diversity=0.6)
    pool = ranker.recommend(QUERIES.iloc[[0]], n_recommendations=len(one[0][0]) * POOL)[0]
    assert set(one[0][0]) <= set(pool[0])
    assert one[0][0][0] == pool[0][0]  # the best song is always the first


@pytest.mark.parametrize("kind", ["multitask", "ridge", "item-knn"])
def test_lists_differ_more_and_hits_are_hardly_lost(kind):
    X = make_playlists(n_users=150, n_songs=300, random_state=0)
    train, test = next(ColdPlaylistSplit(random_state=0).split(X))
    features = make_song_features(X.drop(columns="year"))
    ranker = {
        "multitask": MultitaskPlaylistRanker(song_features=features, tol=0.01),
        "ridge": RidgeRanker(song_features=features),
        "item-knn": ItemKNNRanker(),
    }[kind].fit(X.iloc[train])
    held = X.iloc[test].groupby(["user", "playlist"])["song"].agg(set).reset_index()
    distance, hits = [], []
    for diversity in (0.0, 0.3, 0.8):
        songs, _ = ranker.recommend(held[["user"]], diversity=diversity)
        lists = [ranker.similarity_vectors(read_candidates(ranker, row)[0]) for row in songs]
        distance.append(
            np.mean([intra_list_distance_score(None, np.ones((1, 10)), vectors=v) for v in lists])
        )
        found = [len(own & set(row)) for own, row in zip(held["song"], songs, strict=True)]
        hits.append(np.mean(found))
    assert distance[0] < distance[1] < distance[2]
    assert distance[2] > 1.05 * distance[0]
    assert hits[1] > 0.8 * hits[0]
    assert hits[2] <= hits[0]


def test_bad_requests_are_reported():
    ranker = ItemKNNRanker().fit(X_TRAIN)
    for bad in (-0.1, 1.5, "much", True, np.nan):
        with pytest.raises(ValueError, match="`diversity` must be a number from 0 to 1; got"):
            ranker.recommend(QUERIES, diversity=bad)
    with pytest.raises(ValueError, match=r"`diversity` must be 0 if songs are sampled; got 0\.5"):
        ranker.recommend(QUERIES, diversity=0.5, sample=True)
