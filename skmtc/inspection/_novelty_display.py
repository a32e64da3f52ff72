"""Novelty against the length of recommendations."""

from functools import partial

from skmtc.inspection._curve_display import CurveDisplay, mean_curve
from skmtc.metrics import novelty_curves


class NoveltyDisplay(CurveDisplay):
    """Curves of the novelty against the number K of songs that are recommended.

    Novelty is the mean of -log2 of the popularity of the K best songs, over the test playlists of
    a user, and then over users; moderate values are preferable. Make it with `from_estimator`,
    `from_estimators` or `from_evaluations`.

    Parameters
    ----------
    k : sequence of int
        Numbers of songs recommended.

    values : array of shape (n_curves, n_lengths)
        Mean novelties, in bits.

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
    HitRateDisplay : How many of a playlist's songs are found.
    skmtc.metrics.novelty_score : The metric.

    Examples
    --------
    The best song is in both of two training playlists, which is no news: 0 bits. The next two are
    in one of two: 1 bit each.

    >>> import pandas as pd
    >>> from skmtc import PopularityRanker
    >>> from skmtc.inspection import NoveltyDisplay
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s3"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> new = pd.DataFrame({"user": "bob", "playlist": "sun", "song": ["s1", "s2"]})
    >>> display = NoveltyDisplay.from_estimator(ranker, new, k=[1, 2])
    >>> display.values.tolist()
    [[0.0, 0.5]]
    """

    metric = "novelty"
    ylabel = "novelty (bits)"

    @classmethod
    def _means(cls, test_set, k):
        curves = partial(novelty_curves, popularity=test_set.popularity)
        return mean_curve(test_set, k, curves, name=cls.metric, users=test_set.users)
