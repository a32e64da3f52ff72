"""Popularity of artists in the training playlists."""

from skmtc.features._counts import BaseCountEncoder


class ArtistPopularityEncoder(BaseCountEncoder):
    """Encode artists by the accumulated playcount of their songs.

    The feature of a song is the number of times that songs of its artist are in training
    playlists. Unlike the popularity of the song itself it is known for new songs too. A new
    artist, or none, counts 0.

    Parameters
    ----------
    log : bool, default=False
        Whether to give log(1 + playcount) instead of the playcount. Playcounts spread over
        several orders of magnitude, so linear rankers learn better from their logarithm.

    Attributes
    ----------
    ids_ : list of ndarray
        Distinct artists of each column, sorted.

    counts_ : list of ndarray
        Playcount of each of them.

    n_features_in_ : int
        Number of columns seen in `fit`, usually the one of artists.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    PopularityEncoder : Popularity of the song itself.

    Examples
    --------
    The two songs of artist a are in two playlists and in one: 3 memberships.

    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from skmtc.features import ArtistPopularityEncoder
    >>> songs = pd.DataFrame({"artist": ["a", "a", "b"]})
    >>> membership = csr_array([[1, 2], [2, 0], [0, 1]])
    >>> encoder = ArtistPopularityEncoder().fit(songs, membership)
    >>> encoder.transform(pd.DataFrame({"artist": ["a", "b", "new"]}))
    array([[3.],
           [1.],
           [0.]])
    """

    _role = "artist"

    def __init__(self, *, log: bool = False) -> None:
        self.log = log

    def _features(self, counts):
        return super()._features(counts) if self.log else counts
