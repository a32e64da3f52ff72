"""History features of pairs of a query and a song."""

import numpy as np
from scipy.sparse import csr_array

from skmtc._utils.sparse import (
    as_ones,
    compact,
    compiled_if_worthwhile,
    one_hot,
    stored_pairs,
    stored_values,
    with_empty_row,
)
from skmtc.rankers.history._cooccurrence import cosine_neighbors, ridge_neighbors

TERMS = ("song", "artist", "co-occurrence")
SIMILARITIES = ("cosine", "ridge")

# On new playlists held out of a training table of AotM-2011, 20 or 50 neighbours lost a little AUC,
# 300 changed nothing, nor did 3 or 30 prior songs; a shrinkage of 10 lost 0.0006 of AUC.
N_NEIGHBORS = 100
SHRINKAGE = 3.0
# Penalty of the regression on neighbours, in users or playlists: 20 lost 0.0015 of HitRate@100.
RIDGE_L2 = 100.0
# Factor of summed similarities inside the logarithm, by similarity: weights of a regression are
# several times smaller than cosines.
SCALES = {"cosine": 5.0, "ridge": 20.0}
# Users with more songs than this are left out of the co-occurrence among users: they take most of
# the time and carry little signal. On two such tables nothing was lost without them.
MOST_SONGS = 500
# Pseudo-counts that shrink the repeat rate of a user to that of all users, and the propensity of a
# song to that of all songs. On four such tables 2, 5 and 10 holdings gave nearly the same; the same
# propensity for all songs lost 0.0006 of HitRate@10.
PRIOR_SONGS = 10.0
PRIOR_HOLDINGS = 10.0
HIGHEST_RATE = 0.95


