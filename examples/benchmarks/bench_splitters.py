"""Time the splitters on a table of about a million rows.

Run ``python bench_splitters.py [aotm2011.csv.gz]`` with a table of the columns user_id,
playlist_id and song_id, or ``python bench_splitters.py --tiny`` for a check in seconds. Without a
table, playlists of the same size are drawn. Ids are timed as numbers and as strings. The
figures are printed, and written with ``--csv FILE``.
"""

import argparse
import time

import numpy as np
import pandas as pd
from machine import write_table
from playlists import sample_table

from skmtc.model_selection import (
    ColdPlaylistKFold,
    ColdPlaylistSplit,
    ColdSongKFold,
    ColdSongSplit,
    ColdUserKFold,
    ColdUserSplit,
)

SPLITTERS = [
    ColdPlaylistSplit(random_state=0),
    ColdUserSplit(random_state=0),
    ColdSongSplit(random_state=0),
    ColdPlaylistKFold(shuffle=True, random_state=0),
    ColdUserKFold(shuffle=True, random_state=0),
    ColdSongKFold(shuffle=True, random_state=0),
]


def main():
    """Print and write the times, and print the counts of the first split of each splitter."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="CSV file with user_id, playlist_id, song_id")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    if options.path is None:
        X = sample_table(*((100, 500, 300) if options.tiny else (14_000, 82_000, 64_000)))
    else:
        X = pd.read_csv(options.path, usecols=["user_id", "playlist_id", "song_id"])
        X.columns = [name.removesuffix("_id") for name in X.columns]
    # No real releases: years are drawn, one per song, some of them unknown.
    years = np.random.default_rng(0).choice([np.nan, *range(1960, 2012)], X["song"].max() + 1)
    X = X.assign(year=years[X["song"]])
    print({name: X[name].nunique() for name in ("user", "playlist", "song")}, len(X), "rows")
    as_strings = X.astype({"user": str, "playlist": str, "song": str})
    rows = []
    for cv in SPLITTERS:
        text_seconds, _ = time_splits(cv, as_strings)
        seconds, counts = time_splits(cv, X)
        rows.append(
            {
                "splitter": type(cv).__name__,
                "splits": cv.get_n_splits(),
                "rows": len(X),
                "seconds": round(seconds, 3),
                "seconds_ids_as_strings": round(text_seconds, 3),
            }
        )
        print(f"{rows[-1]}\n  {counts}", flush=True)
    if options.csv:
        write_table(pd.DataFrame(rows), options.csv, "pandas")


def time_splits(cv, X):
    """Return the time of all splits, and the counts of the first."""
    start = time.perf_counter()
    for _ in cv.split(X):
        pass
    seconds = time.perf_counter() - start
    return seconds, cv.describe().iloc[0].to_dict()


if __name__ == "__main__":
    main()
