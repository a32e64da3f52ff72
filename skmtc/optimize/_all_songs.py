"""The objective over all songs at the solution of a fit on a sample of them."""

import numpy as np
from numpy.typing import NDArray

from skmtc.optimize._objective import MultitaskObjective
from skmtc.optimize._remote_pass import make_pass

# Playlists whose exact losses tell how far the objective is from that of the sample.
EXACT_PLAYLISTS = 1024


def objective_over_all_songs(
    objective: MultitaskObjective,
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
