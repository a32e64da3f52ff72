"""A table in the image of the Million Playlist Dataset, from writing it to recommending."""

import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from machine import forget_peak, peak_megabytes
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.datasets import read_table, write_playlists
from skmtc.features import ArtistEmbedding, PopularityEncoder, SongEmbedding

# The data set has no owners. A few playlists for each user are harder: weights of users and
# playlists are both there.
PLAYLISTS_PER_USER = 4
TEST_PLAYLISTS, QUERIES, BEST = 10_000, 100_000, 20


class Stages:
    """Wall and CPU time and peak memory of named stages."""

    def __init__(self, about):
        self.about, self.rows = about, []

    @contextmanager
    def stage(self, name):
        """Measure what happens within."""
        forget_peak()
        wall, cpu = time.perf_counter(), _cpu_seconds()
        facts = {}
        yield facts
        measured = {
            "stage": name,
            "seconds": time.perf_counter() - wall,
            "cpu_seconds": _cpu_seconds() - cpu,
            "peak_mb": max(peak_megabytes(), facts.pop("earlier_mb", 0.0)),
            "after_mb": psutil.Process().memory_info().rss / 2**20,
        }
        self.rows.append(self.about | measured | facts)
        print(self.rows[-1], flush=True)


class Timed(ColumnTransformer):
    """A ColumnTransformer that is a stage of its own."""

    stages = None

    def fit_transform(self, X, y=None, **params):
        """Fit as ever."""
        with Timed.stages.stage("features (part of fit)") as facts:
            features = super().fit_transform(X, y, **params)
            facts["size"] = f"{features.shape[0]} songs x {features.shape[1]}"
        return features


def run(n_playlists, *, tiny=False, folder=None, n_jobs=2, songs_per_pass=None):
    """Write, read, fit, evaluate and recommend; return one row per stage."""
    stages = Stages({"playlists": n_playlists})
    Timed.stages = stages
    sizes = {"n_songs": 3000, "n_artists": 300, "mean_length": 20} if tiny else {}
    n_test, n_queries = (20, 50) if tiny else (TEST_PLAYLISTS, QUERIES)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        with stages.stage("write") as facts:
            paths = write_playlists(
                temporary,
                n_playlists,
                n_users=n_playlists // PLAYLISTS_PER_USER,
                random_state=0,
                **sizes,
            )
            facts["size"] = f"{sum(path.stat().st_size for path in paths) / 1e6:.0f} MB"
        with stages.stage("read") as facts:
            X = read_table(temporary)
            facts["size"] = f"{len(X)} rows"
        train, test = hold_out(X, n_test)
        del X
        ranker = MultitaskPlaylistRanker(
            song_features=song_features(),
            songs_per_pass=songs_per_pass,
            checkpoint=Path(temporary, "checkpoint.npz"),
            n_jobs=n_jobs,
            random_state=0,
            verbose=1,
        )
        with stages.stage("fit") as facts:
            ranker.fit(train)
            facts["size"] = f"{len(ranker.songs_)} songs, {len(ranker.users_)} users"
            facts["earlier_mb"] = stages.rows[-1]["peak_mb"]
            facts["note"] = (
                f"{ranker.n_iter_} iterations; objective over the sample {ranker.objective_:.5f}, "
                "over all songs {:.5f} (error {:.5f})".format(*ranker.catalogue_objective_)
            )
    del train
    with stages.stage("evaluate") as facts:
        table = evaluate(ranker, test, n_jobs=n_jobs)
        means = table[["auc", "hit_rate@100"]].mean()
        facts["size"] = f"{len(table)} playlists"
        facts["note"] = f"AUC {means['auc']:.4f}, HitRate@100 {means['hit_rate@100']:.4f}"
    users = np.random.default_rng(0).choice(ranker.users_, n_queries)
    with stages.stage("recommend") as facts:
        songs, _ = ranker.recommend(pd.DataFrame({"user": users}), n_recommendations=BEST)
        facts["size"] = f"{len(songs)} queries"
    return pd.DataFrame(stages.rows)


def hold_out(X, n_test):
    """Return the rows of all but some playlists, and of these, whose users have others."""
    owners = X.groupby("playlist", sort=True)["user"].first()
    again = owners[owners.duplicated()]  # each but the first of a user
    chosen = again.sample(min(n_test, len(again)), random_state=0).index
    is_test = np.zeros(owners.index.max() + 1, dtype=bool)
    is_test[chosen] = True
    is_test = is_test[X["playlist"].to_numpy()]
    test = X[is_test]
    train = X[~is_test]
    return train, test[test["song"].isin(train["song"].unique())]


def song_features():
    """Return vectors of songs and artists, popularity and duration: 34 features."""
    return Timed(
        [
            (
                "song",
                SongEmbedding(method="playlist-svd", vector_size=24, min_count=2, random_state=0),
                ["song"],
            ),
            ("artist", ArtistEmbedding(vector_size=8, min_count=5, random_state=0), ["artist"]),
            ("popularity", Popular(), ["song"]),
            ("duration", StandardScaler(), ["duration"]),
        ]
    )


class Popular(PopularityEncoder):
    """Log popularity with standard deviation about 1."""

    def _features(self, counts):
        return (np.log1p(counts) - 1.5) / 1.2


def slopes(table):
    """Return by how much each stage grows with the number of playlists, on a log-log scale."""
    sizes = sorted(table["playlists"].unique())
    if len(sizes) < 2:
        return None
    ends = table[table["playlists"].isin([sizes[0], sizes[-1]])]
    wide = ends.pivot(index="stage", columns="playlists", values="cpu_seconds")
    return np.log(wide[sizes[-1]] / wide[sizes[0]]) / np.log(sizes[-1] / sizes[0])


def _cpu_seconds():
    own = psutil.Process().cpu_times()
    return own.user + own.system
