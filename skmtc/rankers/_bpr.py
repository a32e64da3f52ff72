"""Learning to rank by comparing pairs of songs."""

from typing import Any

from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from skmtc._typing import Column, Seed
from skmtc._utils.fitted_state import Array
from skmtc._utils.validation import check_number
from skmtc.optimize import descend_pairs
from skmtc.rankers.features import WEIGHTS, FeatureRanker, learn_features, sum_of_weights


class PairwiseRanker(FeatureRanker):
    r"""Rank songs by weights learned from pairs of songs (BPR).

    The score of a song for a playlist is linear in the song's features, and the weights of a
    playlist are the sum of shared, user and playlist weights, as in `MultitaskPlaylistRanker`. The
    loss is a ranking loss: for each song of a playlist and a random song outside it, the
    logistic loss of the difference of their scores,

    .. math::

        \sum_{i} \sum_{m \in i} \mathrm{E}_{n \notin i} \log(1 + e^{-w_i \cdot (x_m - x_n)})
        + \mathrm{penalties}, \quad w_i = \mathrm{shared} + \mathrm{user}_{u(i)}
        + \mathrm{playlist}_i,

    minimised by stochastic gradient steps (Adagrad) from zero weights. The constant feature, the
    last column of every coefficient array, cancels in the differences, so that its weights are 0.
    Which weights score a row is read from the ids:

    ============================== =============================================
    a known playlist               shared + user + playlist weights
    a new playlist of a known user shared + user weights
    a new user with attributes     shared + mean weights of the most similar users
    a new user                     shared weights
    ============================== =============================================

    Parameters
    ----------
    user_l2 : float, default=1.0
        Penalty on the squared l2 norm of each user's weights. Penalties count weights in units of
        the features' standard deviation, so that the unit of a feature does not matter.

    playlist_l2 : float, default=10.0
        Penalty on the squared l2 norm of each playlist's weights.

    shared_l2 : float, default=0.01
        Penalty on the squared l2 norm of the shared weights.

    learning_rate : float, default=0.1
        Size of the first step of each weight; later ones are smaller.

    n_epochs : int, default=20
        How many times each membership is compared with a random song outside its playlist.

    batch_size : int, default=1024
        How many pairs share a step.

    song_features : transformer, list of columns, "auto", "passthrough" or None, default=None
        Makes the features of songs. It is cloned and fitted on one row per distinct song,
        `fit_transform(songs, membership)`, where `membership` is the sparse songs x playlists
        matrix of 1-based positions. "auto" uses all that the table tells of songs, by
        `make_song_features`; None the numeric columns that describe songs, or "auto" if there are
        none; a list the columns it names; "passthrough" every column that is not an id.

    user_features : transformer, "auto", "passthrough" or None, default=None
        Makes the attributes of users, by whose cosine new users are compared with known ones. It
        is fitted on one row per distinct user. None: attributes are not used.

    n_neighbors : int, default=10
        How many similar users stand in for a new one; users as similar as the last are included.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the pairs and of their order.

    Attributes
    ----------
    shared_coef_ : ndarray of shape (n_features,)
        Weights shared by all playlists.

    user_coef_ : ndarray of shape (n_users, n_features)
        Weights of each user, in the order of `users_`.

    playlist_coef_ : ndarray of shape (n_playlists, n_features)
        Weights of each playlist, in the order of `playlists_`.

    loss_curve_ : ndarray of shape (n_epochs,)
        Mean loss of the pairs of each epoch, as they were met; log(2) for zero weights.

    songs_, users_, playlists_ : ndarray
        Distinct ids, sorted.

    song_features_, user_features_ : transformer or None
        Fitted transformers.

    song_vectors_ : array or csr_array of shape (n_songs, n_features)
        Features of the training catalogue, the constant one included.

    user_attributes_ : array, csr_array or None
        Attributes of the known users.

    feature_names_out_ : ndarray of shape (n_features,)
        Names of the features, in the order of the coefficients.

    membership_ : csr_array of shape (n_playlists, n_songs)
        1-based position of each song in each training playlist.

    user_of_playlist_ : ndarray of shape (n_playlists,)
        Position in `users_` of each playlist's owner.

    left_out_ : dict
        How many repeated rows and full playlists were left out of fit.

    n_features_in_ : int
        Number of columns of the table seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    MultitaskPlaylistRanker : The same weights with a classification loss over all songs.
    RidgeRanker : Least squares, in closed form.

    References
    ----------
    S. Rendle, C. Freudenthaler, Z. Gantner, L. Schmidt-Thieme. BPR: Bayesian Personalized Ranking
    from Implicit Feedback. UAI 2009.

    Examples
    --------
    Both of ana's playlists have the fast song, so fast songs are for her new playlist too:

    >>> import pandas as pd
    >>> from skmtc import PairwiseRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob"],
    ...     "playlist": ["gym", "run", "bed"],
    ...     "song": ["fast", "fast", "slow"],
    ...     "tempo": [1.0, 1.0, -1.0],
    ... })
    >>> ranker = PairwiseRanker(random_state=0).fit(X)
    >>> songs, _ = ranker.recommend(pd.DataFrame({"user": ["ana", "bob"]}), n_recommendations=1)
    >>> songs.tolist()
    [['fast'], ['slow']]
    """

    _fitted_state = WEIGHTS | {"loss_curve_": Array(None)}
    fit_intercept = True  # the layout of `MultitaskPlaylistRanker`, though it cancels in pairs

    def __init__(
        self,
        *,
        user_l2: float = 1.0,
        playlist_l2: float = 10.0,
        shared_l2: float = 0.01,
        learning_rate: float = 0.1,
        n_epochs: int = 20,
        batch_size: int = 1024,
        song_features: Any = None,
        user_features: Any = None,
        n_neighbors: int = 10,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.user_l2 = user_l2
        self.playlist_l2 = playlist_l2
        self.shared_l2 = shared_l2
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.song_features = song_features
        self.user_features = user_features
        self.n_neighbors = n_neighbors
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _check_parameters(self):
        for name in ("user_l2", "playlist_l2", "shared_l2"):
            check_number(name, getattr(self, name), at_least=0)
        check_number("learning_rate", self.learning_rate, above=0)
        for name in ("n_epochs", "batch_size", "n_neighbors"):
            check_number(name, getattr(self, name), at_least=1, whole=True)

    def _fit(self, table, frame):
        learn_features(self, table, frame)
        scaler = StandardScaler(with_mean=False).fit(self.song_vectors_)
        result = descend_pairs(
            scaler.transform(self.song_vectors_),
            table.membership,
            table.user_of_playlist,
            shared_l2=self.shared_l2,
            user_l2=self.user_l2,
            playlist_l2=self.playlist_l2,
            learning_rate=self.learning_rate,
            n_epochs=self.n_epochs,
            batch_size=self.batch_size,
            rng=check_random_state(self.random_state),
        )
        self.shared_coef_ = result.shared / scaler.scale_
        self.user_coef_ = result.user / scaler.scale_
        self.playlist_coef_ = result.playlist / scaler.scale_
        self.loss_curve_ = result.loss_curve

    def vectors_of_queries(self, queries):
        return sum_of_weights(self, queries)
