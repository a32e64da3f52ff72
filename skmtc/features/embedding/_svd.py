"""Vectors of tokens from a truncated singular value decomposition."""

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from skmtc._utils.chunking import rows_that_fit
from skmtc.features.embedding._ppmi import ShiftedPpmi

# Extra directions, so that the last requested ones converge.
N_OVERSAMPLES = 20
N_ITERATIONS = 6

# Pairs of songs that take more than this, and more than twice the memory of the directions, are
# computed for each product instead of once: that takes half as long again.
FEWEST_BYTES_FOR_PAIRS = 2**26

# With 0.5, inner products would come near the matrix itself, but the many weak directions count
# too much once a ranker learns weights for all of them: 1.5 was better on held-out playlists.
VALUE_POWER = 1.5


def svd(sequences, *, vector_size, shift, min_count, seed):
    """Learn a vector for each token from co-occurrence in playlists.

    The vectors are the leading singular vectors of the shifted PPMI matrix, times powers of the
    singular values, so that songs are close that share playlists with each other and the same
    others.

    Parameters
    ----------
    sequences : TokenSequences
        Playlists as sequences of token codes.

    vector_size, shift, min_count : number
        As in the embedding that calls it.

    seed : int
        Seed of the random projection that begins the decomposition.

    Returns
    -------
    tokens : ndarray of shape (n_vectors,)
        Tokens that occur at least `min_count` times, sorted.

    vectors : ndarray of shape (n_vectors, vector_size)
        Their vectors, in single precision; columns beyond the number of tokens are zero.
    """
    tokens, counts = sequences.count(min_count, dtype=np.float32)
    if len(tokens) == 0:
        return tokens, np.zeros((0, vector_size), dtype=np.float32)
    counts.data[:] = 1.0
    n_components = min(vector_size, len(tokens))
    kept_bytes = _bytes_for_pairs(len(tokens), n_components)
    # More threads inside BLAS add up in another order: the last bits would depend on them.
    with threadpool_limits(1, user_api="blas"):
        left, values = leading_eigenvectors(
            ShiftedPpmi(counts, shift, kept_bytes), n_components, seed
        )
    return tokens, _padded(left, values**VALUE_POWER, vector_size)


def _bytes_for_pairs(n_tokens, n_components):
    """Return how much memory pairs may take: about as much as the decomposition of many tokens."""
    of_basis = np.dtype(np.float32).itemsize * n_tokens * (n_components + N_OVERSAMPLES)
    return min(rows_that_fit(1), max(FEWEST_BYTES_FOR_PAIRS, 2 * of_basis))


def svd_of_playlists(sequences, *, vector_size, min_count, seed):
    """Learn a vector for each token from the playlists that hold it.

    The vectors are the leading left singular vectors, times the singular values, of the positive
    pointwise mutual information of tokens and playlists, max(0, log(n_tp n / (n_t n_p))), where
    playlist p holds token t n_tp times.

    Parameters
    ----------
    sequences : TokenSequences
        Playlists as sequences of token codes.

    vector_size, min_count : number
        As in the embedding that calls it.

    seed : int
        Seed of the random projection that begins the decomposition.

    Returns
    -------
    tokens : ndarray of shape (n_vectors,)
        Tokens that occur at least `min_count` times, sorted.

    vectors : ndarray of shape (n_vectors, vector_size)
        Their vectors, in single precision; columns beyond the rank are zero.
    """
    tokens, counts = sequences.count(min_count)
    vectors = np.zeros((len(tokens), vector_size), dtype=np.float32)
    ppmi = _ppmi_of_playlists(csr_array(counts.T))
    n_components = min(vector_size, *ppmi.shape)
    if ppmi.nnz == 0:
        return tokens, vectors
    # More threads inside BLAS add up in another order: the last bits would depend on them.
    with threadpool_limits(1, user_api="blas"):
        left, values, _ = randomized_svd(
            ppmi,
            n_components,
            n_oversamples=N_OVERSAMPLES,
            n_iter=N_ITERATIONS,
            power_iteration_normalizer="QR",
            random_state=seed,
        )
    vectors[:, :n_components] = left * values
    return tokens, vectors


