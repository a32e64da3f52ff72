"""Hit rate against the length of recommendations."""

from skmtc.inspection._curve_display import CurveDisplay, mean_curve
from skmtc.metrics import hit_rate_curves


class HitRateDisplay(CurveDisplay):
    """Curves of the hit rate against the number K of songs that are recommended.

    Hit rate is recall@K: the share of a playlist's songs that are among the K best. Make it with
    `from_estimator`, `from_estimators` or `from_evaluations`.

    Parameters
    ----------
    k : sequence of int
        Numbers of songs recommended.

    values : array of shape (n_curves, n_lengths)
        Mean hit rates.

    names : list of str or None, default=None
        Names of the curves.

    low, high : array of shape (n_curves, n_lengths) or None, default=None
        Ends of intervals, drawn as bands; NaN where there is none.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves are.

    figure_ : matplotlib Figure
        The figure of these axes.

    lines_ : list of matplotlib Line2D
        The curves.

    bands_ : list of matplotlib artists
        The intervals.

    See Also
    --------
    NoveltyDisplay : How little known the recommended songs are.
    skmtc.metrics.hit_rate_score : The metric.

    Examples
    --------
    The new playlist has the most popular song and one of the two least popular, which share the
    second place and the third:

    >>> import pandas as pd
    >>> from skmtc import PopularityRanker
    >>> from skmtc.inspection import HitRateDisplay
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s3"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> new = pd.DataFrame({"user": "bob", "playlist": "sun", "song": ["s1", "s2"]})
    >>> display = HitRateDisplay.from_estimator(ranker, new, k=[1, 2, 3])
    >>> display.values.tolist()
    [[0.5, 0.75, 1.0]]
    >>> display.ax_.get_ylabel()
    'hit rate (recall@K)'
    """

    metric = "hit_rate"
    ylabel = "hit rate (recall@K)"

    @classmethod
    def _means(cls, test_set, k):
        return mean_curve(test_set, k, hit_rate_curves, name=cls.metric)
