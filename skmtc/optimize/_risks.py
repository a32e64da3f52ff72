"""The paper's empirical risks, and the objective over all songs after a fit on a sample."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._remote_pass import make_pass

if TYPE_CHECKING:
    from skmtc.optimize._objective import MultitaskObjective

# Playlists whose exact losses tell how far the objective is from that over a sample of songs.
EXACT_PLAYLISTS = 1024

Risk = Literal["classification", "p-norm push", "bottom-push", "bottom-push exponential"]


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
        # The other two do not change when scores move, and cannot overflow for nothing if the
        # lowest score of each playlist moves to zero.
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
    """Estimate the objective that counts each song once from one with `song_weight`.

    The losses of some random playlists are summed over all songs. By what these differ from the
    losses over the sample, the objectives differ in the mean.

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
    sampled = objective.terms(weights, rows=rows)
    all_songs = make_pass(objective.features, objective.membership, objective.n_jobs)
    whole = objective.terms(weights, rows=rows, tiled_pass=all_songs)
    # `terms` divides by the weights of the sampled songs outside a playlist, not by their number.
    n_outside = objective.n_songs - objective.positives.counts[rows]
    ratio = objective.negative_weights[rows] / n_outside
    whole = whole._replace(
        negative=ratio * whole.negative, negative_gradient=ratio[:, None] * whole.negative_gradient
    )
    exact, estimated = (objective.playlist_losses(terms, rows)[0] for terms in (whole, sampled))
    difference = exact - estimated
    error = 0.0
    if len(rows) < n:
        error = float(difference.std(ddof=1) * np.sqrt((1 - len(rows) / n) / len(rows)))
    return float(value + difference.mean()), error
