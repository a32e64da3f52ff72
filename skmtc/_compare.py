"""Evaluate several rankers by cross-validation."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv

from skmtc._evaluate import (
    DEFAULT_METRICS,
    ID_COLUMNS,
    by_playlist,
    check_by,
    check_per_playlist,
    summarize,
)
from skmtc._paired import paired_differences
from skmtc._table import is_table, to_frame
from skmtc._typing import Seed, Table
from skmtc._utils.progress import shows_a_bar, with_bar
from skmtc.metrics import find_ranker, parse_metrics, warn_undefined


def compare(
    rankers: Mapping[str, Any],
    X: Table,
    cv: Any,
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    *,
    by: str = "table",
    candidates: Any = "auto",
    exclude_seen: bool | str = True,
    reference: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    n_jobs: int | None = None,
    random_state: Seed = None,
    error_score: str | float = "raise",
    verbose: int = 0,
) -> pd.DataFrame:
    """Fit rankers on the training sets of splits, and evaluate them on the test sets.

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
        As for :func:`evaluate`. Metrics about all queries together ("coverage", "gini" and
        "spread_frequency") have one value per fit, of which the mean is taken.

    by : {"table", "summary", "difference", "fold", "playlist"}, default="table"
        Form of the result.

    candidates : {"auto", "all"}, default="auto"
        Which songs to rank; as for :func:`evaluate`.

    exclude_seen : bool, "playlist" or "user", default=True
        Which songs of training are no candidates; as for :func:`evaluate`.

    reference : str or None, default=None
        For differences: name of the ranker to compare with; None stands for the one with the
        highest mean, in each cv and metric.

    confidence : float, default=0.95
        Level of the intervals of a summary or of differences.

    n_resamples : int, default=1000
        Number of bootstrap samples for the intervals of a summary.

    n_jobs : int or None, default=None
        Number of fits at a time, in the sense of joblib. It does not change the result.

    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    error_score : "raise" or float, default="raise"
        What to do when a ranker cannot be fitted or evaluated. "raise": stop with the error. A
        number, such as `np.nan`: go on with the others, and give this value to every metric of
        the ranker in that cv, with a warning that says why.

    verbose : int, default=0
        1 prints a line for each fit, when it is done.

    Returns
    -------
    table : DataFrame
        Table, in the form of the paper's: one row per ranker, and columns (cv, metric) of means
        over the test playlists of all splits, that of novelty over users.

        Summary: one row per ranker, cv and metric, with the columns of :func:`evaluate`'s
        summary.

        Difference: one row per cv, metric and ranker, in the order of falling means: the mean
        over the playlists for which the metric of all rankers is defined; the reference; the
        paired difference to it with the ends `low` and `high` of its interval, in which playlists
        of a user count as one cluster; `p_value` of no difference, by Student's t with one degree
        of freedom less than users, and `p_holm`, corrected by Holm's method for the number of
        rankers; and a verdict at the level 1 - `confidence`: "best" (or "reference"), "tied" with
        it, "better" or "worse". Of metrics that have no best, such as novelty and spread:
        "highest", "higher" and "lower"; of metrics about all queries together, which no test
        applies to, only "highest".

        By fold: one row per fit, with the columns ranker, cv, fold, n_users, n_playlists, one
        per metric, fit_time and score_time in seconds, and error, the message of a ranker that
        failed, otherwise empty.

        By playlist: the columns ranker, cv and fold, and those of :func:`evaluate`. Fits that
        failed have no rows.

    See Also
    --------
    evaluate : Evaluate a fitted ranker.

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
    check_by(by, ("table", "summary", "difference", "fold", "playlist"))
    _check_error_score(error_score)
    _check_reference(reference, rankers)
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    parse_metrics(metrics)  # raises for a misspelt metric, before any fit
    if by == "playlist":
        check_per_playlist(metrics)
    splitters = _named_splitters(cv)
    X = X if hasattr(X, "iloc") or not is_table(X) else to_frame(X)
    evaluation = Evaluation(metrics, candidates, exclude_seen, error_score)
    fits = fit_all(rankers, X, splitters, evaluation, n_jobs=n_jobs, verbose=verbose)
    _warn_failed(fits)
    if by == "fold":
        return fits_by_fold(fits, metrics, error_score)
    if by == "playlist":
        return fits_by_playlist(fits, metrics)
    if by == "difference":
        table = fits_by_playlist(fits, metrics)
        return paired_differences(table, metrics, reference=reference, confidence=confidence)
    summary = _summary(
        fits,
        metrics,
        error_score,
        confidence=confidence,
        n_resamples=n_resamples if by == "summary" else 0,
        random_state=random_state,
    )
    if by == "summary":
        return summary
    _warn_undefined(summary)
    return _wide(summary, list(rankers), list(splitters), metrics)


