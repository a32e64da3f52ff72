"""What titles of playlists, and weights that fade with time, are worth on real playlists.

The data are the playlists of 30Music as a challenge of 2017 published them: a table of rows (user,
playlist, song), one of songs (song, artist, album, tags) and one of playlists (playlist,
created_at, title), where words of titles are joined by "|". Songs in at least 5 playlists and
playlists of at least 5 songs are kept::

    python study_time_and_titles.py --rows rows.csv.gz --songs songs.csv.gz \
        --playlists playlists.csv.gz --csv table.csv
    python study_time_and_titles.py --tiny              # seconds, on generated playlists

Rankers are fitted on the training rows of one split of each setting, and evaluated on its test
rows. Those with titles have `playlist_features`; "recommended" is what `make_ranker` returns for
the table with or without titles; those with a half-life weigh rows by `half_life_weights`
of the date of the playlist. Intervals are of 95 %, by bootstrap over users.
"""

import argparse
import time

import numpy as np
import pandas as pd
from machine import write_table
from playlists import filter_until_stable

from skmtc import MultitaskPlaylistRanker, PopularityRanker, evaluate, make_ranker
from skmtc.datasets import make_playlists
from skmtc.features import make_playlist_features, make_song_features
from skmtc.model_selection import ColdPlaylistSplit, ColdUserSplit, TimeSplit, half_life_weights

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
HISTORY = ("song", "artist", "co-occurrence")
TITLES = make_playlist_features(text=["title"])
HALF_LIVES = {"no weights": None, "half-life of 2 years": 730, "half-life of 1 year": 365}


def main():
    """Run all settings, and print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="CSV file with user, playlist, song")
    parser.add_argument("--songs", help="CSV file with song, artist, album, tags")
    parser.add_argument("--playlists", help="CSV file with playlist, created_at, title")
    parser.add_argument("--tol", type=float, default=1e-3, help="tolerance of fits")
    parser.add_argument("--studies", nargs="*", help="names of those to run; default: all")
    parser.add_argument("--tiny", action="store_true", help="small, generated playlists")
    parser.add_argument("--csv", help="file for the figures")
    options = parser.parse_args()
    if not options.tiny and None in (options.rows, options.songs, options.playlists):
        parser.error("the three tables are needed, or --tiny")
    X = generate() if options.tiny else read(options)
    chosen = [s for s in settings() if options.studies is None or s[0] in options.studies]
    tables = [run(name, X, cv, rankers, options.tol) for name, cv, rankers in chosen]
    table = pd.concat(tables, ignore_index=True)
    if options.csv:
        write_table(table, options.csv, "pandas")


def settings():
    """Return name, splitter and rankers of each setting."""
    with_titles = {"playlist_features": TITLES}
    titles = {
        "multitask": {},
        "multitask, titles": with_titles,
        "multitask, history": {"history": HISTORY},
        "multitask, history, titles": {"history": HISTORY} | with_titles,
    }
    users = {name: titles[name] for name in ("multitask", "multitask, titles")}
    recommended: dict[str, dict] = {"recommended": {}, "recommended, titles": {}}
    titles, users = titles | recommended, users | recommended
    return [
        ("new playlists", ColdPlaylistSplit(random_state=0), titles),
        ("new users", ColdUserSplit(random_state=0), users),
        ("later playlists", TimeSplit(), HALF_LIVES),
    ]


def run(study, X, cv, rankers, tol):
    """Fit the rankers of one study, and return their metrics, with intervals."""
    ((train, test),) = cv.split(X)
    train, test = X.iloc[train].reset_index(drop=True), X.iloc[test]
    tests = {"all": test}
    if not isinstance(cv, TimeSplit):
        tests["with a title"] = test[test["title"].notna()]
    tables = []
    for name, parameters in rankers.items():
        if isinstance(cv, TimeSplit):
            fits = weighted(train, name, parameters, tol)
        elif name.startswith("recommended"):
            table = train if name.endswith("titles") else train.drop(columns="title")
            fits = [(name, make_ranker(table, random_state=0), table)]
        else:
            features = song_features(train)
            ranker = MultitaskPlaylistRanker(
                song_features=features, tol=tol, random_state=0, **parameters
            )
            fits = [(name, ranker, train)]
        for label, ranker, table in fits:
            start = time.perf_counter()
            ranker.fit(table)
            seconds = round(time.perf_counter() - start, 1)
            for which, rows in tests.items():
                found = summarize(evaluate(ranker, rows, METRICS, by="summary", random_state=0))
                told = {"study": study, "playlists": which, "ranker": label, "seconds": seconds}
                tables.append(found.assign(**told))
                print(f"{told}\n{found[['setting', 'n_playlists', *METRICS]]}\n", flush=True)
    return pd.concat(tables, ignore_index=True)


def summarize(summary):
    """Return one row per setting, with metrics and their intervals as columns."""
    table = summary.pivot(
        index=["setting", "n_playlists"], columns="metric", values=["mean", "low", "high"]
    ).round(4)
    suffix = {"mean": "", "low": "_low", "high": "_high"}
    table.columns = [f"{metric}{suffix[part]}" for part, metric in table.columns]
    return table.reset_index()


def song_features(train):
    """Return features of songs, and of nothing else."""
    return make_song_features(train.drop(columns=["title", "created_at"]), random_state=0)


def weighted(train, name, half_life, tol):
    """Return rankers with weights of a half-life: name, ranker and the table to fit it on."""
    table, weight = train, None
    if half_life is not None:
        weight = "weight"
        table = train.assign(weight=half_life_weights(train["created_at"], half_life))
    multitask = MultitaskPlaylistRanker(
        song_features=song_features(train), weight=weight, tol=tol, random_state=0
    )
    return [
        (f"popularity, {name}", PopularityRanker(weight=weight), table),
        (f"multitask, {name}", multitask, table),
    ]


def read(options):
    """Return the playlists of the files, with all that is known of songs and playlists."""
    rows = filter_until_stable(pd.read_csv(options.rows), fewest_playlists=5, fewest_songs=5)
    songs = pd.read_csv(options.songs, dtype={"artist": str, "album": str, "tags": str})
    playlists = pd.read_csv(options.playlists, dtype={"title": str})
    playlists = playlists[["playlist", "created_at", "title"]]
    return rows.merge(songs, on="song", how="left").merge(playlists, on="playlist", how="left")


def generate():
    """Return generated playlists with titles that name the most frequent genre, and dates."""
    X = make_playlists(random_state=0)
    named = X.dropna(subset="genre")
    genres = named.groupby("playlist")["genre"].agg(lambda names: names.mode().iloc[0])
    genres = genres.reindex(X["playlist"].unique())
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 2000, len(genres)), "D")
    created = pd.Series(pd.Timestamp("2009-01-01") + days, genres.index)
    return X.assign(title=X["playlist"].map(genres), created_at=X["playlist"].map(created))


if __name__ == "__main__":
    main()
