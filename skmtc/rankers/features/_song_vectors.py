"""The features of songs: fitted on the catalogue, made of new songs, appended."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from skmtc._table import Songs
from skmtc._utils.sparse import merge_rows
from skmtc.rankers.features._conflicts import warn_odd_values
from skmtc.rankers.features._feature_rows import transformer_input, without_weights
from skmtc.rankers.features._matrix import (
    feature_names,
    fit_features,
    make_features,
    song_transformer,
    without_identities,
)

# Beyond this, products of features and weights overflow before anything can be learned.
LARGEST_FEATURE = 1e15


class SongFeatures(NamedTuple):
    """The features of the catalogue and what a ranker stores of them.

    Attributes
    ----------
    matrix : array or csr_array of shape (n_songs, n_features)
        Features, without the constant one.

    attributes : dict
        Fitted attributes by name.
    """

    matrix: Any
    attributes: dict[str, Any]


def fit_song_features(ranker, table, frame):
    """Fit the transformer `song_features` of a ranker on the songs of a table.

    Parameters
    ----------
    ranker : FeatureRanker
        The ranker, which is not changed.

    table : MembershipTable
        Training table.

    frame : DataFrame
        All its rows.

    Returns
    -------
    song_features : SongFeatures
        Features of the catalogue, and the fitted attributes.
    """
    frame = without_weights(ranker, frame)
    transformer = song_transformer(
        ranker.song_features,
        frame,
        table.columns,
        new_songs=ranker.features_for_new_songs_only,
        random_state=ranker.random_state,
    )
    if not ranker.uses_identities:
        transformer = without_identities(transformer)
    if not ranker.reader.is_array:
        warn_odd_values(frame, table, transformer)
    rows = transformer_input(ranker, table.song_rows, table.columns.song)
    membership = csr_array(table.membership.T)
    matrix = fit_features(transformer, rows, membership, table.columns.song)
    names = feature_names(transformer, matrix.shape[1])
    if matrix.shape[1]:
        _check_magnitude(matrix, names)
    elif not ranker.fit_intercept:
        raise ValueError(
            "Songs need at least one feature; got none from `song_features` and "
            "fit_intercept=False. Pass a transformer that makes features."
        )
    attributes = {
        "song_features_": transformer,
        "feature_names_out_": np.append(names, "constant") if ranker.fit_intercept else names,
        "song_vectors_": _with_constant(ranker, matrix),
    }
    return SongFeatures(matrix, attributes)


def song_vectors(ranker, songs):
    """Return the vectors of known and new songs, the constant feature included."""
    if not songs.is_new.any():
        return ranker.song_vectors_ if songs.is_catalogue else ranker.song_vectors_[songs.codes]
    known = ranker.song_vectors_[songs.codes[~songs.is_new]]
    return merge_rows(songs.is_new, known, vectors_of_new_songs(ranker, songs))


def vectors_of_new_songs(ranker, songs):
    """Return the vectors of new songs, which the fitted transformer makes of their rows."""
    label = ranker.reader.find_columns(songs.new_rows, ()).song
    rows = transformer_input(ranker, songs.new_rows, label)
    return _with_constant(ranker, make_features(ranker.song_features_, rows))


def append_song_vectors(ranker, appended):
    """Return the vectors of the songs of an appended table."""
    known = ranker.song_vectors_
    if len(appended.songs) == known.shape[0]:
        return known
    songs = Songs(appended.songs.values, appended.song_source, appended.song_rows)
    vectors = song_vectors(ranker, songs)
    if vectors.shape[1] > 0:
        _check_magnitude(vectors, ranker.feature_names_out_)
    if issparse(vectors) and not issparse(known):
        vectors = vectors.toarray()
    return vectors.astype(known.dtype, copy=False)


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


def _with_constant(ranker, features):
    if not issparse(features):
        # Row by row, as songs are looked up: columns of a DataFrame lie one after the other.
        features = np.ascontiguousarray(features)
    if not ranker.fit_intercept:
        return features
    ones = np.ones((features.shape[0], 1), dtype=features.dtype)
    if issparse(features):
        return csr_array(hstack([features, ones], format="csr"))
    return np.hstack([features, ones])
