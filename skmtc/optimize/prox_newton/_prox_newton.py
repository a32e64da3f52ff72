"""The solver for large problems: a convex surrogate between two passes over the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._pass import TiledPass
from skmtc.optimize.prox_newton._curvature import Curvature, learn_curvature
from skmtc.optimize.prox_newton._inner import InnerProblem
from skmtc.optimize.prox_newton._problem import Iterate, Totals, between
from skmtc.optimize.prox_newton._rows import (
    EigenBasis,
    RowModel,
    active_playlists,
    can_use_rows,
    eigen_basis,
    learn_scales,
    row_sums,
)
from skmtc.optimize.prox_newton._shared import best_common_weights, closest_shared
from skmtc.optimize.prox_newton._state import SolverState
from skmtc.optimize.prox_newton._subsample import sampled_pass
from skmtc.optimize.prox_newton._surrogate import Expansion

Array = NDArray[np.floating[Any]]

# An iteration on a sample costs half of one on all songs. Measured on real playlists, four start
# within one part in a thousand of the minimum, which saves two passes; seven gain nothing more.
SAMPLED_ITERATIONS = 7
# Rows take their first iterations on a small sample, the others on a large one; playlists, which
# take a sample for each of their steps less often, on one in between.
ROUGH_ITERATIONS = 2
ROUGH_SONGS_PER_FEATURE, SONGS_PER_FEATURE, FINE_SONGS_PER_FEATURE = 12, 30, 40
# The objective on a sample is off by about `tol` = 1e-3: a step with a smaller predicted decrease,
# in units of `tol`, ends the sampled stage.
SAMPLED_TOL = 1.0
# Factor of a rejected step, and how often it is applied: 0.35^5 = 0.005 of a step gains little, and
# each time costs a pass over the users concerned. After that the user does not move.
BACKTRACK = 0.35
MAX_BACKTRACKS = 5
# A predicted relative decrease below this share of `tol` is not worth a pass: if the surrogate was
# right about every user, it predicts between a third and all of the suboptimality.
NEGLIGIBLE_DECREASE = 0.3
# The duality gap is first order in what violates the optimality conditions, the suboptimality
# second order. A gap above this many times sqrt(tol) contradicts a suboptimality of `tol`: small
# steps then end the search, but do not count as converged.
LOOSE_GAP = 0.6
# Short steps in a row that end the search although the gap is loose.
MOST_SHORT_STEPS = 6
# Iterations of the model of rows, after which that of playlists takes over: its iterations cost
# more, but it learns a BFGS pair for each playlist.
MOST_ROW_ITERATIONS = 8
# Rounds of an iteration go on while one brings more than this share of the decrease of all rounds.
# The share is larger on samples, where a pass costs little more than a round.
MIN_ROUND_SHARE, MIN_ROUND_SHARE_ON_SAMPLES = 0.1, 0.25
# Sweeps end when steps are below a share of `tol`. Steps may be that short because directions are
# flat: before a small predicted decrease ends the search, sweeps must go on to this share of it.
SWEEP_TOL = 0.03
# Users may keep their weights if their steps together predict at most this share of `tol`: a pass
# costs in proportion to the users that move, and what is left out must not delay convergence.
LEFT_OUT = 0.3
# Predicted decreases of runs with more iterations than this are trusted less.
TRUSTED_ITERATIONS = 3
# Largest ratio of successive decreases in their geometric series, which diverges at 1: a series of
# this ratio sums to 49 times its last term.
LARGEST_RATE = 0.98
# Factor of the curvature of users whose step was rejected: a step of a quadratic model becomes
# about a quarter as long. A larger factor needs fewer rejections, but more iterations to be
# unlearned.
INFLATION = 4
# Steps of the shared weights alone before users have weights, each with a line search.
COMMON_STEPS = 20
# A scale learned on a sample falls to no less than this share, as it fits the sample's noise too.
KEPT_SCALE_ON_SAMPLES = 0.8


class ProxNewton(SolverState):
    """The solver for large problems: minimise a surrogate, pass, backtrack, learn, bound.

    Parameters
    ----------
    objective : MultitaskObjective
        What to minimise.

    tol : float
        Relative suboptimality to reach.

    random_state : int or None
        Seed of the sample of songs.
    """

    def __init__(self, objective: MultitaskObjective, tol: float, random_state: int | None) -> None:
        super().__init__(objective, tol)
        self.rng = np.random.default_rng(random_state)
        ones = np.ones(objective.n_playlists, dtype=self.problem.dtype)
        self.curvature = Curvature(ones, None, None)
        self.damping = ones
        self.covariance: Array = np.empty((0, 0))
        self._take_log_weight()
        self.model: RowModel | None = None
        self.basis: EigenBasis | None = None
        self.rows = can_use_rows(self.problem)

    def forget_history(self) -> None:
        """Reset the history and all counts of iterations."""
        super().forget_history()
        self.decrease = np.inf
        self.short_steps = 0
        self.unpredicted = np.inf
        self.row_iterations = 0
        self.sweep_tol = self.tol

    def change_penalties(self, point: Iterate, **penalties: float) -> None:
        """Set other penalties, and record the iterate under them."""
        super().change_penalties(point, **penalties)
        self.rows = can_use_rows(self.problem)

    def start(self, coef0: NDArray[np.float64] | None) -> Iterate:
        """Find the point of the first full pass."""
        problem = self.problem
        if coef0 is None:
            common = self._best_common()
            totals, shared = self._sampled_stage(common)
        else:
            totals, shared = problem.totals_of(coef0)
            common = problem.evaluate_common(shared)
            if not np.isfinite(problem.value(common)):
                common = problem.evaluate_common(np.zeros_like(shared))
        if totals is common.totals:  # known without a pass
            point = common
        else:
            self.model = None  # that of a sample predicted nothing about this step
            # Start a user at the shared weights if its objective is lower there.
            point, _ = self._backtrack(common, self._evaluate(totals, shared))
        if not np.isfinite(problem.value(point)):
            point = self._evaluate(common.totals, common.shared)
        self.curvature = Curvature(self.curvature.scale, None, None)
        if not (self.rows and self.covariance.size):
            self._take_covariance(point.totals)
        if not self.history["objective"]:
            self.record(point)
        return point

    def iterate(self, point: Iterate) -> Iterate:
        """Take one iteration; the steps are those of `solve_prox_newton`."""
        value = self.problem.value(point)
        # A row learns one scale, a playlist a BFGS pair as well: where rows need many iterations
        # (features of 40 standard deviations), playlists need fewer.
        self.row_iterations += 1
        if self.null_steps or self.row_iterations > MOST_ROW_ITERATIONS:
            self.rows = False
        # 1. Minimise the surrogate. Stop here if the predicted decrease is not worth a pass.
        totals, shared = self._minimise_surrogate(point)
        # A small prediction may come from sweeps that ended early: sweep on, before it counts.
        is_rough = not self.rows and self.sweep_tol == self.tol
        if is_rough and self.predicted <= NEGLIGIBLE_DECREASE * self.tol * value:
            self.sweep_tol = SWEEP_TOL * self.tol
            totals, shared = self._minimise_surrogate(point)
        may_stop = np.isfinite(self.unpredicted) and self._gap_is_tight()
        if may_stop and self._is_negligible(self.predicted + self.unpredicted, value):
            self.short_steps = 2
            self.record(point)
            return point
        # 2. Make a pass for the users with most of the decrease; the others stay where they are.
        moved = self._users_worth_a_pass(point)
        if moved.all():
            self.passes += 1
            new = self.problem.evaluate(totals, shared)
        else:
            new = self._evaluate_moved(point, totals, shared, moved)
        # 3. Backtrack users whose part of the objective rose.
        new, rejected = self._backtrack(point, new)
        self.decrease = value - self.problem.value(new)
        if not self.decrease >= 0:  # a null step: the shared weights cost more than users gained
            self.decrease = 0.0
            self.null_steps += 1
            self._inflate_curvature(np.ones(len(rejected), dtype=bool))
            self.record(point)
            if self.null_steps == 1:  # at the minimum, rounding may turn a step into a null step
                self._count_short(rejected)
            return point
        self.null_steps = 0
        # 4. Learn the curvature of the next surrogate from the two passes.
        self._learn(point, new)
        self._inflate_curvature(rejected)
        # 5. Bound the suboptimality, and count whether the step was short.
        self.record(new)
        self._count_short(rejected)
        return new

    def _count_short(self, rejected: NDArray[np.bool_]) -> None:
        """Count short steps in a row; two of them mean that no further pass is worth it.

        Predicted decreases are too small for users whose step was rejected, as their curvature is
        inflated, and for a ranking loss, whose model is less exact. A short step then counts once,
        so that a second one must confirm it; otherwise it counts twice.
        """
        value = self.history["objective"][-1] * self.problem.given.n_playlists
        is_short = self._is_negligible(max(self.predicted, self.decrease), value)
        sure = self.problem.given.loss == "classification" and not rejected.any()
        self.short_steps = (self.short_steps + (2 if sure else 1)) if is_short else 0

    def _is_negligible(self, decrease: float, value: float) -> bool:
        """Check whether a decrease, and the sum of those to follow, is well below `tol`.

        A model with too much curvature predicts too small a decrease in every iteration. Decreases
        then shrink slowly, and their geometric series bounds their sum.
        """
        share = NEGLIGIBLE_DECREASE if self._gap_is_tight() else 0.1 * NEGLIGIBLE_DECREASE
        # After many iterations, the model has predicted too small a decrease many times.
        share *= min(1.0, TRUSTED_ITERATIONS / max(self.n_iter, 1))
        return max(decrease, self._extrapolated()) <= share * self.tol * value

    def _gap_is_tight(self) -> bool:
        """Check that the duality gap does not contradict a suboptimality of `tol`."""
        return bool(self.history["restricted_gap"][-1] <= LOOSE_GAP * np.sqrt(self.tol))

    def _extrapolated(self) -> float:
        """Return the sum of all decreases to follow, if they shrink by a constant factor.

        The factor is the larger of the last two ratios, as a single iteration may fall short.
        """
        values = np.array(self.history["objective"][-4:]) * self.problem.given.n_playlists
        falls = -np.diff(values)
        if len(falls) < 2 or not falls[-2] > 0:
            return 0.0
        # sum_k fall rate^k = fall rate / (1 - rate) for k = 1, 2, ...
        rates = falls[1:] / np.where(falls[:-1] > 0, falls[:-1], np.inf)
        rate = min(float(rates.max()), LARGEST_RATE)
        return float(falls[-1] * rate / (1 - rate))

    @property
    def converged(self) -> bool:
        """Whether the duality gap is at most `tol`, or no decrease is worth another pass."""
        certified = self.history["dual_gap"][-1] <= self.tol
        return certified or (self.short_steps >= 2 and self._gap_is_tight())

    @property
    def stalled(self) -> bool:
        """Whether steps are short although the duality gap is loose."""
        return self.short_steps >= MOST_SHORT_STEPS

    def _best_common(self) -> Iterate:
        """Minimise over weights that all playlists share, which needs no pass."""
        problem = self.problem
        if problem.given.loss == "classification":
            shared = best_common_weights(
                problem.objective,
                problem.features,
                problem.penalties.shared_l1,
                tol=0.1 * self.tol,
                split=problem.split_features,
            )
            return problem.evaluate_common(shared)
        # The factors of a ranking loss are sums over playlists, which do not add up by song.
        point = problem.evaluate_common(np.zeros(problem.given.n_features))
        for _ in range(COMMON_STEPS):
            self._take_covariance(point.totals)
            # min over d of g.d + d'Hd / 2 + l1 |mu + d|_1, summed over all playlists
            inner = InnerProblem(problem, self._expansion(point), self.threads)
            _, shared, _ = inner.shift_shared(point.totals, point.shared)
            value, size = problem.value(point), 1.0
            # Backtrack until the objective itself does not rise.
            new = problem.evaluate_common(shared)
            while not problem.value(new) <= value and size > 1e-3:
                size *= BACKTRACK
                new = problem.evaluate_common(point.shared + size * (shared - point.shared))
            gain = value - problem.value(new)
            if not gain > 0:
                break
            point = new
            if gain <= 0.1 * self.tol * value:
                break
        return point

    def _sampled_stage(self, common: Iterate) -> tuple[Totals, NDArray[np.float64]]:
        """Iterate on samples of songs, unless the catalogue is small.

        The first iterations of rows are far from the minimum, so a small sample is enough; the
        last ones would fit its noise, and use a large one.
        """
        objective, whole = self.problem.objective, self.problem.objective.tiled_pass
        sizes = self._sample_sizes()
        if not sizes:
            return common.totals, common.shared
        self._take_covariance(common.totals)
        weights = objective.padded(common.shared[None])[0]
        # At the shared weights a sample has the sums of the catalogue: `common` needs no pass.
        point, sample = common, None
        for number in range(SAMPLED_ITERATIONS):
            settled = number >= ROUGH_ITERATIONS
            totals, shared = self._minimise_surrogate(point, on_sample=True, settled=settled)
            if settled and self.predicted <= SAMPLED_TOL * self.tol * self.problem.value(point):
                return totals, shared
            if number in sizes:
                sample = sampled_pass(
                    whole.features,
                    whole.membership,
                    weights,
                    sizes[number],
                    self.rng,
                    objective.n_jobs,
                    offsets=whole.offsets,
                )
            if number and number in sizes:  # values on two samples do not compare
                point = self._evaluate(totals, shared, sample)
                continue
            moved = None if number in sizes else self._users_worth_a_pass(point)
            if moved is None or moved.all():
                new = self._evaluate(totals, shared, sample)
            else:
                new = self._evaluate_moved(point, totals, shared, moved, sample)
            new, rejected = self._backtrack(point, new, sample)
            self._learn(point, new, keep=KEPT_SCALE_ON_SAMPLES)
            self._inflate_curvature(rejected)
            point = new
        return point.totals, point.shared

    def _sample_sizes(self) -> dict[int, int]:
        """Return how many songs to sample before which iterations; none if there are few songs."""
        n_songs = self.problem.objective.tiled_pass.n_songs
        n_features = self.problem.given.n_features
        whole = max(n_songs // 16, SONGS_PER_FEATURE * n_features)
        if whole > n_songs // 4:
            return {}
        if not self.rows:
            return {0: whole}
        rough = max(n_songs // 32, ROUGH_SONGS_PER_FEATURE * n_features)
        fine = max(whole, min(n_songs // 4, FINE_SONGS_PER_FEATURE * n_features))
        return {0: rough, ROUGH_ITERATIONS: fine}

    def _minimise_surrogate(
        self, point: Iterate, *, on_sample: bool = False, settled: bool = True
    ) -> tuple[Totals, NDArray[np.float64]]:
        """Minimise the surrogate, by rows or by playlists; `predicted` is how much lower it gets.

        Before users have settled, playlists get no weights of their own, and one round of steps
        suffices.
        """
        if not self.rows:
            inner = InnerProblem(
                self.problem, self._expansion(point), self.threads, tol=self.sweep_tol
            )
            totals, shared, self.predicted, self.damping = inner.minimise(
                point.totals, point.shared, self.damping
            )
            return totals, shared
        if self.basis is None:
            self.basis = eigen_basis(self.problem.features, self.covariance)
        active = active_playlists(self.problem, point, screen=settled)
        self.model = RowModel(
            self.problem, point, active, self.curvature.scale, self.basis, self.threads
        )
        if not settled:
            totals, shared, self.predicted = self.model.minimise(n_rounds=1, n_newton=2)
        else:
            min_share = MIN_ROUND_SHARE_ON_SAMPLES if on_sample else MIN_ROUND_SHARE
            totals, shared, self.predicted = self.model.minimise(min_share=min_share)
        return totals, shared

    def _evaluate(
        self,
        totals: Totals,
        shared: NDArray[np.float64],
        tiled_pass: TiledPass | None = None,
    ) -> Iterate:
        """Make a pass, over all songs or over a sample."""
        self.passes += self._share_of_pass(tiled_pass)
        return self.problem.evaluate(totals, shared, tiled_pass)

    def _users_worth_a_pass(self, point: Iterate) -> NDArray[np.bool_]:
        """Return which users have steps that are worth a pass.

        What the others would gain is in the next surrogate again, and in what it predicts. If steps
        are short while the duality gap is loose, all users move, which tightens it.
        """
        may_leave_out = self.short_steps == 0 or self._gap_is_tight()
        if not (self.rows and self.model and may_leave_out):
            return np.ones(len(self.problem.users.counts), dtype=bool)
        # Far from the minimum, all users move: to leave some out would cost an iteration.
        return self.model.users_worth_a_pass(LEFT_OUT * self.tol * self.problem.value(point))

    def _evaluate_moved(
        self,
        point: Iterate,
        totals: Totals,
        shared: NDArray[np.float64],
        moved: NDArray[np.bool_],
        tiled_pass: TiledPass | None = None,
    ) -> Iterate:
        """Evaluate the steps of some users; the others stay where `point` is."""
        share = moved.astype(self.problem.dtype)
        mixed = between(point.totals, totals, share, self.problem.users)
        start = point._replace(shared=shared)
        return self._with_rows(start, start, mixed, moved, share, tiled_pass)

    def _backtrack(
        self, old: Iterate, new: Iterate, tiled_pass: TiledPass | None = None
    ) -> tuple[Iterate, NDArray[np.bool_]]:
        """Shorten the step of each user whose part of the objective rose, or reject it.

        Parameters
        ----------
        old, new : Iterate
            The iterates before and after the step.

        tiled_pass : TiledPass, default=None
            The pass that evaluated the step, if it is not the one over all songs.

        Returns
        -------
        point : Iterate
            The point reached.

        rejected : ndarray of bool of shape (n_users,)
            Users whose step was rejected.
        """
        problem, users = self.problem, self.problem.users
        totals, shared = new.totals, new.shared
        # Compare with the new shared weights on both sides: f_u(new) <= f_u(old) + slack. Users are
        # independent given these, so each one has a step length of its own.
        before = problem.user_values(old, shared)
        slack = before * min(1e-5, 1e-2 * self.tol)
        rose = ~(problem.user_values(new, shared) <= before + slack)
        self.unpredicted = self._unpredicted(rose)
        share = np.ones(len(before), dtype=problem.dtype)
        for attempt in range(1, MAX_BACKTRACKS + 2):
            if not rose.any():
                break
            share[rose] = BACKTRACK**attempt if attempt <= MAX_BACKTRACKS else 0.0
            mixed = between(old.totals, totals, share, users)
            new = self._with_rows(new, old, mixed, rose, share, tiled_pass)
            rose &= ~(problem.user_values(new, shared) <= before + slack) & (share > 0)
        # With some steps shortened, other shared weights are closest to the users.
        return new._replace(shared=self._best_shared(new.totals)), share == 0

    def _unpredicted(self, rose: NDArray[np.bool_]) -> float:
        """Return how much of a decrease may be left that the next model does not predict.

        The curvature of users whose part of the objective rose is inflated, so that their next
        model predicts too small a decrease. The last model, whose curvature was too small,
        predicted more than there is to gain, which bounds it. Models of playlists and of a ranking
        loss have no such bound.
        """
        if self.problem.given.loss != "classification":
            return float("inf")
        if not rose.any():
            return 0.0
        return float(self.model.gains()[rose].sum()) if self.rows and self.model else float("inf")

    def _share_of_pass(self, tiled_pass: TiledPass | None) -> float:
        if tiled_pass is None:
            return 1.0
        return float(tiled_pass.n_songs / self.problem.objective.tiled_pass.n_songs)

    def _best_shared(self, totals: Totals) -> NDArray[np.float64]:
        penalties = self.problem.penalties
        return closest_shared(totals.user, penalties.user_l2, penalties.shared_l1)

    def _with_rows(
        self,
        new: Iterate,
        old: Iterate,
        mixed: Totals,
        changed: NDArray[np.bool_],
        share: Array,
        tiled_pass: TiledPass | None,
    ) -> Iterate:
        """Evaluate the changed users' playlists at their new totals; the others stay."""
        problem = self.problem
        rows = np.flatnonzero(problem.users.spread(changed))
        back = problem.users.spread(share)[rows] == 0
        # Users that are all back where they were need no pass: their sums are known.
        some = Totals(mixed.playlist[rows], mixed.user)
        if back.all():
            fresh = [array[rows] for array in old[2:]]
        else:
            fresh = list(problem.evaluate(some, new.shared, tiled_pass, rows=rows)[2:])
            self.passes += len(rows) / problem.given.n_playlists * self._share_of_pass(tiled_pass)
        arrays = []
        for array, values in zip(new[2:], fresh, strict=True):
            array = array.copy()
            array[rows] = values
            arrays.append(array)
        return Iterate(mixed, new.shared, *arrays)

    def _learn(self, old: Iterate, new: Iterate, keep: float = 0.0) -> None:
        """Learn the curvature from the gradients of log Z at two evaluated iterates."""
        # tau = d.(m_new - m_old) / d'Cd, by row or by playlist
        if self.rows and self.model is not None:
            model = self.model
            sums = row_sums(self.problem, new, model.active, model.basis)
            scales = learn_scales(model.sums, sums, model.scale, model.basis)
            self.curvature = Curvature(scales[model.row_of], None, None)
            return
        step = new.totals.playlist - old.totals.playlist
        with np.errstate(over="ignore", invalid="ignore"):
            self.curvature = learn_curvature(
                self.curvature, step, new.mean - old.mean, self.covariance, keep=keep
            )

    def _inflate_curvature(self, users: NDArray[np.bool_]) -> None:
        """Inflate the curvature of some users' playlists, which shortens their next steps."""
        rows = self.problem.users.spread(users)
        if rows.any():
            scale, removed, added = self.curvature
            scale = np.where(rows, INFLATION * scale, scale).astype(scale.dtype)
            # The pairs were learned on a step that the model mispredicted.
            if removed is not None and added is not None:
                removed = np.where(rows[:, None], 0, removed)
                added = np.where(rows[:, None], 0, added)
            self.curvature = Curvature(scale, removed, added)

    def _take_covariance(self, totals: Totals) -> None:
        """Take the covariance of songs, weighted by their scores for the mean playlist."""
        mean = totals.playlist.mean(axis=0, dtype=np.float64)
        # Some kernels of BLAS raise flags for numbers beyond the end of short vectors.
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(self.problem.features @ mean.astype(self.problem.dtype))
        # C = sum_m q_m (x_m - mean)(x_m - mean)', q_m in proportion to song_weight_m exp(score_m)
        with np.errstate(divide="ignore"):  # songs of weight 0
            scores = scores.astype(np.float64) + np.log(self.problem.song_weight)
        moments = self.problem.split_features.moments(scores)
        covariance = moments.covariance
        self.covariance = covariance.astype(self.problem.dtype)
        self.basis = None

    def _take_log_weight(self) -> None:
        self.log_weight = np.log(self.problem.objective.sample_weight).astype(self.problem.dtype)

    def _expansion(self, point: Iterate) -> Expansion:
        return Expansion(
            point.totals.playlist,
            point.log_negative.astype(self.problem.dtype),
            point.mean,
            *self.curvature,
            self.covariance,
            self.log_weight,
        )
