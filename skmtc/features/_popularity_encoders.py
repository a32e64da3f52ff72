"""Popularity of songs and artists: counts of training playlists that contain them."""

import numpy as np

from skmtc._utils.fitted_state import Array, Each, IdArray
from skmtc._utils.validation import check_choice
from skmtc.features._base_encoder import (
    BaseColumnEncoder,
    find_ids,
    learn_ids,
    n_playlists_of_song,
)

UNSEEN = ("zero", "mean", "error")


class BaseCountEncoder(BaseColumnEncoder):
    """Base of encoders that count memberships by id.

    Subclasses have a `_role`, for messages, and turn counts into features with `_features`.
    """

    _fitted_state = {
        "ids_": Each(IdArray("ids")),
        "counts_": Each(Array("ids", at_least=0)),
    }

    def _reset(self):
        self.ids_, self.counts_ = [], []

    def _fit_column(self, column, membership):
        ids, codes = learn_ids(column, self._role)
        known = codes >= 0
        n_playlists = n_playlists_of_song(membership)[known]
        self.ids_.append(ids)
        self.counts_.append(np.bincount(codes[known], weights=n_playlists, minlength=len(ids)))

    def _transform_column(self, column, j):
        codes = find_ids(column, self.ids_[j], self._role)
        features = np.empty(len(codes))
        known = codes >= 0
        features[known] = self._features(self.counts_[j][codes[known]])
        if not known.all():
            features[~known] = self._new_feature(column[~known], j)
        return features[:, None]

    def _column_names(self, column, j):
        return [f"{column}_popularity"]

    def _features(self, counts):
        return np.log1p(counts)

    def _new_feature(self, new, j):
        """Return the feature of rows without history."""
        return 0.0


class PopularityEncoder(BaseCountEncoder):
    """Encode songs by the logarithm of their popularity.

    The feature of a song is log(1 + number of training playlists that hold it).

    The popularity of a new song is unknown, which is not the same as being unpopular. If all songs
    to rank are new, leave this feature out, as the paper does and as
    ``make_song_features(..., new_songs=True)`` does: a model that is trained with it learns little
    from the features that new songs have. `unseen` is for the few new songs in a catalogue of known
    ones.

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


class ArtistPopularityEncoder(BaseCountEncoder):
    """Encode artists by the accumulated playcount of their songs.

    The feature of a song is the number of times that songs of its artist are in training
    playlists. Unlike the popularity of the song itself it is known for new songs too. A new
    artist, or none, counts 0.

    Parameters
    ----------
    log : bool, default=False
        Whether to return log(1 + playcount) instead of the playcount. Playcounts spread over
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
