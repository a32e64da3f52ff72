"""Artist embeddings learned from playlists."""

from skmtc._typing import Seed
from skmtc.features.embedding import BaseEmbedding, learn_by_word2vec, svd_of_playlists


def _learn_by_svd(embedding, sequences, seed):
    return svd_of_playlists(
        sequences,
        vector_size=embedding.vector_size,
        min_count=embedding.min_count,
        seed=seed,
    )


class ArtistEmbedding(BaseEmbedding):
    """Encode artists by vectors in which artists of the same playlists are close.

    Vectors have unit length. A new artist, or none, gets the zero vector, which `BlockScaler`
    leaves at the centre of all songs.

    Parameters
    ----------
    method : {"svd", "word2vec"}, default="svd"
        How vectors are learned. "svd" decomposes how much more often than by chance an artist
        is in a playlist (pointwise mutual information of artists and playlists). "word2vec", the
        method of the paper, learns from the order of artists in playlists, and needs gensim,
        which is installed with the package on Python 3.13 and older.

    vector_size : int, default=64
        Number of dimensions.

    window : int, default=10
        Greatest distance between artists of a playlist that are taken for neighbours; for
        "word2vec", as are the following three.

    epochs : int, default=10
        Number of passes over the playlists. Small data need more.

    skip_gram : bool, default=False
        Whether to predict the neighbours from an artist (skip-gram) instead of an artist from its
        neighbours (continuous bag of words). Skip-gram takes about four times as long per epoch.

    learning_rate : float, default=0.05
        Size of the first steps; it falls to almost 0 over the epochs. Too small, and vectors stay
        near their random start.

    min_count : int, default=1
        Artists that occur fewer times in training playlists are treated as unknown.

    add_indicator : bool, default=False
        Whether to add a feature that is 1 for unknown artists.

    random_state : int, RandomState instance or None, default=None
        Seed. The same seed gives the same vectors, in any process and beside any other work:
        training always uses one thread.

    Attributes
    ----------
    vocabulary_ : list of ndarray
        Artists of each column that have a vector, sorted.

    vectors_ : list of ndarray of shape (n_known, vector_size)
        Their vectors, of unit length, in single precision. Nothing else is stored: a fitted
        embedding is pickled and used without gensim.

    n_features_in_ : int
        Number of columns seen in `fit`, usually the one of artists.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    SongEmbedding : The same for songs, for data without song features.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning
    (section "Features").

    O. Levy, Y. Goldberg. Neural Word Embedding as Implicit Matrix Factorization (PPMI).

    T. Mikolov, K. Chen, G. Corrado, J. Dean. Efficient Estimation of Word Representations in
    Vector Space.

    Examples
    --------
    Artists a and b share playlists, and so do c and d.

    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from skmtc.features import ArtistEmbedding
    >>> songs = pd.DataFrame({"artist": ["a", "b", "c", "d"]})
    >>> playlists = csr_array([[1, 0], [2, 0], [0, 1], [0, 2]])
    >>> embedding = ArtistEmbedding(vector_size=2, add_indicator=True, random_state=0)
    >>> embedding.fit(songs, playlists).get_feature_names_out().tolist()
    ['artist_vector0', 'artist_vector1', 'artist_unknown']
    >>> a, b, c, d = embedding.transform(songs)[:, :-1]
    >>> bool(a @ b > a @ c)
    True
    >>> embedding.transform(pd.DataFrame({"artist": ["e"]}))
    array([[0., 0., 1.]])
    """

    _role = "artist"
    _methods = {"svd": _learn_by_svd, "word2vec": learn_by_word2vec}

    def __init__(
        self,
        *,
        method: str = "svd",
        vector_size: int = 64,
        window: int = 10,
        epochs: int = 10,
        skip_gram: bool = False,
        learning_rate: float = 0.05,
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
        self.min_count = min_count
        self.add_indicator = add_indicator
        self.random_state = random_state
