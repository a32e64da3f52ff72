"""Generated playlists: owners, lengths, own weights, and songs drawn from the softmax of scores.

Songs are drawn one playlist at a time, so memory grows with the songs and with the rows drawn, and
never with their product. Scores are sums over features in a fixed order, which no number of
threads changes: the same seed gives the same playlists.
"""

import numpy as np

ACTIVITY_SPREAD = 1.8  # spread of log playlists per user, as in AotM-2011
MOST_ACTIVE = 3.7  # in spreads above the mean; without a bound one user may own the table
LENGTH_SHAPE = 2.4  # shape of the gamma that spreads lengths, as in AotM-2011
PLAYLIST_DENSITY = 0.15
PLAYLIST_EFFECT = 2.2
SMALLEST_LOG_WEIGHT = -60.0  # relative to the best song; keeps every song possible


def sample_owners(rng, n_users, n_playlists):
    """Return owners: one playlist per user, and a long tail of further ones."""
    activity = np.exp(ACTIVITY_SPREAD * np.minimum(rng.normal(size=n_users), MOST_ACTIVE))
    further = rng.choice(n_users, size=n_playlists - n_users, p=activity / activity.sum())
    return np.concatenate([np.arange(n_users), further])


def sample_lengths(rng, n_playlists, *, mean, shortest, longest, shape=LENGTH_SHAPE):
    """Sample the number of songs of each playlist, from `shortest` on."""
    shortest = min(shortest, longest)
    rates = rng.gamma(shape, max(0.0, mean - shortest) / shape, size=n_playlists)
    return np.minimum(shortest + rng.poisson(rates), longest)


def sample_playlist_coef(rng, n_playlists, n_features):
    """Sample the sparse weights of playlists."""
    coef = rng.normal(scale=PLAYLIST_EFFECT / np.sqrt(n_features), size=(n_playlists, n_features))
    coef[:, 0] *= 0.3  # themes are about the kind of song more than about fame
    return np.where(rng.uniform(size=coef.shape) < PLAYLIST_DENSITY, coef, 0.0)


def sample_songs(rng, features, user_coef, playlist_coef, owner, lengths, *, repeat=0.0):
    """Sample the songs of each playlist without replacement, in proportion to exp(score).

    With `repeat`, some are drawn from the earlier playlists of the user instead.

    Parameters
    ----------
    features : ndarray of shape (n_songs, n_features)

    user_coef : ndarray of shape (n_users, n_features)
        Sums of shared and user weights.

    playlist_coef : ndarray of shape (n_playlists, n_features)

    owner, lengths : ndarray of shape (n_playlists,)

    repeat : float, default=0.0
        Probability that a song is one that the user has, as far as there are enough of these; in
        proportion to how often the user has it.

    Returns
    -------
    drawn : ndarray of shape (lengths.sum(),)
        Songs in the order drawn, playlist after playlist.
    """
    by_feature = np.ascontiguousarray(features.T, dtype=np.float32)
    of_user, scores, spare = np.empty((3, len(features)), dtype=np.float32)
    start_of_playlist = np.cumsum(lengths) - lengths
    drawn = np.empty(lengths.sum(), dtype=np.int64)
    last_user = -1
    for playlist in np.argsort(owner, kind="stable"):
        if owner[playlist] != last_user:
            last_user = owner[playlist]
            of_user[:] = 0.0
            times_had = np.zeros(len(features) if repeat else 0)
            _add_scores(of_user, by_feature, user_coef[last_user], spare)
        scores[:] = of_user
        _add_scores(scores, by_feature, playlist_coef[playlist], spare)
        start, length = start_of_playlist[playlist], lengths[playlist]
        songs = drawn[start : start + length]
        if repeat:
            songs[:] = _sample_with_repeats(rng, _weights(scores), times_had, length, repeat)
            times_had[songs] += 1
        else:
            songs[:] = sample_distinct(rng, _weights(scores), length)
    return drawn


def sample_distinct(rng, weights, size):
    """Sample distinct positions one after the other, each in proportion to the weights left.

    Drawing with replacement and skipping what was drawn before is the same thing. When many
    are skipped, what was drawn is taken out of the weights, which are changed in place.
    """
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < size:
        weights[chosen] = 0.0
        cumulative = np.cumsum(weights, dtype=np.float64)
        points = rng.uniform(size=2 * (size - len(chosen))) * cumulative[-1]
        drawn = np.searchsorted(cumulative, points, side="right")
        drawn = drawn[drawn < len(weights)]  # rounding may put a point at the very end
        chosen = np.concatenate([chosen, drawn[np.sort(np.unique(drawn, return_index=True)[1])]])
    return chosen[:size]


def _sample_with_repeats(rng, weights, times_had, size, repeat):
    """Sample some songs that the user has, the others by their weights, in random order."""
    n_repeated = min(rng.binomial(size, repeat), np.count_nonzero(times_had))
    repeated = sample_distinct(rng, times_had.copy(), n_repeated)
    weights[repeated] = 0.0
    others = sample_distinct(rng, weights, size - n_repeated)
    return rng.permutation(np.concatenate([repeated, others]))


def _add_scores(scores, by_feature, coef, spare):
    for j in np.flatnonzero(coef):
        np.multiply(by_feature[j], np.float32(coef[j]), out=spare)
        scores += spare


def _weights(scores):
    """Turn scores, in place, into weights of which the largest is 1."""
    scores -= scores.max()
    np.maximum(scores, SMALLEST_LOG_WEIGHT, out=scores)
    return np.exp(scores, out=scores)
