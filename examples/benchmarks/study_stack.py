"""The recommended ranker beside its parts, on training rows of unlike catalogues.

The data are the playlists of 30Music as a challenge of 2017 published them, with artist, album and
tags of songs: a table of rows (user, playlist, song) and a table of songs (song, artist, album,
tags). Songs in at least 5 playlists and playlists of at least 5 songs are kept. Other catalogues
are made of it: with ids alone, without users, with numbers and one genre in the place of names and
tags, with 150 users of like taste whose items are artists, and small. The test rows of
``ColdPlaylistSplit(random_state=0)`` are never used: its training rows are split once more::

    python study_stack.py --rows rows.csv.gz --songs songs.csv.gz --csv table.csv
    python study_stack.py --rows rows.csv.gz --songs songs.csv.gz --aotm aotm2011.csv.gz
    python study_stack.py --tiny                # one setting, on generated playlists

`make_ranker` is fitted once for each catalogue and setting, and evaluated beside its parts, which
it has fitted on the same rows, popularity, and the songs that a user has first. With `--parts`, a
run that was stopped continues where it was. Intervals are of 95 %, by bootstrap over users; those
of the lead compare the recommended ranker with another playlist by playlist.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from intervals import with_intervals
from machine import machine
from playlists import filter_until_stable, read_described_playlists, read_playlists, some_users
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from study import Parts

from skmtc import OwnSongsRanker, PopularityRanker, evaluate, make_ranker
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
RECOMMENDED = "recommended"
AOTM = "AotM-2011, ids"
IDS = ["user", "playlist", "song"]
SEED = 1
# Position of each setting in `StackingRanker.coef_`.
SITUATIONS = {"new playlists": (0, 1), "new users": (0, 2), "new songs": (1, 0)}


def main():
    """Run all catalogues and settings, print the tables, and write them after each catalogue."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="CSV file with the columns user, playlist, song")
    parser.add_argument("--songs", help="CSV file with the columns song, artist, album, tags")
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file")
    parser.add_argument("--user-share", type=float, default=1.0, help="share of users to read")
    parser.add_argument("--catalogues", nargs="+", help="names of catalogues; default: all")
    parser.add_argument("--settings", nargs="+", choices=list(SITUATIONS), default=[*SITUATIONS])
    parser.add_argument("--csv", help="file to write the table to")
    parser.add_argument("--parts", help="folder for finished settings, which later runs reuse")
    parser.add_argument("--tiny", action="store_true", help="a few generated playlists")
    options = parser.parse_args()
    if bool(options.rows and options.songs) == options.tiny:
        parser.error("pass either --rows and --songs or --tiny")
    if options.tiny:
        options.settings = options.settings[:1]
    tables = []
    for name, X in read(options).items():
        if options.catalogues and name not in options.catalogues:
            continue
        counts = ", ".join(f"{X[column].nunique()} {column}s" for column in IDS if column in X)
        print(f"{name}: {len(X)} rows, {counts}", flush=True)
        values = run_catalogue(name, X, options)
        table = summarize(values).assign(catalogue=name, **counts_of(X), **machine())
        print(table[["setting", "ranker", *METRICS, "weight"]].to_string(index=False), flush=True)
        tables.append(table)
        if options.csv:
            pd.concat(tables, ignore_index=True).to_csv(options.csv, index=False)


