"""The problem with the playlists of each user side by side, and its iterates."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc._kernels import loading
from skmtc.optimize._arrays import to_dense
from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._pass import NegativeSums, TiledPass
from skmtc.optimize._risks import RiskTerms, negative_sums, playlist_losses, risk_terms
from skmtc.optimize.prox_newton._curvature import SplitFeatures
from skmtc.optimize.prox_newton._surrogate import PaddedPositives

Array = NDArray[np.floating[Any]]

# Measured with 50 features: half as many playlists cost 25 % more for overhead and waiting
# threads, twice as many gain nothing.
BLOCK_PLAYLISTS = 1024
BLOCK_MEMBERSHIPS = 16 * BLOCK_PLAYLISTS
BLOCK_FEATURES = 512

# Features of the songs of blocks are kept between sweeps, in the memory that this many rows of
# weights per user and playlist take, and some bytes more.
KEPT_ROWS = 4
KEPT_BYTES = 2**25

# Sums of exponentials that are 0 in single precision: the logarithm is that of this number.
TINY = 1e-300


class Users(NamedTuple):
    """The users of a block, whose playlists stand one after the other.

    Attributes
    ----------
    starts, counts : ndarray of shape (n_users,)
        First playlist and number of playlists of each user.
    """

    starts: NDArray[np.intp]
    counts: NDArray[np.intp]

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over the playlists of each user."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat a value of each user for all the user's playlists."""
        return np.repeat(values, self.counts, axis=0)


class Penalties(NamedTuple):
    """The penalties of a sum over playlists."""

    user_l2: float
    playlist_l1: float
    shared_l1: float


class Totals(NamedTuple):
    """Weights of playlists and users, shared weights included.

    Attributes
    ----------
    playlist : ndarray of shape (n_playlists, n_features)
        Shared + user + playlist weights.

    user : ndarray of shape (n_users, n_features)
        Shared + user weights.
    """

    playlist: Array
    user: Array


class Block(NamedTuple):
    """A run of whole users and of their playlists."""

    playlists: slice
    users: slice
    local: Users


class Iterate(NamedTuple):
    """A point, with the losses and gradients that a pass over the data computed there.

    Attributes
    ----------
    totals : Totals
        Weights of playlists and users.

    shared : ndarray of shape (n_features,)
        Shared weights.

    log_negative, mean : ndarray
        Logarithm of the mean of exp(score) outside each playlist, and its gradient.

    losses, gradients : ndarray
        Loss of each playlist, and its gradient.
    """

    totals: Totals
    shared: NDArray[np.float64]
    log_negative: Array
    mean: Array
    losses: Array
    gradients: Array


class OwnSums(NamedTuple):
    """Sums over the songs of each playlist.

    Attributes
    ----------
    pulled, inside : ndarray of shape (n_playlists,)
        Sums of exp(-push * score) and of exp(score).

    pulled_features, inside_features : ndarray of shape (n_playlists, n_columns)
        The same sums with the features as factors.
    """

    pulled: NDArray[np.float64]
    inside: NDArray[np.float64]
    pulled_features: Array
    inside_features: Array


def user_values(
    losses: Array, totals: Totals, shared: Array, users: Users, penalties: Penalties
) -> NDArray[np.float64]:
    """Return each user's part of the objective: losses, playlist l1 and user l2 penalty."""
    distance = np.abs(totals.playlist - users.spread(totals.user)).sum(axis=1, dtype=np.float64)
    off_shared = totals.user - shared
    return np.asarray(
        users.sum(losses.astype(np.float64) + penalties.playlist_l1 * distance)
        + penalties.user_l2 * np.einsum("ud,ud->u", off_shared, off_shared, dtype=np.float64)
    )


def between(start: Totals, end: Totals, share: Array, users: Users) -> Totals:
    """Return the point at a share of the way from start to end, user by user."""
    return Totals(
        _mix(start.playlist, end.playlist, users.spread(share)[:, None]),
        _mix(start.user, end.user, share[:, None]),
    )


def _mix(start: Array, end: Array, share: Array) -> Array:
    # Shares of 0 and 1 give start and end to the bit, so that weights of zero stay zero, and an
    # end that is not finite can be left.
    mixed = np.where(share > 0, start + share * (end - start), start)
    return np.where(share == 1, end, mixed)


