"""Means of rankers over playlists, with errors of their distance from the best."""

import numpy as np
import pandas as pd


def means_with_errors(values, metrics):
    """Return one row per setting and ranker.

    Parameters
    ----------
    values : DataFrame
        One row per setting, ranker and playlist, with the columns user and playlist, and one per
        metric.

    metrics : list of str
        Names of the metrics; the more, the better.

    Returns
    -------
    table : DataFrame
        For each metric its mean, and as `<metric>_error` the standard error of its difference from
        the best ranker of the setting, playlist by playlist. Playlists of a user are alike, so that
        sums over users are what varies.
    """
    rows = []
    for setting, part in values.groupby("setting", sort=False):
        means = part.groupby("ranker", sort=False)[metrics].mean()
        table = {name: one.set_index("playlist") for name, one in part.groupby("ranker")}
        for ranker in means.index:
            row = {"setting": setting, "ranker": ranker, "playlists": len(table[ranker])}
            for metric in metrics:
                best = table[means[metric].idxmax()]
                row[metric] = means.loc[ranker, metric]
                row[f"{metric}_error"] = _paired_error(table[ranker], best, metric)
            rows.append(row)
    return pd.DataFrame(rows)


def _paired_error(one, best, metric):
    difference = (one[metric] - best[metric].reindex(one.index)).dropna()
    centred = difference - difference.mean()
    by_user = centred.groupby(one.loc[centred.index, "user"]).sum()
    return float(np.sqrt((by_user**2).sum()) / max(1, len(difference)))
