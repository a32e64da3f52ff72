"""Paired differences of rankers on the same playlists, and who is best."""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from skmtc._evaluate import check_confidence, sums_by_user
from skmtc.metrics import metric_record


def paired_differences(table, metrics, *, reference=None, confidence=0.95):
    """Compare rankers with the best one, or with a reference, playlist by playlist.

    The mean difference of a metric is taken over the playlists that both rankers were tested on.
    As playlists of a user are alike, its standard error is that of clusters of users: with d_u the
    sum of a user's differences and n_u their number,

        mean = sum_u d_u / sum_u n_u,
        se^2 = U / (U - 1) * sum_u (d_u - mean * n_u)^2 / (sum_u n_u)^2.

    Parameters
    ----------
    table : DataFrame
        One row per ranker and playlist, with the columns ranker, cv, fold, user, playlist and one
        per metric.

    metrics : list of str
        Metrics to compare by.

    reference : str or None, default=None
        Ranker to compare with; None stands for the one with the highest mean, in each cv and
        metric.

    confidence : float, default=0.95
        Level of the intervals, and 1 - the level of the tests.

    Returns
    -------
    differences : DataFrame
        One row per cv, metric and ranker, in the order of falling means; see `compare`.
    """
    check_confidence(confidence)
    parts = [
        _compare_with(part, metric, reference, confidence).assign(cv=cv, metric=metric)
        for cv, part in table.groupby("cv", sort=False)
        for metric in metrics
    ]
    columns = ["cv", "metric", "ranker", "mean", "reference", "difference", "low", "high"]
    columns += ["p_value", "p_holm", "verdict", "n_users", "n_playlists"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def holm(p_values):
    """Return p-values corrected for their number by the method of Holm.

    The k-th smallest of m is multiplied by m - k + 1, and is at least the one before it. NaN is no
    test, and stays.
    """
    p_values = np.asarray(p_values, dtype=float)
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: np.count_nonzero(~np.isnan(p_values))]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return corrected


def _compare_with(part, metric, reference, confidence):
    """Compare all rankers by one metric in one cv."""
    wide = part.pivot(index=["fold", "playlist"], columns="ranker", values=metric)
    wide = wide[list(dict.fromkeys(part["ranker"]))].dropna()
    users = part.drop_duplicates(["fold", "playlist"]).set_index(["fold", "playlist"])["user"]
    owners, names = pd.factorize(users.loc[wide.index], sort=True)
    record = metric_record(metric.partition("@")[0])
    over_users = record.averaging == "users"
    sums, sizes = sums_by_user(wide, owners, len(names), over_users=over_users)
    means = pd.Series(sums.sum(axis=0) / max(1e-300, sizes[:, 0].sum()), wide.columns)
    other = reference if reference in wide.columns else None
    if reference is None and len(wide):
        other = means.idxmax()
    rows = pd.DataFrame({"ranker": wide.columns, "mean": means.to_numpy(), "reference": other})
    if len(wide) == 0:
        rows["mean"] = np.nan
    against = np.nan if other is None else sums[:, [wide.columns.get_loc(other)]]
    rows["difference"], errors = _clustered(sums - against, sizes)
    width = student.ppf((1 + confidence) / 2, max(1, len(names) - 1)) * errors
    rows["low"], rows["high"] = rows["difference"] - width, rows["difference"] + width
    rows["p_value"] = _p_values(rows["difference"].to_numpy(), errors, len(names) - 1)
    rows.loc[rows["ranker"] == other, "p_value"] = np.nan  # compared with itself
    rows["p_holm"] = holm(rows["p_value"])
    rows["n_users"], rows["n_playlists"] = len(names), len(wide)
    if record.averaging == "all queries":  # one value for all playlists: nothing to test with
        rows[["low", "high", "p_value", "p_holm"]] = np.nan
    words = _words(record, is_best=reference is None)
    rows["verdict"] = [_verdict(row, other, words, 1 - confidence) for row in rows.itertuples()]
    return rows.sort_values("mean", ascending=False, kind="stable")


def _clustered(differences, sizes):
    """Return mean differences and their standard errors, of sums by user."""
    n_users, total = len(sizes), sizes[:, 0].sum() if len(sizes) else 0.0
    if total == 0:
        nothing = np.full(differences.shape[1], np.nan)
        return nothing, nothing
    mean = differences.sum(axis=0) / total
    if n_users < 2:
        return mean, np.full(len(mean), np.nan)
    squares = ((differences - mean * sizes) ** 2).sum(axis=0)
    return mean, np.sqrt(n_users / (n_users - 1) * squares) / total


def _p_values(differences, errors, degrees):
    """Return two-sided p-values; without any variation, 1 for no difference and else 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = abs(differences) / errors
    found = 2 * student.sf(ratios, max(1, degrees))
    return np.where(errors > 0, found, np.where(errors == 0, differences == 0, np.nan))


def _words(record, *, is_best):
    has_best = record.direction == "higher"
    return {
        "other": "reference" if not is_best else "best" if has_best else "highest",
        "above": "better" if has_best else "higher",
        "below": "worse" if has_best else "lower",
        "tied": "" if record.averaging == "all queries" else "tied",
    }


def _verdict(row, other, words, level):
    if other is None or np.isnan(row.difference):
        return ""
    if row.ranker == other:
        return words["other"]
    if not row.p_holm < level:  # too few users for a test, too
        return words["tied"]
    return words["above"] if row.difference > 0 else words["below"]