class SortedProblem:
    """A multitask objective for solvers that go user by user.

    All values are sums over playlists: N times the objective.

    Parameters
    ----------
    objective : MultitaskObjective
        The problem.

    compiled : bool or None, default=None
        Whether sweeps are compiled, where they can be; None compiles those of large problems.
    """

    def __init__(self, objective: MultitaskObjective, *, compiled: bool | None = None) -> None:
        self.original = objective
        if objective.loss == "ranking" and objective.fit_intercept and objective.n_features > 1:
            objective = objective.without_intercept()
        self.given = objective
        self.order = np.argsort(objective.user_of_playlist, kind="stable")
        self.objective = objective.reordered(self.order)
        self.dtype = self.objective.features.dtype
        counts, n = objective.playlists_of_user, objective.n_playlists
        self.users = Users(np.cumsum(counts) - counts, counts)
        self.change_penalties(objective.user_l2, objective.playlist_l1, objective.shared_l1)
        self.blocks = self._cut_blocks()
        if compiled is None:
            compiled = n * objective.n_features >= loading.WORTHWHILE_WEIGHTS
        self.compiled = compiled
        is_whole = objective.n_features == self.objective.features.shape[1]
        # The columns that have weights; slicing would copy a sparse matrix.
        self.features = self.objective.features
        if not is_whole:
            self.features = self.features[:, : objective.n_features]
        row_bytes = self.dtype.itemsize * objective.n_features
        self._room = KEPT_BYTES + KEPT_ROWS * row_bytes * (n + objective.n_users)
        self._kept: dict[int, PaddedPositives] = {}
        weight = self.objective.song_weight
        self.song_weight = np.ones(self.objective.n_songs) if weight is None else weight
        self.own_sums: Any = None
        if compiled and self._is_single():
            self.own_sums = loading.compiled_own_sums()

    def _is_single(self) -> bool:
        """Check whether the compiled sums over own songs apply: they are for one kind of array."""
        objective = self.objective
        return bool(
            objective.loss == "classification"
            and not issparse(objective.features)
            and objective.features.dtype == np.float32
            and objective.features.flags.c_contiguous
            and objective.features.flags.writeable
            and objective.membership.indices.dtype == np.int32
        )

    def change_penalties(self, user_l2: float, playlist_l1: float, shared_l1: float) -> None:
        """Set penalties, which are scaled as in the objective."""
        self.penalties = Penalties(user_l2, playlist_l1, self.given.n_playlists * shared_l1)

    def _cut_blocks(self) -> list[Block]:
        """Cut users into runs with about as many playlists and memberships as a block takes."""
        starts, counts = self.users
        ends = starts + counts
        entries = self.objective.membership.indptr[ends]
        # A block ends where either the playlists or the memberships reach the next multiple. Songs
        # of a block are gathered: with many features, blocks are smaller.
        width = max(1.0, self.given.n_features / BLOCK_FEATURES)
        work = np.maximum(ends / BLOCK_PLAYLISTS, entries / BLOCK_MEMBERSHIPS) * width
        first = np.flatnonzero(np.diff(np.floor(work).astype(int), prepend=-1))
        blocks = []
        for a, b in zip(first, [*first[1:], len(counts)], strict=True):
            local = Users(starts[a:b] - starts[a], counts[a:b])
            blocks.append(Block(slice(starts[a], ends[b - 1]), slice(a, b), local))
        return blocks

    def positives_of(self, block: Block) -> PaddedPositives:
        """Gather the songs of a block's playlists, and keep them if the memory allows it."""
        key = block.playlists.start
        if key in self._kept:
            return self._kept[key]
        held = self.objective.membership[block.playlists]
        gathered = PaddedPositives(self.features, held, self.given.push)
        if gathered.nbytes <= self._room:
            self._room -= gathered.nbytes
            self._kept[key] = gathered
        return gathered

    @cached_property
    def split_features(self) -> SplitFeatures:
        """The features that have weights, for Gram matrices."""
        return SplitFeatures(self.features)

    @cached_property
    def _ones(self) -> csr_array:
        held = self.objective.membership
        return csr_array((np.ones(len(held.indices)), held.indices, held.indptr), shape=held.shape)

    def evaluate(
        self,
        totals: Totals,
        shared: NDArray[np.float64],
        tiled_pass: TiledPass | None = None,
        *,
        rows: NDArray[np.intp] | None = None,
    ) -> Iterate:
        """Make one pass at a point.

        Playlists without weights of their own have the weights of their user, and so share them.

        Parameters
        ----------
        totals : Totals
            Where to evaluate, with one row for each playlist that is evaluated.

        shared : ndarray of shape (n_features,)
            Shared weights there.

        tiled_pass : TiledPass, default=None
            Another pass over the songs, such as one over a sample of them.

        rows : ndarray of shape (n_rows,), default=None
            Codes of the playlists to evaluate; None stands for all.

        Returns
        -------
        point : Iterate
            The point, with one row for each playlist that is evaluated.
        """
        objective = self.objective
        codes = np.arange(objective.n_playlists) if rows is None else rows
        owners, weights = objective.user_of_playlist[codes], totals.playlist
        same = (weights == totals.user[owners]).all(axis=1)
        if self.own_sums is None:
            groups = np.where(same, owners, -1)
            terms = risk_terms(objective, weights, rows=rows, groups=groups, tiled_pass=tiled_pass)
            return self._point(totals, shared, terms, rows)
        # Sums over all songs are made once for playlists with the same weights.
        tiled = tiled_pass or objective.tiled_pass
        alone = np.flatnonzero(~same)
        _, first, group = np.unique(owners[same], return_index=True, return_inverse=True)
        chosen = np.concatenate([alone, np.flatnonzero(same)[first]])
        row_of = np.empty(len(codes), dtype=np.intp)
        row_of[alone], row_of[same] = np.arange(len(alone)), len(alone) + group
        padded = np.ascontiguousarray(objective.padded(weights), dtype=np.float32)
        sums = tiled.negative_sums(padded[chosen], np.full(len(chosen), -1))
        return self._subtract_own(totals, shared, padded, sums, row_of, codes, tiled)

    def evaluate_common(self, shared: NDArray[np.float64]) -> Iterate:
        """Evaluate the point where all playlists have the shared weights; this needs no pass."""
        problem = self.objective
        weights = problem.padded(shared[None])[0]
        if self.own_sums is not None:
            return self._evaluate_common_compiled(shared, weights)
        scores = np.asarray(problem.features @ weights, dtype=np.float64)
        shift = 0.0
        if self.given.loss == "ranking":  # which does not change with it
            shift = float(scores[problem.membership.indices].mean())
            scores -= shift
        with np.errstate(over="ignore", invalid="ignore"):
            # Sum over others = sum over all songs, which playlists share - sum over own songs.
            exp = self._weigh(np.exp(scores))
            pushed = np.exp(-problem.push * scores)
            held = self._ones.copy()
            held.data = exp[held.indices]
            total, inside = exp.sum(), held.sum(axis=1)
            inside_features = to_dense(held @ self.features)
            total_features = to_dense(exp @ self.features)
            held.data = pushed[held.indices]
            counts, others = problem.positive_divisors, problem.negative_divisors
            terms = RiskTerms(
                negative=(total - inside) / others,
                negative_gradient=(total_features - inside_features) / others[:, None],
                positive=held.sum(axis=1) / counts,
                positive_gradient=-to_dense(held @ self.features) / counts[:, None],
                shift=np.full(problem.n_playlists, shift),
            )
        row = shared.astype(self.dtype)
        totals = Totals(np.tile(row, (problem.n_playlists, 1)), np.tile(row, (problem.n_users, 1)))
        point = self._point(totals, row.astype(np.float64), terms)
        # If own songs are most of the sum, the difference loses digits: sum over the others.
        little = np.flatnonzero(~(inside <= 0.5 * total))
        if len(little):
            away = Totals(totals.playlist[little], totals.user)
            some = self.evaluate(away, shared, rows=little)
            for whole, part in zip(point[2:], some[2:], strict=True):
                whole[little] = part
        return point

    def _weigh(self, exp: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight one number per song; a song of weight 0 may have an infinite one."""
        return np.where(self.song_weight > 0, exp * self.song_weight, 0.0)

    def _evaluate_common_compiled(
        self, shared: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Iterate:
        """Evaluate as `evaluate_common`: all playlists share one row of sums over all songs."""
        problem, n = self.objective, self.objective.n_playlists
        row = weights.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            exp = self._weigh(np.exp((problem.features @ row).astype(np.float64)))
            total = np.array([exp.sum()])
            sums = NegativeSums(total, np.asarray(exp @ problem.features)[None])
        shared = row[: self.given.n_features].astype(np.float64)
        tiled_row = np.tile(row[: self.given.n_features], (n + problem.n_users, 1))
        totals = Totals(tiled_row[:n], tiled_row[n:])
        codes, padded = np.arange(n), np.tile(row, (n, 1))
        tiled = problem.tiled_pass
        return self._subtract_own(totals, shared, padded, sums, np.zeros_like(codes), codes, tiled)

    def _subtract_own(
        self,
        totals: Totals,
        shared: NDArray[np.float64],
        padded: Array,
        sums: NegativeSums,
        row_of: NDArray[np.intp],
        codes: NDArray[np.intp],
        tiled: TiledPass,
    ) -> Iterate:
        """Subtract the own songs of playlists from sums over all songs, whose rows they share.

        In single precision with sums in double precision; the own songs are added up by a
        compiled loop.
        """
        objective = self.objective
        own = self._own(padded, codes)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            outside = sums.exp[row_of] - own.inside
            # (sum over all - sum over own) / outside, without leaving single precision
            mean = (sums.exp_features / sums.exp[:, None]).astype(np.float32)[row_of]
            mean *= (sums.exp[row_of] / outside).astype(np.float32)[:, None]
            inside = own.inside_features
            inside /= outside.astype(np.float32)[:, None]
            mean -= inside
            # If own songs are most of the sum, the difference loses digits: sum over the others.
            little = np.flatnonzero(~(own.inside < 0.5 * sums.exp[row_of]))
            if len(little):
                exact = negative_sums(objective, padded[little], codes[little], tiled_pass=tiled)
                outside[little] = exact.exp
                mean[little] = exact.exp_features / np.maximum(exact.exp, TINY)[:, None]
            # loss = v Z / M- + v / (push M+) sum exp(-push s), and its gradient
            negative = outside / objective.negative_divisors[codes]
            inverse = 1 / objective.positive_divisors[codes]
            losses = negative + own.pulled * inverse / objective.push
            gradients = own.pulled_features
            gradients *= -inverse.astype(np.float32)[:, None]
            gradients += negative.astype(np.float32)[:, None] * mean
            width = self.given.n_features
            return Iterate(
                totals,
                shared,
                np.log(np.maximum(negative, TINY)),
                np.ascontiguousarray(mean[:, :width]),
                losses,
                np.ascontiguousarray(gradients[:, :width]),
            )

    def _own(self, weights: Array, codes: NDArray[np.intp]) -> "OwnSums":
        """Sum over the songs of some playlists."""
        objective, n = self.objective, len(weights)
        held = objective.membership if n == objective.n_playlists else objective.membership[codes]
        sums = OwnSums(np.empty(n), np.empty(n), np.empty_like(weights), np.empty_like(weights))
        compiled, push = self.own_sums, objective.push
        fixed = [np.require(a, requirements=["C", "W"]) for a in (held.indptr, held.indices)]
        song_weight = self.song_weight.astype(np.float32)

        def add(start: int) -> None:
            end = min(start + BLOCK_PLAYLISTS, n)
            compiled(start, end, objective.features, song_weight, *fixed, weights, push, *sums)

        objective.tiled_pass.threads.map(add, range(0, n, BLOCK_PLAYLISTS))
        return sums

    def _point(
        self,
        totals: Totals,
        shared: NDArray[np.float64],
        terms: RiskTerms,
        rows: NDArray[np.intp] | None = None,
    ) -> Iterate:
        # log Z and m = grad log Z, which the next surrogate expands
        losses, gradients = playlist_losses(self.objective, terms, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            negative = np.maximum(terms.negative, TINY)
            log_negative = np.log(negative) + terms.shift
            mean = (terms.negative_gradient / negative[:, None]).astype(self.dtype)
            gradients = gradients.astype(self.dtype)
        return Iterate(totals, shared, log_negative, mean, losses, gradients)

    def user_values(self, point: Iterate, shared: Array) -> NDArray[np.float64]:
        """Return each user's part of the objective, for some shared weights."""
        return user_values(point.losses, point.totals, shared, self.users, self.penalties)

    def value(self, point: Iterate) -> float:
        """Return the objective at a point."""
        total = self.user_values(point, point.shared).sum()
        return float(total + self.penalties.shared_l1 * np.abs(point.shared).sum())

    def totals_of(self, coef: NDArray[np.float64]) -> tuple[Totals, NDArray[np.float64]]:
        """Return the totals of coefficients, and the shared weights."""
        shared, user, playlist = self.given.split(coef[:, : self.given.n_features])
        user_totals = user + shared
        playlist_totals = playlist[self.order] + self.users.spread(user_totals)
        totals = Totals(playlist_totals.astype(self.dtype), user_totals.astype(self.dtype))
        return totals, shared.copy()

    def coef_of(self, point: Iterate) -> NDArray[np.float64]:
        """Return the coefficients of an iterate."""
        coef = self.original.zeros()
        shared, user, playlist = self.given.split(coef[:, : self.given.n_features])
        shared[:] = point.shared
        user[:] = point.totals.user - point.shared
        playlist[self.order] = point.totals.playlist - self.users.spread(point.totals.user)
        return coef
