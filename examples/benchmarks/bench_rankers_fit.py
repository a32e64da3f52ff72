"""Time the baselines, and judge them on real playlists.

Two parts:

1. `RidgeRanker` on random data of the size of AotM-2011: 64,181 songs with 50 features in 81,798
   playlists of 14,115 users. One factorisation serves all playlists, so that this takes seconds.
2. With the path of a table of AotM-2011 (columns user_id, playlist_id, song_id and pos):
   `PopularityRanker`, `HistoryRanker` and `MatrixFactorizationRanker` for new playlists and for
   new users, beside the paper's figures. These are not the same task: the paper's 114,428 songs
   include rare ones, which its test playlists avoid, so that popularity alone tells many songs
   apart. Here every song is in at least 10 playlists.

Run it as ``python bench_rankers_fit.py [--aotm PATH] [--tiny]``.
"""

import argparse
import time

import numpy as np
import pandas as pd

from skmtc import HistoryRanker, MatrixFactorizationRanker, PopularityRanker, RidgeRanker

FULL = {"n_playlists": 81_798, "n_users": 14_115, "n_songs": 64_181, "n_features": 50}
TINY = {"n_playlists": 200, "n_users": 50, "n_songs": 300, "n_features": 5}

# AUC and HitRate@100 of the paper, in percent; it has no new users without attributes for MF.
PAPER = {
    ("cold playlists", "PopularityRanker"): "93.8 ( 5.8)",
    ("cold playlists", "MatrixFactorizationRanker"): "85.4 ( 6.1)",
    ("cold users", "PopularityRanker"): "91.8 ( 7.4)",
}


def main():
    """Read the options and run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--tiny", action="store_true", help="a few seconds on little data")
    options = parser.parse_args()
    time_ridge(**TINY if options.tiny else FULL)
    if options.aotm:
        judge_on_playlists(options.aotm, n_playlists=500 if options.tiny else None)


def time_ridge(*, n_playlists, n_users, n_songs, n_features, mean_length=12.6):
    """Time a fit of `RidgeRanker` on random playlists."""
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
    print(
        f"RidgeRanker: {len(ranker.songs_):,} songs x {len(ranker.playlists_):,} playlists x "
        f"{n_features} features ({len(X):,} rows): fit {seconds:.1f} s"
    )


def judge_on_playlists(path, *, n_playlists):
    """Fit and judge on real playlists, for new playlists and for new users."""
    X = read_playlists(path, n_playlists)
    sizes = X[["playlist", "user", "song"]].nunique()
    print(
        f"\nAotM-2011: {sizes['playlist']:,} playlists of {sizes['user']:,} users, "
        f"{sizes['song']:,} songs, {len(X):,} rows"
    )
    rankers = [
        PopularityRanker(artist=None),
        HistoryRanker(artist=None),
        MatrixFactorizationRanker(content_model=None, n_jobs=-1, random_state=0),
    ]
    for setting, train, test in splits(X):
        counts = f"{train['playlist'].nunique():,} training, {test['playlist'].nunique():,} test"
        print(f"\n{setting} ({counts} playlists)")
        print(f"{'':28s}{'AUC':>7s}{'HR@100':>8s}{'fit s':>7s}{'judge s':>9s}  paper: AUC (HR)")
        for ranker in rankers:
            name = type(ranker).__name__
            seconds = _seconds(ranker.fit, train)
            start = time.perf_counter()
            auc, hit_rate = ranker.score(test), hit_rate_at(ranker, test, 100)
            judging = time.perf_counter() - start
            paper = PAPER.get((setting, name), "n/a")
            print(
                f"{name:28s}{auc:7.3f}{hit_rate:8.3f}{seconds:7.1f}{judging:9.1f}  {paper}",
                flush=True,
            )


def read_playlists(path, n_playlists=None, *, fewest_playlists=10, fewest_songs=5):
    """Read a table; keep songs in enough playlists and playlists with enough songs."""
    X = pd.read_csv(path, usecols=["user_id", "playlist_id", "song_id"])
    X.columns = [name.removesuffix("_id") for name in X.columns]
    X = X.drop_duplicates()
    if n_playlists is not None:
        X = X[X["playlist"].isin(X["playlist"].unique()[:n_playlists])]
        fewest_playlists = 2
    n_rows = None
    while n_rows != len(X):  # either filter may undo the other
        n_rows = len(X)
        X = X[X.groupby("song")["playlist"].transform("size") >= fewest_playlists]
        X = X[X.groupby("playlist")["song"].transform("size") >= fewest_songs]
    return X.reset_index(drop=True)


def splits(X, seed=0):
    """Hold out half of the playlists of a fifth of the users, and all of 30 % of the users."""
    rng = np.random.default_rng(seed)
    owner = X.groupby("playlist")["user"].first()
    users = owner.unique()
    some = owner[owner.isin(rng.choice(users, len(users) // 5, replace=False))]
    place = some.groupby(some).cumcount()
    half = some.index[place < some.map(some.value_counts()) // 2]
    yield "cold playlists", *_hold_out(X, X["playlist"].isin(half))
    cold = rng.choice(users, int(0.3 * len(users)), replace=False)
    yield "cold users", *_hold_out(X, X["user"].isin(cold))


def hit_rate_at(ranker, test, k):
    """Share of a playlist's songs among the first k, averaged over playlists."""
    queries = test.drop_duplicates("playlist")[["user", "playlist"]]
    k = min(k, len(ranker.songs_))
    songs, _ = ranker.recommend(queries, n_recommendations=k)
    given = pd.DataFrame(
        {"playlist": np.repeat(queries["playlist"].to_numpy(), k), "song": songs.ravel()}
    )
    hits = test.merge(given, on=["playlist", "song"]).groupby("playlist").size()
    lengths = test.groupby("playlist").size()
    return float((hits.reindex(lengths.index).fillna(0) / lengths).mean())


def _hold_out(X, cold):
    """Give training and test rows; a test song that nobody has in training is no cold start."""
    train, test = X[~cold], X[cold]
    return train, test[test["song"].isin(train["song"])]


def _seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
