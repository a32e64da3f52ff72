"""Fits on a weighted sample of the songs."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.optimize import MultitaskObjective, _risks
from skmtc.rankers.multitask import _song_sample
from skmtc.rankers.multitask._song_sample import (
    sample_catalogue,
    sample_size,
    with_songs_outside,
)

COUNTS = np.r_[[400, 90, 60], np.random.default_rng(0).geometric(0.3, 500)]


@pytest.fixture(scope="module")
def X():
    return make_playlists(preset="small", random_state=0)


def fit(X, **parameters):
    features = [column for column in X.columns if column.startswith("x")]
    return MultitaskPlaylistRanker(song_features=features, random_state=0, **parameters).fit(X)


def objective_of_risks(ranker):
    n = len(ranker.playlists_)
    l1, l2, l3 = ranker.lambdas_
    objective = MultitaskObjective(
        ranker.song_vectors_[:, :-1],
        csr_array(ranker.membership_),
        ranker.user_of_playlist_,
        user_l2=l1 * n,
        playlist_l1=l2 * n,
        shared_l1=l3,
    )
    return objective.value(
        np.vstack([ranker.shared_coef_, ranker.user_coef_, ranker.playlist_coef_])
    )


def test_samples_have_their_size_and_hold_popular_songs():
    weights = sample_catalogue(COUNTS, 60, random_state=0)
    assert np.count_nonzero(weights) == 60
    assert weights[:2].tolist() == [1.0, 1.0]
    assert weights[weights > 0].min() >= 1
    # Half of the sample is even, so that no weight is above M / (size / 2).
    assert weights.max() <= 2 * len(COUNTS) / 60


@pytest.mark.parametrize("values", [COUNTS.astype(float), np.random.default_rng(1).random(503)])
def test_weighted_sums_are_unbiased(values):
    sums = [sample_catalogue(COUNTS, 60, seed) @ values for seed in range(400)]
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - values.sum()) < 4 * error + 1e-9


def test_every_song_has_its_probability():
    times = sum(sample_catalogue(COUNTS, 60, seed) > 0 for seed in range(2000)) / 2000
    weights = np.max([sample_catalogue(COUNTS, 60, seed) for seed in range(200)], axis=0)
    met = weights > 0
    np.testing.assert_allclose(times[met], 1 / weights[met], atol=0.05)


def test_large_catalogues_are_sampled_by_default(monkeypatch, X):
    assert sample_size(None, 200_000) is None
    assert sample_size(None, 200_001) == 50_000
    assert sample_size(10, 10) is None
    assert sample_size(9, 10) == 9
    monkeypatch.setattr(_song_sample, "LARGE_CATALOGUE", 100)
    monkeypatch.setattr(_song_sample, "DEFAULT_SAMPLE", 80)
    assert fit(X).objective_ == fit(X, songs_per_pass=80).objective_


def test_as_many_songs_as_there_are_change_nothing(X):
    exact, whole = fit(X), fit(X, songs_per_pass=10_000)
    np.testing.assert_array_equal(whole.user_coef_, exact.user_coef_)
    assert whole.catalogue_objective_ == (whole.objective_, 0.0)


def test_few_playlists_are_certified_exactly(X):
    ranker = fit(X, songs_per_pass=100)
    estimate, error = ranker.catalogue_objective_
    assert error == 0
    assert estimate == pytest.approx(objective_of_risks(ranker), rel=1e-5)
    assert estimate != pytest.approx(ranker.objective_, rel=1e-3)


def test_estimates_are_as_close_as_they_say(X, monkeypatch):
    monkeypatch.setattr(_risks, "EXACT_PLAYLISTS", 50)
    deviations = []
    for seed in range(8):
        ranker = fit(X, songs_per_pass=100).set_params(random_state=seed).fit(X)
        estimate, error = ranker.catalogue_objective_
        deviations.append((estimate - objective_of_risks(ranker)) / error)
    assert 0.2 < np.sqrt(np.mean(np.square(deviations))) < 2


@pytest.mark.parametrize("loss", ["classification", "ranking"])
@pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
def test_larger_samples_come_near_the_minimum_over_risks(X, loss, solver):
    parameters = {"loss": loss, "solver": solver, "tol": 1e-3, "user_l2": 1.0, "playlist_l1": 1.0}
    best = fit(X, **parameters).catalogue_objective_[0]
    excess = [
        fit(X, songs_per_pass=size, **parameters).catalogue_objective_[0] / best - 1
        for size in (60, 250)
    ]
    assert -0.002 < excess[1] < 0.02
    assert excess[1] < excess[0] / 2


def test_accuracy_is_nearly_that_of_risks(X):
    assert fit(X, songs_per_pass=200).score(X) > fit(X).score(X) - 0.005


def test_every_playlist_lacks_some_songs_of_the_sample():
    held = np.random.default_rng(0).random((6, 30)) < 0.3
    held[2], held[2, [4, 9]] = True, False
    held[4], held[4, 12:] = True, False
    weights = np.where(np.arange(30) < 3, 2.5, 0.0)
    added = with_songs_outside(weights, csr_array(held.astype(np.int32)), random_state=0)
    assert ((added > 0) & ~held).any(axis=1).all()
    np.testing.assert_array_equal(added[:3], weights[:3])
    assert added[[4, 9]].tolist() == [1.0, 1.0]  # all that playlist 2 lacks
    assert with_songs_outside(added, csr_array(held.astype(np.int32)), 1).tolist() == added.tolist()


def test_a_playlist_of_nearly_all_songs_is_fitted(X):
    songs = X.drop_duplicates("song")
    whole = songs.iloc[:-2].assign(user="collector", playlist="everything")
    ranker = fit(pd.concat([X, whole], ignore_index=True), songs_per_pass=40)
    assert "everything" in ranker.playlists_
    assert np.isfinite(ranker.objective_)
    tiny = fit(X, songs_per_pass=1)
    assert np.isfinite(tiny.objective_)


def test_threads_change_nothing(X):
    one, two = (fit(X, songs_per_pass=100, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.playlist_coef_, two.playlist_coef_)
    assert one.catalogue_objective_ == two.catalogue_objective_


def test_a_fit_goes_on_with_its_sample(X, tmp_path):
    """Without a seed, too: the sample is the same, or the checkpoint would be refused."""
    parameters = {"songs_per_pass": 100, "checkpoint": tmp_path / "fit.npz"}
    ranker = fit(X, max_iter=1000, **parameters)
    with pytest.warns(match="max_iter"):
        ranker.set_params(random_state=None, max_iter=1).fit(X)
    with pytest.warns(UserWarning, match="goes on"):
        ranker.set_params(max_iter=1000).fit(X)
    assert not (tmp_path / "fit.npz").exists()


def test_history_and_new_playlists(X):
    ranker = fit(X, songs_per_pass=100, history=("song", "artist"))
    new = X[X["playlist"] == X["playlist"].iloc[0]].assign(user="new", playlist="new")
    assert ranker.partial_fit(new).score(new) > 0.7


@pytest.mark.parametrize("size", [0, -5, 2.5, "all"])
def test_bad_sizes(X, size):
    with pytest.raises(ValueError, match="`songs_per_pass` must be an integer of 1 or more"):
        fit(X, songs_per_pass=size)
