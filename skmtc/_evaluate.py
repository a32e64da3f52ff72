"""Evaluate a fitted ranker, playlist by playlist."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from skmtc._typing import Seed, Table
from skmtc._utils.parallel import Broadcast, Workers
from skmtc._utils.validation import check_number
from skmtc.metrics import Collector, find_ranker, mean_weights, metric_record, parse_metrics

DEFAULT_METRICS = ("auc", "hit_rate@10", "hit_rate@100")
# Blocks that are sent out together: few, as their vectors are in memory at the same time.
BLOCKS_PER_WORKER = 8
ID_COLUMNS = ("user", "playlist", "size", "setting")


def evaluate(
    ranker: Any,
    X: Table,
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    *,
    by: str = "playlist",
    candidates: Any = "auto",
    exclude_seen: bool | str = True,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Evaluate a fitted ranker on a test table.

    Songs that a known playlist had in training are not counted against it.

    Parameters
    ----------
    ranker : estimator
        Fitted ranker, or Pipeline or search that ends in one.

    X : DataFrame or array of shape (n_rows, n_columns)
        Membership table: the songs that ought to rank high for each playlist.

    metrics : str or sequence of str, default=("auc", "hit_rate@10", "hit_rate@100")
        Names as for :func:`skmtc.metrics.make_playlist_scorer`. Metrics about all queries
        together ("coverage", "gini" and "spread_frequency") have no value for a single playlist,
        so they need by="summary", where each setting has its own.

    by : {"playlist", "user", "summary"}, default="playlist"
        What a row of the result is about.

    candidates : {"auto", "all"}, or as for `recommend`, default="auto"
        Which songs to rank. "auto": if all songs of `X` are new to the ranker, these; otherwise
        the songs of the training catalogue, together with new songs in `X`. "all": always the
        latter. Song ids, a table of songs, a table of queries and songs, or a boolean sparse
        matrix with a row per playlist (in the order of the result) as for `recommend`: these
        songs; songs of `X` that are not among them are not to be found.

    exclude_seen : bool, "playlist" or "user", default=True
        Which songs of training are no candidates: True or "playlist", those of the playlist that
        is asked for; "user", all songs of its user, which are not to be found either; False, none.

    confidence : float, default=0.95
        Level of the intervals of a summary.

    n_resamples : int, default=1000
        Number of bootstrap samples for the intervals of a summary.

    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    n_jobs : int or None, default=None
        Number of threads, in the sense of joblib, or of processes or cores of a cluster where
        joblib's configuration names such a backend. Each has scores of the size of
        scikit-learn's `working_memory` at most. It does not change the result.

    Returns
    -------
    table : DataFrame
        By playlist: columns user, playlist, size (number of songs to find), setting (what is new
        to the ranker: "cold user", "cold playlist", "cold songs", two of them joined by " + ", or
        "nothing cold") and one column per metric, NaN where it is not defined.

        By user: columns user, n_playlists, and the mean of each metric.

        Summary: one row per setting and metric, with the mean, the ends `low` and `high` of its
        bootstrap interval, the number of users, of playlists, and of playlists for which the
        metric is undefined and which are left out. As playlists of a user are alike, users are
        resampled, with all of their playlists. The mean is over playlists, that of novelty over
        users. Metrics about all queries together have no interval (NaN).

    See Also
    --------
    compare : Evaluate several rankers by cross-validation.

    Examples
    --------
    Of the new playlist's two songs, one is the most popular, and one of the two least popular:

    >>> import pandas as pd
    >>> from skmtc import PopularityRanker, evaluate
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s3"],
    ... })
    >>> ranker = PopularityRanker().fit(X)
    >>> new = pd.DataFrame({"user": "bob", "playlist": "sun", "song": ["s1", "s2"]})
    >>> evaluate(ranker, new, ["auc", "hit_rate@1"])
      user playlist  size        setting   auc  hit_rate@1
    0  bob      sun     2  cold playlist  0.75         0.5
    """
    check_by(by, ("playlist", "user", "summary"))
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    if by != "summary":
        check_per_playlist(metrics)
    table = by_playlist(
        ranker,
        X,
        metrics,
        candidates=candidates,
        exclude_seen=exclude_seen,
        n_jobs=n_jobs,
        by_setting=True,
    )
    if by == "playlist":
        return table
    if by == "user":
        return _by_user(table)
    return summarize(
        table,
        ["setting"],
        confidence=confidence,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def check_per_playlist(metrics):
    """Raise ValueError if a metric has no value for a single playlist."""
    for text in metrics:
        if metric_record(text.partition("@")[0]).averaging == "all queries":
            raise ValueError(
                f"Metrics must have a value for each playlist; got {text!r}, which is about all "
                "queries together. Pass by='summary', or use skmtc.metrics.make_playlist_scorer."
            )


def by_playlist(
    ranker, X, metrics, *, candidates="auto", exclude_seen=True, n_jobs=None, by_setting=False
):
    """Evaluate a fitted ranker; return one row per playlist of the table.

    A metric about all queries together has the same value in all rows, or with `by_setting` in
    all rows of a setting.
    """
    chosen = parse_metrics(metrics)
    ranker, seen = find_ranker(ranker, X)
    test_set = ranker.__skmtc_test_set__(seen, candidates=candidates, exclude_seen=exclude_seen)
    ids = {
        "user": test_set.users,
        "playlist": test_set.playlists,
        "size": np.diff(test_set.y_true.indptr),
        "setting": test_set.settings,
    }
    groups = pd.factorize(test_set.settings)[0] if by_setting else None
    return pd.DataFrame(ids | _values(test_set, chosen, groups, n_jobs))


def _values(test_set, metrics, groups, n_jobs):
    """Return the values of all playlists by metric."""
    collectors = [Collector(metric, test_set, groups) for metric in metrics]
    needed = test_set.without_ranker({name for metric in metrics for name in metric.record.reads})
    workers = Workers(n_jobs, Broadcast(_BlockMetrics, needed, metrics, groups))
    blocks = test_set.blocks()
    # One thread of BLAS, here and on workers: so scores have the same bits wherever they are made.
    with threadpool_limits(1, user_api="blas"):
        while some := list(islice(blocks, BLOCKS_PER_WORKER * len(workers))):
            computed = workers.map(_BlockMetrics.compute, [(block,) for block in some])
            for block, values in zip(some, computed, strict=True):
                for collector, own in zip(collectors, values, strict=True):
                    collector.add(block.positions, own)
    return {collector.metric.text: collector.values for collector in collectors}


class _BlockMetrics:
    """What a worker needs to compute the metrics of blocks of playlists."""

    def __init__(self, test_set, metrics, groups):
        self.test_set = test_set
        self.collectors = [Collector(metric, test_set, groups) for metric in metrics]

    def compute(self, block):
        """Return the values of a block by each metric."""
        with threadpool_limits(1, user_api="blas"):
            ranking = self.test_set.ranking(block)
        return [collector.compute(block.positions, ranking) for collector in self.collectors]


def summarize(table, groups, *, confidence, n_resamples, random_state):
    """Return the mean of each metric, with its bootstrap interval, in groups of playlists."""
    check_confidence(confidence)
    check_number("n_resamples", n_resamples, at_least=0, whole=True)
    # The same users are drawn for every group, so that intervals of rankers can be compared.
    seed = check_random_state(random_state).randint(2**31 - 1)
    metrics = [c for c in table.columns if c not in (*ID_COLUMNS, *groups, "fold")]
    rows = []
    for keys, part in table.groupby(groups, sort=False):
        owners, users = pd.factorize(part["user"], sort=True)
        sums, sizes = _sums_by_metric(part[metrics], owners, len(users))
        means = _bootstrap(sums, sizes, n_resamples, check_random_state(seed))
        for column, metric in enumerate(metrics):
            low, high = _interval(means[:, column], confidence)
            if averaging_of(metric) == "all queries":  # resampling means says nothing about it
                low = high = np.nan
            rows.append(
                dict(zip(groups, keys, strict=True))
                | {"metric": metric, "mean": _ratio(sums, sizes)[column], "low": low, "high": high}
                | {"n_users": len(users), "n_playlists": len(part)}
                | {"n_undefined": int(part[metric].isna().sum())}
            )
    return pd.DataFrame(rows)


def _sums_by_metric(values, owners, n_users):
    """Return, of each metric, the weighted sum over a user's playlists, and of the weights."""
    sums, sizes = np.zeros((2, n_users, values.shape[1]))
    for column, metric in enumerate(values.columns):
        found = sums_by_user(values[[metric]], owners, n_users, averaging_of(metric) == "users")
        sums[:, [column]], sizes[:, [column]] = found
    return sums, sizes


def sums_by_user(values, owners, n_users, over_users):
    """Return the weighted sums of columns over each user's playlists, and of the weights.

    Parameters
    ----------
    values : DataFrame of shape (n_playlists, n_columns)
        Values, NaN where they are not defined.

    owners : ndarray of shape (n_playlists,)
        Code of the user of each playlist.

    n_users : int
        Number of users.

    over_users : bool
        Whether means are over users, of means of their playlists, in place of over playlists.

    Returns
    -------
    sums, sizes : ndarray of shape (n_users, n_columns)
        A mean is the ratio of their sums over users.
    """
    sums, sizes = np.zeros((2, n_users, values.shape[1]))
    for column in range(values.shape[1]):
        own = values.iloc[:, column]
        weights = mean_weights(own.notna().to_numpy(), owners if over_users else None)
        weighted = weights * own.fillna(0.0).to_numpy()
        sums[:, column] = np.bincount(owners, weighted, minlength=n_users)
        sizes[:, column] = np.bincount(owners, weights, minlength=n_users)
    return sums, sizes


def _bootstrap(sums, sizes, n_resamples, rng):
    """Return the means of samples of users, drawn with replacement."""
    n_users = len(sums)
    means = np.empty((n_resamples, sums.shape[1]))
    for i in range(n_resamples):
        drawn = np.bincount(rng.randint(n_users, size=n_users), minlength=n_users)
        means[i] = _ratio(drawn[:, None] * sums, drawn[:, None] * sizes)
    return means


def _by_user(table):
    metrics = [c for c in table.columns if c not in ID_COLUMNS]
    users = table.groupby("user", sort=True)
    means = users[metrics].mean()
    means.insert(0, "n_playlists", users.size())
    return means.reset_index()


def _ratio(sums, sizes):
    total, size = sums.sum(axis=0), sizes.sum(axis=0)
    return np.divide(total, size, out=np.full(len(size), np.nan), where=size > 0)


def _interval(means, confidence):
    means = means[~np.isnan(means)]
    if len(means) == 0:
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    return np.quantile(means, [tail, 1 - tail])


def check_confidence(confidence):
    """Check the level of intervals."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"`confidence` must be above 0 and below 1; got {confidence!r}. Pass e.g. 0.95."
        )


def averaging_of(metric):
    """Return what the mean of a metric is over, given its name with or without "@"."""
    return metric_record(metric.partition("@")[0]).averaging


def check_by(by, choices):
    """Check what a row of a result is to be about."""
    if by not in choices:
        raise ValueError(f"`by` must be one of {list(choices)}; got {by!r}. Change `by`.")
