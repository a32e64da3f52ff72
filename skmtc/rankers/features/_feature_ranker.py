"""Rankers that know songs by their features and users by their attributes."""

import numpy as np
from pandas import isna
from pandas.api.types import is_numeric_dtype
from scipy.sparse import csr_array, hstack, issparse, vstack

from skmtc._table.queries import Songs
from skmtc._utils.fitted_state import Array, Labels, Part, Plain
from skmtc.rankers._base_ranker import BaseRanker
from skmtc.rankers.features._conflicts import warn_odd_values
from skmtc.rankers.features._matrix import (
    check_features,
    feature_names,
    fit_features,
    make_features,
    playlist_transformer,
    song_transformer,
    transform_rows,
    user_transformer,
    without_identities,
)
from skmtc.rankers.features._neighbors import similar_playlists, similar_users
from skmtc.rankers.fitting import without_ids
from skmtc.rankers.recommend import unit_rows

# Fitted state of rankers that sum weights of features.
WEIGHTS = {
    "shared_coef_": Array("features"),
    "user_coef_": Array("users", "features"),
    "playlist_coef_": Array("playlists", "features"),
    "song_vectors_": Array("songs", "features", sparse=None),
}

# Beyond this, products of features and weights overflow before anything can be learned.
LARGEST_FEATURE = 1e15


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
    _uses_identities = False

    def _fit_song_features(self, table, frame):
        """Fit `song_features`; give the features of the catalogue, without the constant one."""
        frame = self._without_weights(frame)
        transformer = song_transformer(self.song_features, frame, table.columns)
        if not self._uses_identities:
            transformer = without_identities(transformer)
        if not self._reads_arrays:
            warn_odd_values(frame, table, transformer)
        rows = self._transformer_input(table.song_rows, table.columns.song)
        membership = csr_array(table.membership.T)
        features = fit_features(transformer, rows, membership, table.columns.song)
        names = feature_names(transformer, features.shape[1])
        if features.shape[1]:
            _check_magnitude(features, names)
        elif not self.fit_intercept:
            raise ValueError(
                "Songs need at least one feature; got none from `song_features` and "
                "fit_intercept=False. Pass a transformer that makes features."
            )
        self.song_features_ = transformer
        self.feature_names_out_ = np.append(names, "constant") if self.fit_intercept else names
        self.song_vectors_ = self._with_constant(features)
        return features

    def _fit_user_features(self, table, frame):
        """Fit `user_features`, and keep the attributes of the known users."""
        transformer = user_transformer(
            self.user_features, self._without_weights(frame), table.columns
        )
        self.user_features_ = self.user_attributes_ = None
        if transformer is None or len(table.users) == 0:  # of full playlists nothing is learned
            return
        self.user_features_ = transformer
        owner = table.columns.playlist if table.columns.user is None else table.columns.user
        rows = self._transformer_input(table.user_rows, owner)
        if not self._reads_arrays:
            self._is_number = {c: is_numeric_dtype(rows[c].dtype) for c in rows.columns}
        owners = csr_array(
            (
                np.ones(len(table.user_of_playlist)),
                (table.user_of_playlist, np.arange(len(table.user_of_playlist))),
            )
        )
        self.user_attributes_ = fit_features(transformer, rows, owners, owner, "user_features")

    def _fit_playlist_features(self, table, frame):
        """Fit `playlist_features`, and keep the attributes of the known playlists."""
        transformer = playlist_transformer(
            self.playlist_features, self._without_weights(frame), table.columns
        )
        self.playlist_features_ = self.playlist_attributes_ = self._is_playlist_number = None
        if transformer is None or len(table.playlists) == 0:
            return
        self.playlist_features_ = transformer
        label = table.columns.playlist
        rows = self._transformer_input(table.playlist_rows, label)
        if not self._reads_arrays:
            self._is_playlist_number = {c: is_numeric_dtype(rows[c].dtype) for c in rows.columns}
        self.playlist_attributes_ = fit_features(
            transformer, rows, table.membership, label, "playlist_features"
        )

    def _without(self, user_stays, playlist_stays):
        state = super()._without(user_stays, playlist_stays)
        if self.song_features_ is not None and "songs_" in state:
            gone = self.songs_[~np.isin(self.songs_, state["songs_"])]
            label = self._id_labels[2]
            state["song_features_"] = without_ids(self.song_features_, gone, label)
        return state

    def vectors_of_songs(self, songs):
        if not songs.is_new.any():
            return self.song_vectors_ if songs.is_catalogue else self.song_vectors_[songs.codes]
        new = self._with_constant(self._features_of_new(songs))
        known = self.song_vectors_[songs.codes[~songs.is_new]]
        return _in_order_of(songs, known, new)

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

    def _features_of_new(self, songs):
        """Return the features of new songs, without the constant one."""
        rows = self._transformer_input(
            songs.new_rows, self.reader.find_columns(songs.new_rows, ()).song
        )
        return make_features(self.song_features_, rows)

    def _appended_song_vectors(self, appended):
        """Return the vectors of known and new songs, the latter by the fitted transformer."""
        known = self.song_vectors_
        if len(appended.songs) == known.shape[0]:
            return known
        songs = Songs(appended.songs.values, appended.song_source, appended.song_rows)
        vectors = self.vectors_of_songs(songs)
        if vectors.shape[1] > 0:
            _check_magnitude(vectors, self.feature_names_out_)
        if issparse(vectors) and not issparse(known):
            vectors = vectors.toarray()
        return vectors.astype(known.dtype, copy=False)

    def _appended_user_attributes(self, appended):
        """Return the attributes of known and new users."""
        known = self.user_attributes_
        if known is None or len(appended.user_rows) == 0:
            return known if known is None else known[appended.user_source]
        columns = self.reader.find_columns(appended.user_rows, ())
        owner = columns.playlist if columns.user is None else columns.user
        rows = self._transformer_input(appended.user_rows, owner)
        new = make_features(self.user_features_, rows, "user_features")
        users = Songs(appended.users.values, appended.user_source)
        return _in_order_of(users, known[users.codes[~users.is_new]], new)

    def _joined_playlist_attributes(self, appended):
        """Return the attributes of known and new playlists."""
        known = self.playlist_attributes_
        if known is None or len(appended.playlist_rows) == 0:
            return known if known is None else known[appended.playlist_source]
        columns = self.reader.find_columns(appended.playlist_rows, ())
        rows = self._transformer_input(appended.playlist_rows, columns.playlist)
        new = make_features(self.playlist_features_, rows, "playlist_features")
        playlists = Songs(appended.playlists.values, appended.playlist_source)
        return _in_order_of(playlists, known[playlists.codes[~playlists.is_new]], new)

    def _sum_of_weights(self, queries):
        """Add up shared weights, those of the user or of similar ones, and of the playlist."""
        vectors = np.tile(self.shared_coef_, (len(queries), 1))
        user, playlist = queries.users >= 0, queries.playlists >= 0
        vectors[user] += self.user_coef_[queries.users[user]]
        vectors[playlist] += self.playlist_coef_[queries.playlists[playlist]]
        similar = None if user.all() else self._similar_users(queries.rows[~user])
        if similar is not None:
            vectors[~user] += similar @ self.user_coef_
        return vectors

    def _first_known(self, queries, *, playlists, users, otherwise):
        """Return the vector of the playlist, else of the user, else the mean of similar users.

        `playlists` may be None: then a playlist has the vector of its user. Users who are like
        nobody have the vector `otherwise`.
        """
        vectors = np.tile(otherwise, (len(queries), 1))
        user = queries.users >= 0
        similar = None if user.all() else self._similar_users(queries.rows[~user])
        if similar is not None:
            described = np.diff(similar.indptr) > 0
            vectors[np.flatnonzero(~user)[described]] = similar[described] @ users
        vectors[user] = users[queries.users[user]]
        if playlists is not None:
            playlist = queries.playlists >= 0
            vectors[playlist] = playlists[queries.playlists[playlist]]
        return vectors

    def _similar_users(self, rows):
        """Weigh the known users for new ones; None where nothing is known of the new users."""
        if self.user_features_ is None or len(self.users_) == 0:
            return None
        columns = self.reader.find_columns(rows, ())
        owner = columns.playlist if self.user is None else columns.user
        attributes = self._attributes(rows, owner, self.user_features_, "_is_number")
        if attributes is None:
            return None
        return similar_users(attributes, self.user_attributes_, self.n_neighbors)

    def _similar_playlists(self, rows):
        """Weigh the known playlists for new ones; None where nothing is known of the new ones."""
        if self.playlist_features_ is None or len(self.playlists_) == 0:
            return None
        label = self.reader.find_columns(rows, ()).playlist
        transformer, known = self.playlist_features_, self.playlist_attributes_
        attributes = self._attributes(rows, label, transformer, "_is_playlist_number")
        return (
            None if attributes is None else similar_playlists(attributes, known, self.n_neighbors)
        )

    def _attributes(self, rows, own_id, transformer, are_numbers):
        """Return the attributes of new users or playlists; None if rows have no column of them."""
        described = set(rows.columns) - set(self.reader.find_columns(rows, ()).labels)
        if not self._reads_arrays:
            described &= set(getattr(self, are_numbers))
        if not described:
            return None
        rows = self._transformer_input(rows, own_id)
        if not self._reads_arrays:
            rows = _with_missing(rows, getattr(self, are_numbers))
        attributes = _zeros_for_missing(transform_rows(transformer, rows))
        return check_features(attributes, transformer, rows)

    def _without_weights(self, frame):
        """Return a table without the column of weights, which is no feature."""
        label = getattr(self, "_weight_label", None)
        return frame if label not in frame.columns else frame.drop(columns=label)

    def _transformer_input(self, rows, own_id):
        """Return rows in the form that `song_features` or `user_features` sees.

        Of the ids, a DataFrame keeps only the one of the songs or users that the rows describe.
        An array stays whole, so that columns keep their positions.
        """
        if self._reads_arrays:
            return rows.to_numpy()
        rows = self._without_weights(rows)
        columns = self.reader.find_columns(rows, ())
        others = [c for c in columns.labels if c is not None and c != own_id]
        return rows.drop(columns=others)

    def _with_constant(self, features):
        if not self.fit_intercept:
            return features
        ones = np.ones((features.shape[0], 1), dtype=features.dtype)
        if issparse(features):
            return csr_array(hstack([features, ones], format="csr"))
        return np.hstack([features, ones])