@dataclass(frozen=True)
class Evaluation:
    """How each fitted ranker is evaluated.

    Attributes
    ----------
    metrics : list of str
        Names of metrics.

    candidates, exclude_seen, error_score
        As in :func:`compare`.

    inspect : callable or None
        Called with the fitted ranker and the rows of training and test; `Fit.inspected` is its
        result.
    """

    metrics: list[str]
    candidates: Any = "auto"
    exclude_seen: bool | str = True
    error_score: str | float = "raise"
    inspect: Callable[..., Any] | None = None


def fit_all(rankers, X, splitters, evaluation, *, n_jobs=None, verbose=0):
    """Fit and evaluate all rankers on all splits.

    Parameters
    ----------
    rankers, X, n_jobs, verbose
        As in :func:`compare`.

    splitters : dict of str to splitter
        Splitters by name.

    evaluation : Evaluation
        How to evaluate.

    Returns
    -------
    fits : list of Fit
        In the order of splitters, splits and rankers.
    """
    tasks = [
        (name, ranker, where, fold, train, test)
        for where, splitter in splitters.items()
        for fold, (train, test) in enumerate(check_cv(splitter).split(X))
        for name, ranker in _check_rankers(rankers).items()
    ]
    # A generator shows progress; on clusters, older versions of joblib return results at the end.
    done = Parallel(n_jobs=n_jobs, return_as="generator" if verbose or shows_a_bar() else "list")(
        delayed(_fit_and_evaluate)(ranker, X, train, test, evaluation)
        for _, ranker, _, _, train, test in tasks
    )
    done = with_bar(done, "Comparing rankers", len(tasks))
    fits = []
    for number, (task, fit) in enumerate(zip(tasks, done, strict=True), start=1):
        fit.ranker, _, fit.cv, fit.fold, _, _ = task
        if verbose:
            print(f"{number}/{len(tasks)} {fit.describe()}", flush=True)
        fits.append(fit)
    return fits


@dataclass
class Fit:
    """One ranker, fitted and evaluated on one split.

    Attributes
    ----------
    table : DataFrame or None
        One row per test playlist; None if the ranker failed.

    fit_time, score_time : float
        Seconds; NaN for a step that was not reached.

    error : str
        Why the ranker failed; empty if it did not.

    ranker, cv : str
        Names.

    fold : int
        Number of the split.

    inspected : object
        Result of `Evaluation.inspect`; None if the ranker failed or there is no such function.
    """

    table: pd.DataFrame | None
    fit_time: float
    score_time: float
    error: str = ""
    ranker: str = ""
    cv: str = ""
    fold: int = 0
    inspected: Any = None

    @property
    def ids(self):
        """Names of the ranker and the splitter and number of the split, as columns."""
        return {"ranker": self.ranker, "cv": self.cv, "fold": self.fold}

    def describe(self):
        """Return one line with the times and the mean metrics, or with the error."""
        what = f"{self.ranker}, {self.cv}, fold {self.fold}"
        if self.error:
            return f"{what}: failed: {self.error}"
        means = self.table.drop(columns=["user", "playlist", "size", "setting"]).mean()
        metrics = ", ".join(f"{metric} {mean:.4f}" for metric, mean in means.items())
        times = f"fitted in {self.fit_time:.1f} s, evaluated in {self.score_time:.1f} s"
        return f"{what}: {times}: {metrics}"


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


def _check_reference(reference, rankers):
    if reference is not None and reference not in _check_rankers(rankers):
        raise ValueError(
            f"`reference` must be one of the rankers {list(rankers)}; got {reference!r}. Name one "
            "of them, or pass None for the best."
        )


def _check_error_score(error_score):
    is_number = isinstance(error_score, Real) and not isinstance(error_score, bool)
    if not is_number and error_score != "raise":
        raise ValueError(
            f"`error_score` must be 'raise' or a number; got {error_score!r}. Pass e.g. np.nan."
        )


