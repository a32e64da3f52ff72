"""Ridge regression of membership: a strong and simple baseline."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from skmtc._typing import Column, Seed
from skmtc._utils.fitted_state import Array, refuse
from skmtc._utils.sparse import as_ones, mean_of_groups, one_hot
from skmtc._utils.validation import check_choice, check_number
from skmtc.optimize import RIDGE_SOLVERS, choose_solver, ridge_coef, ridge_factors
from skmtc.rankers.features import FeatureRanker, learn_features, weigh_similar_users

# Power iterations of the decomposition of memberships, whose singular values decay slowly.
SVD_ITERATIONS = 8


class RidgeRanker(FeatureRanker):
    """Rank songs by ridge regression of membership on song features.

    For each playlist, a ridge regression of "is in the playlist" (1 or 0) on the features of all
    songs of the catalogue. One factorisation of the features' Gram matrix serves all playlists.
    Features may be sparse and many, such as the identities of artists and albums that
    `make_song_features` makes. The same regression of the mean membership in a user's playlists,
    and in all playlists, gives weights of users and shared weights; both are means of playlist
    weights. Which of them score a row is read from the ids; they are not added up:

    ============================== ==================================
    a known playlist               playlist weights
    a new playlist of a known user user weights
    a new user with attributes     mean weights of the most similar users
    a new user                     shared weights
    ============================== ==================================

    Parameters
    ----------
    l2 : float, default=0.3
        Penalty on the squared l2 norm of weights, above 0, beside the mean squared error over
        songs, so that it means the same for catalogues of any size: `alpha` of scikit-learn's
        `Ridge` is `l2` times the number of songs. The default suits blocks of features of the
        length 3, which `make_song_features` makes.

    n_components : int or None, default=None
        Number of components of the memberships to regress: the playlists x songs matrix is
        replaced by its truncated singular value decomposition, which fills in songs that similar
        playlists have. None regresses the memberships as they are.

    solver : {"auto", "cholesky", "dual", "cg"}, default="auto"
        "cholesky" factorises a features x features matrix, "dual" a songs x songs one, "cg" runs
        conjugate gradients and needs neither. All give the same weights, to about 1e-6. "auto"
        takes the smaller factorisation, and "cg" if both are above 10,000.

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

    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised. It is the last column of every
        coefficient array, and does not change the order of songs.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the decomposition, if `n_components` is set.

    Attributes
    ----------
    playlist_coef_ : ndarray of shape (n_playlists, n_features)
        Weights of each playlist, in the order of `playlists_`. Where song features are sparse and
        not more than twice as many as playlists, they are not stored but made when they are asked
        for, as products with the inverse of the Gram matrix in single precision (or double
        precision, if `l2` is very small).

    user_coef_ : ndarray of shape (n_users, n_features)
        Weights of each user, in the order of `users_`: the means over the user's playlists. They
        are made when they are asked for.

    shared_coef_ : ndarray of shape (n_features,)
        Weights of a new playlist of a new user.

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
    MultitaskPlaylistRanker : Weights of users and playlists that are learned together.
    PairwiseRanker : Weights that are learned by comparing pairs of songs.

    Examples
    --------
    The gym playlist has the fast song, so its weight of tempo is positive. The mean of tempo is 0
    and its sum of squares 2, so that the weight is 1 / (2 + 2 songs * l2):

    >>> import pandas as pd
    >>> from skmtc import RidgeRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob"],
    ...     "playlist": ["gym", "bed"],
    ...     "song": ["fast", "slow"],
    ...     "tempo": [1.0, -1.0],
    ... })
    >>> ranker = RidgeRanker(l2=1.0).fit(X)
    >>> ranker.playlists_.tolist(), ranker.playlist_coef_.tolist()
    (['bed', 'gym'], [[-0.25, 0.5], [0.25, 0.5]])
    """

    uses_identities = True
    _fitted_state = {
        "shared_coef_": Array("features"),
        "song_vectors_": Array("songs", "features", sparse=None),
        "_playlist_coef": Array("playlists", "features", optional=True),
        "_mixing": Array("playlists", "basis", sparse=True, optional=True),
        "_basis": Array("basis", "features", optional=True),
    }

    def __init__(
        self,
        *,
        l2: float = 0.3,
        n_components: int | None = None,
        solver: str = "auto",
        song_features: Any = None,
        user_features: Any = None,
        n_neighbors: int = 10,
        fit_intercept: bool = True,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.l2 = l2
        self.n_components = n_components
        self.solver = solver
        self.song_features = song_features
        self.user_features = user_features
        self.n_neighbors = n_neighbors
        self.fit_intercept = fit_intercept
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _check_parameters(self):
        check_number("l2", self.l2, above=0)
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, whole=True)
        check_choice("solver", self.solver, ("auto", *RIDGE_SOLVERS))
        check_number("n_neighbors", self.n_neighbors, at_least=1, whole=True)

    def _fit(self, table, frame):
        features = learn_features(self, table, frame)
        # More threads inside BLAS would sum in another order, and a stack fits rankers in processes
        # that have fewer of them.
        with threadpool_limits(1, user_api="blas"):
            self._fit_playlists(features, as_ones(table.membership))
        everybody = mean_of_groups(np.zeros(len(table.playlists), dtype=np.intp), 1)
        self.shared_coef_ = self._weights_of(everybody)[0]

    @property
    def playlist_coef_(self) -> Any:
        """Weights of each playlist."""
        n_playlists = len(self.user_of_playlist_)
        return self._weights_of(one_hot(np.arange(n_playlists), n_playlists))

    @property
    def user_coef_(self) -> Any:
        """Weights of each user."""
        return self._weights_of(mean_of_groups(self.user_of_playlist_, len(self.users_)))

    def _fit_playlists(self, features, membership):
        """Store the weights of playlists, or two smaller matrices whose product they are."""
        self._playlist_coef = self._mixing = self._basis = None
        n_playlists, n_features = membership.shape[0], features.shape[1]
        solver = choose_solver(*features.shape) if self.solver == "auto" else self.solver
        # The inverse in single precision takes less room than weights in double precision.
        is_smaller = issparse(features) and n_features <= 2 * n_playlists
        if is_smaller and solver == "cholesky" and self.n_components is None:
            self._mixing, self._basis = ridge_factors(
                features,
                membership,
                l2=self.l2 * features.shape[0],
                fit_intercept=self.fit_intercept,
            )
        else:
            self._playlist_coef = self._coef_of_playlists(features, membership)

    def _weights_of(self, shares):
        """Return sums of the weights of playlists, with the shares of each sum in a row."""
        if self._playlist_coef is not None:
            return shares @ self._playlist_coef
        if self._mixing is None or self._basis is None:
            refuse("_playlist_coef", "be there, or `_mixing` and `_basis`", "none of them")
        # In the precision of the basis, of which scipy would make a copy otherwise.
        mixing = csr_array(shares @ self._mixing, dtype=self._basis.dtype)
        return (mixing @ self._basis).astype(np.float64, copy=False)

    def _coef_of_playlists(self, features, membership):
        """Solve the regressions of all playlists, or of the leading components of memberships."""
        options = {
            "l2": self.l2 * features.shape[0],
            "fit_intercept": self.fit_intercept,
            "solver": self.solver,
        }
        if self.n_components is None or self.n_components >= min(membership.shape):
            return ridge_coef(features, membership, **options)
        # Y = U S V' and weights are linear in the targets: regress the rows of V', then mix.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        left, sizes, right = randomized_svd(
            membership, self.n_components, n_iter=SVD_ITERATIONS, random_state=seed
        )
        return (left * sizes) @ ridge_coef(features, right, **options)

    def vectors_of_queries(self, queries):
        vectors = np.tile(self.shared_coef_, (len(queries), 1))
        known = queries.playlists >= 0
        vectors[known] = self._weights_of(one_hot(queries.playlists[known], len(self.playlists_)))
        if known.all():
            return vectors
        of_users = mean_of_groups(self.user_of_playlist_, len(self.users_))
        owned = ~known & (queries.users >= 0)
        vectors[owned] = self._weights_of(of_users[queries.users[owned]])
        strangers = np.flatnonzero(~known & (queries.users < 0))
        rows = queries.rows.iloc[strangers]
        similar = weigh_similar_users(self, rows) if len(strangers) else None
        if similar is not None:  # users similar to none keep the shared weights
            described = np.diff(similar.indptr) > 0
            shares = csr_array(similar[described] @ of_users)
            vectors[strangers[described]] = self._weights_of(shares)
        return vectors
