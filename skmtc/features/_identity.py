"""Sparse one-hot encoding of columns with many values."""

import numpy as np

from skmtc._utils.fitted_state import Each, IdArray, Plain
from skmtc._utils.validation import check_number
from skmtc.features._base_encoder import (
    BaseColumnEncoder,
    check_frequency,
    fewest_rows,
    find_ids,
    learn_ids,
    ones_at,
)


class IdentityEncoder(BaseColumnEncoder):
    """Encode artists, albums or labels one-hot, in a sparse array.

    In contrast to an embedding, each value has its own feature. The array is
    never dense, whatever the number of values. A missing value, one that was not in `fit` and
    one of too few training songs get a row of zeros.

    Parameters
    ----------
    min_frequency : int or float, default=2
        Values of fewer training songs than this are ignored: nothing can be learned from one
        song about another. A float is a share of the songs.

    max_categories : int or None, default=None
        Most values of a column that have a feature, those of most training songs; None for all.

    Attributes
    ----------
    ids_ : list of ndarray
        Values of each column that have a feature, sorted.

    n_unknown_ : list of int
        Number of training songs without a feature, by column.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    TagEncoder : Several values in a cell, with weights.
    ArtistEmbedding : Vectors in which similar artists are close.

    Examples
    --------
    Artist b has only one song, c none.

    >>> import pandas as pd
    >>> from skmtc.features import IdentityEncoder
    >>> encoder = IdentityEncoder().fit(pd.DataFrame({"artist": ["a", "a", "b"]}))
    >>> encoder.transform(pd.DataFrame({"artist": ["a", "b", "c"]})).toarray()
    array([[1.],
           [0.],
           [0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['artist_a']
    """

    _fitted_state = {"ids_": Each(IdArray("ids")), "n_unknown_": Each(Plain.count())}

    def __init__(
        self, *, min_frequency: float | None = 2, max_categories: int | None = None
    ) -> None:
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def _check_parameters(self):
        check_frequency(self.min_frequency)
        if self.max_categories is not None:
            check_number("max_categories", self.max_categories, at_least=1, whole=True)

    def _reset(self):
        self.ids_, self.n_unknown_ = [], []

    def _fit_column(self, column, membership):
        ids, codes = np.empty(0, dtype=object), np.full(len(column), -1)
        if column.notna().any():  # a fold of cross-validation may have none
            ids, codes = learn_ids(column, "identity")
        frequencies = np.bincount(codes[codes >= 0], minlength=len(ids))
        frequent = frequencies >= fewest_rows(self.min_frequency, len(column))
        if self.max_categories is not None:
            # Of values with the same number of songs, the first in sorted order.
            rarer = np.argsort(-frequencies, kind="stable")[self.max_categories :]
            frequent[rarer] = False
        self.ids_.append(ids[frequent])
        self.n_unknown_.append(len(column) - int(frequencies[frequent].sum()))

    def _transform_column(self, column, j):
        codes = find_ids(column, self.ids_[j], "identity")
        rows = np.flatnonzero(codes >= 0)
        shape = len(codes), len(self.ids_[j])
        return ones_at(rows, codes[rows], shape)

    def _column_names(self, column, j):
        return [f"{column}_{value}" for value in self.ids_[j]]
