r"""The surrogate with one row per user, and one more per playlist with weights of its own.

Playlists without own weights have those of their user, nu. The sum of their terms over the songs
outside them, Z(nu) = sum_i v_i / M-_i sum_{m not in i} exp(nu.x_m), is again a sum of exponentials
with non-negative weights, so that one model of its logarithm serves all of them,

.. math:: \log Z(\nu + d) \approx \log Z(\nu) + m \cdot d
          + \tfrac{\tau}{2} d^\top C d

with the exact gradient m, the covariance C of the songs and a scale tau learned from passes. In the
eigenbasis of C, a product with the model's Hessian costs as much as there are features, instead of
its square. Own songs and penalties are exact. Playlists are active, with a row of their own, if
their own weights are not zero or would leave zero: the gradient exceeds `playlist_l1` somewhere.

The shared weights mu move with the response of the users eliminated. The Hessian of
min over nu of sum_u [f_u(nu_u) + L |nu_u - mu|^2] is sum_u 2L H_u (H_u + 2L)^-1, which is operator
concave in H_u: for a bucket of similar users, the mean of their H_u gives an upper bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc._kernels import loading
from skmtc._utils.threads import Threads
from skmtc.optimize._arrays import to_dense
from skmtc.optimize.prox_newton._problem import Iterate, SortedProblem, Totals
from skmtc.optimize.prox_newton._shared import lasso_step

Array = NDArray[np.floating[Any]]
Single = NDArray[np.float32]
Double = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Users are put into this many buckets by their Z, each with one mean Hessian.
# More buckets bound the Hessian of the shared weights more tightly, and cost one Gram matrix each.
N_BUCKETS = 6
# Above this many features one Hessian costs more than better shared steps save.
FEATURES_FOR_BUCKETS = 300
# Most rounds between two passes: the surrogate is right near its point only, so its exact minimum
# is not needed.
MOST_ROUNDS = 10
# log Z of a user whose playlists are all active: its exponential is zero.
LOG_OF_ZERO = -80.0
# Bounds of a scale, so that a single secant neither makes the next step too long nor stops a row
# for many iterations.
SMALLEST_SCALE, LARGEST_SCALE = 0.3, 1e4
# Secants of steps shorter than this, in the metric of the covariance, are rounding.
SHORTEST_STEP = 1e-5
# A pass is for the users with most of the decrease that the surrogate predicts. Measured on real
# playlists: those with nine tenths of it have between a fifth and a half of the rows.
LEFT_OUT = 0.1
# The eigenbasis of more features takes too long.
MOST_FEATURES = 2000


def can_use_rows(problem: SortedProblem) -> bool:
    """Check whether a problem can be solved by rows: the compiled loop takes single precision."""
    given = problem.given
    return bool(
        given.loss == "classification"
        and problem.dtype == np.float32
        and problem.objective.membership.indices.dtype == np.int32
        and min(problem.penalties.user_l2, problem.penalties.playlist_l1) > 0
        and given.n_features <= MOST_FEATURES
        and problem.compiled
        and loading.compiled_newton() is not None
    )


class EigenBasis(NamedTuple):
    """The eigenbasis of the covariance of songs.

    Attributes
    ----------
    vectors : ndarray of shape (n_features, n_features)
        Eigenvectors as columns; row j is feature j in the eigenbasis.

    values : ndarray of shape (n_features,)
        Eigenvalues.

    variances : ndarray of shape (n_features,)
        Diagonal of the covariance.

    songs : ndarray of shape (n_songs, n_features)
        Song features in the eigenbasis.
    """

    vectors: Single
    values: Single
    variances: Single
    songs: Single


def eigen_basis(features: Array | csr_array, covariance: Array) -> EigenBasis:
    """Return the eigenbasis of a covariance, and the songs in it."""
    values, vectors = np.linalg.eigh(covariance.astype(np.float64))
    basis = np.ascontiguousarray(vectors, dtype=np.float32)
    return EigenBasis(
        vectors=basis,
        values=np.maximum(values, 0.0).astype(np.float32),
        variances=np.array(covariance.diagonal(), dtype=np.float32),
        songs=np.ascontiguousarray(to_dense(features @ basis), dtype=np.float32),
    )


class RowSums(NamedTuple):
    """The modelled part of each row at a point: first of users, then of active playlists.

    Attributes
    ----------
    log_z : ndarray of shape (n_rows,)
        Logarithm of Z.

    mean : ndarray of shape (n_rows, n_features)
        Its gradient, in the eigenbasis.

    weights : ndarray of shape (n_rows, n_features)
        Where the rows are, in the eigenbasis.
    """

    log_z: Single
    mean: Single
    weights: Single


def row_sums(problem: SortedProblem, point: Iterate, active: Mask, basis: EigenBasis) -> RowSums:
    """Sum Z and its gradient over the playlists of each row, at an evaluated point.

    Parameters
    ----------
    problem : SortedProblem
        The problem.

    point : Iterate
        The point; playlists that are not active have the weights of their user there.

    active : ndarray of shape (n_playlists,)
        Which playlists have rows of their own.

    basis : EigenBasis
        Basis of the gradients.

    Returns
    -------
    sums : RowSums
        The sums.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # Z_u = sum of Z_i and m_u = sum of Z_i m_i / Z_u over the user's playlists without a row
        z = np.where(active, 0.0, np.exp(point.log_negative)).astype(np.float32)
        by_user = problem.users.sum(z)
        mean = (
            problem.users.sum(z[:, None] * point.mean) / np.where(by_user > 0, by_user, 1)[:, None]
        )
        log_z = np.where(by_user > 0, np.log(by_user), LOG_OF_ZERO)
    rows = np.concatenate([mean, point.mean[active]]).astype(np.float32, copy=False)
    weights = np.concatenate([point.totals.user, point.totals.playlist[active]])
    return RowSums(
        np.concatenate([log_z, point.log_negative[active]]).astype(np.float32),
        rows @ basis.vectors,
        weights.astype(np.float32, copy=False) @ basis.vectors,
    )


