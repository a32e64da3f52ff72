"""Time `partial_fit` of new users against a refit, and evaluate both on their next playlists.

A model is fitted to the playlists of all users but some. Then these come: all their playlists but
the last of each go to `partial_fit`, or into a refit with everybody that starts from the weights
of the model (`warm_start=True`). The last playlists are the test.

Features of songs are singular vectors of the first users' playlists and log popularity. They are
made once, before any clock runs, so that a refit starts from weights that fit its features. The
table is that of AotM-2011 (columns user_id, playlist_id and song_id; songs in at least 10
playlists, playlists with at least 5 songs), or a drawn one.

Run it as ``python bench_partial_fit.py [--aotm PATH] [--share SHARE] [--n-features N] [--tiny]
[--csv PATH]``.
"""

import argparse
import time
from copy import copy

import numpy as np
import pandas as pd
from machine import write_table
from playlists import read_playlists
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists


class SongVectors(TransformerMixin, BaseEstimator):
    """Look up the features of songs."""

    def __init__(self, table):
        self.table = table

    def fit(self, X, y=None):
        """Learn nothing; `y` is ignored."""
        del y
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        """Return the features of each song."""
        return self.table.loc[X["song"]].to_numpy()


def main():
    """Read the options, run all parts, print and write what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--share", type=float, default=1.0, help="share of the users of AotM-2011")
    parser.add_argument("--n-users", type=int, default=1000, help="number of new users")
    parser.add_argument("--n-features", type=int, default=50, help="features of a song")
    parser.add_argument("--tiny", action="store_true", help="a few seconds on little data")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    n_features, n_new = (8, 10) if options.tiny else (options.n_features, options.n_users)
    old, new, test = split(read(options), n_new)
    figures = compare(old, new, test, n_features)
    for name, value in figures.items():
        print(
            f"{name:34s}{value:>14,.4f}" if isinstance(value, float) else f"{name:34s}{value:>14,}"
        )
    if options.csv:
        write_table(pd.DataFrame([figures]), options.csv)


def read(options):
    """Read real playlists, or draw some."""
    if options.aotm is None:
        size = {"n_users": 60} if options.tiny else {"n_users": 3000, "n_songs": 10_000}
        return make_playlists(**size, random_state=0)[["user", "playlist", "song"]]
    return read_playlists(options.aotm, user_share=0.03 if options.tiny else options.share)


def split(X, n_new, seed=0):
    """Return the first users' rows, those of new users, and the new users' last playlists."""
    owner = X.groupby("playlist")["user"].first()
    counts = owner.value_counts().sort_index()
    several = counts.index[counts >= 2].to_numpy()
    chosen = np.random.default_rng(seed).choice(several, n_new, replace=False)
    is_new = X["user"].isin(chosen)
    old, rest = X[~is_new], X[is_new]
    rest = rest[rest["song"].isin(old["song"])]
    is_last = rest["playlist"] == rest.groupby("user")["playlist"].transform("max")
    new = rest[~is_last]
    return old, new, rest[is_last & rest["user"].isin(new["user"])]


def song_vectors(X, n_features):
    """Make features of songs from playlists: singular vectors and log popularity."""
    playlist, _ = pd.factorize(X["playlist"])
    song, songs = pd.factorize(X["song"])
    held = csr_array((np.ones(len(X)), (song, playlist)))
    popularity = held.sum(axis=1)
    vectors = TruncatedSVD(n_features - 2, random_state=0).fit_transform(
        csr_array(held / np.sqrt(popularity)[:, None])
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    features = np.column_stack([vectors, np.log1p(popularity)])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return pd.DataFrame(np.clip(features, -4, 4).astype(np.float32), index=songs)


def compare(old, new, test, n_features):
    """Fit, then add the new users in both ways; give all figures."""
    ranker = MultitaskPlaylistRanker(song_features=SongVectors(song_vectors(old, n_features)))
    seconds = {"first fit, seconds": _seconds(lambda: ranker.fit(old))}
    cold = ranker.score(test)
    # Neither way changes arrays in place, so copies may share them.
    refitted = copy(ranker).set_params(warm_start=True)
    everybody = pd.concat([old, new])
    one_by_one = _milliseconds_for_one(ranker, new)
    seconds["partial_fit, seconds"] = _seconds(lambda: ranker.partial_fit(new))
    seconds["warm-started refit, seconds"] = _seconds(lambda: refitted.fit(everybody))
    ratio = seconds["warm-started refit, seconds"] / seconds["partial_fit, seconds"]
    return {
        "playlists of the first fit": old["playlist"].nunique(),
        "users of the first fit": old["user"].nunique(),
        "songs": old["song"].nunique(),
        "features": n_features,
        "new users": new["user"].nunique(),
        "their playlists": new["playlist"].nunique(),
        "their next playlists": test["playlist"].nunique(),
        **seconds,
        "times faster than the refit": ratio,
        "new users per second": new["user"].nunique() / seconds["partial_fit, seconds"],
        "one user, milliseconds (median)": one_by_one,
        "AUC, shared weights only": cold,
        "AUC, partial_fit": ranker.score(test),
        "AUC, refit": refitted.score(test),
    }


def _milliseconds_for_one(ranker, new, n_users=20):
    """Time calls with one new user each, on copies."""
    times = []
    for user in new["user"].unique()[:n_users]:
        other = copy(ranker)
        rows = new[new["user"] == user]
        times.append(1000 * _seconds(lambda other=other, rows=rows: other.partial_fit(rows)))
    return float(np.median(times))


def _seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
