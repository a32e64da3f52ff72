"""Time `RidgeRanker` on random data of the size of AotM-2011.

That is 64,181 songs with 50 features in 81,798 playlists of 14,115 users. One factorisation serves
all playlists, so that this takes seconds. How well it and others rank is in `bench_rankers.py`.

Run it as ``python bench_rankers_fit.py [--tiny] [--csv FILE]``.
"""

import argparse
import time

import numpy as np
import pandas as pd
from machine import write_table

from skmtc import RidgeRanker

FULL = {"n_playlists": 81_798, "n_users": 14_115, "n_songs": 64_181, "n_features": 50}
TINY = {"n_playlists": 200, "n_users": 50, "n_songs": 300, "n_features": 5}


def main():
    """Read the options, print and write the time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="a few seconds on little data")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    figures = time_ridge(**TINY if options.tiny else FULL)
    print(pd.Series(figures).to_string())
    if options.csv:
        write_table(pd.DataFrame([figures]), options.csv)


def time_ridge(*, n_playlists, n_users, n_songs, n_features, mean_length=12.6):
    """Time a fit of `RidgeRanker` on random playlists; give the figures."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_songs, n_features))
    lengths = np.maximum(rng.poisson(mean_length, size=n_playlists), 2)
    playlist = np.repeat(np.arange(n_playlists), lengths)
    X = pd.DataFrame({"playlist": playlist, "song": rng.integers(n_songs, size=len(playlist))})
    X = X.drop_duplicates()
    X.insert(0, "user", (X["playlist"] % n_users).to_numpy())
    for j in range(n_features):
        X[f"x{j}"] = features[X["song"], j]
    ranker = RidgeRanker(song_features="passthrough")
    seconds = _seconds(ranker.fit, X)
    return {
        "ranker": "RidgeRanker",
        "songs": len(ranker.songs_),
        "playlists": len(ranker.playlists_),
        "features": n_features,
        "rows": len(X),
        "fit_seconds": round(seconds, 2),
    }


def _seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
