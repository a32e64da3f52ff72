"""Time the metrics: AUC against scikit-learn's, and a full evaluation against its matrix product.

Run ``python bench_metrics.py [aotm2011.csv.gz]`` with a table of the columns user_id, playlist_id
and song_id, or ``python bench_metrics.py --tiny`` for a check in seconds. Without a table,
playlists of the same size are drawn.
"""

import argparse
import threading
import time

import numpy as np
import pandas as pd
from playlists import draw_table
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.metrics import auc_score
from skmtc.model_selection import ColdPlaylistSplit

METRICS = ("auc", "hit_rate@10", "hit_rate@100")


def main():
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="CSV file with user_id, playlist_id, song_id")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    options = parser.parse_args()
    compare_auc(*((50, 2000) if options.tiny else (2000, 45_000)))
    if options.path is None:
        X = draw_table(*((300, 1500, 800) if options.tiny else (14_000, 82_000, 64_000)))
    else:
        X = pd.read_csv(options.path, usecols=["user_id", "playlist_id", "song_id"])
        X.columns = [name.removesuffix("_id") for name in X.columns]
    time_evaluation(X.head(20_000) if options.tiny else X)


def compare_auc(n_playlists, n_songs, n_positives=16, n_rounds=10):
    """Time AUC against a loop over scikit-learn's.

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
    print(
        f"AUC of {n_playlists} playlists x {n_songs} songs: {seconds:.2f} s, roc_auc_score "
        f"{loop_seconds:.2f} s, that is {loop_seconds / seconds:.0f} times; largest difference "
        f"{difference:.1e}"
    )


def time_evaluation(X, n_features=50):
    """Time a full evaluation of a cold-playlist split against the bare matrix product."""
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
    print(
        f"evaluate {', '.join(METRICS)}: {seconds:.2f} s; product for every playlist {product:.2f} "
        f"s (times {seconds / product:.2f}), for every user {distinct_product:.2f} s (times "
        f"{seconds / distinct_product:.2f}); memory above the model {memory.megabytes:.0f} MB"
    )
    print(table[list(METRICS)].mean().round(4).to_dict())
    unknown = test.assign(playlist=-1 - test["playlist"], user=-1 - test["user"])
    seconds, _ = best_of(2, lambda: evaluate(ranker, unknown, METRICS))
    print(f"the same playlists of unknown users: {seconds:.2f} s")


def multiply(queries, songs, rows=256):
    """Make all scores, block by block, and look at none."""
    for start in range(0, len(queries), rows):
        queries[start : start + rows] @ songs.T


def random_ranker(X, n_features):
    """Give a fitted ranker with random weights: its time is that of a learned one."""
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
    """Give a ranker the column that its table lacks, as songs have random vectors anyway."""

    def __init__(self, ranker):
        self.ranker = ranker
        self.query_vectors, self.song_vectors = ranker.query_vectors, ranker.song_vectors

    def trial(self, X, **options):
        return self.ranker.trial(X.assign(feature=0.0), **options)


def best_of(repeats, function):
    """Give the shortest time and the result."""
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
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096 / 2**20


if __name__ == "__main__":
    main()
