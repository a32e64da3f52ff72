"""Scorers for scikit-learn's `scoring=`."""

from typing import Any, Literal

from skmtc._utils.validation import check_choice
from skmtc.metrics._registry import ChosenMetric, compute_metrics, parse_metric, parse_metrics

Candidates = Literal["auto", "all"]
ExcludeSeen = bool | Literal["playlist", "user"]


def make_playlist_scorer(
    metric: str,
    *,
    k: int | None = None,
    method: Literal["softmax", "frequency"] | None = None,
    candidates: Candidates = "auto",
    exclude_seen: ExcludeSeen = True,
) -> "PlaylistScorer":
    """Make a scorer for `scoring=` of `GridSearchCV`, `cross_val_score` and others.

    A scorer evaluates a ranker, a pipeline that ends in one, or a search over either, by its mean
    over the playlists of the test table. Songs that a known playlist had in training are not
    counted against it. Playlists with equal weights, such as those of all unknown users, are
    scored once, in blocks that fit scikit-learn's `working_memory`.

    Parameters
    ----------
    metric : str
        One of "auc", "hit_rate", "r_precision", "ndcg", "novelty", "spread", "spread_frequency",
        "coverage", "gini", "tail_share", "intra_list_distance" and "neg_bottom_push_loss";
        "hit_rate@100" is short for `k=100`. "recall" is another name of "hit_rate".
        "spread_frequency", "coverage" and "gini" are about the recommendations of all queries
        together. "intra_list_distance" compares songs by the training playlists that hold them.

    k : int, default=None
        How many of the best songs count, for "ndcg" (None: all) and for "hit_rate", "novelty",
        "spread_frequency", "coverage", "gini", "tail_share" and "intra_list_distance" (None: 10).

    method : {"softmax", "frequency"}, default=None
        For "spread": see :func:`spread_score`. None means "softmax".

    candidates : {"auto", "all"}, default="auto"
        Which songs to rank. "auto": if all songs of the test table are new to the ranker, these;
        otherwise the songs of the training catalogue, together with new songs in the table.
        "all": always the latter.

    exclude_seen : bool, "playlist" or "user", default=True
        Which songs of training are no candidates: True or "playlist", those of the playlist that
        is asked for; "user", all songs of its user, which are not to be found either; False, none.

    Returns
    -------
    scorer : callable
        `scorer(estimator, X)` returns a float; the higher, the better (for metrics of
        novelty and variety, from "novelty" to "intra_list_distance", moderate values are
        preferable, so search by another metric).

    See Also
    --------
    playlist_scoring : Several metrics, with scores computed once.

    Examples
    --------
    Both songs of the new playlist rank above both others, as the other playlists hold them twice:

    >>> import pandas as pd
    >>> from skmtc import PopularityRanker
    >>> from skmtc.metrics import make_playlist_scorer
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "gym", "run", "run", "run"],
    ...     "song": ["s1", "s2", "s3", "s1", "s2", "s4"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> new = pd.DataFrame({"user": "eve", "playlist": "sun", "song": ["s1", "s2"]})
    >>> make_playlist_scorer("auc")(ranker, new)
    1.0
    >>> make_playlist_scorer("hit_rate", k=1)(ranker, new)
    0.5
    """
    if method is not None and metric.partition("@")[0] != "spread":
        raise ValueError(
            f"`method` must be given to 'spread' only; got {method!r} for {metric!r}. Leave it out."
        )
    if method not in (None, "softmax", "frequency"):
        raise ValueError(
            f"`method` must be 'softmax' or 'frequency'; got {method!r}. Change `method`."
        )
    if method == "frequency":
        metric = metric.replace("spread", "spread_frequency", 1)
    return PlaylistScorer(
        [parse_metric(metric, k)], candidates=candidates, exclude_seen=exclude_seen, single=True
    )


def playlist_scoring(
    *metrics: str, candidates: Candidates = "auto", exclude_seen: ExcludeSeen = True
) -> "PlaylistScorer":
    """Make one callable for multi-metric `scoring=`, which scores once and reports all.

    Parameters
    ----------
    *metrics : str
        Names as for :func:`make_playlist_scorer`, such as "auc" and "hit_rate@100".

    candidates : {"auto", "all"}, default="auto"
        As for :func:`make_playlist_scorer`.

    exclude_seen : bool, "playlist" or "user", default=True
        As for :func:`make_playlist_scorer`.

    Returns
    -------
    scorer : callable
        `scorer(estimator, X)` returns a dict with one float per name. With `GridSearchCV`, name the
        metric to choose by, e.g. `refit="auc"`.

    See Also
    --------
    make_playlist_scorer : One metric.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc import PopularityRanker
    >>> from skmtc.metrics import playlist_scoring
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "gym", "run", "run", "run"],
    ...     "song": ["s1", "s2", "s3", "s1", "s2", "s4"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> new = pd.DataFrame({"user": "eve", "playlist": "sun", "song": ["s1", "s2"]})
    >>> playlist_scoring("auc", "hit_rate@1")(ranker, new)
    {'auc': 1.0, 'hit_rate@1': 0.5}
    """
    return PlaylistScorer(
        parse_metrics(metrics), candidates=candidates, exclude_seen=exclude_seen, single=False
    )


class PlaylistScorer:
    """Evaluate a ranker by metrics, in the manner of scikit-learn's scorers.

    Parameters
    ----------
    metrics : list of ChosenMetric
        What to report.

    candidates : {"auto", "all"}
        Which songs to rank.

    exclude_seen : bool, "playlist" or "user"
        Which songs of training are no candidates.

    single : bool
        Whether to return the value of the only metric instead of a dict of values by name.
    """

    def __init__(
        self,
        metrics: list[ChosenMetric],
        *,
        candidates: Candidates,
        exclude_seen: ExcludeSeen = True,
        single: bool,
    ) -> None:
        check_choice("candidates", candidates, ("auto", "all"))
        self.metrics = metrics
        self.exclude_seen = exclude_seen
        self.candidates = candidates
        self.single = single

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float | dict[str, float]:
        """Score a fitted estimator on a test table; `y` is ignored."""
        ranker, table = find_ranker(estimator, X)
        test_set = ranker.__skmtc_test_set__(
            table, candidates=self.candidates, exclude_seen=self.exclude_seen
        )
        found = compute_metrics(test_set, self.metrics)
        scores = {collector.metric.text: collector.mean() for collector in found}
        return scores[self.metrics[0].text] if self.single else scores

    def __repr__(self) -> str:
        labels = ", ".join(repr(metric.text) for metric in self.metrics)
        maker = "make_playlist_scorer" if self.single else "playlist_scoring"
        k = self.metrics[0].k if self.single and "@" not in labels else None
        options = "" if k is None else f", k={k}"
        if self.candidates != "auto":
            options += f", candidates={self.candidates!r}"
        if self.exclude_seen is not True:
            options += f", exclude_seen={self.exclude_seen!r}"
        return f"{maker}({labels}{options})"


def find_ranker(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Find the ranker in a pipeline or search, and the table as that ranker sees it."""
    if hasattr(estimator, "__skmtc_test_set__"):
        return estimator, X
    if hasattr(estimator, "best_estimator_"):
        return find_ranker(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        before, last = estimator[:-1], estimator[-1]
        return find_ranker(last, before.transform(X) if len(before) else X)
    raise TypeError(
        "The estimator must be a ranker, a Pipeline that ends in one, or a fitted search with "
        f"`refit`; got {type(estimator).__name__}. Fit it, or use a scorer made for it."
    )
