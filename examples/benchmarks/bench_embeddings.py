"""How good song features are, by the method of `SongEmbedding` and its dimension.

Playlists are held out twice: once to be left alone, and from the rest, the training rows, once
more to choose by. Vectors are learned from all playlists that are left; weights of
`MultitaskPlaylistRanker` are fitted for users who have held-out playlists, at a few penalties,
of which the one with the best AUC is shown::

    python bench_embeddings.py --aotm aotm2011.csv.gz      # real playlists
    python bench_embeddings.py                             # generated ones
    python bench_embeddings.py --tiny                      # seconds, to see that it runs
    python bench_embeddings.py --csv curve.csv             # writes the table

The curve in the user guide was made by the first, with ``--csv``.
"""

import argparse
import time

import pandas as pd
from machine import machine, version
from playlists import load, some_users
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skmtc import MultitaskPlaylistRanker, evaluate, regularization_path
from skmtc._table import read_memberships
from skmtc.features import PopularityEncoder, SongEmbedding
from skmtc.model_selection import ColdPlaylistSplit

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
METHODS = ["svd", "word2vec", "als"]
SIZES = [16, 32, 64, 128, 256]
USER_L2 = [0.03, 0.1]


def main():
    """Print the curve, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--csv", help="file to write the table to")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--user-share", type=float, default=0.3, help="share of users")
    options = parser.parse_args()
    sizes = [4, 8] if options.tiny else options.sizes
    name, X = load(options.aotm, tiny=options.tiny)
    problem = Problem(X[["user", "playlist", "song"]], 1.0 if options.tiny else options.user_share)
    print(name, problem.sizes())
    rows = []
    for method in available(options.methods):
        for size in sizes:
            rows.append({"data": name} | problem.evaluate(method, size) | problem.sizes())
            print({k: rows[-1][k] for k in list(rows[-1])[1:10]}, flush=True)
            if options.csv:  # after each, as all take long
                table = pd.DataFrame(rows).assign(**machine("gensim", "implicit"))
                table.to_csv(options.csv, index=False)
    print(pd.DataFrame(rows).iloc[:, 1:10].to_string(index=False))


def available(methods):
    """Leave out word2vec if gensim is not installed, and say so."""
    if "word2vec" in methods and version("gensim") is None:
        print("gensim is absent, so word2vec is left out: pip install gensim (Python < 3.14)")
        return [method for method in methods if method != "word2vec"]
    return methods


class Problem:
    """Training playlists for vectors, those of some users for weights, and test playlists.

    Parameters
    ----------
    X : DataFrame
        Membership table.

    user_share : float
        Share of the users with held-out playlists that weights are fitted for.
    """

    def __init__(self, X, user_share):
        train, _ = next(ColdPlaylistSplit(random_state=0).split(X))
        X = X.iloc[train]
        train, test = next(ColdPlaylistSplit(random_state=1).split(X))
        self.all, test = X.iloc[train].reset_index(drop=True), X.iloc[test]
        some = some_users(test, user_share)
        self.train = self.all[self.all["user"].isin(some["user"])]
        self.test = some[some["song"].isin(self.train["song"])]
        table = read_memberships(self.all, user="user", playlist="playlist", song="song")
        self.songs = pd.DataFrame({"song": table.songs.values})
        self.membership = table.membership.T.tocsr()

    def sizes(self):
        """Return the numbers of what is learned from and evaluated by."""
        return {
            "playlists_embedded": self.all["playlist"].nunique(),
            "users_fitted": self.train["user"].nunique(),
            "songs": self.train["song"].nunique(),
            "playlists_evaluated": self.test["playlist"].nunique(),
        }

    def evaluate(self, method, vector_size):
        """Learn vectors, then weights at every penalty; give a row for the best."""
        start = time.process_time()  # of all threads, whatever else the machine does
        features = _features(method, vector_size).fit(self.songs, self.membership)
        embedded = time.process_time()
        ranker = MultitaskPlaylistRanker(
            # A last step that does nothing, as a frozen estimator itself has no `fit_transform`.
            song_features=make_pipeline(FrozenEstimator(features), "passthrough"),
            n_jobs=-1,
        )
        settings = [{"user_l2": user_l2} for user_l2 in USER_L2]
        path = regularization_path(ranker, self.train, settings)
        seconds = time.process_time() - embedded
        values = [evaluate(ranker, self.test, METRICS)[METRICS] for ranker in path]
        best = max(range(len(path)), key=lambda i: values[i]["auc"].mean())
        means = values[best].mean().round(5).to_dict()
        row = {"method": method, "vector_size": vector_size, "user_l2": USER_L2[best]} | means
        row["auc_error"] = round(values[best]["auc"].sem(), 5)
        return row | {
            "embed_cpu_seconds": round(embedded - start, 1),
            "fit_cpu_seconds": round(seconds / len(path), 1),
        }


def _features(method, vector_size):
    embedding = SongEmbedding(method=method, vector_size=vector_size, length=1, random_state=0)
    popularity = make_pipeline(PopularityEncoder(), StandardScaler())
    return ColumnTransformer([("popularity", popularity, ["song"]), ("song", embedding, ["song"])])


if __name__ == "__main__":
    main()
