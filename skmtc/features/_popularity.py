"""Popularity of songs in the training playlists."""

from skmtc._checks import check_choice
from skmtc.features._counts import BaseCountEncoder

UNSEEN = ("zero", "mean", "error")


class PopularityEncoder(BaseCountEncoder):
    """Encode songs by the logarithm of their popularity.

    The feature of a song is log(1 + number of training playlists that hold it).

    A song without history has no popularity, which is not the same as being unpopular. So the
    paper leaves this feature out where new songs are ranked: popularity explains training
    playlists so well that its weight takes over from the features which new songs do have. Leave
    it out too (``make_song_features(..., popularity=False)``) if all songs to rank are new;
    `unseen` is for the few new songs in a catalogue of known ones.

    Parameters
    ----------
    unseen : {"zero", "mean", "error"}, default="zero"
        What a song that was not in `fit`, or has no id, gets: 0, as if no playlist held it; the
        mean of the feature over the training songs; or an error.

    Attributes
    ----------
    ids_ : list of ndarray
        Distinct ids of each column, sorted.

    counts_ : list of ndarray
        Number of training playlists that hold each of them.

    n_features_in_ : int
        Number of columns seen in `fit`, usually the one of song ids.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    ArtistPopularityEncoder : Popularity of all songs of an artist.

    Examples
    --------
    Song s1 is in three playlists, s2 in one.

    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from skmtc.features import PopularityEncoder
    >>> songs = pd.DataFrame({"song": ["s1", "s2"]})
    >>> membership = csr_array([[1, 2, 1], [2, 0, 0]])
    >>> encoder = PopularityEncoder().fit(songs, membership)
    >>> encoder.transform(pd.DataFrame({"song": ["s2", "s1", "new"]})).round(3)
    array([[0.693],
           [1.386],
           [0.   ]])
    """

    _role = "song"

    def __init__(self, *, unseen: str = "zero") -> None:
        self.unseen = unseen

    def _check_parameters(self):
        check_choice("unseen", self.unseen, UNSEEN)

    def _new_feature(self, new, j):
        if self.unseen == "error":
            raise ValueError(
                f"Every song must have been in fit with unseen='error'; got {len(new)} new ones, "
                f"the first of them {new.iloc[0]!r}. Pass known songs, or unseen='zero' or 'mean'."
            )
        return 0.0 if self.unseen == "zero" else self._features(self.counts_[j]).mean()