def active_playlists(problem: SortedProblem, point: Iterate, *, screen: bool) -> Mask:
    """Return which playlists have weights of their own, or would get some by a step.

    Parameters
    ----------
    problem : SortedProblem
        The problem.

    point : Iterate
        The point.

    screen : bool
        Whether playlists become active whose gradient exceeds `playlist_l1`. Before users have
        moved, that is nearly all of them.

    Returns
    -------
    active : ndarray of shape (n_playlists,)
        The active playlists.
    """
    active = (point.totals.playlist != problem.users.spread(point.totals.user)).any(axis=1)
    if screen:
        active |= np.abs(point.gradients).max(axis=1) > problem.penalties.playlist_l1
    return np.asarray(active)


def learn_scales(old: RowSums, new: RowSums, scale: Single, basis: EigenBasis) -> Single:
    """Learn the scale of each row from a step between two passes: the secant of m along it.

    Parameters
    ----------
    old, new : RowSums
        The rows before and after the step.

    scale : ndarray of shape (n_rows,)
        Scales that the step was made with.

    basis : EigenBasis
        Basis of the rows.

    Returns
    -------
    scale : ndarray of shape (n_rows,)
        New scales. They fall to half at most, and rise at once.
    """
    # tau = d.(m_new - m_old) / d'Cd; C is diagonal in the eigenbasis
    step = new.weights - old.weights
    length = (step * step) @ basis.values
    curved = np.einsum("rd,rd->r", step, new.mean - old.mean)
    moved = (length > SHORTEST_STEP) & np.isfinite(curved)
    secant = np.where(moved, curved / np.where(moved, length, 1), scale)
    learned = np.clip(np.maximum(secant, 0.5 * scale), SMALLEST_SCALE, LARGEST_SCALE)
    return np.asarray(learned, dtype=np.float32)


class SharedMetric(NamedTuple):
    """The quadratic model of the shared weights, with the response of users eliminated.

    Attributes
    ----------
    hessian : ndarray of shape (n_features, n_features)
        Upper bound of the Hessian, in the basis of the features.

    responses : ndarray of shape (n_buckets, n_features, n_features)
        How users of each bucket follow a step of the shared weights, in the eigenbasis.

    bucket : ndarray of shape (n_users,)
        Bucket of each user.
    """

    hessian: Double
    responses: Double
    bucket: NDArray[np.intp]


