"""The paper's three settings on real playlists: 30Music, as a challenge of 2017 published it.

The data are a table of rows (user, playlist, song), one of songs (song, artist, album, tags) and
one of playlists (playlist, created_at, title). Songs in at least 5 playlists and playlists of at
least 5 songs are kept. As release dates are unknown, the new songs are a random tenth. The rankers
are those of `bench_rankers.py`, ours and other packages, and the paper's own set of features. Each
that has something to choose is tuned on training rows of the first split, which are split once
more, among three settings; ``recommended`` has nothing to tune. Then each is fitted on the training
rows of `SEEDS`, five splits that were fixed before anything was run; slow ones on the first of
these::

    python study_30music_2017.py --rows rows.csv.gz --songs songs.csv.gz \
        --playlists playlists.csv.gz --csv study_30music_2017.csv --parts folder
    python study_30music_2017.py ... --rankers popularity MTC          # some, by name
    python study_30music_2017.py ... --ablations --csv ablations_30music_2017.csv
    python study_30music_2017.py ... --times --csv times_30music_2017.csv
    python study_30music_2017.py --tiny                # on a few generated playlists

With `--parts`, a run that was stopped goes on where it was, and rankers of later runs are added.
``..._fits.csv`` has a row per fit, which is written after each; ``..._groups.csv`` has metrics by
group of playlists and songs, and ``..._paper.csv`` the paper's figures beside ours. Seconds are CPU
seconds. Intervals are of 95 %, by bootstrap over users; those of the lead compare rankers playlist
by playlist. With `--ablations`, parts of our ranker are taken away one by one, on the first split.
With `--times`, rankers are timed one after the other.
"""

import argparse
import warnings
from pathlib import Path

import ablations
import pandas as pd
from bench_rankers import rankers
from costs import measure_costs
from machine import version, write_table
from paper import beside_paper
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study import ALL_METRICS, Entry, Study, add_options, part_of_grid, run_study
from study_time_and_titles import TITLES, generate, read

from skmtc import MultitaskPlaylistRanker
from skmtc.features import (
    ArtistEmbedding,
    ArtistPopularityEncoder,
    GenreEncoder,
    PopularityEncoder,
)
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

SEEDS = (0, 1, 2, 3, 4)
SPLITTERS = (
    ColdPlaylistSplit(),
    ColdUserSplit(),
    ColdSongSplit(song_size=0.1, released=None),
)
# As in a training table few playlists have only songs that 5 playlists hold, any will do.
SEARCH_SPLITTERS = {"cold playlists": ColdPlaylistSplit(user_size=0.5, min_song_count=1)}
PACKAGES = ("pandas", "numba", "implicit", "irspack", "rectools-lightfm", "cmfrec", "lightgbm")
REFERENCES = ("recommended", "MTC with history", "MTC")
# Rankers whose fit and evaluation take longer, and how many splits and which share of the training
# users, in searches, they get.
SPLITS = {
    "recommended": 2,
    "BPR on features": 1,
    "MTC, features of the paper": 2,
    "MTC with history and titles": 2,
    "implicit BPR": 1,
    "EASE": 2,
    "LightFM": 2,
    "LightGBM": 1,
}
SEARCH_SHARE = 0.4
# History terms are fitted many times where playlists are few; bench_rankers.py tries these rankers.
SLOW_IF_TINY = ("recommended", "MTC with history", "MTC with history and titles")
# Rankers that are also reported by group of playlists and songs.
GROUPED = (
    "popularity",
    "item kNN",
    "ridge",
    "MTC",
    "MTC with history",
    "recommended",
    "irspack iALS, one-hot",
    "LightFM",
)


def options_of(*points):
    """Return a grid of options of another package."""
    return [{"options": [point]} for point in points]


def points(**values):
    """Return a grid of points, which are told by their parameters' values side by side."""
    return [
        {name: [value] for name, value in zip(values, point, strict=True)}
        for point in zip(*values.values(), strict=True)
    ]


