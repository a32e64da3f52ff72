"""The catalogue that stays ready between searches: never out of date, never stored."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skmtc import RidgeRanker, StackingRanker
from skmtc.rankers.recommend import _prepared
from tests.test_ranker_checks import QUERIES, X_ALL, X_TRAIN, each_ranker

KNOWN = X_TRAIN[["user", "playlist"]].drop_duplicates("playlist").head(30)


def _found(ranker, queries=QUERIES, **options):
    return ranker.recommend(queries, n_recommendations=7, **options)


def _check_same(one, other):
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.fixture
def count(monkeypatch):
    """Count how often songs are made ready."""
    made = []
    whole = _prepared._prepare
    monkeypatch.setattr(
        _prepared, "_prepare", lambda *args, **kwargs: made.append(1) or whole(*args, **kwargs)
    )
    return made


@each_ranker
def test_one_query_at_a_time_gets_the_same_bits(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    together = _found(ranker, KNOWN)
    again = pickle.loads(pickle.dumps(ranker))
    alone = [_found(again, KNOWN.iloc[[i]]) for i in range(len(KNOWN))]
    songs, scores = map(np.concatenate, zip(*alone, strict=True))
    np.testing.assert_array_equal(songs, together[0])
    if isinstance(ranker, StackingRanker):  # the spread of scores is measured by products of blocks
        np.testing.assert_allclose(scores, together[1], rtol=1e-13)
    else:
        np.testing.assert_array_equal(scores, together[1])


@each_ranker
def test_the_catalogue_is_prepared_once(ranker, count):
    ranker = clone(ranker).fit(X_TRAIN)
    first = _found(ranker)
    _check_same(_found(ranker), first)
    assert len(count) == 1
    _found(ranker, candidates=ranker.songs_[:50])
    assert len(count) == 2
    _check_same(_found(ranker), first)
    assert len(count) == 2


@each_ranker
def test_a_ranker_that_changed_prepares_it_again(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    _found(ranker)
    users = X_TRAIN["user"].unique()[:2]
    ranker.forget(users)
    fresh = pickle.loads(pickle.dumps(ranker))
    _check_same(_found(ranker), _found(fresh))
    if hasattr(ranker, "partial_fit"):
        ranker.partial_fit(X_ALL[X_ALL["user"].isin(users)])
        _check_same(_found(ranker), _found(pickle.loads(pickle.dumps(ranker))))
    half = X_TRAIN[X_TRAIN["song"].isin(X_TRAIN["song"].unique()[::2])]
    ranker.fit(half)
    _check_same(_found(ranker), _found(clone(ranker).fit(half)))


def test_another_array_of_song_vectors_is_noticed():
    ranker = RidgeRanker().fit(X_TRAIN[["user", "playlist", "song", "x0", "x1"]])
    before = _found(ranker, KNOWN)
    ranker.song_vectors_ = -ranker.song_vectors_
    songs, scores = _found(ranker, KNOWN)
    assert not np.array_equal(songs, before[0])
    np.testing.assert_array_equal(scores[:, 0], ranker.predict(KNOWN.assign(song=songs[:, 0])))


@each_ranker
def test_nothing_prepared_is_stored(ranker):
    ranker = clone(ranker).fit(X_TRAIN)
    before = len(pickle.dumps(ranker))
    _found(ranker)
    assert len(pickle.dumps(ranker)) == before
