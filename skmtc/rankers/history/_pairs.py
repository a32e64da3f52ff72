"""Sample pairs of a held-out playlist and a candidate song, to fit a few weights on."""

import numpy as np
from scipy.sparse import csr_array

from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.sparse import as_ones
from skmtc.optimize import Pairs

# Expected number of sampled candidates of a playlist; smaller catalogues are taken whole.
SAMPLED_SONGS = 500
# Playlists that are scored together.
BLOCK_ROWS = 64


def sample_pairs(score, n_columns, *, held, seen, sample_size, rng):
    """Sample the candidates of held-out playlists, with the scores and features of each pair.

    Parameters
    ----------
    score : callable
        Returns, for some rows of `held`, the columns of their pairs: a list of arrays of shape
        (n_rows, n_songs), first the scores that candidates are sampled by.

    n_columns : int
        Number of these columns.

    held : csr_array of shape (n_queries, n_songs)
        Songs to find, at least one for each query.

    seen : csr_array of shape (n_queries, n_songs) or None
        Songs that are not candidates.

    sample_size : callable
        Returns the probability of each candidate to be sampled, given the columns.

    rng : RandomState
        Random number generator.

    Returns
    -------
    pairs : Pairs
        All songs to find, and a sample of the other candidates with their importance weights.
    """
    size = min(BLOCK_ROWS, rows_that_fit(32 * (n_columns + 3) * held.shape[1]))
    blocks = [empty_pairs(n_columns)]
    for start in range(0, held.shape[0], size):
        rows = np.arange(start, min(start + size, held.shape[0]))
        columns = score(rows)
        is_held = as_ones(held[rows]).toarray() > 0
        share = sample_size(columns)
        if seen is not None:
            share[as_ones(seen[rows]).toarray() > 0] = 0.0
        share[is_held] = 1.0
        chosen = rng.uniform(size=share.shape) < share
        blocks.append(
            Pairs(
                np.column_stack([part[chosen] for part in columns]),
                -np.log(share[chosen]),
                is_held[chosen],
                chosen.sum(axis=1),
            )
        )
    return concatenate_pairs(blocks)


def mixed_shares(sources, n_sampled):
    """Return sampling probabilities: the mean of several distributions over candidates.

    Parameters
    ----------
    sources : list of arrays of shape (n_queries, n_songs)
        Non-negative weights; the uniform distribution is always one of the sources.

    n_sampled : int
        Expected number of candidates. A catalogue that is not larger is taken whole.

    Returns
    -------
    shares : ndarray of shape (n_queries, n_songs)
        Probabilities.
    """
    shape = sources[0].shape
    if shape[1] <= n_sampled:
        return np.ones(shape)
    sources = [np.ones(shape), *(np.asarray(s, dtype=np.float64) for s in sources)]
    shares = [s / np.maximum(s.sum(axis=1, keepdims=True), 1e-300) for s in sources]
    return np.minimum(1.0, n_sampled * np.mean(shares, axis=0))


def softmax_weights(scores):
    """Return weights in proportion to the exponential of scores, largest 1."""
    return np.exp(scores - scores.max(axis=1, keepdims=True))


def empty_pairs(n_columns):
    """Return the pairs of no playlists."""
    nothing = np.zeros(0)
    return Pairs(np.zeros((0, n_columns)), nothing, nothing.astype(bool), nothing.astype(np.intp))


def concatenate_pairs(parts):
    """Concatenate pairs of different playlists."""
    return Pairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def pairs_of_situations(fold, features, weights_of, song_vectors, *, song_artists, n_terms, rng):
    """Return the pairs of a fold, by kind of song and of playlist.

    Parameters
    ----------
    fold : HoldOut
        What is held out.

    features : PairFeatures
        Features of the memberships that the fold keeps.

    weights_of : callable
        Returns the weights of playlists, by their codes and whether they count as known.

    song_vectors : array or csr_array of shape (n_songs, n_features)
        Vectors of all songs, of the ranker that was fitted without the fold.

    song_artists : csr_array of shape (n_songs, n_artists) or None
        1 where a song has an artist; None without the term "artist".

    n_terms : list of two int
        Number of terms that apply to known and to new songs.

    rng : RandomState
        Random number generator.

    Returns
    -------
    pairs : dict of (int, int) to Pairs
        By kind of song (0 known, 1 new) and of playlist (0 known, 1 new).
    """
    found = {}
    owners = features.user_of_playlist
    for what in (0, 1):
        songs = np.flatnonzero(fold.is_new_song == bool(what))
        for who, rows in enumerate((fold.known, fold.new)):
            held = fold.held[rows][:, songs]
            rows, held = rows[np.diff(held.indptr) > 0], held[np.diff(held.indptr) > 0]
            if len(rows) == 0 or len(songs) < 2:
                continue
            playlists = rows if who == 0 else np.full(len(rows), -1)
            score = _scorer(
                weights_of(rows, who == 0),
                song_vectors[songs],
                _feature_maker(features, owners[rows], playlists, songs, what, song_artists),
            )
            found[what, who] = sample_pairs(
                score,
                1 + n_terms[what],
                held=held,
                seen=fold.kept[rows][:, songs],
                sample_size=lambda columns: mixed_shares(
                    [softmax_weights(columns[0]), *columns[1:]], SAMPLED_SONGS
                ),
                rng=rng,
            )
    return found


def _feature_maker(features, users, playlists, songs, what, song_artists):
    """Return a function of rows that makes the features of some songs as dense arrays."""
    if what == 0:
        return lambda rows: [
            part[:, songs].toarray() for part in features.features(users[rows], playlists[rows])
        ]
    # Songs are held out only for the term "artist".
    picks = csr_array(song_artists[songs].T)
    return lambda rows: [(features.of_artists(users[rows]) @ picks).toarray()]


def _scorer(weights, song_vectors, features):
    """Return a function of rows: scores of all songs, then their features."""

    def score(rows):
        return [np.asarray((song_vectors @ weights[rows].T).T), *features(rows)]

    return score
