"""Word2vec on playlists: tokens that are close in playlists get similar vectors."""

import zlib

import numpy as np

# gensim drops what a sentence has beyond this many words, so longer ones are cut in pieces.
LONGEST_SENTENCE = 10_000

# The learning rate falls to this, as in the original program.
SMALLEST_STEP = 1e-4


def word2vec(sequences, *, vector_size, window, epochs, skip_gram, learning_rate, min_count, seed):
    """Learn a vector for each token.

    Parameters
    ----------
    sequences : TokenSequences
        Playlists as sequences of token codes.

    vector_size, window, epochs, skip_gram, learning_rate, min_count : number
        As in the embeddings that call it.

    seed : int
        Seed of the initial vectors and of the sampled negatives.

    Returns
    -------
    tokens : ndarray of shape (n_vectors,)
        Tokens that occur at least `min_count` times, sorted.

    vectors : ndarray of shape (n_vectors, vector_size)
        Their vectors, in single precision.
    """
    model_class = _import_word2vec()  # raise before any work if gensim is missing
    tokens, counts = np.unique(sequences.tokens, return_counts=True)
    tokens = tokens[counts >= min_count]
    if len(tokens) == 0:
        return tokens, np.zeros((0, vector_size), dtype=np.float32)

    model = model_class(
        Sentences(sequences),
        vector_size=vector_size,
        window=window,
        epochs=epochs,
        sg=int(skip_gram),
        alpha=learning_rate,
        min_alpha=min(learning_rate, SMALLEST_STEP),
        min_count=min_count,
        # Do not subsample frequent artists: small data would lose most of its tokens.
        sample=0,
        seed=seed,
        # More workers update in a random order; strings hash differently in each process.
        workers=1,
        hashfxn=_hash,
    )
    rows = [model.wv.key_to_index[str(token)] for token in tokens]
    return tokens, model.wv.vectors[rows]


class Sentences:
    """Iterable of the sequences as lists of strings, which gensim can read repeatedly."""

    def __init__(self, sequences):
        self.sequences = sequences
        self.words = [str(code) for code in range(int(sequences.tokens.max()) + 1)]

    def __iter__(self):
        for piece in self.sequences.pieces(LONGEST_SENTENCE):
            yield [self.words[token] for token in piece]


def _import_word2vec():
    # Imported on demand: it is slow to import, has no wheels for Python 3.14 and later, and a
    # fitted embedding does not need it.
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise ImportError(
            "method='word2vec' needs the package gensim; got no such package. Install it with "
            "`pip install gensim` (it has wheels for Python 3.13 and older), or pass "
            "method='svd', the default."
        ) from error
    return Word2Vec


def _hash(word):
    return zlib.crc32(word.encode())
