"""Run `python -m skmtc`: all rankers in the three cold-start settings, on the embedded sample."""

from importlib.util import find_spec

import pandas as pd

from skmtc import (
    CollocatedArtistRanker,
    HistoryRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    compare,
)
from skmtc.datasets import load_sample
from skmtc.features import make_song_features, make_user_features
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

SPLITTERS = [
    ColdPlaylistSplit(random_state=0),
    ColdUserSplit(random_state=0),
    ColdSongSplit(song_size=0.1, random_state=0),
]
METRICS = ["auc", "hit_rate@10", "hit_rate@100"]


def make_rankers(X, setting):
    """Make all rankers; new songs have no popularity to be a feature."""
    features = {
        "song_features": make_song_features(X, popularity=setting != "cold songs", random_state=0),
        "user_features": make_user_features(X),
    }
    rankers = {
        "popularity": PopularityRanker(),
        "same artists": SameArtistRanker(),
        "collocated artists": CollocatedArtistRanker(),
        "own songs": HistoryRanker(),
        "matrix factorization": MatrixFactorizationRanker(random_state=0, **features),
        "ridge": RidgeRanker(**features),
        "pairwise": PairwiseRanker(random_state=0, **features),
        "multitask": MultitaskPlaylistRanker(n_jobs=-1, random_state=0, **features),
    }
    if find_spec("implicit") is None:
        print("matrix factorization is left out: it needs the package `implicit` (extra `mf`)")
        del rankers["matrix factorization"]
    return rankers


def main():
    """Compare the rankers, and recommend songs to three users."""
    X = load_sample().X
    print(
        f"{len(X):,} rows: {X['playlist'].nunique()} playlists of {X['user'].nunique()} users over "
        f"{X['song'].nunique()} songs"
    )
    for splitter in SPLITTERS:
        rankers = make_rankers(X, splitter.setting)
        table = compare(rankers, X, splitter, METRICS, verbose=1)
        print(f"\n{splitter.setting}\n{table[splitter.setting].round(3).to_string()}\n")

    users = pd.DataFrame({"user": X["user"].unique()[:3]})
    ranker = rankers["multitask"].fit(X)
    songs, _ = ranker.recommend(users, n_recommendations=5)
    print("A new playlist for three of the users:")
    for user, best in zip(users["user"], songs, strict=True):
        print(f"  {user}: {', '.join(best)}")


if __name__ == "__main__":
    main()
