"""The blocked scorer: `predict`, `recommend` and test sets score songs for queries by it.

A score is the inner product of the vectors of a query and a song, plus what history terms add,
which is sparse. Queries come in blocks whose vectors, and whose scores, fit scikit-learn's
`working_memory`.
"""

import numpy as np

from skmtc._utils.chunking import row_batches
from skmtc._utils.sparse import add_sparse, stored_values
from skmtc.rankers.scoring._column_blocks import inner_products, row_products
from skmtc.rankers.scoring._ties import scores_are_equal

# Bytes per pair of a query and a song while they are scored, and while terms are added to scores if
# all of them are stored.
SCORE_BYTES = 24
ADDED_BYTES = 48


class BlockScorer:
    """Score songs for queries, block by block.

    Parameters
    ----------
    ranker : BaseRanker
        Snapshot of a fitted ranker.

    queries : Queries
        The queries.

    songs : Songs
        The songs to score.

    prepared : PreparedSongs or None, default=None
        The vectors of these songs, if they are already there.

    Attributes
    ----------
    song_vectors : array, csr_array or ColumnBlocks of shape (n_songs, n_dimensions)
        Vectors of the songs.

    adds_terms : bool
        Whether scores have more than inner products.
    """

    def __init__(self, ranker, queries, songs, *, prepared=None):
        self.queries = queries
        self.songs = songs
        self.adds_terms = ranker.adds_to_scores()
        self._ranker = ranker
        if prepared is None:
            self.vectors_of_queries, self.song_vectors = ranker.vectors_for(songs)
        else:
            self.vectors_of_queries = prepared.vectors_of_queries
            self.song_vectors = prepared.vectors

    @property
    def pair_bytes(self):
        """Bytes per pair of a query and a song while a block is scored."""
        return SCORE_BYTES + ADDED_BYTES * self.adds_terms

    def batches(self, positions):
        """Cut positions of queries into parts whose vectors fit the working memory."""
        for batch in row_batches(len(positions), SCORE_BYTES * self.song_vectors.shape[1]):
            yield positions[batch]

    def vectors(self, positions):
        """Return the vectors of the queries at some positions."""
        return self.vectors_of_queries(self.queries.take(positions))

    def added(self, positions):
        """Return csr_arrays whose sum is added to the inner products of some queries."""
        if not self.adds_terms:
            return []
        return self._ranker.added_scores(self.queries.take(positions), self.songs)

    def added_to(self, positions):
        """Return `added` as a function of rows of `positions`; None if nothing is added."""
        return (lambda rows: self.added(positions[rows])) if self.adds_terms else None

    def are_equal(self, positions, vectors):
        """Check for queries, given with their vectors, whether all songs have the same score."""
        return scores_are_equal(vectors, self.song_vectors, self.added_to(positions))

    def score_pairs(self, query_of_row, song_of_row):
        """Score single pairs of a query and a song, each by itself.

        Parameters
        ----------
        query_of_row, song_of_row : ndarray of shape (n_rows,)
            Positions of queries and songs.

        Returns
        -------
        scores : ndarray of shape (n_rows,)
            Scores; each has the same bits, whatever the other pairs are.
        """
        scores = np.empty(len(query_of_row))
        # In the order of queries, so that each batch needs the vectors of few of them.
        order = np.argsort(query_of_row, kind="stable")
        for batch in row_batches(len(order), SCORE_BYTES * self.song_vectors.shape[1]):
            rows = order[batch]
            asked = query_of_row[rows]
            left = self.vectors(np.arange(asked[0], asked[-1] + 1))
            right = self.song_vectors[song_of_row[rows]]
            scores[rows] = row_products(left[asked - asked[0]], right)
        if self.adds_terms:
            self._add_to_pairs(scores, query_of_row, song_of_row, order)
        return scores

    def _add_to_pairs(self, scores, query_of_row, song_of_row, order):
        sorted_queries = query_of_row[order]
        for batch in row_batches(len(self.queries), ADDED_BYTES * len(self.songs)):
            rows = order[slice(*np.searchsorted(sorted_queries, [batch.start, batch.stop]))]
            parts = self.added(np.arange(batch.start, batch.stop))
            places = query_of_row[rows] - batch.start, song_of_row[rows]
            for part in parts:
                scores[rows] += stored_values(part, *places)


def score_block(query_vectors, song_vectors, added):
    """Return the scores of all songs for a block of queries, of shape (n_rows, n_songs)."""
    scores = inner_products(query_vectors, song_vectors)
    for part in added:
        add_sparse(scores, part)
    return scores
