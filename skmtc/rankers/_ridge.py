"""Ridge regression of membership: the strong and simple opponent."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array, csr_array, issparse

from skmtc._checks import check_number
from skmtc._memory import row_batches
from skmtc.rankers._feature_ranker import FeatureRanker
from skmtc.rankers._sparse import as_ones, mean_of_groups

# A column with more non-zeros than this share is multiplied as a dense one.
FULL_COLUMN = 0.2


class RidgeRanker(FeatureRanker):
    """Rank songs by ridge regression of membership on song features.

    For each playlist, a ridge regression of "is in the playlist" (1 or 0) on the features of all
    songs of the catalogue. One factorisation of the features' Gram matrix serves all playlists.
    Features may be sparse and many, such as the identities of artists and albums that
    `make_song_features` makes: they tell exactly which songs belong together.
    The same regression of the mean membership in a user's playlists, and in all playlists, gives
    weights of users and shared weights; both are means of playlist weights. Which of them score
    a row is read from the ids; they are not added up:

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

    song_features : transformer, "passthrough" or None, default=None
        Makes the features of songs. It is cloned and fitted on one row per distinct song,
        `fit_transform(songs, membership)`, where `membership` is the sparse songs x playlists
        matrix of 1-based positions. None takes the numeric columns that describe songs,
        "passthrough" every column that is not an id.

    user_features : transformer, "passthrough" or None, default=None
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

    Attributes
    ----------
    playlist_coef_ : ndarray of shape (n_playlists, n_features)
        Weights of each playlist, in the order of `playlists_`.

    user_coef_ : ndarray of shape (n_users, n_features)
        Weights of each user, in the order of `users_`.

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

    _uses_identities = True

    def __init__(
        self,
        *,
        l2=0.3,
        song_features=None,
        user_features=None,
        n_neighbors=10,
        fit_intercept=True,
        user="user",
        playlist="playlist",
        song="song",
    ):
        self.l2 = l2
        self.song_features = song_features
        self.user_features = user_features
        self.n_neighbors = n_neighbors
        self.fit_intercept = fit_intercept
        self.user = user
        self.playlist = playlist
        self.song = song

    def _check_parameters(self):
        check_number("l2", self.l2, above=0)
        check_number("n_neighbors", self.n_neighbors, at_least=1, whole=True)

    def _fit(self, table, frame):
        features = self._fit_song_features(table, frame)
        self._fit_user_features(table, frame)
        coef = ridge_coef(
            features,
            as_ones(table.membership),
            l2=self.l2 * features.shape[0],
            fit_intercept=self.fit_intercept,
        )
        self.playlist_coef_ = coef
        self.user_coef_ = mean_of_groups(table.user_of_playlist, len(table.users)) @ coef
        everybody = mean_of_groups(np.zeros(len(coef), dtype=np.intp), 1)
        self.shared_coef_ = (everybody @ coef)[0]

    def _query_vectors(self, queries):
        return self._first_known(
            queries,
            playlists=self.playlist_coef_,
            users=self.user_coef_,
            otherwise=self.shared_coef_,
        )


def ridge_coef(features, targets, *, l2, fit_intercept):
    """Solve a ridge regression for each row of sparse targets.

    Parameters
    ----------
    features : array or csr_array of shape (n_songs, n_features)
        Features.

    targets : csr_array of shape (n_targets, n_songs)
        What to predict, one regression per row.

    l2 : float
        Penalty on the squared norm of the coefficients.

    fit_intercept : bool
        Whether each regression has an intercept, which is not penalised.

    Returns
    -------
    coef : ndarray of shape (n_targets, n_features) or (n_targets, n_features + 1)
        Coefficients; with an intercept it is the last column.
    """
    n_songs, n_features = features.shape
    columns = SplitColumns(features)
    mean = columns.mean() if fit_intercept else np.zeros(n_features)
    if n_features == 0:  # what LAPACK does not take
        means = np.asarray(targets.sum(axis=1), dtype=np.float64) / n_songs
        return means[:, None] if fit_intercept else np.empty((targets.shape[0], 0))
    gram = columns.centred_gram(mean)
    gram[np.diag_indices_from(gram)] += l2
    # The matrix is symmetric: its transpose is in the order of LAPACK, and is not copied.
    factor = cho_factor(gram.T, overwrite_a=True, check_finite=False)
    coef = np.empty((targets.shape[0], n_features + bool(fit_intercept)))
    for batch in row_batches(targets.shape[0], 24 * max(1, n_features)):
        sums = targets[batch].sum(axis=1)
        products = columns.products(targets[batch]) - np.outer(sums, mean)
        solved = cho_solve(factor, products.T, overwrite_b=True, check_finite=False).T
        coef[batch, :n_features] = solved
        if fit_intercept:
            coef[batch, -1] = sums / n_songs - solved @ mean
    return coef


class SplitColumns:
    """Features whose dense and sparse columns are multiplied each in its own way.

    Vectors and identities side by side are a sparse matrix with some full columns. BLAS multiplies
    these ten times as fast as sparse products do.

    Parameters
    ----------
    features : array or csr_array of shape (n_songs, n_features)
        Features.
    """

    def __init__(self, features):
        self.shape = features.shape
        if issparse(features):
            columns = csc_array(features)
            is_full = np.diff(columns.indptr) > FULL_COLUMN * features.shape[0]
            self.full, self.rest = np.flatnonzero(is_full), np.flatnonzero(~is_full)
            self.dense = columns[:, self.full].toarray()
            self.sparse = csr_array(columns[:, self.rest], dtype=np.float64)
        else:
            self.full, self.rest = np.arange(features.shape[1]), np.arange(0)
            self.dense = features
            self.sparse = csr_array((features.shape[0], 0))

    def mean(self):
        """Return the mean of each feature."""
        mean = np.empty(self.shape[1])
        mean[self.full] = self.dense.mean(axis=0, dtype=np.float64)
        mean[self.rest] = self.sparse.sum(axis=0) / self.shape[0]
        return mean

    def centred_gram(self, mean):
        """Return the sums over songs of products of two features less their means."""
        full, rest = self.full, self.rest
        gram = np.zeros((self.shape[1], self.shape[1]))
        pairs = (self.sparse.T @ self.sparse).tocoo()
        gram[rest[pairs.row], rest[pairs.col]] = pairs.data
        mixed = self.sparse.T @ self.dense
        gram[np.ix_(rest, full)] = mixed
        gram[np.ix_(full, rest)] = mixed.T
        # Sparse columns are not centred, but corrected: their means are small.
        for batch in row_batches(len(mean), 24 * max(1, len(mean))):
            gram[batch] -= np.outer(self.shape[0] * mean[batch], mean)
        gram[np.ix_(full, full)] = self._dense_gram(mean[full])
        return gram

    def _dense_gram(self, mean):
        # In batches, so that there is no centred copy of all songs.
        gram = np.zeros((len(mean), len(mean)))
        for batch in row_batches(len(self.dense), 16 * max(1, len(mean))):
            centred = self.dense[batch] - mean
            gram += centred.T @ centred
        return gram

    def products(self, targets):
        """Return the sums of features over the songs of each row of sparse targets."""
        products = np.empty((targets.shape[0], self.shape[1]))
        products[:, self.full] = targets @ self.dense
        products[:, self.rest] = (targets @ self.sparse).toarray()
        return products
