"""Maximal marginal relevance: songs that suit the query and differ from each other.

With r(s) the score of a song, scaled to [0, 1] over the pool of a query, S the songs chosen so far
and d the diversity, the next song is

    argmax over s of (1 - d) * r(s) - d * max over t in S of cos(s, t).

Reference: J. Carbonell, J. Goldstein. The Use of MMR, Diversity-Based Reranking for Reordering
Documents and Producing Summaries. SIGIR 1998.
"""

from numbers import Real

import numpy as np
from scipy.sparse import issparse

from skmtc._utils.chunking import row_batches

# Songs of the pool per song to recommend: enough to choose from, and all of them good.
POOL = 5


def check_diversity(diversity, *, sample):
    """Raise ValueError if the diversity is not in [0, 1], or songs are sampled."""
    is_number = isinstance(diversity, Real) and not isinstance(diversity, bool)
    if not is_number or not 0 <= diversity <= 1:
        raise ValueError(
            f"`diversity` must be a number from 0 to 1; got {diversity!r}. Pass e.g. 0.3, or 0 for "
            "the best songs."
        )
    if diversity > 0 and sample:
        raise ValueError(
            f"`diversity` must be 0 if songs are sampled; got {diversity!r} with sample=True. "
            "Choose one of them: samples differ anyway, the more the higher the temperature."
        )


class Diversify:
    """Choose songs of a pool by maximal marginal relevance.

    Parameters
    ----------
    unit_vectors : array or csr_array of shape (n_songs, n_dimensions)
        Vectors of the candidates, of length 1 or 0.

    diversity : float
        Weight of the similarity to songs that are chosen already.
    """

    def __init__(self, unit_vectors, diversity):
        self.unit_vectors = unit_vectors
        self.diversity = diversity

    def choose(self, found, scores, k, artists, most):
        """Choose k songs of each row.

        Parameters
        ----------
        found : ndarray of shape (n_rows, depth)
            Columns of songs, best first; -1 where there are no more.

        scores : ndarray of shape (n_rows, depth)
            Their scores.

        k : int
            How many songs to choose.

        artists : ndarray of shape (n_rows, depth)
            Codes of artists; -1 is not capped.

        most : int
            How many songs of an artist a row may have.

        Returns
        -------
        places : ndarray of shape (n_rows, k)
            Places in `found`, in the order of choice; -1 where there are no more.
        """
        places = np.empty((len(found), k), dtype=np.intp)
        depth, n_dimensions = found.shape[1], self.unit_vectors.shape[1]
        width = 3 if issparse(self.unit_vectors) else n_dimensions
        for batch in row_batches(len(found), 8 * depth * (width + 2 * depth + 8)):
            cosines = self._cosines(found[batch])
            relevance = _relevance(scores[batch])
            places[batch] = self._greedy(relevance, cosines, k, artists[batch], most)
        return places

    def _cosines(self, found):
        """Return the cosines of all pairs of songs of each row."""
        if not issparse(self.unit_vectors):
            vectors = self.unit_vectors[found]
            return np.matmul(vectors, vectors.transpose(0, 2, 1))
        cosines = np.empty((*found.shape, found.shape[1]))
        for row, songs in enumerate(found):
            vectors = self.unit_vectors[songs]
            cosines[row] = (vectors @ vectors.T).toarray()
        return cosines

    def _greedy(self, relevance, cosines, k, artists, most):
        """Choose k songs of each row, one after the other, by the formula of this file."""
        rows = np.arange(len(relevance))
        gain = (1 - self.diversity) * relevance
        nearest = np.zeros_like(relevance)  # largest cosine with a chosen song
        n_of_artist = np.zeros(relevance.shape, dtype=np.intp)
        places = np.empty((len(rows), k), dtype=np.intp)
        for step in range(k):
            value = gain - self.diversity * nearest
            value[(n_of_artist >= most) & (artists >= 0)] = -np.inf
            best = value.argmax(axis=1)  # of equal ones the first, which ranks higher
            places[:, step] = np.where(value[rows, best] > -np.inf, best, -1)
            own = cosines[rows, :, best]
            nearest = own if step == 0 else np.maximum(nearest, own)
            n_of_artist += artists == artists[rows, best][:, None]
            gain[rows, best] = -np.inf
        return places


def _relevance(scores):
    """Scale the scores of each row to [0, 1]; -inf where there is no song."""
    there = scores > -np.inf
    low = np.where(there, scores, np.inf).min(axis=1, keepdims=True)
    span = scores[:, :1] - low
    scaled = np.divide(scores - low, span, out=np.zeros_like(scores), where=there & (span > 0))
    return np.where(there, scaled, -np.inf)