def read(options):
    """Return the training rows of all catalogues, by name."""
    if options.tiny:
        X = make_playlists(n_users=15, n_playlists=60, n_songs=80, random_state=0)
        tags = X["genre"] + "|" + (X["year"] // 10 * 10).astype(str)
        X = X[[*IDS, "artist"]].assign(tags=tags)
        return {"all columns": X}
    X = read_described_playlists(options.rows, options.songs)
    X = training_rows(some_users(X, options.user_share), ColdPlaylistSplit(random_state=0))
    catalogues = {
        "all columns": X,
        "ids": X[IDS],
        "no users": X.drop(columns="user"),
        "numbers and a genre": numbers_and_genre(X),
        "few users": few_users(X),
        "few playlists": some_playlists(X, 1500),
    }
    if options.aotm:
        split = ColdPlaylistSplit(user_size=0.11025, playlist_size=0.4999, random_state=20)
        catalogues[AOTM] = training_rows(read_playlists(options.aotm), split)
    return catalogues


def training_rows(X, splitter):
    """Return the training rows of a split."""
    train, _ = next(splitter.split(X))
    return X.iloc[train].reset_index(drop=True)


def numbers_and_genre(X, n_numbers=10, n_genres=20, noise=0.3):
    """Describe songs by one of their tags, and by numbers that are made of all of them.

    A number is the mean of random numbers of the tags, with noise; there are no users.
    """
    rng = np.random.default_rng(0)
    songs = X.drop_duplicates("song").set_index("song")["tags"].dropna().str.split("|")
    tags = songs.explode()
    numbers_of_tag = pd.DataFrame(
        rng.standard_normal((tags.nunique(), n_numbers)), index=np.sort(tags.unique())
    )
    numbers = numbers_of_tag.loc[tags].set_index(tags.index).groupby(level=0).mean()
    numbers += noise * numbers.to_numpy().std() * rng.standard_normal(numbers.shape)
    frequent = tags[tags.isin(tags.value_counts().index[:n_genres])]
    genre = ("genre" + frequent).groupby(level=0).first().rename("genre")
    about = numbers.add_prefix("number").join(genre)
    return X[["playlist", "song"]].merge(about, left_on="song", right_index=True, how="left")


def few_users(X, n_users=150):
    """Put users of like taste together, as if they were presenters, and rank their artists."""
    user, artist = pd.factorize(X["user"])[0], pd.factorize(X["artist"].fillna("unknown"))[0]
    counts = csr_array((np.ones(len(X)), (user, artist)))
    counts.data = np.log1p(counts.data)
    vectors = TruncatedSVD(32, random_state=0).fit_transform(counts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    groups = KMeans(n_users, n_init=1, random_state=0).fit_predict(vectors)
    shows = pd.DataFrame({"user": groups[user], "playlist": X["playlist"], "song": X["artist"]})
    return filter_until_stable(shows.drop_duplicates(), fewest_playlists=5, fewest_songs=5)


def some_playlists(X, n_playlists):
    """Return the rows of random users who have so many playlists, without songs of one or two."""
    counts = X.groupby("user")["playlist"].nunique().sample(frac=1, random_state=0)
    X = X[X["user"].isin(counts.index[counts.cumsum() <= n_playlists])]
    return filter_until_stable(X, fewest_playlists=3, fewest_songs=5)


def run_catalogue(name, X, options):
    """Return a row per setting, ranker and held-out playlist."""
    parts, tables = Parts(options.parts), []
    for setting, splitter in splitters(X).items():
        if setting in options.settings:
            part = f"{name} {setting}".replace(" ", "_")
            tables.append(parts.get(part, lambda: run(setting, splitter, X)))  # noqa: B023
    return pd.concat(tables, ignore_index=True)


def splitters(X):
    """Return the splitters of the settings that a catalogue allows."""
    ids = {} if "user" in X else {"user": None}
    found = {"new users": ColdUserSplit(random_state=SEED, **ids)}
    if "user" in X:
        found["new playlists"] = ColdPlaylistSplit(
            user_size=0.5, min_song_count=1, random_state=SEED
        )
    if len(X.columns) > len(IDS):
        found["new songs"] = ColdSongSplit(song_size=0.1, released=None, random_state=SEED, **ids)
    return found


def run(setting, splitter, X):
    """Fit the recommended ranker, and evaluate it beside its parts and two baselines."""
    train, test = next(splitter.split(X))
    train, test = X.iloc[train], X.iloc[test]
    user = "user" if "user" in X else None
    artist = "artist" if "artist" in X else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as new artists, of which there is no end
        start = time.process_time()
        stack = make_ranker(train, user=user, random_state=0).fit(train)
        seconds = time.process_time() - start
        rankers = {RECOMMENDED: stack, **stack.named_estimators_}
        if setting == "new songs":
            del rankers["multitask"]  # its features are those of known songs
        rankers["popularity"] = PopularityRanker(user=user, artist=artist).fit(train)
        rankers["own songs first"] = OwnSongsRanker(user=user, artist=artist).fit(train)
        weights = dict(zip(stack.names_, stack.coef_[SITUATIONS[setting]], strict=True))
        tables = []
        for name, ranker in rankers.items():
            values = evaluate(ranker, test, METRICS)
            if user is None:
                values["user"] = values["playlist"]
            weight = weights.get(name, np.nan)
            tables.append(values[["user", "playlist", *METRICS]].assign(ranker=name, weight=weight))
    return pd.concat(tables, ignore_index=True).assign(setting=setting, fit_cpu_seconds=seconds)


def summarize(values):
    """Return a row per setting and ranker: means, leads, weights and seconds of the fit."""
    keys = ["setting", "ranker"]
    table = with_intervals(values, METRICS, reference=RECOMMENDED).round(5)
    # A part that was kept in a folder has empty cells for the baselines.
    values = values.assign(weight=pd.to_numeric(values["weight"]))
    about = values.groupby(keys)[["weight", "fit_cpu_seconds"]].first().round(2)
    return table.merge(about.reset_index(), on=keys)


def counts_of(X):
    """Return the numbers of playlists, songs and users of a catalogue."""
    names = {"playlists": "playlist", "songs": "song", "users": "user"}
    return {name: X[column].nunique() for name, column in names.items() if column in X}


if __name__ == "__main__":
    main()
