"""Generated songs."""

import numpy as np
import pytest

from skmtc.datasets.generate._catalogue import GENRES, make_catalogue


@pytest.fixture(scope="module")
def catalogue():
    rng = np.random.RandomState(0)
    return make_catalogue(rng, n_songs=3000, n_artists=300, n_features=8, n_genres=5)


def test_features_are_standardised(catalogue):
    assert np.allclose(catalogue.features[:, 1:].mean(axis=0), 0)
    assert np.allclose(catalogue.features[:, 1:].std(axis=0), 1)
    assert abs(catalogue.features[:, 0].mean()) < 0.2
    assert 0.7 < catalogue.features[:, 0].std() < 1.3


def test_songs_of_one_community_are_closer_than_others(catalogue):
    community = catalogue.artists["community"].loc[catalogue.songs["artist"]].to_numpy()
    features = catalogue.features[:, 1:]
    distances = ((features[:, None] - catalogue.centres[None, :, 1:]) ** 2).sum(axis=2)
    own = distances[np.arange(len(features)), community]
    assert own.mean() < 0.5 * distances.mean()


def test_a_genre_is_that_of_the_artist(catalogue):
    of_artist = catalogue.artists["genre"].loc[catalogue.songs["artist"]].to_numpy()
    assert (catalogue.songs["genre"].to_numpy() == of_artist).all()
    assert set(catalogue.artists["genre"]) == set(GENRES[:5])
    assert (catalogue.artists.groupby("community")["genre"].nunique() == 1).all()


def test_years_go_with_the_era_feature(catalogue):
    years = catalogue.songs["year"]
    assert years.between(1950, 2011).all()
    assert np.corrcoef(years, catalogue.features[:, 1])[0, 1] > 0.5
    assert years.median() > 1995  # more songs of late years


def test_every_artist_has_a_song_and_some_have_many(catalogue):
    counts = catalogue.songs["artist"].value_counts()
    assert len(counts) == 300
    assert counts.max() > 5 * counts.median()


@pytest.mark.parametrize(
    ("n_songs", "n_artists", "n_features", "n_genres"), [(2, 5, 1, 1), (40, 3, 2, 20)]
)
def test_small_and_odd_sizes(n_songs, n_artists, n_features, n_genres):
    catalogue = make_catalogue(
        np.random.RandomState(0),
        n_songs=n_songs,
        n_artists=n_artists,
        n_features=n_features,
        n_genres=n_genres,
    )
    assert catalogue.features.shape == (n_songs, n_features)
    assert np.isfinite(catalogue.features).all()
    assert len(catalogue.artists) == n_artists
