"""Collocated artists, greatest hits."""

from scipy.sparse import csr_array

from skmtc._utils.fitted_state import Array
from skmtc.rankers.artists import GreatestHitsRanker


class CollocatedArtistRanker(GreatestHitsRanker):
    """Rank popular songs of artists that share playlists with those of a user (CAGH).

    The score of a song is its popularity times the number of times that its artist and the user's
    artists are collocated: the sum, over the user's artists, of the number of training playlists
    that hold both artists. An artist is collocated with itself in every playlist that holds it.
    Which artists and which popularity count is read from the ids:

    ========== ============================ ================ ==================
    song       playlist                     artists          popularity
    ========== ============================ ================ ==================
    known      of a known user              of the user      of the song
    new        known                        of the playlist  of the artist
    new        new, of a known user         of the user      of the artist
    any        of a new user                most popular     as above
    ========== ============================ ================ ==================

    Parameters
    ----------
    artist : str or int, default="artist"
        Column of the artist, by name or position. A song without an artist scores 0.

    n_artists : int, default=10
        How many of the most popular artists stand in for those of a new user; artists as popular
        as the last are included.

    user : str, int or None, default="user"
        Column of user ids; None where owners are unknown.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    Attributes
    ----------
    collocation_ : csr_array of shape (n_artists, n_artists)
        Number of training playlists that hold both artists.

    popularity_ : ndarray of shape (n_songs,)
        Number of training playlists that hold each song.

    artists_ : ndarray of shape (n_artists,)
        Artists of the training songs, sorted.

    artist_popularity_ : ndarray of shape (n_artists,)
        Sum of the popularity of each artist's songs.

    popular_artists_ : ndarray
        The artists that stand in for those of a new user.

    artist_of_song_ : ndarray of shape (n_songs,)
        Position in `artists_` of each song's artist; -1 for a song without one.

    artists_of_user_ : csr_array of shape (n_users, n_artists)
        1 where the user has a song of the artist.

    artists_of_playlist_ : csr_array of shape (n_playlists, n_artists)
        1 where the playlist has a song of the artist.

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
    SameArtistRanker : Only the user's own artists.

    References
    ----------
    G. Bonnin, D. Jannach. Evaluating the Quality of Playlists Based on Hand-Crafted Samples. 2013.

    Examples
    --------
    Ana has artist a1, which is collocated once with a2 and never with a3. Of equal scores the song
    in more playlists, s3, comes first:

    >>> import pandas as pd
    >>> from skmtc import CollocatedArtistRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob", "bob", "eve", "eve"],
    ...     "playlist": ["gym", "run", "run", "tea", "tea"],
    ...     "song": ["s1", "s2", "s3", "s3", "s4"],
    ...     "artist": ["a1", "a1", "a2", "a2", "a3"],
    ... })
    >>> ranker = CollocatedArtistRanker().fit(X)
    >>> songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=4)
    >>> songs.tolist(), scores.tolist()
    ([['s3', 's1', 's2', 's4']], [[2.0, 2.0, 2.0, 0.0]])
    """

    _fitted_state = {"collocation_": Array("artists", "artists", sparse=True)}

    def _fit(self, table, frame):
        super()._fit(table, frame)
        held = self.artists_of_playlist_
        self.collocation_ = csr_array(csr_array(held.T) @ held)

    def _weigh(self, artists):
        return csr_array(artists @ self.collocation_)
