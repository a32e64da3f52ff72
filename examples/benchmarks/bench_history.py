"""Time what history terms cost: `fit` and `recommend` with them and without.

Song features are those of `make_song_features`, learned from the playlists within each fit. Lists
of 100 songs are made for new playlists of known users; with history and without take turns on the
same ranker, so that whatever else the machine does disturbs both alike. The table is that of
AotM-2011 (a CSV file with the columns user_id, playlist_id, song_id and pos), or a drawn one.

Run it as ``python bench_history.py [--aotm PATH] [--user-share SHARE] [--tiny] [--csv PATH]``.
"""

import argparse
import time

import numpy as np
import pandas as pd
from bench_recommend import take_turns
from machine import write_table
from playlists import load

from skmtc import MultitaskPlaylistRanker
from skmtc.features import make_song_features

HISTORY = ("song", "co-occurrence")


def main():
    """Read the options, print and write the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--user-share", type=float, default=1.0, help="share of the users to read")
    parser.add_argument("--repeats", type=int, default=9, help="how often to time lists")
    parser.add_argument("--tiny", action="store_true", help="a few seconds on little data")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    data, X = load(options.aotm, tiny=options.tiny, user_share=options.user_share)
    table = time_history(X[["user", "playlist", "song"]], options)
    print(table.to_string(index=False))
    if options.csv:
        write_table(table.assign(data=data), options.csv)


def time_history(X, options):
    """Return seconds without and with history, and their ratio, for fits and for lists."""
    song_features = make_song_features(X[["song"]], random_state=0)
    rankers, fits = {}, {}
    # The first fit is not timed: it loads, and perhaps compiles, the inner loops.
    for name, history in (("warm-up", HISTORY), ("without", None), ("with", HISTORY)):
        ranker = MultitaskPlaylistRanker(
            song_features=song_features, history=history, n_jobs=-1, random_state=0
        )
        start = time.perf_counter()
        rankers[name] = ranker.fit(X)
        fits[name] = time.perf_counter() - start
    users = (
        X["user"]
        .drop_duplicates()
        .sample(min(2000, X["user"].nunique()), random_state=np.random.RandomState(0))
    )
    queries = pd.DataFrame({"user": users})
    best = min(100, X["song"].nunique() // 2)
    lists = take_turns(
        {
            name: lambda name=name: rankers[name].recommend(queries, n_recommendations=best)
            for name in ("without", "with")
        },
        options.repeats,
    )
    rows = [("fit", fits["without"], fits["with"], fits["with"] / fits["without"])]
    ratio = np.median(lists["with"] / lists["without"])
    rows.append(("recommend", *(np.median(lists[name]) for name in ("without", "with")), ratio))
    table = pd.DataFrame(rows, columns=["what", "seconds_without", "seconds_with", "ratio"])
    weights = rankers["with"].history_.coef_[0, 1]
    counts = {"playlists": X["playlist"].nunique(), "songs": X["song"].nunique()}
    named = {f"weight_{name}": weight for name, weight in zip(HISTORY, weights, strict=True)}
    return table.assign(queries=[0, len(queries)], **counts, **named).round(4)


if __name__ == "__main__":
    main()
