"""Methods that learn vectors of songs and artists from playlists."""

from skmtc.features.embedding._als import als
from skmtc.features.embedding._base_embedding import BaseEmbedding, learn_by_word2vec
from skmtc.features.embedding._svd import leading_eigenvectors, svd, svd_of_playlists, svd_of_rows

__all__ = [
    "BaseEmbedding",
    "als",
    "leading_eigenvectors",
    "learn_by_word2vec",
    "svd",
    "svd_of_playlists",
    "svd_of_rows",
]
