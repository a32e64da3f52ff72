"""What a ranker can do, one thing after another: fit, add, forget, store, explain, recommend."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.inspection import explain
from skmtc.persistence import load, save
from skmtc.rankers.fitting._callbacks import HAS_CALLBACKS
from skmtc.rankers.history import TERMS
from tests.rankers.fitting.test_callbacks import Recorder
from tests.test_ranker_checks import FEATURES, NEW_SONGS, NEW_USERS, QUERIES, X_ALL, X_TRAIN

RANKER = MultitaskPlaylistRanker(n_neighbors=3, tol=1e-10, random_state=0, **FEATURES)
X_NEW = X_ALL.merge(X_TRAIN[["playlist", "song"]], how="left", indicator=True)
X_NEW = X_ALL[(X_NEW["_merge"] == "left_only").to_numpy()]


@pytest.fixture(params=[None, TERMS], ids=["no history", "history"])
def grown(request):
    """Fit to a part of the rows, and add the others: new playlists, users and songs."""
    return clone(RANKER).set_params(history=request.param).fit(X_TRAIN).partial_fit(X_NEW)


def _round_trip(ranker, folder):
    save(ranker, folder / "model.skops")
    return load(folder / "model.skops")


def test_artists_of_added_songs_are_capped(grown):
    artist = X_ALL.drop_duplicates("song").set_index("song")["artist"]
    assert set(NEW_SONGS) <= set(grown.songs_)
    assert grown._song_artists.tolist() == artist[grown.songs_].tolist()
    n_artists = artist.nunique()
    songs, _ = grown.recommend(
        QUERIES, n_recommendations=n_artists, max_per_artist=1, exclude_seen=False
    )
    assert np.isin(NEW_SONGS, songs).any()
    assert all(artist[row].nunique() == n_artists for row in songs)


def test_an_added_song_without_artist_is_not_capped():
    nameless = X_NEW.assign(artist=X_NEW["artist"].where(~X_NEW["song"].isin(NEW_SONGS)))
    grown = clone(RANKER).fit(X_TRAIN).partial_fit(nameless)
    candidates = [*NEW_SONGS, X_TRAIN["song"].iloc[0]]
    songs, _ = grown.recommend(
        QUERIES,
        n_recommendations=len(candidates),
        candidates=candidates,
        max_per_artist=1,
        exclude_seen=False,
    )
    assert songs.shape == (len(QUERIES), len(candidates))


def test_added_users_may_be_forgotten(grown):
    others = X_ALL[~X_ALL["user"].isin(NEW_USERS)]
    expected = grown.predict(others)
    grown.forget(NEW_USERS)
    assert grown.users_.tolist() == sorted(others["user"].unique())
    assert len(grown.user_coef_) == grown.user_attributes_.shape[0] == len(grown.users_)
    # Songs went with these users, and history terms count the songs of the catalogue.
    tolerance = 0.02 if grown.history else 0.0
    np.testing.assert_allclose(grown.predict(others), expected, rtol=0, atol=tolerance)


def test_a_forgotten_user_may_come_back(grown):
    expected = grown.predict(X_ALL)
    user = X_TRAIN["user"].iloc[0]
    grown.forget([user])
    assert not np.allclose(grown.predict(X_ALL), expected, atol=1e-3)
    grown.partial_fit(X_ALL[X_ALL["user"] == user])
    assert user in grown.users_
    # Songs that nobody else had come back as new ones, which have no neighbours before a fit.
    np.testing.assert_allclose(
        grown.predict(X_ALL), expected, atol=0.005 if grown.history else 1e-4
    )


def test_a_grown_ranker_is_stored_and_goes_on_from_there(grown, tmp_path):
    again = _round_trip(grown, tmp_path)
    assert set(vars(again)) == set(vars(grown)) - {"_reader", "_catalogue_cache"}
    np.testing.assert_array_equal(again.predict(X_ALL), grown.predict(X_ALL))
    cap = {"n_recommendations": 4, "max_per_artist": 1}
    for ours, theirs in zip(
        again.recommend(QUERIES, **cap), grown.recommend(QUERIES, **cap), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    user = grown.users_[0]
    more = X_ALL[X_ALL["user"] == user].assign(playlist="one more")
    for ranker in (again, grown):
        ranker.forget([grown.users_[-1]]).partial_fit(more)
    np.testing.assert_array_equal(again.predict(X_ALL), grown.predict(X_ALL))


def test_a_stored_ranker_may_be_extended(tmp_path):
    fitted = clone(RANKER).fit(X_TRAIN)
    again = _round_trip(fitted, tmp_path).partial_fit(X_NEW)
    np.testing.assert_array_equal(again.predict(X_ALL), fitted.partial_fit(X_NEW).predict(X_ALL))


def test_scores_of_added_rows_are_explained(grown):
    parts = explain(grown, X_ALL)
    np.testing.assert_allclose(parts.sum(axis=1), grown.predict(X_ALL), atol=1e-6)
    added = X_ALL["user"].isin(NEW_USERS).to_numpy()
    assert (abs(parts["user"][added]).sum(axis=1) > 0).all()
    grown.forget(NEW_USERS)
    after = explain(grown, X_ALL)
    np.testing.assert_allclose(after.sum(axis=1), grown.predict(X_ALL), atol=1e-6)
    np.testing.assert_array_equal(after["playlist"][added], 0.0)


@pytest.mark.parametrize("dtype", ["string", "category", "object"])
def test_missing_artists_of_any_type_are_stored(dtype, tmp_path):
    missing = X_TRAIN["artist"] == X_TRAIN["artist"].iloc[0]
    X = X_TRAIN.assign(artist=X_TRAIN["artist"].mask(missing).astype(dtype))
    ranker = PopularityRanker().fit(X)
    again = _round_trip(ranker, tmp_path)
    for fitted in (ranker, again):
        songs, _ = fitted.recommend(
            pd.DataFrame({"user": ["nobody"]}),
            n_recommendations=int(missing.groupby(X["song"]).first().sum()),
            candidates=np.unique(X["song"][missing]),
            max_per_artist=1,
        )
        assert len(set(songs[0])) == songs.shape[1]


def test_a_path_is_stored_as_text(tmp_path):
    path = tmp_path / "fit.npz"
    ranker = clone(RANKER).set_params(checkpoint=path).fit(X_TRAIN)
    again = _round_trip(ranker, tmp_path)
    assert isinstance(ranker.checkpoint, Path)
    assert again.checkpoint == str(path)
    np.testing.assert_array_equal(again.predict(X_ALL), ranker.predict(X_ALL))


if HAS_CALLBACKS:

    def test_a_fit_that_a_callback_stopped_goes_on_from_its_checkpoint(tmp_path):
        ranker = clone(RANKER).set_params(checkpoint=tmp_path / "fit.npz", tol=1e-9)
        stopped = clone(ranker).set_callbacks(Recorder(stop_after=2)).fit(X_TRAIN)
        assert stopped.n_iter_ == 2
        recorder = Recorder()
        ranker.set_callbacks(recorder)
        with pytest.warns(UserWarning, match="goes on from iteration 2"):
            ranker.fit(X_TRAIN)
        assert recorder.ended[0] == "iteration 3"
        assert not list(tmp_path.iterdir())
        expected = clone(RANKER).set_params(tol=1e-9).fit(X_TRAIN)
        assert ranker.objective_ == pytest.approx(expected.objective_, rel=1e-8)

    def test_callbacks_are_not_stored(tmp_path):
        ranker = clone(RANKER).set_callbacks(Recorder()).fit(X_TRAIN)
        before = set(vars(ranker))
        again = _round_trip(ranker, tmp_path)
        assert set(vars(ranker)) == before
        np.testing.assert_array_equal(again.predict(X_ALL), ranker.predict(X_ALL))
        again.fit(X_TRAIN)