class RowModel:
    """The surrogate around a point, and its minimisation.

    Parameters
    ----------
    problem : SortedProblem
        The problem, with the classification loss and features in single precision.

    point : Iterate
        Where the model is exact.

    active : ndarray of shape (n_playlists,)
        Playlists with a row of their own. All others have the weights of their user.

    scale : ndarray of shape (n_playlists,)
        Scale of the covariance, by playlist.

    basis : EigenBasis
        Eigenbasis of the covariance.

    threads : Threads
        Threads over blocks of users.
    """

    def __init__(
        self,
        problem: SortedProblem,
        point: Iterate,
        active: Mask,
        scale: Array,
        basis: EigenBasis,
        threads: Threads,
    ) -> None:
        self.problem, self.point, self.active = problem, point, active
        self.basis, self.threads = basis, threads
        self.sums = row_sums(problem, point, active, basis)
        users, n_users = problem.users, problem.given.n_users
        self.user_of_active = problem.objective.user_of_playlist[active]
        self.row_of = problem.objective.user_of_playlist.astype(np.int64)
        self.row_of[active] = n_users + np.arange(len(self.user_of_active))
        # The scale of a user's row is the mean of its playlists'.
        z = np.where(active, 1e-30, np.exp(point.log_negative)) + 1e-30
        by_user = users.sum(z * scale) / users.sum(z)
        self.scale = np.concatenate([by_user, scale[active]]).astype(np.float32)
        own = point.totals.playlist[active] - point.totals.user[self.user_of_active]
        self.own0 = np.ascontiguousarray(own, dtype=np.float32)
        self.shared = point.shared
        self.step = np.zeros((n_users, problem.given.n_features), np.float32)
        self.own = self.own0.copy()
        off_shared = (point.totals.user - self.shared).astype(np.float32)
        self.offset = off_shared @ basis.vectors
        self.values = np.empty(n_users)
        self.exps = np.empty(problem.objective.membership.nnz, np.float32)
        self._starts = np.append(users.starts, len(active)).astype(np.int64)
        counts = np.bincount(self.user_of_active, minlength=n_users)
        self._active_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._pull = (1 / problem.objective.positive_divisors).astype(np.float32)

    def minimise(
        self, *, n_rounds: int = MOST_ROUNDS, n_newton: int = 1, min_share: float = 0.1
    ) -> tuple[Totals, Double, float]:
        """Alternate steps of the shared weights and Newton steps of all users.

        1. Move the shared weights; users follow by their response.
        2. Take Newton steps of each user, with the shared weights fixed.
        3. Stop when a round brings little of the decrease of all rounds.

        Parameters
        ----------
        n_rounds : int, default=10
            Most rounds.

        n_newton : int, default=1
            Newton steps of each user in a round.

        min_share : float, default=0.1
            Rounds go on while one brings more than this share of the decrease of all rounds.

        Returns
        -------
        totals : Totals
            Where it ended.

        shared : ndarray of shape (n_features,)
            Shared weights there.

        decrease : float
            How much lower the surrogate is there.
        """
        l1 = self.problem.penalties.shared_l1
        self.newton_steps(0)
        self._start_values, self._start_offset = self.values.copy(), self.offset.copy()
        before = value = self.values.sum() + l1 * np.abs(self.shared).sum()
        metric = self.shared_metric()
        for number in range(n_rounds):
            self.move_shared(metric)  # 1.
            self.newton_steps(n_newton)  # 2.
            # 3. F = sum_u f_u + l1 |mu|_1
            last, value = value, self.values.sum() + l1 * np.abs(self.shared).sum()
            if number and not last - value > min_share * (before - value):
                break
        return self.totals(), self.shared, float(before - value)

    def gains(self) -> Double:
        """Return what each user gains in `minimise` over staying where it was.

        Returns
        -------
        gains : ndarray of shape (n_users,)
            The decrease, with the shared weights that `minimise` found.
        """
        # A user that stays: f_u(nu, mu) = f_u(nu, mu_0) + L (|nu - mu|^2 - |nu - mu_0|^2)
        stays = self._start_values + self.problem.penalties.user_l2 * (
            np.square(self.offset, dtype=np.float64).sum(axis=1)
            - np.square(self._start_offset, dtype=np.float64).sum(axis=1)
        )
        return np.asarray(np.maximum(stays - self.values, 0.0))

    def users_worth_a_pass(self, most: float = np.inf) -> Mask:
        """Return the users with nearly all of the decrease, those first that gain most per row.

        Parameters
        ----------
        most : float, default=inf
            Largest decrease to leave out.

        Returns
        -------
        worth : ndarray of shape (n_users,)
            The other users can stay where they were, which needs no pass over their rows.
        """
        # Leave users out while the sum of their decreases is small, those first that gain least for
        # the rows that a pass evaluates for them.
        gains = self.gains()
        order = np.argsort(gains / (1 + np.diff(self._active_starts)), kind="stable")
        left_out = np.cumsum(gains[order]) <= min(LEFT_OUT * gains.sum(), most)
        worth = np.ones(len(gains), dtype=bool)
        worth[order[left_out]] = False
        return worth

    def totals(self) -> Totals:
        """Return the weights of users and playlists, in the basis of the features."""
        user = self.point.totals.user + self.step @ self.basis.vectors.T
        playlist = self.problem.users.spread(user)
        playlist[self.active] += self.own
        return Totals(playlist, user)

    def newton_steps(self, n_newton: int) -> None:
        """Take Newton steps of all users; with none, evaluate the surrogate only."""
        newton_users = loading.compiled_newton()
        membership, penalties = self.problem.objective.membership, self.problem.penalties

        def run(block: Any) -> None:
            newton_users(
                block.users.start,
                block.users.stop,
                self.basis.songs,
                np.require(membership.indptr, requirements=["C", "W"]),
                np.require(membership.indices, requirements=["C", "W"]),
                self._starts,
                self.row_of,
                self._pull,
                self._active_starts,
                self.basis.values,
                self.basis.variances,
                self.basis.vectors,
                self.sums.log_z,
                self.sums.mean,
                self.scale,
                self.sums.weights,
                self.offset,
                self.own0,
                self.step,
                self.own,
                penalties.user_l2,
                penalties.playlist_l1,
                self.problem.given.push,
                n_newton,
                self.values,
                self.exps,
            )

        self.threads.map(run, self.problem.blocks)

    def shared_metric(self) -> SharedMetric:
        """Bound the Hessian of the shared weights by mean Hessians of buckets of users."""
        objective, ridge = self.problem.objective, 2 * self.problem.penalties.user_l2
        owners = np.concatenate([np.arange(len(self.step)), self.user_of_active])
        heights = np.exp(self.sums.log_z.astype(np.float64))
        bucket = self._buckets(np.asarray(np.bincount(owners, heights), dtype=np.float64))
        bucket_of_row = bucket[owners]
        bucket_of_song = np.repeat(bucket[objective.user_of_playlist], objective.positives.counts)
        hessian = np.zeros((self.step.shape[1],) * 2)
        responses = []
        for k in range(int(bucket.max()) + 1):
            rows, n = np.flatnonzero(bucket_of_row == k), np.count_nonzero(bucket == k)
            mean = self._hessian_sum(rows, heights[rows], bucket_of_song == k) / n
            values, vectors = np.linalg.eigh(mean)
            values = np.maximum(values, 0.0)
            # H = sum over buckets of n 2L H_k (H_k + 2L)^-1; users follow by 2L (H_k + 2L)^-1
            hessian += (vectors * (n * ridge * values / (values + ridge))) @ vectors.T
            responses.append((vectors * (ridge / (values + ridge))) @ vectors.T)
        vectors = self.basis.vectors.astype(np.float64)
        return SharedMetric(vectors @ hessian @ vectors.T, np.array(responses), bucket)

    def _buckets(self, heights: Double) -> NDArray[np.intp]:
        """Return the bucket of each user, by quantiles."""
        n_buckets = N_BUCKETS if self.step.shape[1] <= FEATURES_FOR_BUCKETS else 1
        edges = np.unique(np.quantile(heights, np.linspace(0, 1, n_buckets + 1)[1:-1]))
        _, bucket = np.unique(np.searchsorted(edges, heights, side="right"), return_inverse=True)
        return np.asarray(bucket, dtype=np.intp)

    def _hessian_sum(self, rows: NDArray[np.intp], heights: Double, songs: Mask) -> Double:
        """Sum the Hessians of some rows, in the eigenbasis."""
        objective = self.problem.objective
        # sum over memberships of e x x' = X' diag(weights of songs) X
        song_weights = np.bincount(
            objective.membership.indices[songs],
            objective.push * self.exps[songs],
            minlength=objective.n_songs,
        )
        vectors = self.basis.vectors.astype(np.float64)
        gram = self.problem.split_features.gram(np.asarray(song_weights, dtype=np.float64))
        inside: Double = np.asarray(vectors.T @ gram) @ vectors
        # sum_k Z_k (m_k m_k' + tau_k C), the Hessians of the modelled Z_k
        mean = self.sums.mean[rows]
        outside = (mean * heights[:, None].astype(np.float32)).T @ mean
        curved = np.sum(heights * self.scale[rows]) * self.basis.values
        return np.asarray(inside + outside + np.diag(curved))

    def move_shared(self, metric: SharedMetric) -> None:
        """Take a step of the shared weights; users follow by their response."""
        penalties = self.problem.penalties
        vectors = self.basis.vectors.astype(np.float64)
        # d/dmu L |nu_u - mu|^2 = -2L (nu_u - mu)
        away = self.offset.sum(axis=0, dtype=np.float64) + self.step.sum(axis=0, dtype=np.float64)
        gradient = -2 * penalties.user_l2 * (vectors @ away)
        # min over d of g.d + d'Hd / 2 + l1 |mu + d|_1
        move = lasso_step(gradient, metric.hessian, self.shared, penalties.shared_l1)
        self.shared = self.shared + move
        # In the eigenbasis: nu_u - mu falls by the move, nu_u rises by the response to it.
        turned = move @ vectors
        self.offset -= turned.astype(np.float32)
        self.step += (metric.responses @ turned).astype(np.float32)[metric.bucket]
