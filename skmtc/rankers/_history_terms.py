"""What a user already has, as features of pairs of a query and a song."""

import numpy as np
from scipy.sparse import csr_array

from skmtc.rankers._collocation import collocation
from skmtc.rankers._sparse import as_ones, one_hot

TERMS = ("song", "artist", "collocation")

# On new playlists held out of a training table of AotM-2011, 20 or 50 neighbours lost a little AUC,
# 300 changed nothing, nor did 3 or 30 prior songs; a shrinkage of 10 lost 0.0006 of AUC. The scale
# was not varied.
N_NEIGHBORS = 100
SHRINKAGE = 3.0
COLLOCATION_SCALE = 5.0
# How many songs of a user the rate of all users counts for, when the user's own rate is taken.
PRIOR_SONGS = 10.0
HIGHEST_RATE = 0.95


class HistoryTerms:
    """The features of pairs that the playlists of users make.

    ============= ========================================== ==================================
    term          for a new playlist of a known user         for a known playlist
    ============= ========================================== ==================================
    song          log(1 + odds * n_songs * the song's share  the same in the user's other
                  of all that the user has)                  playlists
    artist        log(1 + times the user has the artist)     the same without the song itself
    collocation   log(1 + 5 * the sum of the song's          the same for the songs of the
                  collocation with the user's songs)         playlist
    ============= ========================================== ==================================

    The odds are those of a repeated song against another one: of the songs in the user's
    playlists, all but the first, the share that the user had in another one is the user's repeat
    rate, mixed with the rate of all users. If a user repeats songs at that rate, each in proportion
    to how often the user has it, and draws the others uniformly, the term is the logarithm of
    how much likelier the song is than one that the user does not have.

    New users have none, and new songs have the artist's only. Features are sparse.

    Parameters
    ----------
    names : sequence of str
        Which terms there are, of `TERMS`.

    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist; their values do not matter.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    n_users : int
        Number of users.

    artist_of_song : ndarray of shape (n_songs,) or None, default=None
        Code of each song's artist, -1 for none; for the term "artist".

    neighbors : csr_array of shape (n_songs, n_songs) or None, default=None
        Collocation of songs, for the term "collocation"; None measures it in `membership`.

    repeat_rate : float or None, default=None
        Repeat rate of all users; None counts it in `membership`.
    """

    def __init__(
        self,
        names,
        membership,
        user_of_playlist,
        n_users,
        *,
        artist_of_song=None,
        neighbors=None,
        repeat_rate=None,
    ):
        self.names = tuple(names)
        self.neighbors = neighbors
        self.membership = as_ones(membership)
        owned = csr_array(one_hot(user_of_playlist, n_users).T)
        self.user_songs = csr_array(owned @ self.membership)
        lengths = np.diff(self.membership.indptr)
        self.n_playlists = np.bincount(user_of_playlist[lengths > 0], minlength=n_users)
        self.repeat_rate = repeat_rate
        if repeat_rate is None:
            repeats, places = _repeats(self.user_songs, self.n_playlists)
            self.repeat_rate = repeats.sum() / max(1.0, places.sum())
        if "artist" in self.names:
            self.artists = one_hot(artist_of_song, int(artist_of_song.max(initial=-1)) + 1)
            self.user_artists = csr_array(self.user_songs @ self.artists)
            self.songs_of_artist = csr_array(self.artists.T)
        if "collocation" in self.names and neighbors is None:
            self.neighbors = collocation(membership, n_neighbors=N_NEIGHBORS, shrinkage=SHRINKAGE)

    def features(self, users, playlists):
        """Give the features of all known songs for queries.

        Parameters
        ----------
        users, playlists : ndarray of shape (n_queries,)
            Codes; -1 for a new user or playlist.

        Returns
        -------
        features : list of csr_array of shape (n_queries, n_songs)
            One matrix per term, in the order of `names`.
        """
        own = _rows(self.membership, playlists)
        makers = {"song": self._song, "artist": self._artist, "collocation": self._collocation}
        return [makers[name](users, playlists, own) for name in self.names]

    def scores(self, users, playlists, weights):
        """Give the weighted sum of the features of all known songs for queries."""
        parts = [
            weight * part
            for part, weight in zip(self.features(users, playlists), weights, strict=True)
            if weight
        ]
        empty = csr_array((len(users), self.membership.shape[1]))
        return csr_array(sum(parts[1:], start=parts[0]) if parts else empty)

    def artist_scores(self, users, weights):
        """Give what each artist adds to the score of a new song.

        Parameters
        ----------
        users : ndarray of shape (n_queries,)
            Codes; -1 for a new user.

        weights : ndarray of shape (n_queries, n_terms)
            Weights of the terms for each query.

        Returns
        -------
        scores : csr_array of shape (n_queries, n_artists)
            Zero columns without the term "artist".
        """
        if "artist" not in self.names:
            return csr_array((len(users), 0))
        weight = weights[:, self.names.index("artist")]
        return csr_array(_log1p(_rows(self.user_artists, users)) * weight[:, None])

    def _song(self, users, playlists, own):
        counts = csr_array(_rows(self.user_songs, users) - own)
        counts.eliminate_zeros()
        n_others = np.append(self.n_playlists, 0)[users] - (playlists >= 0)
        repeats, places = _repeats(counts, n_others)
        rate = (repeats + PRIOR_SONGS * self.repeat_rate) / (places + PRIOR_SONGS)
        rate = np.minimum(rate, HIGHEST_RATE)
        scale = counts.shape[1] * rate / (1 - rate) / np.maximum(counts.sum(axis=1), 1.0)
        counts.data *= np.repeat(scale, np.diff(counts.indptr))
        return _log1p(counts)

    def _artist(self, users, playlists, own):
        # Other playlists and the rest of this one are all the user has, less the song itself.
        counts = _rows(self.user_artists, users) @ self.songs_of_artist
        has_artist = as_ones(self.artists) @ np.ones(self.artists.shape[1])
        return _log1p(counts - own * has_artist)

    def _collocation(self, users, playlists, own):
        is_new = one_hot(np.where(playlists < 0, users, -1), self.user_songs.shape[0])
        at_hand = own + is_new @ as_ones(self.user_songs)
        sums = csr_array(at_hand @ self.neighbors)
        sums.data *= COLLOCATION_SCALE
        return _log1p(sums)


def _repeats(counts, n_playlists):
    """Count how many songs were had before, and how many could have been.

    Parameters
    ----------
    counts : csr_array of shape (n, n_songs)
        How often each song is in some playlists.

    n_playlists : ndarray of shape (n,)
        The number of these playlists.

    Returns
    -------
    repeats, places : ndarray of shape (n,)
        Songs less distinct songs, and songs less those of one playlist of mean length.
    """
    sizes = counts.sum(axis=1)
    return sizes - np.diff(counts.indptr), sizes - sizes / np.maximum(n_playlists, 1)


def _rows(matrix, codes):
    """Take rows by code; a code of -1 gives an empty row."""
    if (codes >= 0).all():
        return matrix[codes]
    return csr_array(one_hot(codes, matrix.shape[0]) @ matrix)


def _log1p(counts):
    counts = csr_array(counts)
    counts.eliminate_zeros()
    counts.data = np.log1p(counts.data)
    return counts
