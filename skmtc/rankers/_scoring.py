"""Sparse terms that are added to the inner products of queries and songs."""

import numpy as np

from skmtc._utils.chunking import row_batches
from skmtc._utils.sparse import stored_values

# Bytes per pair of a query and a song while terms are made, if all are stored.
ADDED_BYTES = 48


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
    if not ranker.adds_to_scores():
        return
    order = np.argsort(query_of_row, kind="stable")
    sorted_queries = query_of_row[order]
    for batch in row_batches(len(queries), ADDED_BYTES * len(songs)):
        rows = order[slice(*np.searchsorted(sorted_queries, [batch.start, batch.stop]))]
        parts = ranker.added_scores(queries.take(np.arange(batch.start, batch.stop)), songs)
        places = query_of_row[rows] - batch.start, song_of_row[rows]
        for part in parts:
            scores[rows] += stored_values(part, *places)
