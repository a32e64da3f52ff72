"""ArtistEmbedding: artists of one community are close."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skmtc.datasets import make_playlists
from skmtc.features import ArtistEmbedding

N_COMMUNITIES = 4
ARTISTS_PER_COMMUNITY = 15
SONGS_PER_ARTIST = 5
LENGTH = 12
FROM_ELSEWHERE = 0.1


@pytest.fixture(scope="module")
def communities():
    """Songs, membership and the community of each song: playlists keep mostly to one."""
    rng = np.random.RandomState(0)
    n_artists = N_COMMUNITIES * ARTISTS_PER_COMMUNITY
    # Names in an order of their own, so that nothing can be learned from sorting them.
    names = np.array([f"artist{i}" for i in rng.permutation(n_artists)])
    artist = np.repeat(np.arange(n_artists), SONGS_PER_ARTIST)
    community = artist // ARTISTS_PER_COMMUNITY
    membership = np.zeros((len(artist), 300), dtype=int)
    for playlist in range(membership.shape[1]):
        weights = np.where(community == playlist % N_COMMUNITIES, 1 - FROM_ELSEWHERE, 0.0)
        weights += FROM_ELSEWHERE / N_COMMUNITIES
        songs = rng.choice(len(artist), size=LENGTH, replace=False, p=weights / weights.sum())
        membership[songs, playlist] = np.arange(1, LENGTH + 1)
    return pd.DataFrame({"artist": names[artist]}), csr_array(membership), community


@pytest.mark.parametrize("skip_gram", [True, False])
def test_artists_of_one_community_are_closer_by_a_margin(communities, skip_gram):
    songs, membership, community = communities
    embedding = ArtistEmbedding(skip_gram=skip_gram, random_state=0)
    vectors = embedding.fit_transform(songs, membership)[::SONGS_PER_ARTIST]
    cosine = vectors @ vectors.T
    own = community[::SONGS_PER_ARTIST]
    same = own[:, None] == own
    other_artist = ~np.eye(len(own), dtype=bool)
    assert cosine[same & other_artist].mean() > cosine[~same].mean() + 0.3
    np.fill_diagonal(cosine, -1)
    assert (own[cosine.argmax(axis=1)] == own).mean() > 0.95


def test_the_margin_comes_from_the_playlists(communities):
    """With songs shuffled among playlists there is none."""
    songs, membership, community = communities
    shuffled = membership[np.random.RandomState(1).permutation(membership.shape[0])]
    vectors = ArtistEmbedding(random_state=0).fit_transform(songs, shuffled)[::SONGS_PER_ARTIST]
    cosine = vectors @ vectors.T
    own = community[::SONGS_PER_ARTIST]
    same = own[:, None] == own
    other_artist = ~np.eye(len(own), dtype=bool)
    assert abs(cosine[same & other_artist].mean() - cosine[~same].mean()) < 0.1


def test_songs_of_an_artist_share_its_vector(communities):
    songs, membership, _ = communities
    vectors = ArtistEmbedding(random_state=0).fit_transform(songs, membership)
    by_artist = pd.DataFrame(vectors).groupby(songs["artist"].to_numpy())
    assert by_artist.nunique().to_numpy().max() == 1
    assert len(np.unique(vectors, axis=0)) == N_COMMUNITIES * ARTISTS_PER_COMMUNITY


def test_artists_of_a_generated_community_are_close():
    X, truth = make_playlists(200, 2000, 600, 60, n_genres=3, return_truth=True, random_state=0)
    songs = X.drop_duplicates("song").sort_values("song")
    positions = X.assign(position=X.groupby("playlist").cumcount() + 1)
    membership = csr_array(
        (
            positions["position"],
            (
                np.searchsorted(songs["song"], positions["song"]),
                pd.factorize(positions["playlist"])[0],
            ),
        )
    )
    embedding = ArtistEmbedding(random_state=0).fit(songs[["artist"]], membership)
    artists = truth.artists.loc[songs["artist"].unique()]
    vectors = embedding.transform(pd.DataFrame({"artist": artists.index}))
    cosine = vectors @ vectors.T
    community = artists["community"].to_numpy()
    same = community[:, None] == community
    off_diagonal = ~np.eye(len(same), dtype=bool)
    assert cosine[same & off_diagonal].mean() > cosine[~same].mean() + 0.1
