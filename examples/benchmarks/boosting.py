"""A gradient-boosted ranker as a competitor: LightGBM on sampled negatives."""

import numpy as np
from competitors import Competitor
from scipy.sparse import csr_array, eye

from skmtc._utils.sparse import as_ones, one_hot
from skmtc.rankers.features import attributes_of, learn_features

N_NEGATIVES = 30
MOST_PLAYLISTS = 5000


class LightGBMRanker(Competitor):
    """LambdaRank of `lightgbm`: playlists are queries, their songs and random ones are evaluated.

    A pair of a playlist and a song is described by the features of the song, the attributes of the
    user, and how near the song is to the user's other playlists: the inner product of its features
    with their mean. This is no inner product of two vectors, so a query's vector is all its scores.
    """

    package, module = "lightgbm", "lightgbm"
    cannot = {}

    def _fit(self, table, frame):
        from lightgbm import LGBMRanker

        self.song_attributes_ = learn_features(self, table, frame).astype(np.float32)
        membership = as_ones(table.membership)
        sums, sizes = membership @ self.song_attributes_, np.diff(membership.indptr)
        owners = one_hot(table.user_of_playlist, len(table.users)).T
        self._sums, self._sizes = owners @ sums, owners @ sizes
        pairs, labels, groups = [], [], []
        rng = np.random.default_rng(self.seed)
        for i in rng.permutation(len(sizes))[:MOST_PLAYLISTS]:
            user, held = table.user_of_playlist[i], membership[[i]].indices
            songs = np.union1d(held, rng.integers(membership.shape[1], size=N_NEGATIVES))
            # The playlist itself must not tell what is in it.
            n_others = self._sizes[user] - sizes[i]
            others = (self._sums[user] - sums[i]) / n_others if n_others else None
            pairs.append(self._pairs(self.song_attributes_[songs], others, self._attributes(user)))
            labels.append(np.isin(songs, held))
            groups.append(len(songs))
        options = {"n_estimators": 50, "num_leaves": 15} | (self.options or {})
        self.model_ = LGBMRanker(random_state=self.seed, verbose=-1, n_jobs=1, **options)
        self.model_.fit(np.vstack(pairs), np.concatenate(labels), group=groups)

    def vectors_of_queries(self, queries):
        """Return the scores of all candidates, which are made once per known user."""
        scores = np.empty((len(queries), len(self._candidates)), dtype=np.float32)
        known = queries.users >= 0
        for user in np.unique(queries.users[known]):
            mean = self._sums[user] / self._sizes[user]
            scores[queries.users == user] = self._scores(mean, self._attributes(user))
        if not known.all():
            scores[~known] = self._scores_of_new_users(queries.rows[~known])
        return scores

    def vectors_of_songs(self, songs):
        """Return the features of songs."""
        features = self.song_attributes_[np.maximum(songs.codes, 0)]
        if songs.is_new.any():
            features[songs.is_new] = self.features_of_new(songs)
        self._candidates = features
        return csr_array(eye(len(songs)))

    def _scores_of_new_users(self, rows):
        if self.user_features_ is None:
            return self._scores(None, np.empty(0))
        attributes = attributes_of(self, "user", rows)
        distinct, place = np.unique(attributes, axis=0, return_inverse=True)
        return np.array([self._scores(None, row) for row in distinct])[place.ravel()]

    def _scores(self, mean, attributes):
        return self.model_.predict(self._pairs(self._candidates, mean, attributes))

    def _attributes(self, user):
        return np.empty(0) if self.user_attributes_ is None else self.user_attributes_[user]

    def _pairs(self, songs, mean, attributes):
        nearness = np.full(len(songs), np.nan) if mean is None else songs @ mean
        return np.column_stack([songs, nearness, np.tile(attributes, (len(songs), 1))])
