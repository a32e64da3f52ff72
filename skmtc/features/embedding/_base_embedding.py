"""Vectors of ids, learned from playlists."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skmtc._utils.chunking import batches
from skmtc._utils.fitted_state import Array, Each, IdArray
from skmtc._utils.validation import check_choice, check_number
from skmtc.features._base_encoder import BaseColumnEncoder, find_ids, learn_ids
from skmtc.features.embedding._sequences import TokenSequences
from skmtc.features.embedding._word2vec import word2vec

# Vectors that are copied or scaled at once, so that temporary arrays are small.
ROWS_PER_BATCH = 4096


def learn_by_word2vec(embedding, sequences, seed):
    """Learn vectors from the order of playlists."""
    return word2vec(
        sequences,
        vector_size=embedding.vector_size,
        window=embedding.window,
        epochs=embedding.epochs,
        skip_gram=embedding.skip_gram,
        learning_rate=embedding.learning_rate,
        min_count=embedding.min_count,
        seed=seed,
    )


class BaseEmbedding(BaseColumnEncoder):
    """Base of embeddings of ids.

    Subclasses have the parameters of `ArtistEmbedding`, a `_role`, for messages, and functions
    `_methods` that learn vectors.
    """

    _fitted_state = {
        "vocabulary_": Each(IdArray("ids", ordered=False)),
        "vectors_": Each(Array("ids", "components")),
    }

    # Functions of an embedding, the sequences and a seed that return tokens and their vectors.
    _methods: dict[str, Callable[..., Any]] = {}

    def _check_parameters(self):
        check_choice("method", self.method, self._methods)
        for name in ("vector_size", "window", "epochs", "min_count"):
            check_number(name, getattr(self, name), at_least=1, whole=True)
        check_number("learning_rate", self.learning_rate, above=0)

    def _reset(self):
        self.vocabulary_, self.vectors_ = [], []

    def _fit_column(self, column, membership):
        ids, codes = learn_ids(column, self._role)
        sequences = TokenSequences(membership, codes)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        tokens, vectors = self._methods[self.method](self, sequences, seed)
        self.vocabulary_.append(ids[tokens])
        self.vectors_.append(_of_length(vectors, self._length()))

    def _length(self):
        """Return the length of all vectors."""
        return 1.0

    def _transform_column(self, column, j):
        codes = find_ids(column, self.vocabulary_[j], self._role)
        vectors = self.vectors_[j]
        features = np.zeros((len(codes), vectors.shape[1] + bool(self.add_indicator)))
        known = np.flatnonzero(codes >= 0)
        for batch in batches(len(known), ROWS_PER_BATCH):
            features[known[batch], : vectors.shape[1]] = vectors[codes[known[batch]]]
        if self.add_indicator:
            features[:, -1] = codes < 0
        return features

    def _column_names(self, column, j):
        names = [f"{column}_vector{i}" for i in range(self.vectors_[j].shape[1])]
        return names + [f"{column}_unknown"] if self.add_indicator else names


def _of_length(vectors, length):
    scaled = np.empty(vectors.shape, dtype=np.float32)
    for batch in batches(len(vectors), ROWS_PER_BATCH):
        rows = vectors[batch].astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        scaled[batch] = length * rows / np.where(lengths == 0, 1.0, lengths)
    return scaled
