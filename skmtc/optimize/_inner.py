"""The inner problem: the surrogate of all playlists, minimised between two passes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from skmtc.optimize import _compiled
from skmtc.optimize._point import Block, SortedProblem
from skmtc.optimize._shared import closest_shared, lasso_step
from skmtc.optimize._surrogate import BlockSurrogate, Expansion
from skmtc.optimize._sweep import Penalties, Totals, sweep_users
from skmtc.optimize._threads import Threads

Array = NDArray[np.floating[Any]]

SWEEP_STEPS = 16
MAX_SWEEPS = 4
# Sweeps go on while one brings more than this share of all they brought.
WORTHWHILE = 0.15
# A step in a sweep gains about half its squared length; users go on while it is more than this
# share of what `tol` allows.
NEGLIGIBLE = 0.003
BACKTRACK = 0.35
SMALLEST_STEP = 0.01


class InnerProblem:
    """The surrogate of all playlists with all penalties.

    Only the shared weights and one matrix of their size travel between blocks of users.

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
        self, totals: Totals, shared: NDArray[np.float64], caution: Array
    ) -> tuple[Totals, NDArray[np.float64], float, Array]:
        """Alternate steps of the shared weights and sweeps over users.

        Parameters
        ----------
        totals : Totals
            Where to start.

        shared : ndarray of shape (n_features,)
            Shared weights to start with.

        caution : ndarray of shape (n_playlists,)
            Factors of the metric of sweeps.

        Returns
        -------
        totals : Totals
            Where it ended.

        shared : ndarray of shape (n_features,)
            Shared weights there.

        decrease : float
            How much lower the surrogate is there.

        caution : ndarray of shape (n_playlists,)
            Factors for the next time.
        """
        penalties = self.penalties
        decrease = 0.0
        for _ in range(MAX_SWEEPS):
            totals, shared, gain = self.shift_shared(totals, shared)
            totals, swept, caution = self._sweep(totals, shared, caution)
            nearest = closest_shared(totals.user, penalties.user_l2, penalties.shared_l1)
            gain += swept + self._shared_cost(totals, shared) - self._shared_cost(totals, nearest)
            shared = nearest
            decrease += gain
            if not gain > WORTHWHILE * decrease:
                break
        return totals, shared, decrease, caution

    def shift_shared(
        self, totals: Totals, shared: NDArray[np.float64]
    ) -> tuple[Totals, NDArray[np.float64], float]:
        """Move the shared weights, and with them all totals: user and playlist weights are held."""
        l1 = self.penalties.shared_l1

        def pieces(block: Block) -> tuple[float, Array, Array]:
            surrogate = self._block_surrogate(block)
            at = surrogate.evaluate(totals.playlist[block.playlists])
            value = float(at.value.sum(dtype=np.float64))
            return value, at.gradient.sum(axis=0), surrogate.hessian_sum(at)

        parts = self.threads.map(pieces, self.problem.blocks)
        value = sum(part[0] for part in parts) + l1 * np.abs(shared).sum()
        gradient = np.asarray(np.sum([part[1] for part in parts], axis=0, dtype=np.float64))
        hessian = np.asarray(np.sum([part[2] for part in parts], axis=0, dtype=np.float64))
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

    def _sweep(
        self, totals: Totals, shared: NDArray[np.float64], caution: Array
    ) -> tuple[Totals, float, Array]:
        """Sweep all blocks; give the new totals, the gain, and the caution they ask for."""
        new = Totals(np.empty_like(totals.playlist), np.empty_like(totals.user))
        new_caution = np.empty_like(caution)
        row = shared.astype(totals.user.dtype)

        def sweep(block: Block) -> float:
            start = Totals(totals.playlist[block.playlists], totals.user[block.users])
            end, gains, cautious = self.sweep_block(block, start, row, caution[block.playlists])
            new.playlist[block.playlists], new.user[block.users] = end
            new_caution[block.playlists] = cautious
            return float(gains.sum())

        gain = sum(self.threads.map(sweep, self.problem.blocks))
        return new, gain, new_caution

    def sweep_block(
        self, block: Block, start: Totals, shared: Array, caution: Array
    ) -> tuple[Totals, NDArray[np.float64], Array]:
        """Sweep one block of users, by the compiled loop if there is one."""
        compiled = self._compiled_sweep()
        if compiled is not None:
            return self._sweep_compiled(compiled, block, start, shared, caution)
        return sweep_users(
            self._block_surrogate(block),
            start,
            shared,
            block.local,
            self.penalties,
            caution,
            n_steps=SWEEP_STEPS,
            negligible=self.negligible,
        )

    def _compiled_sweep(self) -> Any:
        """Give the compiled loop; None where there is none, or where it does not pay."""
        n_weights = self.problem.given.n_playlists * self.problem.given.n_features
        if issparse(self.problem.features) or n_weights < _compiled.WORTHWHILE_WEIGHTS:
            return None
        return _compiled.compiled_sweep()

    def _sweep_compiled(
        self, compiled: Any, block: Block, start: Totals, shared: Array, caution: Array
    ) -> tuple[Totals, NDArray[np.float64], Array]:
        """Do what `sweep_users` does, by the compiled loop, which works in place."""
        objective, penalties, kind = self.problem.objective, self.penalties, shared.dtype
        playlists = block.playlists
        expansion = self.expansion.take(playlists)
        nothing = np.empty((0, len(shared)), dtype=kind)
        pairs = [nothing if pair is None else pair for pair in (expansion.removed, expansion.added)]
        end = Totals(start.playlist.copy(), start.user.copy())
        caution = caution.copy()
        gains = compiled(
            (
                objective.features,
                objective.membership.indptr[playlists.start : playlists.stop + 1],
                objective.membership.indices,
                kind.type(self.problem.given.push),
                self.problem.given.loss == "ranking",
            ),
            (*expansion[:4], *pairs, expansion.covariance),
            *block.local,
            *end,
            (shared, kind.type(penalties.user_l2), kind.type(penalties.playlist_l1)),
            caution,
            SWEEP_STEPS,
            self.negligible,
        )
        return end, gains, caution

    def _loss_sum(self, weights: Array, shift: Array) -> float:
        def loss(block: Block) -> float:
            at = self._block_surrogate(block).evaluate(weights[block.playlists] + shift)
            return float(at.value.sum(dtype=np.float64))

        return sum(self.threads.map(loss, self.problem.blocks))

    def _shared_cost(self, totals: Totals, shared: NDArray[np.float64]) -> float:
        """Give the part of the objective that depends on shared weights with totals held."""
        off_shared = totals.user - shared
        penalties = self.penalties
        return float(
            penalties.user_l2 * np.einsum("ud,ud->", off_shared, off_shared)
            + penalties.shared_l1 * np.abs(shared).sum()
        )

    def _block_surrogate(self, block: Block) -> BlockSurrogate:
        return BlockSurrogate(
            self.expansion.take(block.playlists),
            self.problem.positives(block),
            self.problem.given.loss,
        )
