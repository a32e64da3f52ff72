"""Sparse terms that are added to the inner products of queries and songs."""

import numpy as np

from skmtc._memory import row_batches
from skmtc.rankers._sparse import stored_pairs, stored_values


def add_sparse(scores, added):
    """Add the stored values of a sparse matrix, if there is one, to a dense one in place."""
    if added is not None:
        # No place is stored twice, so that the values need not be accumulated.
        scores[stored_pairs(added)] += added.data
    return scores


def add_at(scores, ranker, queries, songs, query_of_row, song_of_row):
    """Add terms to the scores of single pairs of a query and a song, in place.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Inner products.

    ranker : BaseRanker
        Gives the terms.

    queries : Queries
        Distinct queries.

    songs : Songs
        Distinct songs.

    query_of_row, song_of_row : ndarray of shape (n_rows,)
        The pair of each score.
    """
    if not ranker._adds_to_scores():
        return
    order = np.argsort(query_of_row, kind="stable")
    sorted_queries = query_of_row[order]
    for batch in row_batches(len(queries), 24 * len(songs)):
        rows = order[slice(*np.searchsorted(sorted_queries, [batch.start, batch.stop]))]
        added = ranker._added_scores(queries.take(np.arange(batch.start, batch.stop)), songs)
        scores[rows] += stored_values(added, query_of_row[rows] - batch.start, song_of_row[rows])
