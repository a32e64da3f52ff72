"""Means of rankers over playlists, with bootstrap intervals, also of how far one is ahead."""

import pandas as pd

from skmtc._evaluate import summarize

KEYS = ["setting", "ranker"]


def with_intervals(values, metrics, *, reference, n_resamples=1000, seed=0):
    """Return one row per setting and ranker.

    Parameters
    ----------
    values : DataFrame
        One row per setting, ranker and playlist, with the columns user and playlist, and one per
        metric. All rankers of a setting have the same playlists.

    metrics : list of str
        Names of the metrics; the more, the better.

    reference : str
        Ranker whose lead over every other is wanted.

    Returns
    -------
    table : DataFrame
        For each metric its mean and, as `<metric>_low` and `<metric>_high`, its interval of 95 %;
        `<metric>_lead` with `_low` and `_high` tells how much more the reference has, playlist by
        playlist. Playlists of a user are alike, so that users are resampled, the same ones for
        all rankers.
    """
    options = {"confidence": 0.95, "n_resamples": n_resamples, "random_state": seed}
    values = values[[*KEYS, "user", "playlist", *metrics]]
    means = summarize(values, KEYS, **options)
    leads = summarize(_leads(values, metrics, reference), KEYS, **options)
    wide = _wide(means, "{metric}{end}").join(_wide(leads, "{metric}_lead{end}"))
    counts = means.drop_duplicates(KEYS).set_index(KEYS)[["n_users", "n_playlists"]]
    columns = [
        f"{metric}{lead}{end}"
        for metric in metrics
        for lead in ("", "_lead")
        for end in ("", "_low", "_high")
    ]
    return counts.join(wide[columns]).reset_index()


def _leads(values, metrics, reference):
    """Subtract each ranker's values from those of the reference on the same playlists."""
    parts = []
    for _, part in values.groupby("setting", sort=False):
        best = part[part["ranker"] == reference].set_index("playlist")[metrics]
        own = part.set_index("playlist")
        parts.append(own.assign(**(best.reindex(own.index) - own[metrics])).reset_index())
    return pd.concat(parts, ignore_index=True)


def _wide(summary, name):
    """Put the metrics of a summary side by side."""
    parts = []
    for metric, part in summary.groupby("metric", sort=False):
        names = {
            column: name.format(metric=metric, end=end)
            for column, end in (("mean", ""), ("low", "_low"), ("high", "_high"))
        }
        parts.append(part.set_index(KEYS)[[*names]].rename(columns=names))
    return pd.concat(parts, axis=1)
