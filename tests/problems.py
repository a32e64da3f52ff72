"""Random problems and slow transcriptions, shared by tests."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from skmtc.optimize import MultitaskObjective


def make_problem(seed, *, n_playlists=12, n_users=5, n_songs=25, n_features=4, dtype=float):
    """Sample features, membership and owners; every user has a playlist."""
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
    """Sample coefficients, a third of them zero."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(scale=scale, size=objective.shape)
    coef[rng.random(coef.shape) < 1 / 3] = 0.0
    return coef


def minimise_split(objective, ftol=1e-16):
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
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": ftol, "gtol": 1e-10, "maxcor": 30}
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


def make_odd_problem(seed):
    """Sample a small problem of odd but tame features, and penalties over four decades.

    Features are normal, uniform, binary, tiny, off zero or (nearly) collinear; playlists have one
    song up to all but one, drawn by chance or by a score.
    """
    rng = np.random.default_rng(seed)
    n_songs, n_users = int(rng.integers(5, 60)), int(rng.integers(1, 8))
    n_playlists, n_features = n_users + int(rng.integers(0, 20)), int(rng.integers(1, 7))
    features = rng.normal(size=(n_songs, n_features))
    for j, kind in enumerate(rng.integers(0, 6, size=n_features)):
        features[:, j] = _odd_feature(features, j, kind, rng)
    held = np.zeros((n_playlists, n_songs), dtype=np.int32)
    sizes = rng.choice([1, 2, 5, 10, 20, n_songs - 1], n_playlists).clip(1, n_songs - 1)
    for row, size in zip(held, sizes, strict=True):
        scores = rng.gumbel(size=n_songs)
        if rng.random() < 0.5:
            scores += 2 * features @ rng.normal(size=n_features)
        row[np.argsort(-scores)[:size]] = 1
    owners = np.concatenate([np.arange(n_users), rng.integers(0, n_users, n_playlists - n_users)])
    parameters = {
        "user_l2": 10.0 ** rng.uniform(-3, 1),
        "playlist_l1": 10.0 ** rng.uniform(-3, 1),
        "shared_l1": 10.0 ** rng.uniform(-4, 0),
        "push": float(rng.choice([0.3, 0.5, 1.0, 2.0, 4.0, 8.0])),
        "loss": str(rng.choice(["classification", "ranking"])),
        "fit_intercept": bool(rng.random() < 0.8),
    }
    features = features.astype(np.float32 if rng.random() < 0.7 else np.float64)
    return (
        csr_array(features) if rng.random() < 0.25 else features,
        csr_array(held),
        owners,
        parameters,
    )


def _odd_feature(features, j, kind, rng):
    column, n_songs = features[:, j], len(features)
    if kind == 0:
        return rng.random(n_songs)
    if kind == 1:
        return rng.random(n_songs) < rng.choice([0.1, 0.5])
    if kind == 2:
        return column * 10.0 ** rng.uniform(-3, 0)
    if kind == 3:
        return column + rng.uniform(-3, 3)
    if kind == 4 and j:
        noise = 1e-2 * rng.normal(size=n_songs) * rng.integers(0, 2)
        return features[:, j - 1] * rng.choice([1.0, -1.0, 0.5]) + noise
    return column


def transcribed_objective(objective):
    """Transcribe the smooth part of the objective and its gradient, in dense double precision."""
    features = objective.features
    features = features.toarray() if hasattr(features, "toarray") else features
    features = features[:, : objective.n_features].astype(np.float64)
    held, push = objective.membership.toarray() > 0, objective.push
    song_weight = objective.song_weight
    weights = np.ones(held.shape[1]) if song_weight is None else song_weight
    inside = held.sum(axis=1, keepdims=True)
    outside = (~held * weights).sum(axis=1, keepdims=True)
    owners = objective.user_of_playlist

    def value_and_gradient(coef):
        shared, user, playlist = objective.split(coef)
        scores = (shared + user[owners] + playlist) @ features.T
        with np.errstate(over="ignore", invalid="ignore"):
            pull = np.where(held, np.exp(-push * scores), 0.0)
            rest = np.where(held | (weights == 0), 0.0, weights * np.exp(scores)) / outside
            if objective.loss == "classification":
                losses = (pull / (push * inside) + rest).sum(axis=1)
                slopes = (rest - pull / inside) @ features
            else:
                total = pull.sum(axis=1, keepdims=True)
                factor = total ** (1 / push)
                losses = (factor * rest).sum(axis=1)
                slopes = factor * (rest @ features)
                slopes = slopes - losses[:, None] * (pull / total) @ features
        gradient = np.empty(objective.shape)
        gradient[0] = slopes.sum(axis=0)
        for u in range(objective.n_users):
            gradient[1 + u] = slopes[owners == u].sum(axis=0) + 2 * objective.user_l2 * user[u]
        gradient[1 + objective.n_users :] = slopes
        value = losses.sum() + objective.user_l2 * np.sum(user**2)
        return value / len(held), gradient / len(held)

    return value_and_gradient


class Transcribed:
    """What an oracle needs of an objective, by transcribed formulas only.

    With `shared`, only user and playlist weights move: coefficients are offsets from there.
    """

    def __init__(self, objective, shared=None):
        self.shape, self.l1 = objective.shape, objective.l1
        self._evaluate = transcribed_objective(objective)
        self._start = np.zeros(self.shape)
        self._moves_shared = shared is None
        if shared is not None:
            self._start[0] = shared

    def zeros(self):
        """Return no offset."""
        return np.zeros(self.shape)

    def value_and_gradient(self, coef):
        """Evaluate the smooth part, as a large number where it overflows."""
        value, gradient = self._evaluate(self._start + coef)
        if not self._moves_shared:
            gradient[0] = 0.0
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return 1e300, np.zeros(self.shape)
        return value, gradient

    def value(self, coef):
        """Evaluate all, the l1 penalties of what moves included."""
        moved = coef - self._start
        penalised = coef if self._moves_shared else moved
        return self.value_and_gradient(moved)[0] + np.sum(np.abs(penalised) * self.l1)
