"""Time and memory of song features on a large membership table.

Fits `make_song_features` on one row per song, transforms the same songs, and prints
seconds, peak memory and the shape of the features. The target for AotM-2011 (1 M rows, 64 k songs)
is 120 s and 2 GB.

    python bench_features.py aotm2011.csv.gz
    python bench_features.py aotm2011.csv.gz --csv features.csv
    python bench_features.py --tiny

The file is CSV with the columns user_id, playlist_id, song_id and pos, rows of a playlist in any
order.
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd
from machine import peak_megabytes, write_table
from scipy.sparse import csr_array

from skmtc.features import make_song_features

MOST_SECONDS = 120
MOST_GIGABYTES = 2.0


def read_table(path):
    """Read a membership table in playlist order."""
    table = pd.read_csv(path)
    return table.sort_values(["playlist_id", "pos"], kind="stable", ignore_index=True)


def tiny_table(n_playlists=200, n_songs=300, length=12, seed=0):
    """Sample a table of the same form that takes a moment."""
    rng = np.random.default_rng(seed)
    songs = [rng.choice(n_songs, size=length, replace=False) for _ in range(n_playlists)]
    playlists = np.repeat(np.arange(n_playlists), length)
    columns = {"user_id": playlists // 5, "playlist_id": playlists}
    columns |= {"song_id": np.concatenate(songs), "pos": np.tile(np.arange(length), n_playlists)}
    return pd.DataFrame(columns)


def one_row_per_song(table):
    """Return the distinct songs and the songs x playlists matrix of positions."""
    table = table.drop_duplicates(["playlist_id", "song_id"])
    song_codes, song_ids = pd.factorize(table["song_id"], sort=True)
    playlist_codes = pd.factorize(table["playlist_id"], sort=True)[0]
    position = table.groupby("playlist_id").cumcount().to_numpy() + 1
    membership = csr_array((position, (song_codes, playlist_codes)))
    return pd.DataFrame({"song_id": song_ids}), membership


def run(table):
    """Fit and transform; give seconds of both and the features."""
    songs, membership = one_row_per_song(table)
    transformer = make_song_features(table, random_state=0)
    start = time.perf_counter()
    transformer.fit(songs, membership)
    fitted = time.perf_counter()
    features = transformer.transform(songs)
    return fitted - start, time.perf_counter() - fitted, features


def main():
    """Run the benchmark; the exit status tells whether the target is met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("path", nargs="?", help="CSV file of a membership table")
    parser.add_argument("--tiny", action="store_true", help="draw a small table instead")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    if bool(options.path) == options.tiny:
        parser.error("pass either the path of a table or --tiny")
    table = tiny_table() if options.tiny else read_table(options.path)
    fit_seconds, transform_seconds, features = run(table)
    peak = peak_megabytes() / 2**10
    print(f"rows {len(table)}, songs {table['song_id'].nunique()}")
    print(f"features {features.shape}, {features.nbytes / 2**20:.0f} MB")
    print(f"fit {fit_seconds:.1f} s, transform {transform_seconds:.1f} s, peak {peak:.2f} GB")
    met = fit_seconds + transform_seconds < MOST_SECONDS and peak < MOST_GIGABYTES
    if options.csv:
        figures = {
            "rows": len(table),
            "songs": features.shape[0],
            "features": features.shape[1],
            "fit_seconds": round(fit_seconds, 2),
            "transform_seconds": round(transform_seconds, 2),
            "peak_GB": round(peak, 3),
            "target_met": met,
        }
        write_table(pd.DataFrame([figures]), options.csv, "gensim")
    print(f"target of {MOST_SECONDS} s and {MOST_GIGABYTES} GB {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
