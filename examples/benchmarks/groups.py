"""Results by group: playlists per user, length of playlists, popularity of songs."""

import numpy as np
import pandas as pd
from intervals import with_intervals

# Lowest values of each group; the last group has no end.
USER_PLAYLISTS = (1, 2, 5)
PLAYLIST_SONGS = (1, 10, 20)
SONG_PLAYLISTS = (1, 6, 21)
# There are many groups, and ends of intervals from 200 samples are exact to a tenth of their width.
N_RESAMPLES = 200


def by_song_popularity(train, test):
    """Return the rows of test songs by the number of training playlists that hold the song.

    To evaluate a ranker on some of the songs of a playlist, all songs are candidates still. So hit
    rates tell how many of these songs are found; in the AUC, the other songs of the playlist are
    among those that they are compared with, which are few beside the catalogue.
    """
    counts = test["song"].map(train.groupby("song")["playlist"].nunique()).fillna(0)
    names = labels(counts, SONG_PLAYLISTS, "playlists per song: {}")
    return {name: rows for name, rows in test.groupby(names, sort=False) if len(rows)}


def summarize_groups(values, metrics, references, chosen):
    """Return one row per setting, group, reference and ranker: means, leads and intervals.

    Parameters
    ----------
    values : DataFrame
        One row per setting, ranker, split, group of songs and playlist.

    metrics : list of str
        Names of the metrics.

    references : sequence of str
        Rankers whose leads over each other one are reported.

    chosen : sequence of str
        Rankers to report.
    """
    values = by_split(values[values["ranker"].isin(chosen)])
    whole = values[values["group"] == ""]
    users = labels(whole["user_playlists"], USER_PLAYLISTS, "playlists per user: {}")
    sizes = labels(whole["size"], PLAYLIST_SONGS, "songs per playlist: {}")
    parts = [whole.assign(group=users), whole.assign(group=sizes), values[values["group"] != ""]]
    tables = []
    for (setting, group), part in pd.concat(parts).groupby(["setting", "group"], sort=False):
        table = with_references(part, metrics, references, n_resamples=N_RESAMPLES)
        tables.append(table.assign(setting=setting, group=group))
    table = pd.concat(tables, ignore_index=True)
    first = ["setting", "group", "ranker"]
    return table[first + [name for name in table if name not in first]]


def with_references(values, metrics, references, *, n_resamples=1000):
    """Return means, leads and intervals for each reference that there is; see `with_intervals`."""
    there = [name for name in references if name in set(values["ranker"])]
    if not there:
        raise ValueError(f"One of {list(references)} must be among the rankers. Run one of them.")
    tables = [
        with_intervals(values, metrics, reference=name, n_resamples=n_resamples).assign(
            reference=name
        )
        for name in there
    ]
    return pd.concat(tables, ignore_index=True).round(5)


def labels(numbers, starts, name):
    """Return the name of the group of each number: "0", "1", "2 to 4", "5 or more".

    >>> labels(pd.Series([0, 1, 3, 9]), (1, 2, 5), "songs: {}").tolist()
    ['songs: 0', 'songs: 1', 'songs: 2 to 4', 'songs: 5 or more']
    """
    starts = np.array([0, *starts])
    ends = [*(starts[1:] - 1), None]
    names = [
        f"{start} or more" if end is None else str(start) if start == end else f"{start} to {end}"
        for start, end in zip(starts, ends, strict=True)
    ]
    places = np.searchsorted(starts, numbers, side="right") - 1
    return pd.Series([name.format(names[i]) for i in places], index=numbers.index)


def by_split(values):
    """Name playlists by split, too: one may be held out in several."""
    playlists = values["split"].astype(str) + ":" + values["playlist"].astype(str)
    return values.assign(playlist=playlists)
