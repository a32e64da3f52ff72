"""Explanations of scores."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn import get_config

from skmtc._typing import Table
from skmtc._utils.chunking import row_batches
from skmtc._utils.validation import check_number
from skmtc.inspection._score_decomposition import check_has_weights, score_parts
from skmtc.metrics import find_ranker
from skmtc.rankers import StackingRanker

OTHERS = "other features"

# Rounding may differ in the last bits between a sum of terms and an inner product.
TOLERANCE = 1e-6


def explain(ranker: Any, X: Table, *, top: int | None = None) -> pd.DataFrame:
    """Decompose the score of each row by weights and features.

    Parameters
    ----------
    ranker : estimator
        Fitted ranker with weights of features, such as `MultitaskPlaylistRanker`, or Pipeline or
        search that ends in one.

    X : DataFrame or array of shape (n_rows, n_columns)
        Membership table with the columns seen in `fit`: songs, and the playlists to explain their
        scores for. Playlists, users and songs may be known or new.

    top : int or None, default=None
        Return only this many features, those whose contributions to these rows are largest in
        absolute value, and the sum of all others as "other features". None: all features.

    Returns
    -------
    contributions : DataFrame of shape (n_rows, n_parts * n_features)
        One row per row of `X`, with its index, and columns (part, feature). The sum of a row
        is the score that `predict` gives. The parts are

        - "shared": the shared weights, times the features of the song;
        - "user": what the user's weights add to it, or the mean weights of similar users where
          the user is new and has attributes; 0 where nothing is known of the user;
        - "playlist": what the playlist's own weights add to these; for a new playlist those of
          similar ones if it has attributes and the ranker `playlist_features`, else 0;
        - "history": what the history terms add, one feature per term, for a ranker
          with `history`.

        The intercept is the feature "constant".

    See Also
    --------
    ExplanationDisplay : Plot of one row.
    top_features : Weights, for all songs.

    Notes
    -----
    This is meant for a few rows: it takes 8 bytes for each row, part and feature, and is refused
    where these would not fit scikit-learn's `working_memory`. With `top` only the features that
    are given count.

    Examples
    --------
    Ridge weights of the gym playlist are 0.25 of tempo and 0.5 of the constant feature, those of
    the other -0.25 and 0.5. Their mean is 0 and 0.5, so that a fast song has 0.5 for everybody, and
    for ana 0.25 * 2 more. Her new playlist adds nothing:

    >>> import pandas as pd
    >>> from skmtc import RidgeRanker
    >>> from skmtc.inspection import explain
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob"],
    ...     "playlist": ["gym", "bed"],
    ...     "song": ["fast", "slow"],
    ...     "tempo": [1.0, -1.0],
    ... })
    >>> ranker = RidgeRanker(l2=1.0).fit(X)
    >>> new = pd.DataFrame({"user": ["ana"], "playlist": ["sun"], "song": ["s7"], "tempo": [2.0]})
    >>> contributions = explain(ranker, new)
    >>> contributions.stack("feature", future_stack=True)
    part        shared  user  playlist
      feature
    0 tempo        0.0   0.5       0.0
      constant     0.5   0.0       0.0
    >>> contributions.sum(axis=1).tolist(), ranker.predict(new).tolist()
    ([1.0], [1.0])
    """
    ranker, table = find_ranker(ranker, X)
    if not isinstance(ranker, StackingRanker):  # of a stack, whole rankers are the parts
        check_has_weights(ranker)
    frame = ranker.read_table(table)
    parts = score_parts(ranker, frame)
    if top is not None:
        check_number("top", top, at_least=1, whole=True)
        kept = _largest(parts, len(frame), top)
        parts = [_Shortened(part, kept) for part in parts]
    columns = _columns(parts)
    _check_size(len(frame), len(columns))
    values = np.empty((len(frame), len(columns)))
    for batch in _batches(parts, len(frame)):
        positions = np.arange(batch.start, batch.stop)
        values[batch] = np.hstack([part.of_rows(positions) for part in parts])
    values += 0.0  # turns the -0.0 of a product with zero into 0.0
    _check_sums(values, ranker.predict(table), ranker)
    return pd.DataFrame(values, index=_index(X, frame), columns=columns)


class _Shortened:
    """A part with some of its features, and the sum of the others."""

    def __init__(self, part, kept):
        self.name = part.name
        self.n_all = len(part.features)
        self._part = part
        names = pd.Index(part.features)
        self._columns = np.flatnonzero(names.isin(kept))
        # In the order of size.
        self._columns = self._columns[np.argsort(kept.get_indexer(names[self._columns]))]
        self._has_others = len(self._columns) < len(names)
        self.features = np.append(names[self._columns], [OTHERS] if self._has_others else [])

    def of_rows(self, positions):
        terms = self._part.of_rows(positions)
        chosen = terms[:, self._columns]
        if not self._has_others:
            return chosen
        # Sum the other features directly: a difference of sums would cancel small terms.
        others = np.delete(terms, self._columns, axis=1).sum(axis=1, keepdims=True)
        return np.hstack([chosen, others])


def _largest(parts, n_rows, top):
    """Name the features with the largest contributions, over all rows and parts."""
    sizes = [np.zeros(len(part.features)) for part in parts]
    for batch in _batches(parts, n_rows):
        for size, part in zip(sizes, parts, strict=True):
            size += abs(part.of_rows(np.arange(batch.start, batch.stop))).sum(axis=0)
    named = pd.concat([pd.Series(s, part.features) for s, part in zip(sizes, parts, strict=True)])
    total = named.groupby(level=0, sort=False).sum()
    return total.sort_values(ascending=False, kind="stable").index[:top]


def _batches(parts, n_rows):
    widest = max(getattr(part, "n_all", len(part.features)) for part in parts)
    # Features, three vectors of weights and their differences, and the products.
    return row_batches(n_rows, 8 * 8 * max(1, widest))


def _columns(parts):
    pairs = [(part.name, feature) for part in parts for feature in part.features]
    return pd.MultiIndex.from_tuples(pairs, names=["part", "feature"])


def _index(X, frame):
    """Return the index of the table as the caller knows it, before the steps of a pipeline."""
    return X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(frame))


def _check_size(n_rows, n_columns):
    megabytes = 8 * n_rows * n_columns / 2**20
    limit = get_config()["working_memory"]
    if megabytes > limit:
        raise ValueError(
            f"An explanation must fit the working memory of {limit} MiB; got {n_rows} rows of "
            f"{n_columns} contributions, {megabytes:.0f} MiB. Explain fewer rows, pass `top`, or "
            "raise scikit-learn's `working_memory`."
        )


def _check_sums(values, scores, ranker):
    """Refuse to explain a ranker whose scores have terms that are not among the parts."""
    error = abs(values.sum(axis=1) - scores)
    # If large terms cancel, their rounding errors stay.
    allowed = TOLERANCE * np.maximum(1.0, abs(values).sum(axis=1))
    if (error > allowed).any():
        row = int(np.argmax(error - allowed))
        raise ValueError(
            f"The parts must add up to the score; got {values[row].sum():.6g} for a score of "
            f"{scores[row]:.6g} in row {row} of {type(ranker).__name__}, which has terms that are "
            "not known here. Explain a ranker without them."
        )