class PairFeatures:
    """Features of pairs of a query and a song, made of the playlists of users.

    ============= ========================================== ==================================
    term          for a new playlist of a known user         for a known playlist
    ============= ========================================== ==================================
    song          log(1 + odds * n_songs * the song's share  the same in the user's other
                  of all that the user has)                  playlists
    artist        log(1 + times the user has the artist)     the same without the song itself
    co-occurrence log(1 + scale * the sum of the song's      the same for the songs of the
                  similarities to the user's songs, among    playlist, among playlists
                  users); 0 for songs that the user has
    ============= ========================================== ==================================

    The odds are those of a repeated song against another one: of the songs in the user's
    playlists, all but the first, the share that the user had in another one is the user's repeat
    rate, mixed with the rate of all users. If a user repeats songs at that rate, each in proportion
    to how often the user has it and to its propensity, and the others are uniform, the term is
    the logarithm of how much likelier the song is than one that the user does not have. The
    propensity of a song is how often users who have it repeat it, relative to other songs.
    Shares are of songs weighted by it.

    For new playlists, songs co-occur within all that a user has, which finds more than playlists
    do. Songs that the user has are left to the term "song": among them, co-occurrence carries no
    signal.

    New users have no features, and new songs only "artist". Features are sparse and in single
    precision, which halves the memory traffic.

    Parameters
    ----------
    names : sequence of str
        Terms, of `TERMS`.

    membership : csr_array of shape (n_playlists, n_songs)
        Stored entries are the songs of a playlist; their values do not matter.

    user_of_playlist : ndarray of shape (n_playlists,)
        Code of the owner of each playlist.

    n_users : int
        Number of users.

    artist_of_song : ndarray of shape (n_songs,) or None, default=None
        Code of each song's artist, -1 for none; for the term "artist".

    similarity : {"cosine", "ridge"}, default="cosine"
        Similarity of songs for the term "co-occurrence".

    neighbors : tuple of two csr_array of shape (n_songs, n_songs) or None, default=None
        Similarities of songs: among users, for new playlists, and among playlists, for known
        ones. None computes them from `membership`.

    repeat_rate : float or None, default=None
        Repeat rate of all users; None computes it from `membership`.

    propensity : ndarray of shape (n_songs,) or None, default=None
        Propensity of songs; None computes it from `membership`.

    n_jobs : int, default=None
        Number of threads that compute similarities.
    """

    def __init__(
        self,
        names,
        membership,
        user_of_playlist,
        n_users,
        *,
        artist_of_song=None,
        similarity="cosine",
        neighbors=None,
        repeat_rate=None,
        propensity=None,
        n_jobs=None,
    ):
        self.names = tuple(names)
        self.similarity = similarity
        self.source, self.user_of_playlist = membership, user_of_playlist
        owned = csr_array(one_hot(user_of_playlist, n_users).T)
        user_songs = compact(csr_array(owned @ as_ones(membership)))
        # Sums in single precision depend on the order of songs, and later steps may sort in place:
        # a copy made from a pickle must have the same order.
        user_songs.sort_indices()
        self.membership = with_empty_row(compact(as_ones(membership)))
        self.user_songs = with_empty_row(user_songs)
        lengths = np.diff(membership.indptr)
        self.n_playlists = np.bincount(user_of_playlist[lengths > 0], minlength=n_users)
        self.repeat_rate = repeat_rate
        if repeat_rate is None:
            repeats, places = _repeats(user_songs, self.n_playlists)
            self.repeat_rate = repeats.sum() / max(1.0, places.sum())
        self.propensity = _propensity(user_songs) if propensity is None else propensity
        if "artist" in self.names:
            artists = compact(one_hot(artist_of_song, int(artist_of_song.max(initial=-1)) + 1))
            self.has_artist = (artist_of_song >= 0).astype(np.float32)
            self.user_artists = csr_array(self.user_songs @ artists)
            self.songs_of_artist = csr_array(artists.T)
        if "co-occurrence" in self.names and neighbors is None:
            few_songs = user_songs[np.flatnonzero(np.diff(user_songs.indptr) <= MOST_SONGS)]
            neighbors = (
                _similarities(holders, similarity, n_jobs) for holders in (few_songs, membership)
            )
        self.neighbors = None if neighbors is None else tuple(map(_positive, neighbors))

    def features(self, users, playlists, names=None):
        """Return the features of all known songs for queries.

        Parameters
        ----------
        users, playlists : ndarray of shape (n_queries,)
            Codes; -1 for a new user or playlist.

        names : sequence of str or None, default=None
            Terms to return; None for all.

        Returns
        -------
        features : list of csr_array of shape (n_queries, n_songs)
            One matrix per term, in the order of names.
        """
        own = self.membership[playlists]
        makers = {"song": self._song, "artist": self._artist, "co-occurrence": self._cooccurrence}
        names = self.names if names is None else names
        return [makers[name](users, playlists, own) for name in names]

    def scores(self, users, playlists, weights):
        """Return the weighted features of all known songs, without those of weight 0."""
        weight_of = {n: w for n, w in zip(self.names, weights, strict=True) if w}
        features = self.features(users, playlists, names=list(weight_of))
        for part, weight in zip(features, weight_of.values(), strict=True):
            part.data *= weight
        return features

    def of_artists(self, users):
        """Return the feature "artist" of a new song of each artist.

        Parameters
        ----------
        users : ndarray of shape (n_queries,)
            Codes; -1 for a new user.

        Returns
        -------
        features : csr_array of shape (n_queries, n_artists)
            Zero columns without the term "artist".
        """
        if "artist" not in self.names:
            return csr_array((len(users), 0))
        return _log1p(self.user_artists[users])

    def _song(self, users, playlists, own):
        counts = csr_array(self.user_songs[users] - own)
        counts.eliminate_zeros()
        n_others = np.append(self.n_playlists, 0)[users] - (playlists >= 0)
        repeats, places = _repeats(counts, n_others)
        rate = (repeats + PRIOR_SONGS * self.repeat_rate) / (places + PRIOR_SONGS)
        rate = np.minimum(rate, HIGHEST_RATE)
        counts.data *= self.propensity[counts.indices]
        n_had = counts.sum(axis=1, dtype=np.float64)
        scale = counts.shape[1] * rate / (1 - rate) / np.where(n_had > 0, n_had, 1.0)
        counts.data *= np.repeat(scale, np.diff(counts.indptr))
        return _log1p(counts)

    def _artist(self, users, playlists, own):
        # Other playlists and the rest of this one are all the user has, less the song itself.
        counts = self.user_artists[users] @ self.songs_of_artist
        return _log1p(counts - own * self.has_artist)

    def _cooccurrence(self, users, playlists, own):
        among_users, among_playlists = self.neighbors
        had = self.user_songs[np.where(playlists < 0, users, -1)]
        parts = []
        if had.nnz:
            parts.append(_sums_of_rows(had, among_users, without_picks=True))
        if own.nnz or not parts:
            parts.append(_sums_of_rows(own, among_playlists))
        sums = parts[0] if len(parts) == 1 else csr_array(parts[0] + parts[1])
        sums.data *= SCALES[self.similarity]
        return _log1p(sums)


