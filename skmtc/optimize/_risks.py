"""The empirical risks: means over the songs of each playlist and the others, and the losses."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._pass import NegativeSums, TiledPass
from skmtc.optimize._remote_pass import make_pass

if TYPE_CHECKING:
    from skmtc.optimize._objective import MultitaskObjective

Array = NDArray[np.float64]
# Playlists whose exact losses estimate the error of an objective over a sample of songs.
EXACT_PLAYLISTS = 1024
Risk = Literal["classification", "p-norm push", "bottom-push", "bottom-push exponential"]
# Far from overflow, also for exp(push * score) in single precision.
LARGE_SCORE = 8.0


class RiskTerms(NamedTuple):
    """Means of exponentials over the songs of each playlist and over the others.

    Attributes
    ----------
    negative : ndarray of shape (n_playlists,)
        Mean of exp(score) over the songs outside the playlist, times its weight.

    negative_gradient : ndarray of shape (n_playlists, n_features)
        Its gradient. Divided by `negative`, it is the mean of the songs, weighted by exp(score).

    positive : ndarray of shape (n_playlists,)
        Mean of exp(-push * score) over the songs of the playlist; for the classification loss,
        times its weight.

    positive_gradient : ndarray of shape (n_playlists, n_features)
        Gradient of `positive / push`.

    shift : ndarray of shape (n_playlists,)
        Subtracted from the scores. A ranking loss is shift-invariant, so a shift avoids overflow;
        zero for the classification loss.
    """

    negative: Array
    negative_gradient: Array
    positive: Array
    positive_gradient: Array
    shift: Array


def risk_terms(
    objective: "MultitaskObjective",
    weights: NDArray[np.floating[Any]],
    *,
    rows: NDArray[np.intp] | None = None,
    groups: NDArray[np.intp] | None = None,
    tiled_pass: TiledPass | None = None,
) -> RiskTerms:
    """Make one pass over the data at given weights of the playlists.

    Parameters
    ----------
    objective : MultitaskObjective
        The problem.

    weights : ndarray of shape (n_rows, n_features)
        Sums of shared, user and playlist weights.

    rows : ndarray of shape (n_rows,), default=None
        Codes of the playlists that `weights` are for; None stands for all.

    groups : ndarray of shape (n_rows,), default=None
        Playlists with the same number, other than -1, have the same weights, which saves work.

    tiled_pass : TiledPass, default=None
        Another pass over the songs, such as one over a sample of them.

    Returns
    -------
    terms : RiskTerms
        Means over the songs in each playlist and over the others, and their gradients, times the
        weight of the playlist.
    """
    weights, width = objective.padded(weights), objective.n_features
    chosen = slice(None) if rows is None else rows
    outside, inside = objective.negative_divisors[chosen], objective.positive_divisors[chosen]
    positives = objective.positives if rows is None else objective.positives.take(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = positives.scores(weights)
        shift = np.zeros(len(weights))
        if objective.loss == "ranking":  # shift-invariant, so shift scores to avoid overflow
            lowest = positives.reduce(np.minimum, scores)
            shift = np.where(np.abs(lowest) > LARGE_SCORE, lowest, 0.0)
        if shift.any():
            weights = np.array(weights, dtype=np.float64)
            weights[:, -1] -= shift
            scores -= np.repeat(shift, positives.counts)
            groups = None if groups is None else np.where(shift == 0, groups, -1)
        sums = negative_sums(objective, weights, rows, groups=groups, tiled_pass=tiled_pass)
        exp = np.exp(-objective.push * scores)
        pulled = positives.sum_features(exp)[:, :width]
        return RiskTerms(
            negative=sums.exp / outside,
            negative_gradient=sums.exp_features[:, :width] / outside[:, None],
            positive=positives.reduce(np.add, exp) / inside,
            positive_gradient=-pulled / inside[:, None],
            shift=shift,
        )


def negative_sums(
    objective: "MultitaskObjective",
    weights: NDArray[np.floating[Any]],
    rows: NDArray[np.intp] | None = None,
    *,
    groups: NDArray[np.intp] | None = None,
    tiled_pass: TiledPass | None = None,
) -> NegativeSums:
    """Return :meth:`TiledPass.negative_sums`; over all songs if a sample has no negatives.

    A playlist may hold all songs of a sample, whose sum over the others, 0, has no logarithm.
    """
    passed = tiled_pass or objective.tiled_pass
    sums = passed.negative_sums(weights, rows, groups=groups)
    nothing = np.flatnonzero(sums.exp == 0)
    if passed is not objective.tiled_pass and len(nothing):
        codes = nothing if rows is None else rows[nothing]
        whole = objective.tiled_pass.negative_sums(weights[nothing], codes)
        sums.exp[nothing], sums.exp_features[nothing] = whole
    return sums


def playlist_losses(
    objective: "MultitaskObjective", terms: RiskTerms, rows: NDArray[np.intp] | None = None
) -> tuple[Array, Array]:
    """Return the loss of each playlist and its gradient, from the terms.

    Parameters
    ----------
    objective : MultitaskObjective
        The problem.

    terms : RiskTerms
        Means over the songs, from a pass over the data.

    rows : ndarray of shape (n_rows,), default=None
        Codes of the playlists that `terms` are for; None stands for all.

    Returns
    -------
    losses : ndarray of shape (n_playlists,)
        Loss of each playlist.

    gradients : ndarray of shape (n_playlists, n_features)
        Gradient of each loss by the weights of its playlist.
    """
    push = objective.push
    counts = objective.positives.counts[slice(None) if rows is None else rows]
    with np.errstate(over="ignore", invalid="ignore"):
        if objective.loss == "classification":
            losses = terms.negative + terms.positive / push
            return losses, terms.negative_gradient + terms.positive_gradient
        # The sum of positives to the power 1 / push, as a factor of the negatives.
        factor = (counts * terms.positive) ** (1 / push)
        losses = factor * terms.negative
        pull = (losses / terms.positive)[:, None] * terms.positive_gradient
        return losses, factor[:, None] * terms.negative_gradient + pull


def empirical_risk(objective: "MultitaskObjective", coef: NDArray[np.float64], kind: Risk) -> float:
    """Evaluate a risk without penalties; see :meth:`MultitaskObjective.risk`."""
    positives, push, weight = objective.positives, objective.push, objective.sample_weight
    weights = objective.padded(objective.weights(coef))
    scores = positives.scores(weights)
    lowest = positives.reduce(np.minimum, scores)
    if kind == "bottom-push":
        above = objective.tiled_pass.weigh_negatives_from(weights, lowest)
        return float(np.mean(weight * above / objective.negative_weights))
    with np.errstate(over="ignore"):
        if kind == "classification":
            negative = objective.tiled_pass.negative_sums(weights).exp / objective.negative_weights
            exp = positives.reduce(np.add, np.exp(-push * scores))
            return float(np.mean(weight * (exp / (push * positives.counts) + negative)))
        # The other two are shift-invariant: shift the lowest score of each playlist to zero to
        # avoid overflow.
        weights = np.array(weights, dtype=np.float64)
        weights[:, -1] -= lowest
        negative = objective.tiled_pass.negative_sums(weights).exp / objective.negative_weights
        if kind == "bottom-push exponential":
            return float(np.mean(weight * negative))
        if kind == "p-norm push":
            above = scores - np.repeat(lowest, positives.counts)
            sums = positives.reduce(np.add, np.exp(-push * above))
            return float(np.mean(weight * sums ** (1 / push) * negative))
    raise ValueError(
        "`kind` must be 'classification', 'p-norm push', 'bottom-push' or 'bottom-push "
        f"exponential'; got {kind!r}. Name one of these risks."
    )


def objective_over_all_songs(
    objective: "MultitaskObjective",
    coef: NDArray[np.float64],
    value: float,
    random_state: int = 0,
) -> tuple[float, float]:
    """Estimate the objective over all songs from one with `song_weight`.

    For some random playlists, losses are also summed over all songs. The mean difference to the
    losses over the sample estimates the difference of the objectives.

    Parameters
    ----------
    objective : MultitaskObjective
        The objective, with `song_weight`.

    coef : ndarray of shape `objective.shape`
        Coefficients.

    value : float
        The objective at these.

    random_state : int, default=0
        Seed of the choice of playlists.

    Returns
    -------
    estimate, error : float
        The objective over all songs and the standard error of the estimate, which is 0 if all
        playlists were summed.
    """
    n = objective.n_playlists
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(n, size=min(n, EXACT_PLAYLISTS), replace=False))
    shared, user, playlist = objective.split(coef)
    weights = playlist[rows] + user[objective.user_of_playlist[rows]] + shared
    sampled = risk_terms(objective, weights, rows=rows)
    all_songs = make_pass(objective.features, objective.membership, objective.n_jobs)
    whole = risk_terms(objective, weights, rows=rows, tiled_pass=all_songs)
    # `risk_terms` divides by the weights of sampled songs outside a playlist, not by their number.
    n_outside = objective.n_songs - objective.positives.counts[rows]
    ratio = objective.negative_weights[rows] / n_outside
    whole = whole._replace(
        negative=ratio * whole.negative, negative_gradient=ratio[:, None] * whole.negative_gradient
    )
    exact, estimated = (playlist_losses(objective, terms, rows)[0] for terms in (whole, sampled))
    difference = exact - estimated
    error = 0.0
    if len(rows) < n:
        error = float(difference.std(ddof=1) * np.sqrt((1 - len(rows) / n) / len(rows)))
    return float(value + difference.mean()), error
