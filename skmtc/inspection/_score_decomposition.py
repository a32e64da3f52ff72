"""Decomposition of scores into parts.

A query scores songs by its vector. How much of the vector belongs to all, to the user and to the
playlist is computed by the ranker itself, from the same query with fewer and fewer known ids
and attributes, so the parts add up to the score of any ranker with weights of named features.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from skmtc._table.queries import Queries, Songs
from skmtc._utils.sparse import stored_values
from skmtc.rankers import StackingRanker

WEIGHTS = ("shared", "user", "playlist")


@dataclass
class ScorePart:
    """One part of the scores of rows.

    Attributes
    ----------
    name : str
        What it is called, such as "user".

    features : ndarray of shape (n_features,)
        Names of its terms.

    of_rows : callable
        Returns the terms of rows at some positions, an array of shape (n_rows, n_features).
    """

    name: str
    features: np.ndarray
    of_rows: Callable[[np.ndarray], np.ndarray]


def score_parts(ranker, frame):
    """List the parts of the scores of a table's rows.

    This is the place for further terms: each term that a ranker adds to its scores is a `ScorePart`
    here, and all explanations and displays show it.
    """
    if isinstance(ranker, StackingRanker):
        return [_score_of(ranker, k, frame) for k in range(len(ranker.names_))]
    rows = _Rows.read(ranker, frame)
    parts = [ScorePart(name, ranker.feature_names_out_, _products(rows, name)) for name in WEIGHTS]
    history = getattr(ranker, "history_", None)
    if history is not None:
        parts.append(ScorePart("history", np.array(history.terms, dtype=object), rows.history))
    return parts


def _score_of(stack, k, frame):
    """Return the part of a stack's scores that one of its rankers makes."""

    def of_rows(positions):
        return stack.scores_of_rankers(frame.iloc[positions])[:, [k]]

    return ScorePart(stack.names_[k], np.array(["score"], dtype=object), of_rows)


def weights_of(ranker, queries):
    """Return the weights of queries, part by part.

    The user's weights are what the user's id, or the attributes of a new user, add to the vector of
    an unknown user; those of the playlist are what the playlist's id, or the attributes of a new
    one, add to that.

    Returns
    -------
    weights : dict of str to ndarray of shape (n_queries, n_features)
        By the names in `WEIGHTS`.
    """
    unknown = np.full(len(queries), -1)
    nobody = Queries(unknown, unknown, pd.DataFrame(index=queries.rows.index))
    user_vectors = getattr(ranker, "user_vectors", ranker.vectors_of_queries)
    shared = ranker.vectors_of_queries(nobody)
    with_user = user_vectors(Queries(queries.users, unknown, queries.rows))
    whole = ranker.vectors_of_queries(queries)
    return dict(zip(WEIGHTS, (shared, with_user - shared, whole - with_user), strict=True))


def check_has_weights(ranker):
    """Check that a ranker is fitted, and scores by weights of named features."""
    check_is_fitted(ranker)
    if not hasattr(ranker, "shared_coef_"):
        raise TypeError(
            "The ranker must score songs by weights of their features, as MultitaskPlaylistRanker, "
            f"PairwiseRanker and RidgeRanker do; got {type(ranker).__name__}. Explain one of these."
        )


def last_step(estimator):
    """Find the ranker in a pipeline or search."""
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_)
    return last_step(estimator[-1]) if hasattr(estimator, "steps") else estimator


@dataclass
class _Rows:
    """The rows of a table, as a ranker sees them."""

    ranker: object
    queries: Queries
    query_of_row: np.ndarray
    songs: Songs
    song_of_row: np.ndarray
    vectors: object

    @classmethod
    def read(cls, ranker, frame):
        queries, query_of_row = ranker.reader.distinct_queries(frame)
        songs, song_of_row = ranker.reader.distinct_songs(frame)
        vectors = ranker.vectors_of_songs(songs)
        return cls(ranker, queries, query_of_row, songs, song_of_row, vectors)

    def features(self, positions):
        vectors = self.vectors[self.song_of_row[positions]]
        return vectors.toarray() if issparse(vectors) else vectors

    def weights(self, positions, name):
        asked, place = np.unique(self.query_of_row[positions], return_inverse=True)
        return weights_of(self.ranker, self.queries.take(asked))[name][place]

    def history(self, positions):
        """Return what each history term adds to the scores of rows."""
        asked, place = np.unique(self.query_of_row[positions], return_inverse=True)
        history = self.ranker.bound_history()
        terms = history.scores_by_term(self.queries.take(asked), self.songs)
        songs = self.song_of_row[positions]
        return np.column_stack([stored_values(term, place, songs) for term in terms.values()])


def _products(rows, name):
    def of_rows(positions):
        return rows.weights(positions, name) * rows.features(positions)

    return of_rows
