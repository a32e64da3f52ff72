"""The user's own songs first."""

import numpy as np
from scipy.sparse import csr_array, hstack

from skmtc._typing import Column
from skmtc._utils.fitted_state import Array
from skmtc._utils.sparse import as_ones, one_hot, sum_of_users
from skmtc.rankers.artists import ArtistRanker


class OwnSongsRanker(ArtistRanker):
    """Rank the songs of a user's other playlists first, then popular songs.

    The integer part of a score is the number of the user's training playlists that have the song,
    without the playlist of the query. Its fraction is the song's share of all memberships (an
    artist's share for a new song), which orders the songs that the user does not have. New users
    get popular songs.

    Parameters
    ----------
    artist : str, int or None, default="artist"
        Column of the artist, by name or position, used for new songs. Where there is no such
        column, or None, a new song counts 0.

    user : str, int or None, default="user"
        Column of user ids; None where owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    Attributes
    ----------
    playcounts_ : csr_array of shape (n_users, n_songs)
        Number of each user's playlists that hold each song.

    popularity_ : ndarray of shape (n_songs,)
        Number of training playlists that hold each song.

    artists_ : ndarray of shape (n_artists,)
        Artists of the training songs, sorted; empty without artists.

    artist_popularity_ : ndarray of shape (n_artists,)
        Sum of the popularity of each artist's songs.

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
    PopularityRanker : Popularity alone.

    Examples
    --------
    A new playlist for ana begins with her own songs; s3 is last, although the most popular:

    >>> import pandas as pd
    >>> from skmtc import OwnSongsRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "tea"],
    ...     "song": ["s1", "s2", "s3", "s3"],
    ... })
    >>> ranker = OwnSongsRanker().fit(X)
    >>> songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=3)
    >>> songs.tolist(), scores.tolist()
    ([['s1', 's2', 's3']], [[1.2, 1.2, 0.4]])
    """

    _fitted_state = {"playcounts_": Array("users", "songs", sparse=True, above=0)}

    def __init__(
        self,
        *,
        artist: Column | None = "artist",
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
    ) -> None:
        self.artist = artist
        self.user = user
        self.playlist = playlist
        self.song = song

    def _fit(self, table, frame):
        self._fit_popularity(table)
        held = as_ones(table.membership)
        self.playcounts_ = sum_of_users(held, table.user_of_playlist, len(table.users))

    def vectors_of_queries(self, queries):
        counts = one_hot(queries.users, len(self.users_)) @ self.playcounts_
        own = one_hot(queries.playlists, len(self.playlists_)) @ as_ones(self.membership_)
        counts = csr_array(counts - own)
        counts.eliminate_zeros()
        return csr_array(hstack([counts, np.ones((len(queries), 1))]))

    def vectors_of_songs(self, songs):
        # One more than all memberships, so that no share of popularity is worth a playlist.
        shares = self._popularity_of(songs) / (1 + self.popularity_.sum())
        return csr_array(hstack([one_hot(songs.codes, len(self.songs_)), shares[:, None]]))