def _with_missing(rows, is_number):
    """Add the columns that a query leaves out, as missing values."""
    rows = rows.copy()
    for label, number in is_number.items():
        if label not in rows.columns:
            rows[label] = np.nan if number else None
    return rows


def _zeros_for_missing(attributes):
    """Return attributes with zeros, which match nobody, for users without any known one."""
    if issparse(attributes):
        return attributes
    attributes = np.array(attributes)
    attributes[isna(attributes).all(axis=1)] = 0
    return attributes


def _in_order_of(songs, known, new):
    """Put the vectors of known and new songs in the places of their songs."""
    order = np.empty(len(songs), dtype=np.intp)
    order[~songs.is_new] = np.arange(known.shape[0])
    order[songs.is_new] = known.shape[0] + np.arange(new.shape[0])
    stack = vstack if issparse(known) or issparse(new) else np.vstack
    stacked = stack([known, new])
    return (csr_array(stacked) if issparse(stacked) else stacked)[order]


def largest_feature(features, names):
    """Return the name and size of the largest feature."""
    sizes = abs(features).max(axis=0)
    sizes = sizes.toarray().ravel() if issparse(sizes) else np.asarray(sizes)
    column = int(sizes.argmax())
    return names[column], float(sizes[column])


def _check_magnitude(features, names):
    name, size = largest_feature(features, names)
    if size > LARGEST_FEATURE:
        raise ValueError(
            f"Features must be of moderate size; got values up to {size:.1e} in feature {name!r}. "
            "Rescale it, e.g. with StandardScaler in `song_features`."
        )
