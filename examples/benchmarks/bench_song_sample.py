"""What a fit on a sample of the songs costs in accuracy, and saves in time.

Rankers with several `songs_per_pass` are fitted on the same training rows, with the same features,
and evaluated on the same new playlists. Errors are standard errors of the difference in AUC from
the exact fit, over users. Objectives are those over all songs: "estimate" is what a fit on a sample
says of itself, with its standard error, "objective" what the exact objective is at its solution.

    python bench_song_sample.py --aotm aotm2011.csv.gz --rows rows.csv.gz --songs songs.csv.gz
    python bench_song_sample.py --tiny                    # seconds, to see that it runs
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from machine import write_table
from playlists import load, read_described_playlists, read_playlists
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit
from skmtc.optimize import MultitaskObjective

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]


class MadeBefore(TransformerMixin, BaseEstimator):
    """Features that were made before, so that they take no time in a fit."""

    def __init__(self, features=None):
        self.features = features

    def fit(self, X, y=None):  # noqa: ARG002
        """Look at nothing."""
        return self

    def transform(self, X):
        """Look the features up."""
        return self.features.loc[X["song"]].to_numpy()


def main():
    """Read the options, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--rows", help="rows of 30Music 2017: user, playlist, song")
    parser.add_argument("--songs", help="songs of 30Music 2017: song, artist, album, tags")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 5000, 10000])
    parser.add_argument("--tiny", action="store_true", help="a few seconds on little data")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    sets = {}
    if options.aotm:
        sets["AotM-2011"] = read_playlists(options.aotm)
    if options.rows:
        sets["30Music 2017"] = read_described_playlists(options.rows, options.songs)
    if not sets:
        name, X = load(None, tiny=options.tiny)
        sets[name] = X
    sizes = [50, 200] if options.tiny else options.sizes
    table = pd.concat([compare(name, X, sizes) for name, X in sets.items()])
    print(table.to_string(index=False))
    if options.csv:
        write_table(table, options.csv)


def compare(name, X, sizes):
    """Fit with each size of the sample, and without; return one row each."""
    train, test = (X.iloc[rows] for rows in next(ColdPlaylistSplit(random_state=0).split(X)))
    about = train.drop(columns=["user", "playlist"]).drop_duplicates("song")
    transformer = make_song_features(
        train if len(about.columns) > 1 else train[["song"]], random_state=0
    )
    first = MultitaskPlaylistRanker(song_features=transformer, max_iter=1, tol=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first.fit(train)
    vectors = pd.DataFrame(first.song_vectors_[:, :-1], index=first.songs_)
    exact, rows, values = None, [], []
    for size in [None, *sizes]:
        ranker = MultitaskPlaylistRanker(
            song_features=MadeBefore(vectors), songs_per_pass=size, n_jobs=1, random_state=0
        )
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # users of 30Music have songs without an album
            ranker.fit(train)
            seconds = time.process_time() - start
            found = evaluate(ranker, test, METRICS)[["user", "playlist", *METRICS]]
        exact = exact or ranker
        label = str(size or "all")
        values.append(found.assign(setting=name, ranker=label))
        estimate, error = ranker.catalogue_objective_
        rows.append(
            {
                "data": name,
                "songs": len(ranker.songs_),
                "songs_per_pass": label,
                "cpu_seconds": seconds,
                "iterations": ranker.n_iter_,
                "objective": objective_at(exact, ranker),
                "estimate": estimate,
                "estimate_error": error,
            }
        )
        print(rows[-1] | found[METRICS].mean().to_dict(), flush=True)
    return pd.DataFrame(rows).merge(differences(pd.concat(values)), on="songs_per_pass")


def differences(values):
    """Return the mean of each metric, and the difference in AUC from the exact fit."""
    rows = []
    whole = values[values["ranker"] == "all"].set_index("playlist")["auc"]
    for label, part in values.groupby("ranker", sort=False):
        gap = part.set_index("playlist")["auc"] - whole
        owners = part.set_index("playlist")["user"]
        sums = (gap - gap.mean()).groupby(owners).sum()
        error = np.sqrt((sums**2).sum()) / len(gap)
        rows.append(
            {"songs_per_pass": label}
            | part[METRICS].mean().to_dict()
            | {"auc_difference": gap.mean(), "auc_difference_error": error}
        )
    return pd.DataFrame(rows)


def objective_at(exact, ranker):
    """Return the objective over all songs at the weights of a ranker."""
    n_users, n_playlists = len(ranker.users_), len(ranker.playlists_)
    l1, l2, l3 = ranker.lambdas_
    objective = MultitaskObjective(
        exact.song_vectors_[:, :-1].astype(np.float32),
        csr_array(exact.membership_),
        exact.user_of_playlist_,
        user_l2=l1 * n_playlists,
        playlist_l1=l2 * n_playlists,
        shared_l1=l3,
    )
    coef = np.vstack([ranker.shared_coef_, ranker.user_coef_, ranker.playlist_coef_])
    assert coef.shape == (1 + n_users + n_playlists, objective.n_features)
    return objective.value(coef)


if __name__ == "__main__":
    main()
