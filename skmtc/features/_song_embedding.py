"""Song embeddings learned from playlists."""

from skmtc._typing import Seed
from skmtc._utils.validation import check_number
from skmtc.features.embedding import BaseEmbedding, als, learn_by_word2vec, svd, svd_of_rows


def _learn_by_svd(embedding, sequences, seed):
    return svd(
        sequences,
        vector_size=embedding.vector_size,
        shift=embedding.shift,
        min_count=embedding.min_count,
        seed=seed,
    )


def _learn_by_playlists(embedding, sequences, seed):
    return svd_of_rows(
        sequences, vector_size=embedding.vector_size, min_count=embedding.min_count, seed=seed
    )


def _learn_by_als(embedding, sequences, seed):
    return als(
        sequences,
        vector_size=embedding.vector_size,
        epochs=embedding.epochs,
        confidence=embedding.confidence,
        factor_l2=embedding.factor_l2,
        min_count=embedding.min_count,
        seed=seed,
    )


class SongEmbedding(BaseEmbedding):
    """Encode songs by vectors in which songs of the same playlists are close.

    For data without any song attributes: a vector is learned for each song from the training
    playlists that hold it. A new song gets the zero vector, so these features say nothing about new
    songs.

    Parameters
    ----------
    method : {"svd", "playlist-svd", "word2vec", "als"}, default="svd"
        How vectors are learned. "svd": songs x songs mutual information of being in a playlist
        together (shifted PPMI), reduced by a singular value decomposition; its memory grows with
        the pairs of songs that share a playlist. "playlist-svd": the same of songs x playlists,
        for catalogues of millions; its memory grows with the rows of the table. "word2vec": from
        neighbours in the order of playlists, by gensim, which is installed with the package on
        Python 3.13 and older. "als": weighted factorisation of the playlists x songs matrix, for
        which `implicit` must be installed (``pip install implicit``). The user guide compares
        them.

    vector_size : int, default=128
        Number of dimensions. With "svd", those beyond the number of songs are zero.

    window : int, default=10
        "word2vec" only: greatest distance between songs of a playlist that are taken for
        neighbours. The other methods take all songs of a playlist.

    epochs : int, default=10
        "word2vec" and "als": number of passes over the playlists. Small data need more.

    skip_gram : bool, default=False
        "word2vec" only: whether to predict the neighbours from a song (skip-gram) instead of a
        song from its neighbours (continuous bag of words). Skip-gram takes about four times as
        long per epoch.

    learning_rate : float, default=0.1
        "word2vec" only: size of the first steps; it falls to almost 0 over the epochs. Too small,
        and vectors stay near their random start. Songs are rarer than artists, so they need larger
        steps; lower it where a song is in hundreds of playlists.

    shift : float, default=1.0
        "svd" only: pairs of songs count that are together more than `shift` times as often as by
        chance.

    confidence : float, default=10.0
        "als" only: a song that a playlist holds counts ``1 + confidence`` times as much as one
        that it does not.

    factor_l2 : float, default=10.0
        "als" only: penalty on the squared l2 norm of all factors.

    length : float, default=3.0
        Length of all vectors. The longer, the less a penalty shrinks their weights. The default
        suits the default penalties of `MultitaskPlaylistRanker`.

    min_count : int, default=1
        Songs that occur fewer times in training playlists are treated as unknown.

    add_indicator : bool, default=False
        Whether to add a feature that is 1 for unknown songs.

    random_state : int, RandomState instance or None, default=None
        Seed. The same seed gives the same vectors, in any process and beside any other work.

    Attributes
    ----------
    vocabulary_ : list of ndarray
        Songs of each column that have a vector, sorted.

    vectors_ : list of ndarray of shape (n_known, vector_size)
        Their vectors, in single precision. Nothing else is stored: a fitted
        embedding is pickled and used without gensim or implicit.

    n_features_in_ : int
        Number of columns seen in `fit`, usually the one of song ids.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    ArtistEmbedding : The same for artists, which works for new songs too.

    References
    ----------
    O. Levy, Y. Goldberg. Neural Word Embedding as Implicit Matrix Factorization (shifted PPMI).

    T. Mikolov, K. Chen, G. Corrado, J. Dean. Efficient Estimation of Word Representations in
    Vector Space.

    Y. Hu, Y. Koren, C. Volinsky. Collaborative Filtering for Implicit Feedback Datasets (ALS).

    Examples
    --------
    Songs s1 and s2 share a playlist, and so do s3 and s4. So the vectors of s1 and s2 are the same,
    at a right angle to those of s3 and s4.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from skmtc.features import SongEmbedding
    >>> songs = pd.DataFrame({"song": ["s1", "s2", "s3", "s4"]})
    >>> playlists = csr_array([[1, 0], [2, 0], [0, 1], [0, 2]])
    >>> embedding = SongEmbedding(vector_size=4, length=1, random_state=0)
    >>> vectors = embedding.fit_transform(songs, playlists)
    >>> np.abs(vectors @ vectors.T).round(3).tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
    """

    _role = "song"
    _methods = {
        "word2vec": learn_by_word2vec,
        "svd": _learn_by_svd,
        "playlist-svd": _learn_by_playlists,
        "als": _learn_by_als,
    }

    def __init__(
        self,
        *,
        method: str = "svd",
        vector_size: int = 128,
        window: int = 10,
        epochs: int = 10,
        skip_gram: bool = False,
        learning_rate: float = 0.1,
        shift: float = 1.0,
        confidence: float = 10.0,
        factor_l2: float = 10.0,
        length: float = 3.0,
        min_count: int = 1,
        add_indicator: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.method = method
        self.vector_size = vector_size
        self.window = window
        self.epochs = epochs
        self.skip_gram = skip_gram
        self.learning_rate = learning_rate
        self.shift = shift
        self.confidence = confidence
        self.factor_l2 = factor_l2
        self.length = length
        self.min_count = min_count
        self.add_indicator = add_indicator
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        for name in ("shift", "length"):
            check_number(name, getattr(self, name), above=0)
        for name in ("confidence", "factor_l2"):
            check_number(name, getattr(self, name), at_least=0)

    def _length(self):
        return self.length
