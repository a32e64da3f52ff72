"""Attributes of users and of playlists, which compare new ones with known ones.

For the role "user" a ranker has the parameter `user_features` and the fitted attributes
`user_features_` (the transformer) and `user_attributes_` (a row per known user); for the role
"playlist" the same with its name.
"""

import numpy as np
from pandas import isna
from pandas.api.types import is_numeric_dtype
from scipy.sparse import csr_array, issparse

from skmtc._utils.sparse import merge_rows
from skmtc.rankers.features._conflicts import warn_infinite
from skmtc.rankers.features._feature_rows import transformer_input, without_weights
from skmtc.rankers.features._matrix import (
    attribute_transformer,
    check_features,
    fit_features,
    make_features,
    transform_rows,
)
from skmtc.rankers.features._song_vectors import fit_song_features

# Attributes of a ranker: which columns of users and of playlists are numbers.
NUMBERS = {"user": "_is_number", "playlist": "_is_playlist_number"}


def fit_attributes(ranker, role, table, frame):
    """Fit the transformer of users or playlists, and make the attributes of the known ones.

    Parameters
    ----------
    ranker : FeatureRanker
        The ranker, which is not changed.

    role : {"user", "playlist"}
        Whose attributes to make.

    table : MembershipTable
        Training table.

    frame : DataFrame
        All its rows.

    Returns
    -------
    attributes : dict
        Fitted attributes by name.
    """
    parameter = f"{role}_features"
    made = {f"{role}_features_": None, f"{role}_attributes_": None, NUMBERS[role]: None}
    given, frame = getattr(ranker, parameter), without_weights(ranker, frame)
    transformer = attribute_transformer(given, role, frame, table.columns)
    if transformer is None or len(table.ids[role]) == 0:  # nothing is learned of full playlists
        return made
    label = _id_label(table.columns, role)
    if role == "user":
        rows, owners = table.user_rows, table.user_of_playlist
        memberships = csr_array((np.ones(len(owners)), (owners, np.arange(len(owners)))))
    else:
        rows, memberships = table.playlist_rows, table.membership
    rows = transformer_input(ranker, rows, label)
    if not ranker.reader.is_array:
        made[NUMBERS[role]] = {c: is_numeric_dtype(rows[c].dtype) for c in rows.columns}
        warn_infinite(rows, transformer, f"{role}s")
    made[f"{role}_features_"] = transformer
    made[f"{role}_attributes_"] = fit_features(transformer, rows, memberships, label, parameter)
    return made


def learn_features(ranker, table, frame, roles=("user",)):
    """Fit the features of songs and the attributes of users or playlists; store them.

    Parameters
    ----------
    ranker : FeatureRanker
        The ranker, in which the fitted attributes are stored.

    table : MembershipTable
        Training table.

    frame : DataFrame
        All its rows.

    roles : tuple of {"user", "playlist"}, default=("user",)
        Whose attributes to make.

    Returns
    -------
    features : array or csr_array of shape (n_songs, n_features)
        Features of the catalogue, without the constant one.
    """
    songs = fit_song_features(ranker, table, frame)
    vars(ranker).update(songs.attributes)
    for role in roles:
        vars(ranker).update(fit_attributes(ranker, role, table, frame))
    return songs.matrix


def attributes_of(ranker, role, rows):
    """Return the attributes of new users or playlists; None if rows have no column of them."""
    columns = ranker.reader.find_columns(rows, ())
    described = set(rows.columns) - set(columns.labels)
    is_number = None if ranker.reader.is_array else getattr(ranker, NUMBERS[role])
    if is_number is not None:
        described &= set(is_number)
    if not described:
        return None
    rows = transformer_input(ranker, rows, _id_label(columns, role))
    if is_number is not None:
        rows = _with_missing(rows, is_number)
    transformer = getattr(ranker, f"{role}_features_")
    attributes = _zeros_for_missing(transform_rows(transformer, rows))
    return check_features(attributes, transformer, rows)


def append_attributes(ranker, role, appended):
    """Return the attributes of the users or playlists of an appended table; None if unused."""
    known = getattr(ranker, f"{role}_attributes_")
    source = {"user": appended.user_source, "playlist": appended.playlist_source}[role]
    rows = {"user": appended.user_rows, "playlist": appended.playlist_rows}[role]
    if known is None or len(rows) == 0:
        return known if known is None else known[source]
    label = _id_label(ranker.reader.find_columns(rows, ()), role)
    rows = transformer_input(ranker, rows, label)
    new = make_features(getattr(ranker, f"{role}_features_"), rows, f"{role}_features")
    return merge_rows(source < 0, known[source[source >= 0]], new)


def _id_label(columns, role):
    """Return the id column of users or playlists; without users, each playlist is its own."""
    return columns.user if role == "user" and columns.user is not None else columns.playlist


def _with_missing(rows, is_number):
    """Add the columns that a query leaves out, as missing values."""
    rows = rows.copy()
    for label, number in is_number.items():
        if label not in rows.columns:
            rows[label] = np.nan if number else None
    return rows


def _zeros_for_missing(attributes):
    """Return attributes with zeros, which match no user, in rows where all are missing."""
    if issparse(attributes):
        return attributes
    attributes = np.array(attributes)
    attributes[isna(attributes).all(axis=1)] = 0
    return attributes