def _similarities(holders, similarity, n_jobs):
    """Compute the similarities of songs that share rows of `holders`."""
    options = {"n_neighbors": N_NEIGHBORS, "shrinkage": SHRINKAGE, "n_jobs": n_jobs}
    if similarity == "cosine":
        return cosine_neighbors(holders, **options)
    return ridge_neighbors(holders, **options, l2=RIDGE_L2)


def _repeats(counts, n_playlists):
    """Count the songs that repeat an earlier one, and those that could repeat one.

    Parameters
    ----------
    counts : csr_array of shape (n, n_songs)
        Number of playlists of each user that hold each song.

    n_playlists : ndarray of shape (n,)
        The number of these playlists.

    Returns
    -------
    repeats, places : ndarray of shape (n,)
        Songs less distinct songs, and songs less those of one playlist of mean length.
    """
    sizes = counts.sum(axis=1, dtype=np.float64)
    return sizes - np.diff(counts.indptr), sizes - sizes / np.maximum(n_playlists, 1)


def _propensity(user_songs):
    """Return the share of repeats among the holdings of each song, relative to all songs."""
    holdings = user_songs.sum(axis=0, dtype=np.float64)
    repeats = holdings - np.bincount(user_songs.indices, minlength=len(holdings))
    share = repeats.sum() / max(1.0, holdings.sum())
    if share == 0:
        return np.ones(len(holdings))
    return (repeats + PRIOR_HOLDINGS * share) / (holdings + PRIOR_HOLDINGS) / share


def _positive(similarities):
    """Return similarities in single precision, without those that are 0 there.

    Compiled sums take an entry of 0 for a column that is new, and would write beyond their arrays.
    """
    similarities = compact(similarities)
    if similarities.data.all():
        return similarities
    similarities = similarities.copy()
    similarities.eliminate_zeros()
    return similarities


def _sums_of_rows(picks, matrix, *, without_picks=False):
    """Sum the rows of a matrix of positive values that are stored in each row of `picks`.

    With `without_picks`, sums are 0 in the columns that have the numbers of the rows.
    """
    n_additions = np.diff(matrix.indptr)[picks.indices].sum()
    compiled = compiled_if_worthwhile(n_additions)
    if compiled is None:
        sums = csr_array(compact(as_ones(picks)) @ matrix)
        if without_picks:
            sums.data[stored_values(picks, *stored_pairs(sums)) > 0] = 0
        return sums
    arrays = picks.indptr, picks.indices, matrix.indptr, matrix.indices, matrix.data
    indptr, indices, data = compiled.sum_rows(*arrays, matrix.shape[1], without_picks)
    return csr_array((data, indices, indptr), shape=(picks.shape[0], matrix.shape[1]))


def _log1p(counts):
    counts = csr_array(counts)
    counts.eliminate_zeros()
    counts.data += 1  # counts are not tiny, so log1p would gain no digits, and takes twice as long
    np.log(counts.data, out=counts.data)
    return counts
