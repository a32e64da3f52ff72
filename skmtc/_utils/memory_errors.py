"""Out-of-memory errors that name the array, its size, and the columns to change."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer

# How many columns or arrays a message names.
N_NAMED = 3


class ToldMemoryError(MemoryError):
    """Out of memory, with a message that names the array."""


@contextmanager
def features_fit_memory(transformer, rows, name):
    """Raise an error that names the columns with the most values if features are too large.

    Parameters
    ----------
    transformer : transformer
        What makes the features.

    rows : DataFrame or array
        What they are made of.

    name : str
        Parameter that the transformer comes from, for the message.
    """
    try:
        yield
    except MemoryError as error:
        counts = _distinct_values(transformer, rows)
        named = ", ".join(f"{column!r} ({count:,})" for column, count in counts[:N_NAMED])
        widest = f" The columns with the most distinct values are {named}." if named else ""
        raise ToldMemoryError(
            f"The features of {len(rows):,} rows must fit memory; got {_shown(error)} in "
            f"{type(transformer).__name__} of `{name}`.{widest} Encode such columns in few "
            "dimensions, e.g. TagEncoder(n_components=64) or ArtistEmbedding(), or sparsely, as "
            "IdentityEncoder and OneHotEncoder do unless sparse_output=False; or leave them out "
            f"of `{name}`."
        ) from error


@contextmanager
def fit_fits_memory(ranker, table):
    """Raise an error that names the largest arrays of a fit if it runs out of memory.

    Parameters
    ----------
    ranker : BaseRanker
        The ranker that is fitted.

    table : MembershipTable
        What it is fitted on.
    """
    try:
        yield
    except ToldMemoryError:
        raise
    except MemoryError as error:
        arrays = _arrays(ranker, table)
        largest = ", ".join(f"{what} ({_gigabytes(size)})" for what, size in arrays[:N_NAMED])
        raise ToldMemoryError(
            f"{type(ranker).__name__} must fit memory; got {_shown(error)}. Of its arrays, the "
            f"largest if they are dense are {largest}. Make fewer features with `song_features`, "
            "e.g. by n_components or min_frequency of its encoders, leave columns out, or fit on "
            "fewer rows."
        ) from error


def _shown(error):
    """Return numpy's message about an array, or a default."""
    return f"{str(error)!r}" if str(error) else "no memory for more"


def _distinct_values(transformer, rows):
    """Return the text columns of a transformer with their numbers of values, the largest first."""
    if not isinstance(rows, pd.DataFrame):
        return []
    columns = list(rows.columns)
    if isinstance(transformer, ColumnTransformer):
        chosen = [c if isinstance(c, list) else [c] for _, _, c in transformer.transformers]
        asked = {c for part in chosen for c in part if isinstance(c, str)}
        columns = [c for c in columns if c in asked] or columns
    text = [c for c in columns if not pd.api.types.is_numeric_dtype(rows[c].dtype)]
    counts = [(c, rows[c].astype(str).nunique()) for c in text]
    return sorted(counts, key=lambda pair: -pair[1])


def _arrays(ranker, table):
    """Return the arrays that grow with the table, with their sizes in bytes, largest first."""
    vectors = getattr(ranker, "song_vectors_", None)
    width = getattr(ranker, "n_factors", 1) if vectors is None else vectors.shape[1]
    counts = {"songs": table.songs, "users": table.users, "playlists": table.playlists}
    sizes = {
        f"{len(ids):,} {what} x {width:,} features": 8 * len(ids) * width
        for what, ids in counts.items()
    }
    return sorted(sizes.items(), key=lambda pair: -pair[1])


def _gigabytes(size):
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{int(np.ceil(size / 2**20))} MiB"
