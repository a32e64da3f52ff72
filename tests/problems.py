"""Random problems and slow transcriptions, shared by tests."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective


def make_problem(seed, *, n_playlists=12, n_users=5, n_songs=25, n_features=4, dtype=float):
    """Draw features, membership and owners; every user has a playlist."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_songs, n_features)).astype(dtype)
    held = rng.random((n_playlists, n_songs)) < 0.25
    held[np.arange(n_playlists), rng.integers(1, n_songs, n_playlists)] = True
    held[:, 0] = False
    owners = np.arange(n_users)
    extra = rng.integers(0, n_users, n_playlists - n_users)
    return features, csr_array(held.astype(np.int32)), np.concatenate([owners, extra])


def make_objective(seed, *, shape=None, features=None, **parameters):
    """Make an objective of a random problem."""
    drawn, membership, owners = make_problem(seed, **(shape or {}))
    penalties = {"user_l2": 0.4, "playlist_l1": 0.15, "shared_l1": 0.02} | parameters
    return MultitaskObjective(
        drawn if features is None else features(drawn), membership, owners, **penalties
    )


def make_coef(objective, seed=0, scale=0.3):
    """Draw coefficients, a third of them zero."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(scale=scale, size=objective.shape)
    coef[rng.random(coef.shape) < 1 / 3] = 0.0
    return coef


def minimise_split(objective):
    """Minimise by L-BFGS-B on positive and negative parts: an independent oracle."""
    size = objective.zeros().size
    l1 = np.broadcast_to(objective.l1, objective.shape).ravel()

    def value_and_gradient(parts):
        coef = (parts[:size] - parts[size:]).reshape(objective.shape)
        value, gradient = objective.value_and_gradient(coef)
        value += l1 @ (parts[:size] + parts[size:])
        return value, np.concatenate([l1 + gradient.ravel(), l1 - gradient.ravel()])

    free = np.broadcast_to(objective.l1 == 0, objective.shape).ravel()
    # Without a penalty one part is enough: it may be of either sign.
    bounds = [(None if f else 0, None) for f in free] + [(0, 0 if f else None) for f in free]
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    result = minimize(
        value_and_gradient,
        np.zeros(2 * size),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=options,
    )
    return result.fun, (result.x[:size] - result.x[size:]).reshape(objective.shape)


def transcribed_risk(features, membership, weights, push, kind):
    """Transcribe the paper's risks, playlist by playlist and song by song."""
    total = 0.0
    held = membership.toarray() > 0
    for i, row in enumerate(held):
        f = features @ weights[i]
        inside, outside = f[row], f[~row]
        if kind == "classification":
            total += sum(np.exp(-push * s) for s in inside) / (push * len(inside))
            total += sum(np.exp(s) for s in outside) / len(outside)
        elif kind == "p-norm push":
            delta = [sum(np.exp(-(s - t)) for t in outside) for s in inside]
            total += sum(d**push for d in delta) ** (1 / push) / len(outside)
        elif kind == "bottom-push":
            total += sum(min(inside) <= t for t in outside) / len(outside)
        elif kind == "bottom-push exponential":
            total += sum(np.exp(t - min(inside)) for t in outside) / len(outside)
    return total / len(held)
