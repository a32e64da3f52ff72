"""All orders of equal scores, an oracle for metrics in which these share places."""

from itertools import permutations

import numpy as np


def mean_over_orders(scores, value):
    """Average a function of the songs, best first, over all orders of equal scores."""
    rankings = {
        tuple(sorted(order, key=lambda m: -scores[m])) for order in permutations(range(len(scores)))
    }
    return np.mean([value(list(ranking)) for ranking in sorted(rankings)])
