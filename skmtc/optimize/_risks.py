"""The paper's empirical risks: what is minimised, and what it stands in for."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from skmtc.optimize._objective import MultitaskObjective

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
