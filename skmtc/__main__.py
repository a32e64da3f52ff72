"""Run `python -m skmtc`: the rankers in the three cold-start settings, on generated playlists."""

from time import perf_counter

import numpy as np
import pandas as pd

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import load_sample

RANKERS = {
    "popularity": PopularityRanker(),
    "multitask": MultitaskPlaylistRanker(user_l2=0.3, playlist_l1=1.0, shared_l1=0.001, n_jobs=-1),
}


def cold_playlists(X):
    """Hold out every fifth playlist; its user and its songs are known from other playlists."""
    playlists = X["playlist"].drop_duplicates()
    test = X["playlist"].isin(playlists.iloc[::5])
    known = X["user"].isin(X["user"][~test]) & X["song"].isin(X["song"][~test])
    return X[~test], X[test & known]


def cold_users(X):
    """Hold out every fifth user with all playlists; their songs are known from others."""
    users = X["user"].drop_duplicates()
    test = X["user"].isin(users.iloc[::5])
    return X[~test], X[test & X["song"].isin(X["song"][~test])]


def cold_songs(X):
    """Hold out the latest released songs; the playlists are known by their other songs."""
    test = X["year"] >= X.drop_duplicates("song")["year"].quantile(0.9)
    return X[~test], X[test & X["playlist"].isin(X["playlist"][~test])]


SETTINGS = {
    "cold playlists": cold_playlists,
    "cold users": cold_users,
    "cold songs": cold_songs,
}


def main():
    """Compare the rankers and print the mean AUC and the time to fit."""
    X = load_sample().X
    print(
        f"{len(X):,} rows: {X['playlist'].nunique()} playlists of {X['user'].nunique()} users over "
        f"{X['song'].nunique()} songs\n"
    )
    rows = []
    for setting, split in SETTINGS.items():
        train, test = (part.drop(columns="year") for part in split(X))
        for name, ranker in RANKERS.items():
            start = perf_counter()
            ranker.fit(train)
            seconds = perf_counter() - start
            rows.append((setting, name, ranker.score(test), seconds))
    table = pd.DataFrame(rows, columns=["setting", "ranker", "AUC", "fit [s]"])
    print(table.round({"AUC": 3, "fit [s]": 2}).to_string(index=False))

    users = pd.DataFrame({"user": X["user"].unique()[:3]})
    songs, _ = (
        RANKERS["multitask"].fit(X.drop(columns="year")).recommend(users, n_recommendations=5)
    )
    print("\nA new playlist for three of the users:")
    for user, best in zip(users["user"], np.asarray(songs), strict=True):
        print(f"  {user}: {', '.join(best)}")


if __name__ == "__main__":
    main()