def _fit_and_evaluate(ranker, X, train, test, evaluation):
    start = middle = perf_counter()
    fit_time = np.nan
    try:
        fitted = clone(ranker).fit(_take(X, train))
        _finish_fit(fitted, _take(X, test))
        middle = perf_counter()
        fit_time = middle - start
        table = by_playlist(
            fitted,
            _take(X, test),
            evaluation.metrics,
            candidates=evaluation.candidates,
            exclude_seen=evaluation.exclude_seen,
        )
        score_time = perf_counter() - middle
        inspect = evaluation.inspect
        inspected = None if inspect is None else inspect(fitted, train, test)
    except Exception as error:
        if evaluation.error_score == "raise":
            raise
        return Fit(None, fit_time, np.nan, f"{type(error).__name__}: {error}")
    return Fit(table, fit_time, score_time, inspected=inspected)


def _finish_fit(fitted, test):
    """Run the steps that a ranker delays until they are needed, so that times are comparable."""
    ranker, seen = find_ranker(fitted, test)
    finish = getattr(ranker, "_finish_fit", None)
    if finish is not None:
        finish(seen)


def _take(X, rows):
    """Return some rows of a table or array."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _warn_failed(fits):
    """Report why rankers failed, once for each ranker and cv."""
    for (ranker, cv), error in _failed(fits).items():
        warnings.warn(
            f"{ranker}, {cv}, failed and gets `error_score`: {error}",
            FitFailedWarning,
            stacklevel=3,
        )


def _failed(fits):
    """Return the first error of each ranker and cv that has one."""
    failed = {}
    for fit in fits:
        if fit.error:
            failed.setdefault((fit.ranker, fit.cv), fit.error)
    return failed


def fits_by_playlist(fits, metrics):
    """Return one row per playlist and fit that did not fail."""
    ids = ["ranker", "cv", "fold"]
    parts = [fit.table.assign(**fit.ids) for fit in fits if fit.table is not None]
    if not parts:
        return pd.DataFrame(columns=[*ids, *ID_COLUMNS, *metrics])
    table = pd.concat(parts, ignore_index=True)
    return table[ids + [c for c in table.columns if c not in ids]]


def fits_by_fold(fits, metrics, error_score):
    """Return one row per fit."""
    rows = []
    for fit in fits:
        values = {"n_users": 0, "n_playlists": 0} | dict.fromkeys(metrics, error_score)
        if fit.table is not None:
            summary = _means(fit.table.assign(cv=fit.cv), ["cv"])
            values = summary.iloc[0][["n_users", "n_playlists"]].to_dict()
            values |= dict(zip(summary["metric"], summary["mean"], strict=True))
        times = {"fit_time": fit.fit_time, "score_time": fit.score_time}
        rows.append(fit.ids | values | times | {"error": fit.error})
    return pd.DataFrame(rows)


def _means(table, groups):
    return summarize(table, groups, confidence=0.95, n_resamples=0, random_state=0)


def _summary(fits, metrics, error_score, **options):
    """Summarise every ranker and cv; where a fit failed, each value is `error_score`."""
    failed = _failed(fits)
    whole = [fit for fit in fits if (fit.ranker, fit.cv) not in failed]
    values = {"mean": error_score, "low": error_score, "high": error_score}
    values |= {"n_users": 0, "n_playlists": 0, "n_undefined": 0}
    parts = [
        pd.DataFrame(
            [{"ranker": ranker, "cv": cv, "metric": metric} | values for metric in metrics]
        )
        for ranker, cv in failed
    ]
    if whole:
        parts.insert(0, summarize(fits_by_playlist(whole, metrics), ["ranker", "cv"], **options))
    return pd.concat(parts, ignore_index=True)


def _warn_undefined(summary):
    """Warn of undefined values that the means of a table leave out; other tables show them."""
    for row in summary[summary["n_undefined"] > 0].itertuples():
        name = f"{row.metric} of {row.ranker}, {row.cv},"
        warn_undefined(name, row.n_undefined, row.n_playlists)


def _wide(summary, names, settings, metrics):
    wide = summary.pivot(index="ranker", columns=["cv", "metric"], values="mean")
    columns = pd.MultiIndex.from_product([settings, metrics], names=["cv", "metric"])
    return wide.reindex(index=pd.Index(names, name="ranker"), columns=columns)
