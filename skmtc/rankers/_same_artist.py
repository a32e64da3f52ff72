"""Same artists, greatest hits."""

from skmtc.rankers.artists import GreatestHitsRanker


class SameArtistRanker(GreatestHitsRanker):
    """Rank songs of the artists that a user already has, by popularity (SAGH).

    What counts is read from the ids:

    ========== ============================ ================ ==================
    song       playlist                     artists          score, else 0
    ========== ============================ ================ ==================
    known      of a known user              of the user      song popularity
    new        known                        of the playlist  artist popularity
    new        new, of a known user         of the user      artist popularity
    any        of a new user                most popular     as above
    ========== ============================ ================ ==================

    Popularity of a song is the number of training playlists that hold it, that of an artist the
    sum over the artist's songs. Most songs score 0, so that they are tied: expect a low AUC and a
    better HitRate.

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
    CollocatedArtistRanker : Also artists that share playlists with those of the user.
    PopularityRanker : Popularity without regard to artists.

    References
    ----------
    B. McFee, T. Bertin-Mahieux, D. Ellis, G. Lanckriet. The Million Song Dataset Challenge. 2012.

    Examples
    --------
    Ana has artist a1 only; s3 is in two playlists but of another artist:

    >>> import pandas as pd
    >>> from skmtc import SameArtistRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob", "bob", "eve", "eve"],
    ...     "playlist": ["gym", "run", "run", "tea", "tea"],
    ...     "song": ["s1", "s2", "s3", "s3", "s4"],
    ...     "artist": ["a1", "a1", "a2", "a2", "a2"],
    ... })
    >>> ranker = SameArtistRanker().fit(X)
    >>> songs, scores = ranker.recommend(pd.DataFrame({"user": ["ana"]}), n_recommendations=3)
    >>> songs.tolist(), scores.tolist()
    ([['s1', 's2', 's3']], [[1.0, 1.0, 0.0]])
    """

    def _weigh(self, artists):
        return artists
