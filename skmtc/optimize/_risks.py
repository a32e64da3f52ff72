"""The paper's empirical risks: what is minimised, and what it stands in for."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from skmtc.optimize._objective import MultitaskObjective

Risk = Literal["classification", "p-norm push", "bottom-push", "bottom-push exponential"]


def empirical_risk(objective: "MultitaskObjective", coef: NDArray[np.float64], kind: Risk) -> float:
    """Evaluate a risk without penalties; see :meth:`MultitaskObjective.risk`."""
    positives, push = objective.positives, objective.push
    weights = objective.padded(objective.weights(coef))
    scores = positives.scores(weights)
    lowest = positives.reduce(np.minimum, scores)
    if kind == "bottom-push":
        counts = objective.tiled_pass.count_negatives_from(weights, lowest)
        return float(np.mean(counts / objective.negative_counts))
    with np.errstate(over="ignore"):
        negative = objective.tiled_pass.negative_sums(weights).exp / objective.negative_counts
        if kind == "classification":
            exp = positives.reduce(np.add, np.exp(-push * scores))
            return float(np.mean(exp / (push * positives.counts) + negative))
        if kind == "bottom-push exponential":
            return float(np.mean(np.exp(-lowest) * negative))
        if kind == "p-norm push":
            # Relative to the lowest score, a large push cannot overflow.
            above = scores - np.repeat(lowest, positives.counts)
            sums = positives.reduce(np.add, np.exp(-push * above))
            return float(np.mean(np.exp(np.log(sums) / push - lowest) * negative))
    raise ValueError(
        "`kind` must be 'classification', 'p-norm push', 'bottom-push' or 'bottom-push "
        f"exponential'; got {kind!r}. Name one of these risks."
    )
