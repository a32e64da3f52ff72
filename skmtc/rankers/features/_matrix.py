"""Song and user features: any scikit-learn transformer, fitted on distinct songs or users."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from joblib import parallel_config
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from skmtc._table import describing_columns
from skmtc._table.near_names import check_columns_of
from skmtc._utils.memory_errors import features_fit_memory
from skmtc.features import (
    guess_playlist_roles,
    guess_song_roles,
    guess_user_roles,
    make_playlist_features,
    make_song_features,
    make_user_features,
)
from skmtc.rankers.features._columns import Columns

# How the attributes of users and playlists are guessed.
GUESSED = {
    "user": (guess_user_roles, make_user_features),
    "playlist": (guess_playlist_roles, make_playlist_features),
}
# Parts of `make_song_features` with one feature for each of thousands of artists, albums and tags.
IDENTITY_PARTS = frozenset({"identity", "tag_identity"})


def song_transformer(song_features, frame, columns, *, new_songs=False, random_state=None):
    """Return the unfitted transformer that `song_features` stands for.

    "auto" stands for `make_song_features` of the table, None for the numeric columns that describe
    songs or, without any, for "auto"; "passthrough" for every column that is not an id, a list for
    the columns that it names; with an empty list, only the constant feature is left. A scaler of
    scikit-learn gets the numeric columns that describe songs.
    """
    if song_features is None or _is_auto(song_features):
        # Columns of arrays have no names, by which roles could be guessed. Roles tolerate a few
        # songs with several values, which numeric columns as they are must not have.
        use_roles = _has_names(frame) and _is_auto(song_features)
        chosen = [] if use_roles else numeric_song_columns(frame, columns)
        if _has_names(frame) and not chosen:
            roles = guess_song_roles(frame, **_ids(columns))
            return make_song_features(roles, new_songs=new_songs, random_state=random_state)
    elif isinstance(song_features, str) and song_features == "passthrough":
        chosen = [c for c in frame.columns if c not in columns]
        _check_numeric(frame, chosen)
    elif isinstance(song_features, list | tuple):
        chosen = _named_columns(song_features, frame, columns, "song_features")
    elif _is_scaler(song_features):
        chosen = numeric_song_columns(frame, columns)
        return ColumnTransformer([("numeric", clone(song_features), list(chosen))])
    else:
        return _clone(song_features, "song_features")
    if not chosen and (song_features is None or _is_auto(song_features)):
        raise ValueError(
            "Songs need at least one numeric column that describes them; got none among "
            f"n_features={frame.shape[1]} columns {list(frame.columns)}. Add feature columns to "
            "the array, pass a DataFrame, whose ids suffice, or pass as `song_features` a "
            "transformer that makes features."
        )
    return Columns(list(chosen))


def _is_auto(features):
    return isinstance(features, str) and features == "auto"


def _has_names(frame):
    return all(isinstance(label, str) for label in frame.columns)


def _ids(columns):
    """Return the labels of the id columns by role."""
    return {"user": columns.user, "playlist": columns.playlist, "song": columns.song}


def without_identities(transformer):
    """Return a ColumnTransformer without its parts named as identities, if others remain."""
    if not isinstance(transformer, ColumnTransformer):
        return transformer
    names = {name for name, _, _ in transformer.transformers}
    if not names & IDENTITY_PARTS or names <= IDENTITY_PARTS:
        return transformer
    return clone(transformer).set_params(**dict.fromkeys(names & IDENTITY_PARTS, "drop"))


def numeric_song_columns(frame, columns):
    """List the numeric columns that describe songs."""
    described = describing_columns(frame, columns)["song"]
    return [c for c in described if _is_numeric(frame[c])]


def attribute_transformer(features, subject, frame, columns):
    """Return the unfitted transformer that `user_features` or `playlist_features` stands for.

    `subject` is "user" or "playlist". None stands for None, "auto" for `make_user_features` or
    `make_playlist_features` of the table, or for None if no column describes the subject.
    """
    if features is None:
        return None
    if _is_auto(features):
        guess, make = GUESSED[subject]
        roles = guess(frame, **_ids(columns)) if _has_names(frame) else None
        return make(roles) if roles is not None and roles.used else None
    name = f"{subject}_features"
    if isinstance(features, str) and features == "passthrough":
        described = describing_columns(frame, columns)
        chosen = described[subject]
        if subject == "playlist" and columns.user is None:  # each playlist is its own user
            chosen = described["user"] + chosen
        _check_numeric(frame, chosen)
        if not chosen:
            raise ValueError(
                f"{name}='passthrough' needs columns with one value per {subject}; got none "
                f"among {list(frame.columns)}. Add such columns, or pass {name}=None."
            )
        return Columns(list(chosen))
    return _clone(features, name)


def fit_features(transformer, rows, membership, id_label, name="song_features"):
    """Fit a transformer on one row per song or user; return the matrix it makes."""
    _check_chosen(transformer, rows)
    with features_fit_memory(transformer, rows, name):
        with _local_arrays():
            matrix = transformer.fit_transform(rows, membership)
        _check_no_id(transformer, id_label, rows)
        return check_features(matrix, transformer, rows)


def make_features(transformer, rows, name="song_features"):
    """Return the features that a fitted transformer makes of new songs or users."""
    if isinstance(rows, pd.DataFrame):
        check_columns_of(transformer, rows, _needed_columns(transformer), name)
    with features_fit_memory(transformer, rows, name):
        return check_features(transform_rows(transformer, rows), transformer, rows)


def transform_rows(transformer, rows):
    """Transform rows by a fitted transformer, to an array."""
    with _local_arrays():
        return transformer.transform(rows)


@contextmanager
def _local_arrays():
    """Return a context in which transformers run in this process and return arrays.

    Sparse parts cannot be DataFrames. A ColumnTransformer must not inherit a cluster as its
    backend: its tables would be sent there and back, and old versions of dask mistake transformers
    for their own tasks, or release the result of a part before it is fetched.
    """
    with config_context(transform_output="default"), parallel_config(backend="threading"):
        yield


def _needed_columns(transformer):
    """List the columns that a fitted transformer reads; all it was fitted on if that is unknown."""
    names = list(getattr(transformer, "feature_names_in_", ()))
    if not isinstance(transformer, ColumnTransformer):
        return names
    parts = [(used, chosen) for _, used, chosen in transformer.transformers_]
    chosen = [c for used, c in parts if not (isinstance(used, str) and used == "drop")]
    return [c for part in chosen if isinstance(part, list | tuple) for c in part if c in names]


def check_features(matrix, transformer, rows):
    """Return features as a float array or CSR array, and check that all are finite."""
    if isinstance(matrix, pd.DataFrame):
        matrix = matrix.to_numpy()
    if issparse(matrix):
        matrix = csr_array(matrix)
        values = matrix.data
    else:
        values = matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != len(rows):
        raise ValueError(
            f"Features must be one row per row of their table; got shape {matrix.shape} for "
            f"{len(rows)} rows from {type(transformer).__name__}. Use a transformer that keeps "
            "rows."
        )
    dtype = matrix.dtype if matrix.dtype == np.float32 else np.float64
    try:
        matrix = matrix.astype(dtype, copy=False)
        values = values.astype(dtype, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"Features must be numbers; got {matrix.dtype} from {type(transformer).__name__}. "
            "Encode text columns, e.g. with OneHotEncoder in a ColumnTransformer."
        ) from None
    if not np.isfinite(values).all():
        _refuse_not_finite(matrix, transformer)
    return matrix


def feature_names(transformer, n_features):
    """Name the features that a fitted transformer makes."""
    try:
        return np.asarray(transformer.get_feature_names_out(), dtype=object)
    except (AttributeError, ValueError, TypeError):
        return np.asarray([f"feature{i}" for i in range(n_features)], dtype=object)


def _is_scaler(transformer):
    """Check for a transformer of scikit-learn that takes every column, as long as it is a number.

    These keep columns and take one at a time, and ids, which are text or codes, are none of them.
    """
    if isinstance(transformer, Pipeline):
        return all(_is_scaler(step) for _, step in transformer.steps)
    where = type(transformer).__module__
    return isinstance(transformer, OneToOneFeatureMixin | SimpleImputer) and where.startswith(
        ("sklearn.preprocessing", "sklearn.impute")
    )


def _named_columns(names, frame, columns, parameter):
    """Check that columns are there, are numbers and are no ids."""
    names = list(names)
    absent = [c for c in names if c not in frame.columns]
    if absent:
        raise ValueError(
            f"`{parameter}` must name columns of the table; got {absent}, which are not among "
            f"{list(frame.columns)}. Correct the names."
        )
    ids = [c for c in names if c in columns]
    if ids:
        raise ValueError(f"`{parameter}` must not name ids; got {ids}. Leave them out.")
    text = [c for c in names if not _is_numeric(frame[c])]
    if text:
        raise ValueError(
            f"A list as `{parameter}` must name numeric columns; got {text} of other types. Use "
            "make_song_features, which encodes them."
        )
    return names


def _is_numeric(column):
    return pd.api.types.is_numeric_dtype(column.dtype)


def _check_numeric(frame, chosen):
    text = [c for c in chosen if not _is_numeric(frame[c])]
    if text:
        raise ValueError(
            f"'passthrough' needs numeric columns; got {text} of other types. Encode them, e.g. "
            "with OneHotEncoder in a ColumnTransformer, or drop them."
        )


def _clone(transformer, name):
    if not hasattr(transformer, "fit_transform"):
        raise TypeError(
            f"`{name}` must be a scikit-learn transformer, 'auto', 'passthrough' or None; got "
            f"{transformer!r}. Pass e.g. a ColumnTransformer."
        )
    return clone(transformer)


def _check_chosen(transformer, rows):
    """Refuse a ColumnTransformer whose columns are not there, such as ids of another kind."""
    if not isinstance(transformer, ColumnTransformer) or not isinstance(rows, pd.DataFrame):
        return
    chosen = [columns for _, _, columns in transformer.transformers]
    chosen = [c if isinstance(c, list) else [c] for c in chosen]
    lacking = [c for part in chosen for c in part if isinstance(c, str) and c not in rows.columns]
    if lacking:
        raise ValueError(
            f"A ColumnTransformer of features must choose among {list(rows.columns)}; got "
            f"{lacking}. Choose other columns; if they were guessed in a table whose ids have "
            "unusual names, rename these to 'user', 'playlist' and 'song' first."
        )


def _check_no_id(transformer, id_label, rows):
    """Refuse a transformer that takes the ids themselves for a feature."""
    given = id_label if isinstance(rows, pd.DataFrame) else f"x{id_label}"
    names = feature_names(transformer, 0)
    leaked = [name for name in names if str(name).rsplit("__", 1)[-1] == str(given)]
    if leaked:
        raise ValueError(
            f"The id column {id_label!r} must not be a feature; got it as feature {leaked[0]!r} "
            f"from {type(transformer).__name__}. Choose the columns to use with a "
            "ColumnTransformer."
        )


def _refuse_not_finite(matrix, transformer):
    dense = matrix.toarray() if issparse(matrix) else matrix
    bad = ~np.isfinite(dense)
    column = int(bad.any(axis=0).argmax())
    name = feature_names(transformer, matrix.shape[1])[column]
    raise ValueError(
        f"Features must be finite; got NaN or inf in {int(bad[:, column].sum())} of "
        f"{len(dense)} rows of feature {name!r}, the first at position "
        f"{int(bad[:, column].argmax())}. Fill in the values, e.g. with SimpleImputer in "
        "`song_features` or `user_features`."
    )
