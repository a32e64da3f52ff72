"""Greatest hits of artists: the base class of SAGH and CAGH."""

from abc import abstractmethod

import numpy as np
from scipy.sparse import csr_array, hstack

from skmtc._table import Ids
from skmtc._typing import Column
from skmtc._utils.fitted_state import Array, IdArray, Index
from skmtc._utils.sparse import as_ones, one_hot, sum_of_users
from skmtc._utils.validation import check_number
from skmtc.rankers.artists._base_artist import ArtistRanker


class GreatestHitsRanker(ArtistRanker):
    """Base of rankers that weigh the popularity of songs by the artists of a user or playlist.

    Vectors have two blocks of one coordinate per artist. Known songs use the first, in which a
    query has the artists of its user. New songs use the second, in which a query has the artists
    of its playlist. So both rules of the paper are one inner product.
    """

    _fitted_state = {
        "artist_of_song_": Index("songs", into="artists", missing=True),
        "artists_of_user_": Array("users", "artists", sparse=True),
        "artists_of_playlist_": Array("playlists", "artists", sparse=True),
        "popular_artists_": IdArray("popular artists"),
    }

    def __init__(
        self,
        *,
        artist: Column | None = "artist",
        n_artists: int = 10,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
    ) -> None:
        self.artist = artist
        self.n_artists = n_artists
        self.user = user
        self.playlist = playlist
        self.song = song

    def _check_parameters(self):
        check_number("n_artists", self.n_artists, at_least=1, whole=True)

    def _fit(self, table, frame):
        self.artist_of_song_ = self._fit_popularity(table)
        if len(self.artists_) == 0:
            raise ValueError(
                f"Songs must have artists; got no value in the artist column {self.artist!r}. "
                "Fill in the column, or use PopularityRanker."
            )
        n_artists, n_users = len(self.artists_), len(table.users)
        artists = one_hot(self.artist_of_song_, n_artists)
        self.artists_of_playlist_ = as_ones(csr_array(as_ones(table.membership) @ artists))
        of_users = sum_of_users(self.artists_of_playlist_, table.user_of_playlist, n_users)
        self.artists_of_user_ = as_ones(of_users)
        popular = _most_popular(self.artist_popularity_, self.n_artists)
        self.popular_artists_ = self.artists_[popular]

    def _kept_positions(self, user_stays, playlist_stays):
        kept = super()._kept_positions(user_stays, playlist_stays)
        if "artists" in kept:
            names = self.artists_[kept["artists"]]
            kept["popular artists"] = np.isin(self.popular_artists_, names)
        return kept

    def vectors_of_queries(self, queries):
        users = one_hot(queries.users, len(self.users_)) @ self.artists_of_user_
        users = users + self._popular_where(queries.users < 0)
        playlists = one_hot(queries.playlists, len(self.playlists_)) @ self.artists_of_playlist_
        playlists = playlists + users.multiply((queries.playlists < 0)[:, None])
        return csr_array(hstack([self._weigh(csr_array(users)), self._weigh(csr_array(playlists))]))

    def vectors_of_songs(self, songs):
        n_artists, is_new = len(self.artists_), songs.is_new
        columns = np.empty(len(songs), dtype=np.intp)
        columns[~is_new] = self.artist_of_song_[songs.codes[~is_new]]
        if is_new.any():
            codes = self._artist_codes(songs.new_rows)
            columns[is_new] = np.where(codes >= 0, n_artists + codes, -1)
        vectors = one_hot(columns, 2 * n_artists)
        vectors.data *= self._popularity_of(songs)[columns >= 0]
        return vectors

    @abstractmethod
    def _weigh(self, artists):
        """Return the weights of all artists for the artists of queries, 0 or 1."""

    def _popular_where(self, wanted):
        """Return the popular artists in some rows."""
        popular = Ids(self.artists_, "artist").codes(self.popular_artists_)
        rows = np.flatnonzero(wanted)
        pairs = np.repeat(rows, len(popular)), np.tile(popular, len(rows))
        shape = (len(wanted), len(self.artists_))
        return csr_array((np.ones(len(pairs[0])), pairs), shape=shape)

    def artists_of(self, rows):
        artists = super().artists_of(rows)
        if artists is None:
            raise ValueError(
                f"Songs must have an artist column, {self.artist!r}; got a table with "
                f"n_features={rows.shape[1]} columns {list(rows.columns)}. Add the column, or name "
                "the one to use with `artist=`."
            )
        return artists


def _most_popular(popularity, n_artists):
    """Return the positions of the most popular artists, and of those as popular as the last.

    With them the order of ids, so their spelling, does not matter.
    """
    last = np.sort(popularity)[::-1][min(n_artists, len(popularity)) - 1]
    return np.flatnonzero(popularity >= last)
