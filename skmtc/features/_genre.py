"""One-hot encoding of genres."""

from numbers import Number

import numpy as np
import pandas as pd

from skmtc._table import Ids
from skmtc._utils.fitted_state import Array, Each, IdArray, Plain
from skmtc.features._base_encoder import BaseColumnEncoder, check_frequency, fewest_rows


class GenreEncoder(BaseColumnEncoder):
    """Encode genres one-hot, with mean imputation where the genre is unknown.

    A song may have several genres, as a list or as a separated string, and then has a one for
    each. A song of unknown genre gets the frequency of each genre among the training songs whose
    genre is known. A genre that was not in `fit` counts as unknown.

    It also encodes other categories, such as countries.

    Parameters
    ----------
    separator : str or None, default="|"
        What separates the genres of one string, as in "rock|pop". None: a string is one
        genre.

    min_frequency : int, float or None, default=None
        Genres of fewer training songs than this are pooled in one feature, which is named
        "infrequent". A float is a share of the training songs. None: none are pooled.

    Attributes
    ----------
    genres_ : list of ndarray
        Genres of each column that have a feature of their own, sorted.

    infrequent_genres_ : list of ndarray
        Genres of each column that are pooled, sorted.

    frequencies_ : list of ndarray
        Features of a song of unknown genre: the means over training songs of known genre.

    n_unknown_ : list of int
        Number of training songs of unknown genre, by column.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    Examples
    --------
    Two of the three songs of known genre are rock, and two are pop.

    >>> import pandas as pd
    >>> from skmtc.features import GenreEncoder
    >>> songs = pd.DataFrame({"genre": ["rock", "rock|pop", "pop", None]})
    >>> encoder = GenreEncoder().fit(songs)
    >>> encoder.get_feature_names_out().tolist()
    ['genre_pop', 'genre_rock']
    >>> encoder.transform(songs).round(2)
    array([[0.  , 1.  ],
           [1.  , 1.  ],
           [1.  , 0.  ],
           [0.67, 0.67]])
    """

    _fitted_state = {
        "genres_": Each(IdArray("genres")),
        "infrequent_genres_": Each(IdArray("infrequent genres")),
        "frequencies_": Each(
            Array(lambda sizes: sizes["genres"] + bool(sizes["infrequent genres"]))
        ),
        "n_unknown_": Each(Plain.count()),
    }

    def __init__(self, *, separator: str | None = "|", min_frequency: float | None = None) -> None:
        self.separator = separator
        self.min_frequency = min_frequency

    def _check_parameters(self):
        if self.separator is not None and not (isinstance(self.separator, str) and self.separator):
            raise ValueError(
                f"`separator` must be a string that is not empty, or None; got {self.separator!r}. "
                "Pass e.g. '|', or None if a string is one genre."
            )
        if self.min_frequency is not None:
            check_frequency(self.min_frequency)

    def _reset(self):
        self.genres_, self.infrequent_genres_ = [], []
        self.frequencies_, self.n_unknown_ = [], []

    def _fit_column(self, column, membership):
        rows, genres = self._read_genres(column)
        if len(rows) == 0:
            raise ValueError(
                f"Column {column.name!r} must name a genre in at least one row; got {len(column)} "
                "rows without. Fill in the column, or leave it out of the features."
            )
        ids, codes = Ids.factorize(genres, "genre")
        fewest = 1 if self.min_frequency is None else fewest_rows(self.min_frequency, len(column))
        rare = np.bincount(codes, minlength=len(ids)) < fewest
        self.genres_.append(ids.values[~rare])
        self.infrequent_genres_.append(ids.values[rare])
        ones = self._one_hot(rows, genres, len(column), len(self.genres_) - 1)
        known = ones.any(axis=1)
        self.frequencies_.append(ones[known].mean(axis=0))
        self.n_unknown_.append(int((~known).sum()))

    def _transform_column(self, column, j):
        rows, genres = self._read_genres(column)
        features = self._one_hot(rows, genres, len(column), j)
        features[~features.any(axis=1)] = self.frequencies_[j]
        return features

    def _column_names(self, column, j):
        names = [f"{column}_{genre}" for genre in self.genres_[j]]
        if len(self.infrequent_genres_[j]):
            pooled = f"{column}_infrequent"
            while pooled in names:  # a genre may have this very name
                pooled += "_"
            names.append(pooled)
        return names

    def _one_hot(self, rows, genres, n_songs, j):
        """Return zeros and ones; the last feature is of the pooled genres, if there are any."""
        frequent, infrequent = self.genres_[j], self.infrequent_genres_[j]
        known = Ids(np.concatenate([frequent, infrequent]), "genre")
        ones = np.zeros((n_songs, len(frequent) + bool(len(infrequent))))
        codes = np.minimum(known.codes(genres), len(frequent))
        ones[rows[codes >= 0], codes[codes >= 0]] = 1.0
        return ones

    def _read_genres(self, column):
        """Return a row and a genre for each genre of each row."""
        present = np.flatnonzero(column.notna().to_numpy())
        # A genre that a song has twice counts once.
        found = [set(self._genres_of(cell, column.name)) for cell in column.iloc[present]]
        rows = np.repeat(present, [len(genres) for genres in found])
        genres = [genre for several in found for genre in several]
        return rows, pd.Index(genres) if genres else pd.Index([], dtype=object)

    def _genres_of(self, cell, label):
        if isinstance(cell, str):
            parts = [cell] if self.separator is None else cell.split(self.separator)
            return [part.strip() for part in parts if part.strip()]
        if isinstance(cell, Number | np.bool_):
            return [cell]
        if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
            _check_flat(cell, label)
            return [
                genre for one in cell if not pd.isna(one) for genre in self._genres_of(one, label)
            ]
        _refuse_genre(cell, label)


def _check_flat(cell, label):
    nested = next((one for one in cell if np.ndim(one) > 0), None)
    if nested is not None:
        _refuse_genre(nested, label)


def _refuse_genre(cell, label):
    raise TypeError(
        f"A genre must be a string or a number, and several of them a list; got "
        f"{type(cell).__name__} {cell!r} in column {label!r}. Convert the column."
    )
