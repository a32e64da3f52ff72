"""The inner problem: the surrogate of all playlists, minimised between two passes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from skmtc._kernels import loading
from skmtc._utils.threads import Threads
from skmtc.optimize._arrays import to_dense
from skmtc.optimize.prox_newton._problem import Block, Penalties, SortedProblem, Totals
from skmtc.optimize.prox_newton._shared import closest_shared, lasso_step
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, Expansion
from skmtc.optimize.prox_newton._user_step import End, sweep_users

Array = NDArray[np.floating[Any]]

# Most sweeps between two passes: the surrogate is right near its point only, so its exact minimum
# is not needed.
MAX_SWEEPS = 4
# Most steps of a sweep, where a pass over the data follows anyway.
SWEEP_STEPS = 16
# Sweeps go on while one brings more than this share of the decrease of all sweeps.
MIN_SWEEP_SHARE = 0.15
# A step in a sweep lowers the surrogate by about half its squared length; a user goes on while that
# is more than this share of what `tol` allows.
NEGLIGIBLE = 0.003
# Factor of a rejected step of the shared weights, and the size at which they stay where they are:
# the sweep that follows still lowers the surrogate.
BACKTRACK = 0.35
SMALLEST_STEP = 0.01


class InnerProblem:
    """The surrogate of all playlists with all penalties, minimised block by block of users.

    Blocks exchange the shared weights, their gradient and their Hessian only.

    Parameters
    ----------
    problem : SortedProblem
        The problem that the surrogate stands for.

    expansion : Expansion
        Model of log Z of all playlists.

    threads : Threads
        Threads over blocks of users.

    penalties : Penalties, default=None
        Others than those of the problem.

    tol : float, default=0.0
        Relative suboptimality that the surrogate is minimised for.
    """

    def __init__(
        self,
        problem: SortedProblem,
        expansion: Expansion,
        threads: Threads,
        *,
        penalties: Penalties | None = None,
        tol: float = 0.0,
    ) -> None:
        self.problem = problem
        self.penalties = problem.penalties if penalties is None else penalties
        self.expansion = expansion
        self.threads = threads
        self.negligible = NEGLIGIBLE * tol

    def minimise(
        self, totals: Totals, shared: NDArray[np.float64], damping: Array
    ) -> tuple[Totals, NDArray[np.float64], float, Array]:
        """Alternate steps of the shared weights and sweeps over users.

        1. Move the shared weights with all totals, by a step of the sum of all surrogates.
        2. Sweep over the users, with the shared weights fixed.
        3. Set the shared weights to the best ones for the users' totals.

        Parameters
        ----------
        totals : Totals
            Where to start.

        shared : ndarray of shape (n_features,)
            Shared weights to start with.

        damping : ndarray of shape (n_playlists,)
            Factors of the metric of sweeps.

        Returns
        -------
        totals : Totals
            Where it ended.

        shared : ndarray of shape (n_features,)
            Shared weights there.

        decrease : float
            How much lower the surrogate is there.

        damping : ndarray of shape (n_playlists,)
            Factors for the next time.
        """
        penalties = self.penalties
        decrease = 0.0
        for _ in range(MAX_SWEEPS):
            # 1. Shared weights, user and playlist weights fixed.
            totals, shared, gain = self.shift_shared(totals, shared)
            # 2. User and playlist weights, shared weights fixed.
            totals, gains, damping, _ = self.sweep(totals, shared, damping)
            # 3. min over mu of user_l2 sum_u |total_u - mu|^2 + shared_l1 |mu|_1
            nearest = closest_shared(totals.user, penalties.user_l2, penalties.shared_l1)
            gain += (
                float(gains.sum())
                + self._shared_cost(totals, shared)
                - self._shared_cost(totals, nearest)
            )
            shared = nearest
            decrease += gain
            if not gain > MIN_SWEEP_SHARE * decrease:
                break
        return totals, shared, decrease, damping

    def shift_shared(
        self, totals: Totals, shared: NDArray[np.float64]
    ) -> tuple[Totals, NDArray[np.float64], float]:
        """Move the shared weights and all totals; user and playlist weights are fixed."""
        l1 = self.penalties.shared_l1

        def partial_sums(block: Block) -> tuple[float, Array, Array, Array]:
            surrogate = self._block_surrogate(block)
            at = surrogate.evaluate(totals.playlist[block.playlists])
            value = float(at.value.sum(dtype=np.float64))
            return value, at.gradient.sum(axis=0), *surrogate.hessian_sum(at)

        parts = self.threads.map(partial_sums, self.problem.blocks)
        value = sum(part[0] for part in parts) + l1 * np.abs(shared).sum()
        sums: list[Any] = [list(column) for column in zip(*parts, strict=True)]
        gradient, outside, song_weights = (
            np.asarray(np.sum(column, axis=0, dtype=np.float64)) for column in sums[1:]
        )
        # sum_i H_i = sum_i (model of log Z_i) + sum over songs of omega_m x_m x_m'
        hessian = outside + self.problem.split_features.gram(song_weights)
        # min over d of g.d + d'Hd / 2 + l1 |mu + d|_1, then backtrack on the surrogate
        step = lasso_step(gradient, hessian, shared, l1)
        size = 1.0
        while size > SMALLEST_STEP and np.isfinite(step).all() and step.any():
            moved = shared + size * step
            shift = (size * step).astype(totals.playlist.dtype)
            new_value = self._loss_sum(totals.playlist, shift) + l1 * np.abs(moved).sum()
            if new_value <= value:
                shifted = Totals(totals.playlist + shift, totals.user + shift)
                return shifted, moved, float(value - new_value)
            size *= BACKTRACK
        return totals, shared, 0.0

    def sweep(
        self,
        totals: Totals,
        shared: NDArray[np.float64],
        damping: Array,
        *,
        n_steps: int = SWEEP_STEPS,
    ) -> End:
        """Sweep all blocks.

        Parameters
        ----------
        totals, shared, damping
            As for `minimise`; the shared weights are fixed.

        n_steps : int, default=16
            Most steps of a user.

        Returns
        -------
        end : End
            Where users ended.
        """
        n_users = len(totals.user)
        new = End(
            Totals(np.empty_like(totals.playlist), np.empty_like(totals.user)),
            np.empty(n_users),
            np.empty_like(damping),
            np.empty(n_users, dtype=bool),
        )
        shared = shared.astype(totals.user.dtype)

        def run(block: Block) -> None:
            playlists, users, _ = block
            own = Totals(totals.playlist[playlists], totals.user[users])
            end = self.sweep_block(block, own, shared, damping[playlists], n_steps=n_steps)
            new.totals.playlist[playlists], new.totals.user[users] = end.totals
            new.gains[users], new.converged[users] = end.gains, end.converged
            new.damping[playlists] = end.damping

        self.threads.map(run, self.problem.blocks)
        return new

    def sweep_block(
        self, block: Block, start: Totals, shared: Array, damping: Array, *, n_steps: int
    ) -> End:
        """Sweep one block of users, by the compiled loop if there is one and it is faster."""
        compiled = loading.compiled_sweep() if self.problem.compiled else None
        if compiled is not None:
            return self._sweep_compiled(compiled, block, start, shared, damping, n_steps)
        return sweep_users(
            self._block_surrogate(block),
            start,
            shared,
            block.local,
            self.penalties,
            damping,
            n_steps=n_steps,
            negligible=self.negligible,
        )

    def _sweep_compiled(
        self,
        compiled: Any,
        block: Block,
        start: Totals,
        shared: Array,
        damping: Array,
        n_steps: int,
    ) -> End:
        """Sweep as `sweep_users`, by the compiled loop, which works in place."""
        given, kind = self.problem.given, shared.dtype
        nothing = np.empty((0, len(shared)), dtype=kind)
        expansion = self.expansion.take(block.playlists)
        if expansion.log_weight is None:
            expansion = expansion._replace(log_weight=np.zeros_like(expansion.scale))
        end, damping = Totals(*(np.array(a) for a in start)), np.array(damping)
        gains, converged = compiled(
            (*self._songs(block.playlists), kind.type(given.push), given.loss == "ranking"),
            tuple(_fixed(nothing if a is None else a) for a in expansion),
            *(_fixed(a) for a in block.local),
            *end,
            (
                _fixed(shared),
                kind.type(self.penalties.user_l2),
                kind.type(self.penalties.playlist_l1),
            ),
            damping,
            n_steps,
            self.negligible,
        )
        return End(end, gains, damping, converged)

    def _songs(self, playlists: slice) -> tuple[Array, NDArray[Any], NDArray[Any]]:
        """Return features, row pointers and songs; of sparse features the block's rows alone."""
        objective = self.problem.objective
        features, held = objective.features, objective.membership
        indptr = held.indptr[playlists.start : playlists.stop + 1]
        if not issparse(features):
            return _fixed(features), _fixed(indptr), _fixed(held.indices)
        songs, codes = np.unique(held.indices[indptr[0] : indptr[-1]], return_inverse=True)
        kind = indptr.dtype
        rows = np.ascontiguousarray(to_dense(features[songs]))
        return _fixed(rows), _fixed((indptr - indptr[0]).astype(kind)), _fixed(codes.astype(kind))

    def _loss_sum(self, weights: Array, shift: Array) -> float:
        def loss(block: Block) -> float:
            at = self._block_surrogate(block).evaluate(weights[block.playlists] + shift)
            return float(at.value.sum(dtype=np.float64))

        return sum(self.threads.map(loss, self.problem.blocks))

    def _shared_cost(self, totals: Totals, shared: NDArray[np.float64]) -> float:
        """Return the part of the objective that depends on shared weights with totals fixed."""
        off_shared = totals.user - shared
        penalties = self.penalties
        return float(
            penalties.user_l2 * np.einsum("ud,ud->", off_shared, off_shared)
            + penalties.shared_l1 * np.abs(shared).sum()
        )

    def _block_surrogate(self, block: Block) -> BlockSurrogate:
        positives = self.problem.positives_of(block)
        expansion = self.expansion.take(block.playlists)
        return BlockSurrogate(expansion, positives, self.problem.given.loss)


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only, aligned array of class ndarray.

    numba compiles for each combination of these properties, which takes seconds.
    """
    fixed = np.require(array, requirements=["A", "E"]).view()
    fixed.flags.writeable = False
    return fixed
