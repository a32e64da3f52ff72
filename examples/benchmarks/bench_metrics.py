"""Time the metrics: AUC against scikit-learn's, and a full evaluation against its matrix product.

Run ``python bench_metrics.py [aotm2011.csv.gz]`` with a table of the columns user_id, playlist_id
and song_id, or ``python bench_metrics.py --tiny`` for a check in seconds. Without a table,
playlists of the same size are drawn. The figures are printed, and written with ``--csv FILE``.
"""

import argparse
import math
import pathlib
import threading
import time

import numpy as np
import pandas as pd
from machine import write_table
from playlists import sample_table
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.metrics import auc_score
from skmtc.model_selection import ColdPlaylistSplit

METRICS = ("auc", "hit_rate@10", "hit_rate@100")
COLUMNS = ["what", "playlists", "songs", "seconds", "against", "against_seconds", "ratio"]


def main():
    """Print and write the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="CSV file with user_id, playlist_id, song_id")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    rows = compare_auc(*((50, 2000) if options.tiny else (2000, 45_000)))
    if options.path is None:
        X = sample_table(*((300, 1500, 800) if options.tiny else (14_000, 82_000, 64_000)))
    else:
        X = pd.read_csv(options.path, usecols=["user_id", "playlist_id", "song_id"])
        X.columns = [name.removesuffix("_id") for name in X.columns]
    rows += time_evaluation(X.head(20_000) if options.tiny else X)
    table = pd.DataFrame(rows, columns=COLUMNS)
    print(table.to_string(index=False))
    if options.csv:
        write_table(table, options.csv)


def compare_auc(n_playlists, n_songs, n_positives=16, n_rounds=10):
    """Time AUC against a loop over scikit-learn's; give a row.

    The two take turns, so that whatever else the machine does disturbs both alike.
    """
    rng = np.random.default_rng(0)
    size = n_playlists // n_rounds
    seconds, loop_seconds, difference = 0.0, 0.0, 0.0
    for _ in range(n_rounds):
        scores = rng.normal(size=(size, n_songs))
        truth = np.zeros(scores.shape, dtype=bool)
        for row in truth:
            row[rng.choice(n_songs, n_positives, replace=False)] = True
        labels = csr_array(truth)
        spent, ours = best_of(1, lambda: auc_score(labels, scores, average=None))  # noqa: B023
        loop_spent, theirs = best_of(
            1,
            lambda: [roc_auc_score(t, s) for t, s in zip(truth, scores, strict=True)],  # noqa: B023
        )
        seconds, loop_seconds = seconds + spent, loop_seconds + loop_spent
        difference = max(difference, np.abs(ours - np.array(theirs)).max())
    print(f"largest difference from roc_auc_score: {difference:.1e}")
    return [figures("auc_score", n_playlists, n_songs, seconds, "roc_auc_score", loop_seconds)]


def figures(what, n_playlists, n_songs, seconds, against, against_seconds):
    """Return one row; the ratio tells how many times as long the other takes."""
    ratio = round(against_seconds / seconds, 2)
    numbers = [n_playlists, n_songs, round(seconds, 3), against, round(against_seconds, 3), ratio]
    return dict(zip(COLUMNS, [what, *numbers], strict=True))


def time_evaluation(X, n_features=50):
    """Time a full evaluation of a cold-playlist split against the bare product; give rows."""
    # About as many test playlists as the paper has.
    ((train, test),) = ColdPlaylistSplit(playlist_size=0.3, random_state=0).split(X)
    ranker = random_ranker(X.iloc[train], n_features)
    test = X.iloc[test]
    queries = ranker.query_vectors(test.drop_duplicates("playlist"))
    distinct = np.unique(queries, axis=0)
    songs = ranker.song_vectors()
    print(
        f"{len(queries)} test playlists of {len(distinct)} users x {len(songs)} songs, "
        f"{songs.shape[1]} features"
    )
    product, _ = best_of(2, lambda: multiply(queries, songs))
    distinct_product, _ = best_of(2, lambda: multiply(distinct, songs))
    with PeakMemory() as memory:
        seconds, table = best_of(2, lambda: evaluate(ranker, test, METRICS))
    print(f"memory above the model {memory.megabytes:.0f} MB")
    print(table[list(METRICS)].mean().round(4).to_dict())
    unknown = test.assign(playlist=-1 - test["playlist"], user=-1 - test["user"])
    unknown_seconds, _ = best_of(2, lambda: evaluate(ranker, unknown, METRICS))
    what, size = f"evaluate {', '.join(METRICS)}", (len(queries), len(songs))
    return [
        figures(what, *size, seconds, "product for every playlist", product),
        figures(what, *size, seconds, "product for every user", distinct_product),
        figures(what, *size, seconds, "evaluate, users unknown", unknown_seconds),
    ]


def multiply(queries, songs, rows=256):
    """Make all scores, block by block, and look at none."""
    for start in range(0, len(queries), rows):
        queries[start : start + rows] @ songs.T


def random_ranker(X, n_features):
    """Return a fitted ranker with random weights: its time is that of a learned one."""
    rng = np.random.default_rng(0)
    ranker = MultitaskPlaylistRanker(song_features="passthrough", tol=1e9)
    ranker.fit(X.drop_duplicates().assign(feature=0.0))
    shape = (len(ranker.songs_), n_features)
    ranker.song_vectors_ = rng.normal(size=shape)
    ranker.shared_coef_ = rng.normal(size=n_features)
    ranker.user_coef_ = rng.normal(size=(len(ranker.users_), n_features))
    ranker.playlist_coef_ = np.zeros((len(ranker.playlists_), n_features))
    return _WithoutColumns(ranker)


class _WithoutColumns:
    """Return a ranker the column that its table lacks, as songs have random vectors anyway."""

    def __init__(self, ranker):
        self.ranker = ranker
        self.query_vectors, self.song_vectors = ranker.query_vectors, ranker.song_vectors

    def __skmtc_test_set__(self, X, **options):
        return self.ranker.__skmtc_test_set__(X.assign(feature=0.0), **options)


def best_of(repeats, function):
    """Return the shortest time and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


class PeakMemory:
    """Watch the resident memory of this process, where /proc tells it."""

    def __enter__(self):
        self._start, self.megabytes, self._done = self._resident(), 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(0.01):
            self.megabytes = max(self.megabytes, self._resident() - self._start)

    @staticmethod
    def _resident():
        pages = pathlib.Path("/proc/self/statm")
        if not pages.exists():
            return math.nan
        return int(pages.read_text(encoding="ascii").split()[1]) * 4096 / 2**20


if __name__ == "__main__":
    main()
