"""A weighted sample of songs that stands for the catalogue in the sums over other songs."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

# With `songs_per_pass=None`, a fit sums over all songs of a catalogue of this size, and over a
# sample of a larger one.
LARGE_CATALOGUE = 200_000
DEFAULT_SAMPLE = 50_000
# Share of the sample that goes by popularity; the rest is even, which bounds all weights.
BY_POPULARITY = 0.5
# Songs that are added to the sample for a playlist that holds all of it.
SONGS_OUTSIDE = 10


def sampled_song_weight(ranker, membership):
    """Return the weights of the songs that a fit samples.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The parameters.

    membership : csr_array of shape (n_playlists, n_songs)
        Songs of the training playlists.

    Returns
    -------
    weights : ndarray of shape (n_songs,) or None
        0 for songs that are not in the sample; None if all songs count alike.
    """
    n_songs = membership.shape[1]
    size = sample_size(ranker.songs_per_pass, n_songs)
    if size is None:
        return None
    counts = np.bincount(membership.indices, minlength=n_songs)
    seed = sample_seed(ranker)
    return with_songs_outside(sample_catalogue(counts, size, seed), membership, seed)


def sample_seed(ranker):
    """Return the seed of samples; 0 without `random_state`, so that a resumed fit has the same."""
    state = 0 if ranker.random_state is None else ranker.random_state
    return check_random_state(state).randint(2**31 - 1)


def sample_size(songs_per_pass, n_songs):
    """Return how many songs to sample; None if all count."""
    if songs_per_pass is None:
        return None if n_songs <= LARGE_CATALOGUE else DEFAULT_SAMPLE
    return None if songs_per_pass >= n_songs else songs_per_pass


def sample_catalogue(counts, size, random_state):
    r"""Sample songs, and weight them by the inverse of the probability to be in the sample.

    The probability of song m is

    .. math:: \pi_m = \min(1, c q_m), \qquad
              q_m = \frac{1}{2} \frac{n_m}{\sum_k n_k} + \frac{1}{2 M}

    for its number of playlists n_m and M songs, with c such that the sample has `size` songs.
    Popular songs are certain to be in it, with weight 1. A sum over songs with weights 1 / pi_m is
    an unbiased estimate of the sum over all. Songs are sampled systematically, at equal strides
    along the order of popularity, so that popular and rare songs have their exact shares.

    Parameters
    ----------
    counts : ndarray of shape (n_songs,)
        Number of training playlists that hold each song.

    size : int
        Size of the sample, less than the number of songs.

    random_state : int
        Seed.

    Returns
    -------
    weights : ndarray of shape (n_songs,)
        1 / pi_m for songs in the sample, 0 for the others.
    """
    rng = np.random.default_rng(random_state)
    shares = BY_POPULARITY * counts / max(counts.sum(), 1) + (1 - BY_POPULARITY) / len(counts)
    probabilities = _inclusion_probabilities(shares, size)
    order = np.argsort(-counts, kind="stable")
    cumulated = np.cumsum(probabilities[order])
    strides = np.arange(size) + rng.uniform()
    # No probability is above 1, so no song is sampled twice.
    places = np.searchsorted(cumulated, strides, side="right").clip(max=len(order) - 1)
    chosen = order[np.unique(places)]
    weights = np.zeros(len(counts))
    weights[chosen] = 1 / probabilities[chosen]
    return weights


def with_songs_outside(weights, membership, random_state):
    """Add songs to a sample until each playlist lacks some, as its loss needs them.

    Parameters
    ----------
    weights : ndarray of shape (n_songs,)
        Weights of the songs, 0 for those that are not in the sample.

    membership : csr_array of shape (n_playlists, n_songs)
        Songs of the training playlists; none holds all songs.

    random_state : int
        Seed.

    Returns
    -------
    weights : ndarray of shape (n_songs,)
        Weights with the songs that were added; they were certain to be, so they have weight 1.
    """
    rng, weights = np.random.default_rng(random_state), weights.copy()
    is_sampled = (weights > 0).astype(np.intp)
    ones = np.ones(membership.nnz, dtype=np.intp)
    held = csr_array((ones, membership.indices, membership.indptr), shape=membership.shape)
    for playlist in np.flatnonzero(held @ is_sampled == is_sampled.sum()):
        songs = membership.indices[membership.indptr[playlist] : membership.indptr[playlist + 1]]
        outside = np.setdiff1d(np.arange(len(weights)), songs)
        if not weights[outside].any():  # songs for playlists before are not in this one
            weights[rng.permutation(outside)[:SONGS_OUTSIDE]] = 1.0
    return weights


def _inclusion_probabilities(shares, size):
    """Scale shares to probabilities with a sum of `size`, of which none is above 1."""
    certain = np.zeros(len(shares), dtype=bool)
    while True:
        rest = ~certain
        scale = (size - certain.sum()) / shares[rest].sum()
        above = rest & (shares * scale >= 1)
        if not above.any():
            return np.where(certain, 1.0, shares * scale)
        certain |= above
