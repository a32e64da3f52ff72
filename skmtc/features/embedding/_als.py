"""Vectors of tokens from a weighted matrix factorisation of playlists."""

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits


def als(sequences, *, vector_size, epochs, confidence, factor_l2, min_count, seed):
    """Learn a vector for each token by alternating least squares on playlists x tokens.

    Parameters
    ----------
    sequences : TokenSequences
        Playlists as sequences of token codes.

    vector_size, epochs, confidence, factor_l2, min_count : number
        As in the embedding that calls it.

    seed : int
        Seed of the first factors.

    Returns
    -------
    tokens : ndarray of shape (n_vectors,)
        Tokens that occur at least `min_count` times, sorted.

    vectors : ndarray of shape (n_vectors, vector_size)
        Their vectors, in single precision.
    """
    model_class = _import_als()  # raise before any work if implicit is missing
    tokens, counts = sequences.count(min_count)
    if len(tokens) == 0:
        return tokens, np.zeros((0, vector_size), dtype=np.float32)
    matrix = csr_matrix(counts, dtype=np.float32)
    matrix.data = 1.0 + np.float32(confidence) * matrix.data
    # Each row is solved by one thread, so the result does not depend on `num_threads`. More
    # threads inside BLAS would, and slow `implicit` down, of which it warns.
    with threadpool_limits(1, user_api="blas"):
        model = model_class(
            factors=vector_size,
            regularization=factor_l2,
            iterations=epochs,
            num_threads=effective_n_jobs(None),
            random_state=seed,
            use_gpu=False,
        )
        model.fit(matrix, show_progress=False)
    return tokens, model.item_factors


def _import_als():
    try:
        from implicit.als import AlternatingLeastSquares
    except ImportError as error:
        raise ImportError(
            "SongEmbedding with method='als' needs the package implicit; got no such package. "
            "Install it with `pip install implicit`, or pass another `method`."
        ) from error
    return AlternatingLeastSquares
