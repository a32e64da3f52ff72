"""Rankers that know songs by their features and users by their attributes."""

import numpy as np
from scipy.sparse import issparse

from skmtc._utils.fitted_state import Array, Labels, Part, Plain
from skmtc.rankers._base_ranker import BaseRanker
from skmtc.rankers.features._song_vectors import song_vectors
from skmtc.rankers.fitting import without_ids
from skmtc.rankers.recommend import unit_rows
from skmtc.rankers.scoring import ColumnSplit

# Fitted state of rankers that sum weights of features.
WEIGHTS = {
    "shared_coef_": Array("features"),
    "user_coef_": Array("users", "features"),
    "playlist_coef_": Array("playlists", "features"),
    "song_vectors_": Array("songs", "features", sparse=None),
}


class FeatureRanker(BaseRanker):
    """Base of rankers with the parameters `song_features`, `user_features`, `n_neighbors` and
    `fit_intercept`.
    """  # noqa: D205

    _fitted_state = {
        "song_features_": Part(optional=True),
        "user_features_": Part(optional=True),
        "song_vectors_": Array("songs", "features", sparse=None, optional=True),
        "user_attributes_": Array("users", "attributes", sparse=None, optional=True),
        "feature_names_out_": Labels("features"),
        "_is_number": Plain(dict, optional=True),
    }
    # Whether the ranker can learn weights for each of thousands of artists, albums and tags. Others
    # leave the parts of `song_features` out that have one feature for each.
    uses_identities = False
    # Whether only new songs are scored by features, which then have no vectors of known songs.
    features_for_new_songs_only = False
    # Label of the column of weights, which is no feature.
    weight_label = None

    def vectors_of_songs(self, songs):
        return song_vectors(self, songs)

    def vectors_for(self, songs):
        vectors = self.vectors_of_songs(songs)
        split = ColumnSplit(vectors)
        return lambda queries: split(self.vectors_of_queries(queries)), split(vectors)

    def similarity_vectors(self, songs):
        """Return features of length 1, centred if they are dense, without the constant one.

        :meta private:
        """
        n_features = len(self.feature_names_out_) - bool(self.fit_intercept)
        if n_features == 0:
            return super().similarity_vectors(songs)
        vectors = self.vectors_of_songs(songs)[:, :n_features]
        if not issparse(vectors) and not issparse(self.song_vectors_):
            vectors = vectors - self.song_vectors_[:, :n_features].mean(axis=0)
        return unit_rows(vectors)

    def _without(self, user_stays, playlist_stays):
        state = super()._without(user_stays, playlist_stays)
        if self.song_features_ is not None and "songs_" in state:
            gone = self.songs_[~np.isin(self.songs_, state["songs_"])]
            label = self._id_labels[2]
            state["song_features_"] = without_ids(self.song_features_, gone, label)
        return state
