"""How often training playlists hold the songs of an id."""

import numpy as np

from skmtc._fitted_state import Array, Each, IdArray
from skmtc.features._base import BaseColumnEncoder, find_ids, learn_ids
from skmtc.features._membership import n_playlists_of_song


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
        """Give the feature of rows without history."""
        return 0.0