# Three points for each. The first is the default of the ranker or the package's class here.
GRIDS = {
    "item kNN": points(n_neighbors=(200, 200, 50), weighting=("tfidf", "cosine", "tfidf")),
    "WMF": points(n_factors=(64, 64, 128), factor_l2=(0.01, 30.0, 30.0)),
    "ridge": {"l2": [0.3, 0.1, 1.0]},
    "BPR on features": points(user_l2=(1.0, 0.3, 1.0), learning_rate=(0.1, 0.1, 0.05)),
    "MTC": {"user_l2": [0.3, 0.1, 1.0]},
    "implicit ALS": options_of(
        {"factors": 64, "regularization": 0.05, "alpha": 1.0},
        {"factors": 64, "regularization": 10.0, "alpha": 10.0},
        {"factors": 64, "regularization": 100.0, "alpha": 10.0},
    ),
    "implicit BPR": options_of(
        {"factors": 63, "learning_rate": 0.01, "regularization": 0.01},
        {"factors": 63, "learning_rate": 0.05, "regularization": 0.01},
        {"factors": 63, "learning_rate": 0.05, "regularization": 0.1},
    ),
    "implicit item kNN": options_of(
        {"K": 100, "weighting": "cosine"},
        {"K": 100, "weighting": "tfidf"},
        {"K": 500, "weighting": "tfidf"},
    ),
    "irspack RP3beta": options_of(
        {"alpha": 1.0, "beta": 0.0},
        {"alpha": 0.6, "beta": 0.0},
        {"alpha": 0.6, "beta": 0.3},
    ),
    "EASE": options_of({"l2": 300.0}, {"l2": 100.0}, {"l2": 1000.0}),
    "irspack iALS": options_of(
        {"alpha0": 0.1, "reg": 0.003},
        {"alpha0": 0.03, "reg": 0.003},
        {"alpha0": 0.03, "reg": 0.01},
    ),
    "irspack iALS, dense": options_of(
        {"lambda_item_feature": 300.0, "alpha0": 0.03, "reg": 0.003},
        {"lambda_item_feature": 300.0, "alpha0": 0.1, "reg": 0.003},
        {"lambda_item_feature": 30.0, "alpha0": 0.03, "reg": 0.003},
    ),
    "irspack iALS, one-hot": options_of(
        {"lambda_item_feature": 3.0, "alpha0": 0.003, "reg": 0.01},
        {"lambda_item_feature": 3.0, "alpha0": 0.1, "reg": 0.003},
        {"lambda_item_feature": 30.0, "alpha0": 0.03, "reg": 0.003},
    ),
    "LightFM": options_of(
        {"no_components": 64, "epochs": 15},
        {"no_components": 64, "epochs": 30},
        {"no_components": 64, "epochs": 15, "item_alpha": 1e-5},
    ),
    "cmfrec": options_of(
        {"k": 64, "lambda_": 1.0},
        {"k": 64, "lambda_": 10.0},
        {"k": 64, "lambda_": 10.0, "w_item": 100.0},
    ),
    "LightGBM": options_of(
        {"n_estimators": 50, "num_leaves": 15},
        {"n_estimators": 50, "num_leaves": 31},
        {"n_estimators": 100, "num_leaves": 15},
    ),
}
# A fit of these takes longest where songs have vectors; there they have their defaults.
TUNED_FOR_NEW_SONGS = ("ridge", "MTC", "LightFM")
SEARCHED_AS = {
    "MTC, features of the paper": "MTC",
    "MTC with history": "MTC",
    "MTC with history and titles": "MTC",
}


