"""Judge several rankers by cross-validation."""

from time import perf_counter

import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skmtc._evaluate import DEFAULT_METRICS, by_playlist, check_by, summarize
from skmtc._progress import with_bar
from skmtc.metrics._average import warn_undefined
from skmtc.metrics._scorer import parse_metrics


def compare(
    rankers,
    X,
    cv,
    metrics=DEFAULT_METRICS,
    *,
    by="table",
    candidates="auto",
    confidence=0.95,
    n_resamples=1000,
    n_jobs=None,
    random_state=None,
    verbose=0,
):
    """Fit rankers on the training sets of splits, and judge them on the test sets.

    All rankers get the same splits. On a terminal, with rich installed (the extra `progress`), a
    bar shows how many fits are done.

    Parameters
    ----------
    rankers : dict of str to estimator
        Rankers, or Pipelines or searches that end in one, by name. They are cloned.

    X : DataFrame or array of shape (n_rows, n_columns)
        Membership table.

    cv : splitter, iterable of pairs of train and test rows, or dict of these by name
        Who is cold; see :mod:`skmtc.model_selection`.

    metrics : str or sequence of str, default=("auc", "hit_rate@10", "hit_rate@100")
        As for :func:`evaluate`.

    by : {"table", "summary", "playlist"}, default="table"
        Form of the result.

    candidates : {"auto", "all"}, default="auto"
        Which songs to rank; as for :func:`evaluate`.

    confidence : float, default=0.95
        Level of the intervals of a summary.

    n_resamples : int, default=1000
        Number of bootstrap samples for the intervals of a summary.

    n_jobs : int or None, default=None
        Number of fits at a time, in the sense of joblib. It does not change the result.

    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    verbose : int, default=0
        1 prints a line for each fit, when it is done.

    Returns
    -------
    table : DataFrame
        Table, in the form of the paper's: one row per ranker, and columns (cv, metric) of means
        over the test playlists of all splits, that of novelty over users.

        Summary: one row per ranker, cv and metric, with the columns of :func:`evaluate`'s
        summary.

        By playlist: the columns ranker, cv and fold, and those of :func:`evaluate`.

    See Also
    --------
    evaluate : Judge a fitted ranker.

    Examples
    --------
    Whoever is cold, the two songs that all users have are the most popular. Each user's third song
    is then unknown, so it is not tested:

    >>> import pandas as pd
    >>> from skmtc import PopularityRanker, compare
    >>> from skmtc.model_selection import ColdUserKFold
    >>> X = pd.DataFrame({
    ...     "user": ["ana"] * 3 + ["bob"] * 3 + ["cat"] * 3,
    ...     "playlist": ["gym"] * 3 + ["run"] * 3 + ["sun"] * 3,
    ...     "song": ["s1", "s2", "s3", "s1", "s2", "s4", "s1", "s2", "s5"],
    ... })
    >>> table = compare({"popularity": PopularityRanker()}, X, ColdUserKFold(3), "auc")
    >>> table[("cold users", "auc")].to_dict()
    {'popularity': 1.0}
    """
    check_by(by, ("table", "summary", "playlist"))
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    parse_metrics(metrics)  # a misspelt metric is told before any fit
    tasks = [
        (name, ranker, where, fold, train, test)
        for where, splitter in _named_splitters(cv).items()
        for fold, (train, test) in enumerate(check_cv(splitter).split(X))
        for name, ranker in _check_rankers(rankers).items()
    ]
    done = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_judge)(ranker, X, train, test, metrics, candidates)
        for _, ranker, _, _, train, test in tasks
    )
    done = with_bar(done, "Comparing rankers", len(tasks))
    parts = []
    for number, (task, (part, seconds)) in enumerate(zip(tasks, done, strict=True), start=1):
        name, _, where, fold, _, _ = task
        if verbose:
            _print_progress(f"{number}/{len(tasks)} {name}, {where}, fold {fold}", part, seconds)
        parts.append(part.assign(ranker=name, cv=where, fold=fold))
    table = pd.concat(parts, ignore_index=True)
    if by == "playlist":
        ids = ["ranker", "cv", "fold"]
        return table[ids + [c for c in table.columns if c not in ids]]
    summary = summarize(
        table,
        ["ranker", "cv"],
        confidence=confidence,
        n_resamples=n_resamples if by == "summary" else 0,
        random_state=random_state,
    )
    if by == "summary":
        return summary
    _warn_undefined(summary)
    return _wide(summary, list(rankers))


def _named_splitters(cv):
    if isinstance(cv, list | tuple) and cv and all(hasattr(c, "split") for c in cv):
        raise TypeError(
            f"`cv` must be a splitter or a dict of splitters by name; got a list of {len(cv)}. "
            "Pass e.g. {'cold users': ColdUserSplit()}."
        )
    if isinstance(cv, dict):
        if not cv:
            raise ValueError("`cv` must have at least one splitter; got {}. Add one.")
        return cv
    return {getattr(cv, "setting", type(cv).__name__): cv}


def _check_rankers(rankers):
    if not isinstance(rankers, dict) or not rankers:
        raise TypeError(
            f"`rankers` must be a dict of estimators by name; got {rankers!r}. Pass e.g. "
            "{'popularity': PopularityRanker()}."
        )
    return rankers


def _fit_and_judge(ranker, X, train, test, metrics, candidates):
    start = perf_counter()
    fitted = clone(ranker).fit(_take(X, train))
    middle = perf_counter()
    table = by_playlist(fitted, _take(X, test), metrics, candidates=candidates)
    return table, (middle - start, perf_counter() - middle)


def _take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _print_progress(what, part, seconds):
    means = part.drop(columns=["user", "playlist", "size", "setting"]).mean()
    told = ", ".join(f"{metric} {mean:.4f}" for metric, mean in means.items())
    print(f"{what}: fitted in {seconds[0]:.1f} s, judged in {seconds[1]:.1f} s: {told}", flush=True)


def _warn_undefined(summary):
    """Tell what the means of a table leave out; a summary and the playlists show it themselves."""
    for row in summary[summary["n_undefined"] > 0].itertuples():
        name = f"{row.metric} of {row.ranker}, {row.cv},"
        warn_undefined(name, row.n_undefined, row.n_playlists)


def _wide(summary, names):
    wide = summary.pivot(index="ranker", columns=["cv", "metric"], values="mean")
    columns = pd.MultiIndex.from_frame(summary[["cv", "metric"]].drop_duplicates())
    return wide.reindex(index=pd.Index(names, name="ranker"), columns=columns)
