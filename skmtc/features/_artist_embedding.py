"""Vectors of artists, learned from playlists."""

from skmtc.features._embedding import BaseEmbedding


class ArtistEmbedding(BaseEmbedding):
    """Encode artists by vectors in which artists of the same playlists are close.

    Each training playlist becomes the sequence of its songs' artists, in playlist order, and
    word2vec learns a vector of unit length for each artist. A new artist, or none, gets the zero
    vector.

    Parameters
    ----------
    method : {"word2vec"}, default="word2vec"
        How vectors are learned.

    vector_size : int, default=50
        Number of dimensions.

    window : int, default=10
        Greatest distance between artists of a playlist that are taken for neighbours.

    epochs : int, default=10
        Number of passes over the playlists. Small data need more.

    skip_gram : bool, default=False
        Whether to predict the neighbours from an artist (skip-gram) instead of an artist from its
        neighbours (continuous bag of words). Skip-gram takes about four times as long per epoch.

    learning_rate : float, default=0.05
        Size of the first steps; it falls to almost 0 over the epochs. Too small, and vectors stay
        near their random start.

    min_count : int, default=1
        Artists that are fewer times in training playlists are left unknown.

    add_indicator : bool, default=False
        Whether to add a feature that is 1 for unknown artists.

    random_state : int, RandomState instance or None, default=None
        Seed. The same seed gives the same vectors, in any process and beside any other work:
        training is always by one thread.

    Attributes
    ----------
    vocabulary_ : list of ndarray
        Artists of each column that have a vector, sorted.

    vectors_ : list of ndarray of shape (n_known, vector_size)
        Their vectors, of unit length, in single precision. They are all that is kept: a fitted
        embedding is pickled and used without gensim.

    n_features_in_ : int
        Number of columns seen in `fit`, usually the one of artists.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    SongEmbedding : The same for songs, where nothing is known of them but their ids.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning
    (section "Features").

    T. Mikolov, K. Chen, G. Corrado, J. Dean. Efficient Estimation of Word Representations in
    Vector Space.

    Examples
    --------
    Artists a and b share playlists, and so do c and d.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from scipy.sparse import csr_array
    >>> from skmtc.features import ArtistEmbedding
    >>> songs = pd.DataFrame({"artist": ["a", "b", "c", "d"]})
    >>> playlists = csr_array(np.tile([[1, 0], [2, 0], [0, 1], [0, 2]], 500))
    >>> embedding = ArtistEmbedding(vector_size=8, add_indicator=True, random_state=0)
    >>> embedding.fit(songs, playlists).get_feature_names_out()[[0, -1]].tolist()
    ['artist_vector0', 'artist_unknown']
    >>> a, b, c, d = embedding.transform(songs)[:, :-1]
    >>> bool(a @ b > a @ c)
    True
    >>> new = embedding.transform(pd.DataFrame({"artist": ["e"]}))
    >>> new.tolist()
    [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    """

    _role = "artist"

    def __init__(
        self,
        *,
        method="word2vec",
        vector_size=50,
        window=10,
        epochs=10,
        skip_gram=False,
        learning_rate=0.05,
        min_count=1,
        add_indicator=False,
        random_state=None,
    ):
        self.method = method
        self.vector_size = vector_size
        self.window = window
        self.epochs = epochs
        self.skip_gram = skip_gram
        self.learning_rate = learning_rate
        self.min_count = min_count
        self.add_indicator = add_indicator
        self.random_state = random_state
