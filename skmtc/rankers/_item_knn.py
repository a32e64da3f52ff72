"""Item-based nearest neighbours: songs that share playlists with the songs of the query."""

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from skmtc._typing import Column
from skmtc._utils.fitted_state import Array, Index
from skmtc._utils.sparse import (
    as_ones,
    compact,
    mean_of_groups,
    merge_rows,
    one_hot,
    product_batches,
    song_rows_of_playlists,
    sum_of_users,
)
from skmtc._utils.validation import check_choice, check_number
from skmtc.rankers.artists import ArtistRanker

WEIGHTINGS = ("tfidf", "cosine")
# Weight of popularity beside similarities: it orders songs of equal similarity, and all songs for a
# new user.
POPULARITY = 1e-6


class ItemKNNRanker(ArtistRanker):
    """Rank songs by their similarity to the songs that a playlist or user has (item kNN).

    Two songs are similar if they are in the same playlists: their similarity is the cosine of their
    rows of the songs x playlists matrix. A song has its `n_neighbors` most similar songs, itself
    among them, and its score is the sum of the similarities of those that the query has:

    ============================== =======================================================
    a known playlist               songs of the playlist
    a new playlist of a known user songs of the user, as often as playlists hold them
    a new user                     none, so that songs are ranked by popularity
    a known song                   its neighbours
    a new song                     mean neighbours of the songs of its artist
    ============================== =======================================================

    A millionth of a song's share of all memberships orders songs of equal similarity.

    Parameters
    ----------
    n_neighbors : int, default=200
        How many similar songs a song has at most.

    weighting : {"tfidf", "cosine"}, default="tfidf"
        Weights of memberships before the cosine. "tfidf": a playlist of n of all N songs counts
        log(N / n), so that long playlists count less. "cosine": all count 1.

    artist : str, int or None, default="artist"
        Column of the artist, by name or position, used for new songs. Where there is no such
        column, or None, a new song has no neighbours.

    user : str, int or None, default="user"
        Column of user ids; None where owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    Attributes
    ----------
    similarity_ : csr_array of shape (n_songs, n_songs)
        Similarities of each song's neighbours, in single precision.

    playcounts_ : csr_array of shape (n_users, n_songs)
        Number of each user's playlists that hold each song.

    popularity_ : ndarray of shape (n_songs,)
        Number of training playlists that hold each song.

    artists_ : ndarray of shape (n_artists,)
        Artists of the training songs, sorted; empty without artists.

    artist_popularity_ : ndarray of shape (n_artists,)
        Sum of the popularity of each artist's songs.

    artist_of_song_ : ndarray of shape (n_songs,)
        Position in `artists_` of each song's artist; -1 for a song without one.

    songs_, playlists_, users_ : ndarray
        Distinct ids, sorted.

    membership_ : csr_array of shape (n_playlists, n_songs)
        1-based position of each song in each training playlist.

    user_of_playlist_ : ndarray of shape (n_playlists,)
        Position in `users_` of each playlist's owner.

    left_out_ : dict
        How many repeated rows and full playlists were left out of fit.

    n_features_in_ : int
        Number of columns of the table seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    PopularityRanker : What is left without neighbours.
    MultitaskPlaylistRanker : Ranker that learns from features in all settings.

    References
    ----------
    M. Deshpande, G. Karypis. Item-based Top-N Recommendation Algorithms. ACM Transactions on
    Information Systems 22(1), 2004.

    Examples
    --------
    Ana has s1, which shares a playlist with s2; s4 is more popular, but not among her music:

    >>> import pandas as pd
    >>> from skmtc import ItemKNNRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob", "bob", "eve", "eve", "dan"],
    ...     "playlist": ["gym", "run", "run", "tea", "tea", "sun"],
    ...     "song": ["s1", "s1", "s2", "s3", "s4", "s4"],
    ... })
    >>> ranker = ItemKNNRanker(weighting="cosine").fit(X)
    >>> songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=3)
    >>> songs.tolist(), scores.round(2).tolist()
    ([['s1', 's2', 's4']], [[1.0, 0.71, 0.0]])
    """

    _fitted_state = {
        "artist_of_song_": Index("songs", into="artists", missing=True),
        "playcounts_": Array("users", "songs", sparse=True, above=0),
        "similarity_": Array("songs", "songs", sparse=True, at_least=0),
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 200,
        weighting: str = "tfidf",
        artist: Column | None = "artist",
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.artist = artist
        self.user = user
        self.playlist = playlist
        self.song = song

    def _check_parameters(self):
        check_number("n_neighbors", self.n_neighbors, at_least=1, whole=True)
        check_choice("weighting", self.weighting, WEIGHTINGS)

    def _fit(self, table, frame):
        self.artist_of_song_ = self._fit_popularity(table)
        held = as_ones(table.membership)
        self.playcounts_ = sum_of_users(held, table.user_of_playlist, len(table.users))
        self.similarity_ = _neighbors(
            song_rows_of_playlists(table.membership, self.weighting), self.n_neighbors
        )

    def vectors_of_queries(self, queries):
        playlists = one_hot(queries.playlists, len(self.playlists_)) @ as_ones(self.membership_)
        users = np.where(queries.playlists < 0, queries.users, -1)
        songs = playlists + one_hot(users, len(self.users_)) @ self.playcounts_
        return csr_array(hstack([songs, np.full((len(queries), 1), POPULARITY)]))

    def vectors_of_songs(self, songs):
        shares = self._popularity_of(songs) / max(1.0, self.popularity_.sum())
        similar = self.similarity_[songs.codes[~songs.is_new]]
        if songs.is_new.any():
            similar = merge_rows(songs.is_new, similar, self._neighbors_of_new(songs))
        return csr_array(hstack([similar, shares[:, None]], dtype=np.float64))

    def _neighbors_of_new(self, songs):
        """Return the mean similarities of the songs of each new song's artist."""
        n_artists = len(self.artists_)
        artists, place = np.unique(self._artist_codes(songs.new_rows), return_inverse=True)
        of_artist = mean_of_groups(self.artist_of_song_, n_artists) if n_artists else None
        if of_artist is None:
            return csr_array((len(place), len(self.songs_)))
        # The code -1 of an unknown artist has an empty row.
        return csr_array(one_hot(artists, n_artists) @ of_artist @ self.similarity_)[place]


def _neighbors(rows, n_neighbors):
    """Return the largest inner products of each row with all rows, block by block."""
    others = csr_array(rows.T)
    parts = [
        _largest(csr_array(rows[batch] @ others), n_neighbors)
        for batch in product_batches(rows, others)
    ]
    return compact(csr_array(vstack(parts)))


def _largest(matrix, k):
    """Keep the k largest entries of each row; of equal ones, those of the first columns."""
    matrix.sort_indices()
    sizes = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    if sizes.max(initial=0) > k:
        order = np.lexsort((matrix.indices, -matrix.data, rows))
        place = np.arange(len(rows)) - np.repeat(matrix.indptr[:-1], sizes)
        kept = np.sort(order[place < k])
        rows = rows[kept]
        parts = matrix.data[kept], (rows, matrix.indices[kept])
        matrix = csr_array(parts, shape=matrix.shape)
    return matrix
