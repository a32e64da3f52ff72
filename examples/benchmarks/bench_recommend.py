"""Time `recommend` against implicit's `topk`, on the same vectors in the same run.

The 100 best of 45,000 songs are found for 2,000 queries with 64 features, and for one query. The
time of `recommend` is that of the whole call: reading the table of queries, leaving out the songs
that playlists have, and scores in double precision. That of `topk` is for vectors that are there
in single precision, with nothing left out. The two take turns, so that whatever else the machine
does disturbs both alike. For one query there is the bare product of its vector and all songs, too,
in single precision: what nothing that looks at all songs can do without.

Run ``python bench_recommend.py [--csv FILE]``, or with ``--tiny`` for a check in seconds.
"""

import argparse
import time

import numpy as np
import pandas as pd
from implicit.cpu.topk import topk
from machine import machine, write_table

from skmtc import MultitaskPlaylistRanker

FULL = {"n_queries": 2000, "n_songs": 45_000, "n_features": 64, "n_best": 100}
TINY = {"n_queries": 200, "n_songs": 2000, "n_features": 8, "n_best": 10}


def main():
    """Print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--repeats", type=int, default=15, help="how often to time each")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    print("; ".join(machine("implicit").values()))
    table = time_both(**(TINY if options.tiny else FULL), repeats=options.repeats)
    print(table.to_string(index=False))
    if options.csv:
        write_table(table, options.csv, "implicit")


def time_both(*, n_queries, n_songs, n_features, n_best, repeats):
    """Return the median and the least time of both, for all queries and for one.

    The first call of `recommend`, which prepares the catalogue, is not among them.
    """
    ranker, queries = random_ranker(n_queries, n_songs, n_features)
    songs = ranker.song_vectors().astype(np.float32)
    rows = []
    for asked in (queries, queries.head(1)):
        vectors = ranker.query_vectors(asked).astype(np.float32)
        calls = {
            "recommend": lambda asked=asked: ranker.recommend(asked, n_recommendations=n_best),
            "topk": lambda vectors=vectors: topk(songs, vectors, n_best),
        }
        if len(asked) == 1:
            calls["product"] = lambda vectors=vectors: vectors @ songs.T
        seconds = take_turns(calls, repeats if len(asked) > 1 else 20 * repeats)
        for name, spent in seconds.items():
            rows.append(
                {
                    "what": name,
                    "queries": len(asked),
                    "songs": len(songs),
                    "features": n_features,
                    "best": n_best,
                    "median_ms": round(1e3 * np.median(spent), 2),
                    "least_ms": round(1e3 * spent.min(), 2),
                    "queries_per_s": round(len(asked) / np.median(spent)),
                    "times_as_fast_as_topk": round(np.median(seconds["topk"] / spent), 2),
                }
            )
    return pd.DataFrame(rows)


def take_turns(calls, repeats):
    """Time functions one after the other, again and again, after a first call of each."""
    seconds = {name: [] for name in calls}
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if repeat:
                seconds[name].append(time.perf_counter() - start)
    return {name: np.array(spent) for name, spent in seconds.items()}


def random_ranker(n_queries, n_songs, n_features, length=16):
    """Return a fitted ranker with random weights, whose time is that of a learned one."""
    rng = np.random.default_rng(0)
    # Every song is in a playlist, then songs are drawn.
    drawn = rng.integers(n_songs, size=max(0, n_queries * length - n_songs))
    songs = np.concatenate([rng.permutation(n_songs), drawn])
    playlists = rng.permutation(np.arange(len(songs)) % n_queries)
    X = pd.DataFrame({"user": playlists // 2, "playlist": playlists, "song": songs})
    X = X.drop_duplicates(ignore_index=True)
    ranker = MultitaskPlaylistRanker(song_features="passthrough", tol=1e9)
    ranker.fit(X.assign(feature=0.0))
    ranker.song_vectors_ = rng.normal(size=(len(ranker.songs_), n_features))
    ranker.shared_coef_ = rng.normal(size=n_features)
    ranker.user_coef_ = rng.normal(size=(len(ranker.users_), n_features))
    ranker.playlist_coef_ = rng.normal(size=(len(ranker.playlists_), n_features))
    queries = X.drop_duplicates("playlist")[["user", "playlist"]]
    return ranker, queries


if __name__ == "__main__":
    main()
