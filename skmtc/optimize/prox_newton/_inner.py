"""The inner problem: the surrogate of all playlists, minimised between two passes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc._utils.threads import Threads
from skmtc.optimize.prox_newton._blocks import SWEEP_STEPS, Block, Start, SweepRules
from skmtc.optimize.prox_newton._problem import SortedProblem
from skmtc.optimize.prox_newton._remote import FEWEST_BLOCKS, sweep_elsewhere
from skmtc.optimize.prox_newton._shared import closest_shared, lasso_step
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, Expansion
from skmtc.optimize.prox_newton._user_step import End, Penalties, Totals

Array = NDArray[np.floating[Any]]

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
        self, totals: Totals, shared: NDArray[np.float64], damping: Array
    ) -> tuple[Totals, NDArray[np.float64], float, Array]:
        """Alternate steps of the shared weights and sweeps over users.

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
            totals, shared, gain = self.shift_shared(totals, shared)
            totals, gains, damping, _ = self.sweep(totals, shared, damping)
            nearest = closest_shared(totals.user, penalties.user_l2, penalties.shared_l1)
            gain += (
                float(gains.sum())
                + self._shared_cost(totals, shared)
                - self._shared_cost(totals, nearest)
            )
            shared = nearest
            decrease += gain
            if not gain > WORTHWHILE * decrease:
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
        """Sweep all blocks, here or where the features are.

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
        problem = self.problem
        n_users = len(totals.user)
        new = End(
            Totals(np.empty_like(totals.playlist), np.empty_like(totals.user)),
            np.empty(n_users),
            np.empty_like(damping),
            np.empty(n_users, dtype=bool),
        )
        kind = totals.user.dtype
        rules = SweepRules(shared.astype(kind), self.penalties, self.negligible, n_steps)

        def start(block: Block) -> Start:
            playlists, users, _ = block
            own = Totals(totals.playlist[playlists], totals.user[users])
            return Start(block, self.expansion.take(playlists), own, damping[playlists])

        def keep(block: Block, end: End) -> None:
            playlists, users, _ = block
            new.totals.playlist[playlists], new.totals.user[users] = end.totals
            new.gains[users], new.converged[users] = end.gains, end.converged
            new.damping[playlists] = end.damping

        # Workers have the songs of a pass: all songs, unless some have no weight.
        is_whole = problem.objective.song_weight is None
        workers = problem.objective.tiled_pass.workers if is_whole else None
        if workers is None or len(problem.blocks) < FEWEST_BLOCKS:
            self.threads.map(
                lambda block: keep(block, problem.on_blocks.sweep(start(block), rules)),
                problem.blocks,
            )
        else:
            starts = [start(block) for block in problem.blocks]
            for block, end in zip(
                problem.blocks, sweep_elsewhere(workers, problem.rules, rules, starts), strict=True
            ):
                keep(block, end)
        return new

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
        return self.problem.on_blocks.surrogate(block, self.expansion.take(block.playlists))
