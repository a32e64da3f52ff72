"""The multitask objective: the only place with the full formula."""

from copy import copy
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skmtc.optimize._arrays import with_constant
from skmtc.optimize._checks import check_objective
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._penalty import l1_value, pseudo_gradient
from skmtc.optimize._positives import Positives
from skmtc.optimize._remote_pass import make_pass
from skmtc.optimize._risks import Risk, empirical_risk, playlist_losses, risk_terms

Array = NDArray[np.float64]

Loss = Literal["classification", "ranking"]


class MultitaskObjective:
    r"""The multitask objective of cold-start playlist recommendation.

    With :math:`w_i = \mathrm{shared} + \mathrm{user}_{u(i)} + \mathrm{playlist}_i` and the score
    :math:`f_{im} = w_i \cdot x_m` of song m for playlist i, the objective is

    .. math::

        \frac{1}{N} \sum_i \varphi_i(w_i)
        + \frac{\mathtt{user\_l2}}{N} \sum_u \|\mathrm{user}_u\|_2^2
        + \frac{\mathtt{playlist\_l1}}{N} \sum_i \|\mathrm{playlist}_i\|_1
        + \mathtt{shared\_l1}\, \|\mathrm{shared}\|_1

    where, over the :math:`M_+` songs of playlist i and the :math:`M_-` others,

    .. math::

        \varphi_i = \frac{1}{p M_+} \sum_{m \in i} e^{-p f_{im}}
        + \frac{1}{M_-} \sum_{m \notin i} e^{f_{im}}

    for `loss="classification"`, and the p-norm push that it stands in for,

    .. math::

        \varphi_i = \frac{1}{M_-} \Big( \sum_{m \in i} e^{-p f_{im}} \Big)^{1/p}
        \sum_{m \notin i} e^{f_{im}}

    for `loss="ranking"`; p is `push`. With `sample_weight`, the loss of playlist i counts
    :math:`\mathtt{sample\_weight}_i` times; N stays the number of playlists. With `song_weight`,
    means over the other songs are weighted, and :math:`M_-` is the sum of their weights.

    Coefficients are one array `coef` of shape (1 + n_users + n_playlists, n_features): the shared
    weights in row 0, then one row per user, then one per playlist. With `fit_intercept` the last
    column belongs to a constant feature 1 and is penalised like any other.

    Values and gradients are exact. A score that overflows makes the value inf, never NaN, so that
    a solver rejects the step.

    Parameters
    ----------
    features : array or sparse matrix of shape (n_songs, n_features)
        Song features. float32 features are multiplied in float32 and summed in float64.

    membership : sparse matrix of shape (n_playlists, n_songs)
        Stored entries are the songs of each playlist; their values do not matter.

    user_of_playlist : array of shape (n_playlists,)
        Code (0, 1, …) of the owner of each playlist.

    user_l2 : float, default=1.0
        Penalty on the squared l2 norm of user weights, for a sum over playlists.

    playlist_l1 : float, default=1.0
        Penalty on the l1 norm of playlist weights, for a sum over playlists.

    shared_l1 : float, default=0.01
        Penalty on the l1 norm of the shared weights, for a mean over playlists.

    push : float, default=1.0
        The larger, the more the lowest ranked songs of a playlist count.

    loss : {"classification", "ranking"}, default="classification"
        The classification risk, or the p-norm push risk that it stands in for.

    fit_intercept : bool, default=True
        Whether to add a constant feature.

    n_jobs : int, default=None
        Number of threads, in the sense of joblib, or of processes or cores of a cluster where
        joblib's configuration names such a backend. It never changes the result.

    sample_weight : array of shape (n_playlists,), default=None
        Positive factor of the loss of each playlist; None stands for ones. Penalties are not
        weighted, so only weights of mean 1 keep their relative size.

    song_weight : array of shape (n_songs,), default=None
        Weight of each song in the mean over the songs outside a playlist, not negative; None stands
        for ones. Songs of weight 0 take no time in a pass, so that a sample of songs, weighted by
        inverse probabilities, can stand for all. The songs of a playlist count equally, whatever
        their weight.

    Attributes
    ----------
    shape : tuple of int
        Shape of coefficient arrays.

    n_users, n_playlists, n_songs, n_features : int
        Sizes; `n_features` counts the constant feature.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning.

    Examples
    --------
    Two playlists of one user over three songs, one feature. At zero coefficients every score is
    0, so each playlist costs 1 / push + 1:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skmtc.optimize import MultitaskObjective
    >>> membership = csr_array(np.array([[1, 1, 0], [0, 1, 0]]))
    >>> objective = MultitaskObjective([[-1.0], [1.0], [2.0]], membership, [0, 0], push=2.0)
    >>> objective.shape
    (4, 2)
    >>> objective.value(objective.zeros())
    1.5
    """

    def __init__(
        self,
        features: ArrayLike | csr_array,
        membership: ArrayLike | csr_array,
        user_of_playlist: ArrayLike,
        *,
        user_l2: float = 1.0,
        playlist_l1: float = 1.0,
        shared_l1: float = 0.01,
        push: float = 1.0,
        loss: Loss = "classification",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        sample_weight: ArrayLike | None = None,
        song_weight: ArrayLike | None = None,
    ) -> None:
        self.user_l2 = user_l2
        self.playlist_l1 = playlist_l1
        self.shared_l1 = shared_l1
        self.push = push
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        membership = csr_array(membership, copy=True)
        membership.sum_duplicates()  # also sorts
        if max(membership.nnz, *membership.shape) < 2**31:
            # Always int32: each further index dtype recompiles the kernels, which takes seconds.
            membership.indices = membership.indices.astype(np.int32, copy=False)
            membership.indptr = membership.indptr.astype(np.int32, copy=False)
        self.membership = membership
        self.user_of_playlist = np.asarray(user_of_playlist, dtype=np.intp)
        self.features = with_constant(features)
        if sample_weight is None:
            sample_weight = np.ones(membership.shape[0])
        self.sample_weight = np.array(sample_weight, dtype=np.float64)
        self.song_weight = None if song_weight is None else np.array(song_weight, dtype=np.float64)
        check_objective(self)
        self.n_playlists, self.n_songs = membership.shape
        self.n_features = self.features.shape[1] - (not fit_intercept)
        self.n_users = int(self.user_of_playlist.max()) + 1
        self.shape = (1 + self.n_users + self.n_playlists, self.n_features)
        self._derive()

    def _derive(self) -> None:
        """Set the attributes that depend on the order of playlists."""
        self.playlists_of_user = np.bincount(self.user_of_playlist)
        self.positives = Positives(self.features, self.membership)
        self.negative_weights = self._sum_negative_weights()
        # Sums over songs are divided by these: means, times the weight of the playlist. A ranking
        # loss is a product of two sums, so that only one of them takes the weight.
        self.negative_divisors = self.negative_weights / self.sample_weight
        self.positive_divisors = self.positives.counts / (
            self.sample_weight if self.loss == "classification" else 1.0
        )
        self._sum_by_user = csr_array(
            (
                np.ones(self.n_playlists),
                (self.user_of_playlist, np.arange(self.n_playlists)),
            ),
            shape=(self.n_users, self.n_playlists),
        )

    @cached_property
    def tiled_pass(self) -> TiledPass:
        """The pass over playlists and songs that have a weight, made when it is first needed."""
        if self.song_weight is None:
            return make_pass(self.features, self.membership, self.n_jobs)
        songs = np.flatnonzero(self.song_weight)
        return make_pass(
            self.features[songs],
            csr_array(self.membership[:, songs]),
            self.n_jobs,
            offsets=np.log(self.song_weight[songs]),
        )

    def _sum_negative_weights(self) -> Array:
        """Sum the weights of the songs outside each playlist."""
        if self.song_weight is None:
            return np.asarray(self.n_songs - self.positives.counts, dtype=np.float64)
        own = self.positives.reduce(np.add, self.song_weight[self.membership.indices])
        return np.asarray(self.song_weight.sum() - own)

    def reordered(self, order: NDArray[np.intp]) -> "MultitaskObjective":
        """Return the same problem with its playlists in another order, sharing the features.

        Parameters
        ----------
        order : ndarray of shape (n_playlists,)
            Which playlist comes at each place.

        Returns
        -------
        objective : MultitaskObjective
            The reordered problem.
        """
        other = copy(self)
        other.__dict__.pop("tiled_pass", None)
        other.membership = self.membership[order]
        other.user_of_playlist = self.user_of_playlist[order]
        other.sample_weight = self.sample_weight[order]
        other._derive()
        return other

    def without_intercept(self) -> "MultitaskObjective":
        """Return the same problem without weights of the constant feature, sharing the features.

        A ranking loss does not depend on them, so that their best value is zero.

        Returns
        -------
        objective : MultitaskObjective
            The problem; its coefficients have one column less.
        """
        other = copy(self)
        other.__dict__.pop("tiled_pass", None)
        other.fit_intercept = False
        other.n_features = self.n_features - 1
        other.shape = (self.shape[0], other.n_features)
        return other

    def zeros(self) -> Array:
        """Return coefficients of zero.

        Returns
        -------
        coef : ndarray of shape `shape`
            Zeros.
        """
        return np.zeros(self.shape)

    def split(self, coef: Array) -> tuple[Array, Array, Array]:
        """Return views of the shared, user and playlist rows.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        shared, user, playlist : ndarray
            Views of shapes (n_features,), (n_users, n_features) and (n_playlists, n_features).
        """
        return coef[0], coef[1 : 1 + self.n_users], coef[1 + self.n_users :]

    def weights(self, coef: Array) -> Array:
        """Sum the three parts: one row of weights per playlist.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        weights : ndarray of shape (n_playlists, n_features)
            Weights that score each playlist.
        """
        shared, user, playlist = self.split(coef)
        return np.asarray(playlist + user[self.user_of_playlist] + shared)

    def value(self, coef: Array) -> float:
        """Evaluate the objective, penalties included.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        value : float
            Its value; inf where scores overflow.
        """
        smooth = self.value_and_gradient(coef)[0]
        return smooth + self.l1_value(coef) if np.isfinite(smooth) else smooth

    def value_and_gradient(self, coef: Array) -> tuple[float, Array]:
        """Evaluate the smooth part (risk and l2 penalty) and its gradient.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        value : float
            Value without the l1 penalties; inf where scores overflow.

        gradient : ndarray of shape `shape`
            Its gradient; zero where the value is inf.
        """
        losses, gradients = playlist_losses(self, risk_terms(self, self.weights(coef)))
        user = self.split(coef)[1]
        with np.errstate(over="ignore"):
            value = (losses.sum() + self.user_l2 * np.sum(user * user)) / self.n_playlists
        if not np.isfinite(value):
            return np.inf, np.zeros(self.shape)
        return float(value), self.coef_gradient(gradients, coef)

    def coef_gradient(self, playlist_gradients: Array, coef: Array) -> Array:
        """Add up playlist gradients to the gradient of all coefficients, l2 penalty included.

        Parameters
        ----------
        playlist_gradients : ndarray of shape (n_playlists, n_features)
            Gradient of each playlist's loss.

        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        gradient : ndarray of shape `shape`
            Gradient of the smooth part of the objective.
        """
        gradient = np.empty(self.shape)
        gradient[0] = playlist_gradients.sum(axis=0)
        user = self.split(coef)[1]
        gradient[1 : 1 + self.n_users] = (
            self._sum_by_user @ playlist_gradients + 2 * self.user_l2 * user
        )
        gradient[1 + self.n_users :] = playlist_gradients
        return np.asarray(gradient / self.n_playlists)

    @property
    def l1(self) -> Array:
        """The l1 weight of each row of coefficients, as a column."""
        rows = np.zeros((self.shape[0], 1))
        rows[0] = self.shared_l1
        rows[1 + self.n_users :] = self.playlist_l1 / self.n_playlists
        return rows

    def l1_value(self, coef: Array) -> float:
        """Evaluate the l1 penalties.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        Returns
        -------
        penalty : float
            The part of the objective.
        """
        return l1_value(coef, self.l1)

    def kkt_residual(self, coef: Array, gradient: Array | None = None) -> float:
        """Return the distance to optimality of the non-smooth problem.

        It is the largest entry of the subgradient of smallest norm, per playlist: rows of the
        shared weights are means over all playlists, rows of a user means over the user's playlists.
        It is zero if and only if `coef` is a minimiser.

        Parameters
        ----------
        coef : ndarray of shape `shape`
            Coefficients.

        gradient : ndarray of shape `shape`, default=None
            Gradient of the smooth part at `coef`, if it is at hand.

        Returns
        -------
        residual : float
            The distance; inf where scores overflow.
        """
        if gradient is None:
            value, gradient = self.value_and_gradient(coef)
            if not np.isfinite(value):
                return np.inf
        violation = np.abs(pseudo_gradient(coef, gradient, self.l1)).max(axis=1)
        shared, user, playlist = self.split(violation[:, None])
        share = self.playlists_of_user[:, None] / self.n_playlists
        return float(
            max(shared[0], np.max(user / share), np.max(playlist, initial=0.0) * self.n_playlists)
        )

    def risk(self, coef: Array, kind: Risk = "classification") -> float:
        """Evaluate one of the paper's empirical risks, without penalties.

        Parameters
        ----------
        coef : ndarray
            Coefficients.

        kind : str, default="classification"
            "classification" is the risk that is minimised in practice, "p-norm push" the ranking
            risk that it stands in for. "bottom-push" is the share of other songs that rank at or
            above the lowest ranked song of the playlist, "bottom-push exponential" its upper bound
            by the exponential loss, which the p-norm push approaches as `push` grows.

        Returns
        -------
        risk : float
            Mean over playlists, each times its weight.
        """
        return empirical_risk(self, coef, kind)

    def padded(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Add the weight 0 of the constant feature where there is no intercept.

        Parameters
        ----------
        weights : ndarray of shape (n_playlists, n_features)
            Weights of the playlists.

        Returns
        -------
        weights : ndarray of shape (n_playlists, n_columns)
            One weight per column of `features`, which always have the constant one.
        """
        if self.fit_intercept:
            return weights
        return np.hstack([weights, np.zeros((len(weights), 1))])
