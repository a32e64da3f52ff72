"""Base class of rankers with artists."""

import numpy as np

from skmtc._table import Ids
from skmtc._utils.fitted_state import Array, IdArray
from skmtc.rankers._base_ranker import BaseRanker


class ArtistRanker(BaseRanker):
    """Base of rankers with the parameter `artist`: popularity of songs, of artists for new songs.

    A song whose artist is not known, or is missing, has the artist code -1.
    """

    _fitted_state = {
        "popularity_": Array("songs", at_least=0),
        "artists_": IdArray("artists"),
        "artist_popularity_": Array("artists", at_least=0),
    }

    def _fit_popularity(self, table, popularity=None):
        """Count how popular songs and artists are; return the code of each song's artist.

        Songs count the playlists that hold them unless their popularity is given.
        """
        if popularity is None:
            indices = table.membership.indices
            popularity = np.bincount(indices, minlength=len(table.songs)).astype(float)
        self.popularity_ = popularity
        artists = self.artists_of(table.song_rows)
        codes = np.full(len(table.songs), -1)
        named = np.zeros(len(codes), dtype=bool) if artists is None else artists.notna().to_numpy()
        if not named.any():
            self.artists_, self.artist_popularity_ = np.array([], dtype=object), np.array([])
            return codes
        ids, codes[named] = Ids.factorize(artists[named], "artist")
        self.artists_ = ids.values
        self.artist_popularity_ = np.bincount(
            codes[named], self.popularity_[named], minlength=len(ids)
        )
        return codes

    def _popularity_of(self, songs):
        """Return the popularity of known songs, and that of the artist of new ones."""
        popularity = np.zeros(len(songs))
        popularity[~songs.is_new] = self.popularity_[songs.codes[~songs.is_new]]
        if songs.is_new.any():
            codes = self._artist_codes(songs.new_rows)
            popularity[songs.is_new] = self._popularity_of_artists(codes)
        return popularity

    def _popularity_of_artists(self, codes):
        return np.append(self.artist_popularity_, 0.0)[codes]  # -1 picks the 0

    def _artist_codes(self, rows):
        artists = self.artists_of(rows)
        codes = np.full(len(rows), -1)
        if artists is not None and len(self.artists_):
            named = artists.notna().to_numpy()
            ids = Ids(self.artists_, "artist")
            codes[named] = ids.codes(artists[named])
        return codes
