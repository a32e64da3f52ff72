"""Ranking by popularity: the baseline that is hard to beat for new users."""

import numpy as np

from skmtc._typing import Column
from skmtc.rankers.artists import ArtistRanker
from skmtc.rankers.fitting import read_weight_column


class PopularityRanker(ArtistRanker):
    """Rank songs by how many training playlists hold them.

    A song without history is ranked by its artist: by the number of times that songs of the artist
    are in training playlists. All playlists and users get the same ranking.

    Parameters
    ----------
    artist : str, int or None, default="artist"
        Column of the artist, by name or position, used for new songs. Where there is no such
        column, or None, a new song counts 0.

    weight : str, int or None, default=None
        Column of the weight of each row, a positive number, by name or position: the popularity of
        a song is the sum of the weights of its rows. With `half_life_weights` of dates, recent
        rows count more. If a song is repeated in a playlist, its first row counts. None: rows have
        weight 1.

    user : str, int or None, default="user"
        Column of user ids; None where owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    Attributes
    ----------
    popularity_ : ndarray of shape (n_songs,)
        Number of training playlists that hold each song, or sum of the weights of its rows.

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
    MultitaskPlaylistRanker : Ranker that learns weights of users and playlists.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning
    (there: PopRank).

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc import PopularityRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s3", "s4"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> songs, scores = ranker.recommend(
    ...     pd.DataFrame({"user": ["eve"]}), n_recommendations=2
    ... )
    >>> songs.tolist(), scores.tolist()
    ([['s1', 's2']], [[2.0, 1.0]])
    """

    def __init__(
        self,
        *,
        artist: Column | None = "artist",
        weight: Column | None = None,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
    ) -> None:
        self.artist = artist
        self.weight = weight
        self.user = user
        self.playlist = playlist
        self.song = song

    def _fit(self, table, frame):
        _, weights = read_weight_column(frame, self.weight)
        if weights is None:
            self._fit_popularity(table)
            return
        columns = table.columns
        first = ~frame.duplicated([columns.playlist, columns.song]).to_numpy()
        counts = first & (table.playlists.codes(frame[columns.playlist]) >= 0)
        songs = table.songs.codes(frame[columns.song])
        sums = np.bincount(songs[counts], weights[counts], minlength=len(table.songs))
        self._fit_popularity(table, sums)

    def vectors_of_queries(self, queries):
        return np.ones((len(queries), 1))

    def vectors_of_songs(self, songs):
        return self._popularity_of(songs)[:, None]