def svd_of_rows(sequences, *, vector_size, min_count, seed):
    """Learn a vector for each token from the playlists that hold it, in little memory.

    As :func:`svd_of_playlists` of tokens that a playlist holds or not, in single precision, and
    with products by the matrix and its transpose in place of a general decomposition: next to the
    memberships, memory holds three arrays of tokens x dimensions and one of playlists x dimensions.

    Parameters
    ----------
    sequences : TokenSequences
        Playlists as sequences of token codes.

    vector_size, min_count : number
        As in the embedding that calls it.

    seed : int
        Seed of the random projection that begins the decomposition.

    Returns
    -------
    tokens : ndarray of shape (n_vectors,)
        Tokens that occur at least `min_count` times, sorted.

    vectors : ndarray of shape (n_vectors, vector_size)
        Their vectors, in single precision; columns beyond the rank are zero.
    """
    tokens, held = sequences.count(min_count, dtype=np.float32)
    if len(tokens) == 0:
        return tokens, np.zeros((0, vector_size), dtype=np.float32)
    # log(n / (n_t n_p)) of n memberships: what is common, and what is in long playlists, says less.
    of_token = np.bincount(held.indices, minlength=len(tokens))
    of_playlist = np.diff(held.indptr)
    held.data[:] = np.log(held.nnz)
    held.data -= np.log(of_token).astype(np.float32)[held.indices]
    held.data -= np.repeat(np.log(np.maximum(of_playlist, 1)).astype(np.float32), of_playlist)
    np.maximum(held.data, 0.0, out=held.data)
    # More threads inside BLAS add up in another order: the last bits would depend on them.
    with threadpool_limits(1, user_api="blas"):
        left, squares = leading_eigenvectors(_Gram(held), min(vector_size, len(tokens)), seed)
    return tokens, _padded(left, np.sqrt(squares), vector_size)


def _padded(left, values, vector_size):
    """Return columns times values, and columns of zeros up to the size of vectors."""
    vectors = np.zeros((len(left), vector_size), dtype=np.float32)
    np.multiply(left, values, out=vectors[:, : left.shape[1]])
    return vectors


class _Gram:
    """The product of the transpose of a matrix with the matrix, which is never made."""

    def __init__(self, matrix):
        self.matrix = matrix
        self.shape = (matrix.shape[1], matrix.shape[1])

    def __matmul__(self, columns):
        return self.matrix.T @ (self.matrix @ columns)


def _ppmi_of_playlists(counts):
    """Return the positive pointwise mutual information of the rows and columns of counts."""
    of_token, of_playlist = counts.sum(axis=1), counts.sum(axis=0)
    # log(max(1, n_tp n / (n_t n_p))), in place: there are as many counts as memberships.
    expected = np.repeat(of_token, np.diff(counts.indptr))
    expected *= of_playlist[counts.indices]
    values = counts.data * counts.data.sum()
    values /= expected
    np.log(np.maximum(values, 1.0, out=values), out=values)
    ppmi = csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
    ppmi.eliminate_zeros()
    return ppmi


def leading_eigenvectors(matrix, n_components, seed):
    """Return the eigenvectors of a sparse symmetric matrix with the largest positive eigenvalues.

    These are singular vectors, and eigenvalues the singular values. Directions with negative
    eigenvalues are left out, as songs that are alike point to opposite sides of them. A random
    subspace is multiplied by the matrix a few times; as the matrix is symmetric, that takes half of
    the work of a general randomised decomposition.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Symmetric matrix.

    n_components : int
        Number of eigenvectors, at most n.

    seed : int
        Seed of the random subspace.

    Returns
    -------
    vectors : ndarray of shape (n, n_components)
        Orthonormal columns, each with its entry of largest absolute value positive.

    values : ndarray of shape (n_components,)
        Eigenvalues, in decreasing order; 0 where all others are negative.
    """
    n_rows = matrix.shape[0]
    width = min(n_rows, n_components + N_OVERSAMPLES)
    rng = np.random.default_rng(seed)
    basis = _orthonormal(rng.standard_normal((n_rows, width), dtype=np.float32))
    for _ in range(N_ITERATIONS):
        basis = _orthonormal(matrix @ basis)
    values, rotation = eigh(basis.T @ (matrix @ basis))
    order = np.argsort(-values, kind="stable")[:n_components]
    vectors = basis @ rotation[:, order]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(np.take_along_axis(vectors, largest[None], axis=0) < 0, -1, 1)
    return vectors, np.maximum(values[order], 0)


def _orthonormal(columns):
    return qr(columns, mode="economic", overwrite_a=True, check_finite=False)[0]