def main():
    """Run the study of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="CSV file with user, playlist, song")
    parser.add_argument("--songs", help="CSV file with song, artist, album, tags")
    parser.add_argument("--playlists", help="CSV file with playlist, created_at, title")
    parser.add_argument("--rankers", nargs="+", help="names of those to run; default: all")
    parser.add_argument("--skip", nargs="+", default=[], help="names of those to leave out")
    parser.add_argument("--splits", type=int, default=len(SEEDS), help="how many splits")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--ablations", action="store_true", help="what parts are worth")
    what.add_argument("--times", action="store_true", help="what rankers cost")
    add_options(parser, SPLITTERS)
    options = parser.parse_args()
    if not options.tiny and None in (options.rows, options.songs, options.playlists):
        parser.error("pass the three tables, or --tiny")
    name, X = read_table(options)
    with warnings.catch_warnings():
        # New songs may be by artists that no training playlist has: these have no vector.
        warnings.filterwarnings("ignore", message=".*unknown.*")
        if options.ablations:
            run_study(make_ablations(name, X, options), options)
        elif options.times:
            table = measure_costs(X, tiny=options.tiny)
            print(table.to_string(index=False))
            if options.csv:
                write_table(table.assign(data=name), options.csv, *PACKAGES)
        else:
            run_study(make_study(name, X, options), options)
            if options.csv:
                path = Path(options.csv)
                table = beside_paper(pd.read_csv(path))
                table.to_csv(path.with_stem(f"{path.stem}_paper"), index=False)


def read_table(options):
    """Return the name and the table of the run."""
    if not options.tiny:
        return "30Music 2017", read(options).drop(columns="created_at")
    X = generate().rename(columns={"genre": "tags"})
    X = X[["user", "playlist", "song", "artist", "tags", "title"]]
    return "generated", X[X["user"].isin(X["user"].unique()[:40])].reset_index(drop=True)


def make_study(name, X, options):
    """Return the study of all rankers, or of those that are asked for."""

    def entries(train, setting):
        chosen = choose_entries(make_entries(train, setting, options), options)
        return {k: v for k, v in chosen.items() if not (options.tiny and k in SLOW_IF_TINY)}

    n_splits = 1 if options.tiny else options.splits
    return Study(
        name,
        X,
        entries,
        SPLITTERS,
        seeds=SEEDS[:n_splits],
        search_splitters=SEARCH_SPLITTERS,
        references=REFERENCES,
        packages=PACKAGES,
        grouped=GROUPED,
    )


def make_ablations(name, X, options):
    """Return the study of the ranker's own parts, or of those that are asked for."""

    def entries(train, setting):
        return choose_entries(ablations.make_variants(train, setting, tiny=options.tiny), options)

    return Study(
        name,
        X,
        entries,
        [splitter for splitter in SPLITTERS if splitter.setting != "cold users"],
        seeds=ablations.SEEDS,
        references=ablations.REFERENCES,
        packages=PACKAGES,
    )


def choose_entries(entries, options):
    """Return the entries that the command line asks for."""
    wanted = options.rankers or list(entries)
    return {k: v for k, v in entries.items() if k in wanted and k not in options.skip}


def make_entries(train, setting, options):
    """Return all rankers of a setting by name."""
    tiny = options.tiny
    plain = train.drop(columns="title")
    everyone = rankers(plain, setting)
    features = everyone["MTC"].song_features
    everyone["MTC, features of the paper"] = (
        MultitaskPlaylistRanker(song_features=paper_features(setting), random_state=0)
        if version("gensim")
        else "not installed: pip install gensim"
    )
    if setting != "cold songs":  # whose playlists are known
        everyone["MTC with history and titles"] = MultitaskPlaylistRanker(
            song_features=features,
            history=("song", "artist", "co-occurrence"),
            playlist_features=TITLES,
            random_state=0,
        )
    return {
        name: Entry(
            ranker,
            grid=[] if isinstance(ranker, str) else grid_of(name, setting, tiny=tiny),
            search_share=1.0 if tiny else SEARCH_SHARE,
            searched_as=SEARCHED_AS.get(name, ""),
            goal=ALL_METRICS,
            n_splits=SPLITS.get(name),
        )
        for name, ranker in everyone.items()
    }


def grid_of(name, setting, *, tiny):
    """Return the points among which a ranker is tuned."""
    if setting != "cold songs" and name in TUNED_FOR_NEW_SONGS:
        return []
    return part_of_grid(GRIDS.get(name, []), tiny=tiny)


def paper_features(setting):
    """Return the paper's features of songs as far as the table has them; blocks have no scale.

    Tags stand in for genres. The constant feature is added by the ranker.
    """
    parts = [
        ("genre", GenreEncoder(min_frequency=0.005), ["tags"]),
        ("artist", ArtistEmbedding(method="word2vec", vector_size=50, random_state=0), ["artist"]),
        ("artist_popularity", _scaled(ArtistPopularityEncoder(log=True)), ["artist"]),
    ]
    if setting != "cold songs":
        parts.append(("popularity", _scaled(PopularityEncoder()), ["song"]))
    return ColumnTransformer(parts)


def _scaled(encoder):
    return make_pipeline(encoder, StandardScaler())


if __name__ == "__main__":
    main()
