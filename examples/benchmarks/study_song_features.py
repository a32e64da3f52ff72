"""What the defaults of `make_song_features` are worth: each is changed alone, on training rows.

The data are the playlists of 30Music as a challenge of 2017 published them, with artist, album and
tags of songs: a table of rows (user, playlist, song) and a table of songs (song, artist, album,
tags). Songs in at least 5 playlists and playlists of at least 5 songs are kept. In each setting the
test rows of the first split are never used: the training rows are split twice more by the same
rule, with seeds 1 and 2, and metrics are means over the held-out playlists of both::

    python study_song_features.py --rows rows.csv.gz --songs songs.csv.gz --csv table.csv
    python study_song_features.py --rows rows.csv.gz --songs songs.csv.gz --parts folder
    python study_song_features.py --tiny                # seconds, on generated playlists

With `--parts`, a run that was stopped continues where it was. Intervals are of 95 %, by bootstrap
over users; those of the lead of the default compare it with a variant playlist by playlist.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import Any

import pandas as pd
from intervals import with_intervals
from machine import machine, version
from playlists import read_described_playlists
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from study import Parts

from skmtc import MultitaskPlaylistRanker, RidgeRanker, evaluate
from skmtc.datasets import make_playlists
from skmtc.features import ArtistPopularityEncoder, make_song_features
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
DEFAULT = "default"
SEEDS = (1, 2)


@dataclass
class Setting:
    """Rankers that differ in one parameter, and who is cold.

    Attributes
    ----------
    splitter : type
        Class of the splitter.

    options : dict
        Its parameters, without the seed.

    ranker : estimator
        The ranker with all defaults, without features.

    new_songs : bool
        Which set of features `make_song_features` makes.

    variants : callable
        Return parameters of the ranker by name of the variant, from its features.
    """

    splitter: type
    options: dict
    ranker: Any
    new_songs: bool
    variants: Any

    def split(self, X, seed):
        """Return training and test rows."""
        splitter = self.splitter(**self.options, random_state=seed)
        train, test = next(splitter.split(X))
        return X.iloc[train], X.iloc[test]


def main():
    """Run all settings, print the tables, and write them after each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="CSV file with the columns user, playlist, song")
    parser.add_argument("--songs", help="CSV file with the columns song, artist, album, tags")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--csv", help="file to write the table to")
    parser.add_argument("--parts", help="folder for finished variants, which later runs reuse")
    parser.add_argument("--tiny", action="store_true", help="a few generated playlists")
    options = parser.parse_args()
    if bool(options.rows and options.songs) == options.tiny:
        parser.error("pass either --rows and --songs or --tiny")
    if options.tiny:
        name, X = "generated", generate()
    else:
        name, X = "30Music", read_described_playlists(options.rows, options.songs)
    print(
        f"{name}: {X['playlist'].nunique()} playlists of {X['user'].nunique()} users, {len(X)} rows"
    )
    tables = []
    for setting in options.settings:
        seeds = SEEDS[:1] if options.tiny else SEEDS
        values = run_setting(setting, X, Parts(options.parts), seeds)
        tables.append(summarize(values).assign(data=name, **machine("gensim")))
        print(tables[-1][["setting", "variant", *METRICS]].to_string(index=False), flush=True)
        if options.csv:
            pd.concat(tables, ignore_index=True).to_csv(options.csv, index=False)


def generate():
    """Return a small table with the same columns, whose tags are a genre and a decade."""
    X = make_playlists(n_users=30, n_playlists=90, n_songs=150, random_state=0)
    tags = X["genre"] + "|" + (X["year"] // 10 * 10).astype(str)
    return X[["user", "playlist", "song", "artist"]].assign(tags=tags)


def run_setting(name, X, parts, seeds):
    """Return a row per variant, seed and held-out playlist."""
    setting = SETTINGS[name]
    train, _ = setting.split(X, 0)
    features = make_song_features(train, new_songs=setting.new_songs, random_state=0)
    variants = {DEFAULT: {}} | setting.variants(features)
    values = []
    for variant, parameters in variants.items():
        ranker = setting.ranker.set_params(song_features=features)
        for seed in seeds:
            part = parts.get(
                f"{name} {variant} {seed}".replace("/", "-"),
                lambda: run(ranker, parameters, *setting.split(train, seed)),  # noqa: B023
            )
            # A playlist may be held out by both seeds.
            part["playlist"] = part["playlist"].map(lambda one: f"{seed}:{one}")  # noqa: B023
            values.append(part.assign(setting=name, ranker=variant))
        means = pd.concat(values[-len(seeds) :])[[*METRICS, "fit_seconds"]].mean()
        print(f"{name}: {variant}: {means.round(4).to_dict()}", flush=True)
    return pd.concat(values, ignore_index=True)


def run(ranker, parameters, train, test):
    """Fit a copy of a ranker; return a row per held-out playlist."""
    # New songs may be by artists without a vector.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*unknown.*")
        ranker = clone(ranker).set_params(**parameters)
        start = time.perf_counter()
        ranker.fit(train)
        seconds = time.perf_counter() - start
        values = evaluate(ranker, test, METRICS)[["user", "playlist", *METRICS]]
    return values.assign(n_features=len(ranker.feature_names_out_), fit_seconds=seconds)


def summarize(values):
    """Return a row per variant: means, leads of the default, number of features, seconds."""
    table = with_intervals(values, METRICS, reference=DEFAULT).round(5)
    keys = ["setting", "ranker"]
    about = values.groupby(keys)[["n_features", "fit_seconds"]].mean().round(1)
    table = table.merge(about.reset_index(), on=keys)
    return table.rename(columns={"ranker": "variant"})


def new_song_variants(features):
    """Return the variants of the multitask ranker for new songs."""
    artist_popularity = Pipeline(
        [("encode", ArtistPopularityEncoder(log=True)), ("scale", StandardScaler())]
    )
    added = [*features.transformers, ("artist_popularity", artist_popularity, ["artist"])]
    word2vec = encoding("artist", method="word2vec", vector_size=50)
    return (
        {f"block length {length}": lengths(features, length) for length in (1, 2, 6)}
        | {"without tags": {"song_features__tags": "drop"}}
        | {f"tags: {n} dimensions": encoding("tags", n_components=n) for n in (32, 64, 256)}
        | {"without artist vectors": {"song_features__artist": "drop"}}
        | {f"artists: {n} dimensions": encoding("artist", vector_size=n) for n in (32, 128)}
        | ({"artists: word2vec, 50 dimensions": word2vec} if version("gensim") else {})
        | {"with the artist's popularity": {"song_features__transformers": added}}
        | {"without history": {"history": None}}
        | {f"playlist_l1={value}": {"playlist_l1": value} for value in (1.0, 0.1, 0.05)}
    )


def ridge_variants(features):
    """Return the variants of ridge regression for new songs."""
    return (
        {
            "without identities": {"song_features__identity": "drop"},
            "without tag identities": {"song_features__tag_identity": "drop"},
            "identities: weight 1": weights(features, identity=1.0),
        }
        | {f"block length {length}": lengths(features, length) for length in (1, 6)}
        | {f"l2={value}": {"l2": value} for value in (0.1, 1.0)}
    )


def new_playlist_variants(features):
    """Return the variants of the multitask ranker for new playlists."""
    return {
        "without artist vectors": {"song_features__artist": "drop"},
        "without tags": {"song_features__tags": "drop"},
        "tags: weight 1": weights(features, tags=1.0),
        "tags: 128 dimensions": encoding("tags", n_components=128),
        "without song vectors": {"song_features__song": "drop"},
        "popularity: length 3": weights(features, popularity=3.0),
    } | {f"playlist_l1={value}": {"playlist_l1": value} for value in (1.0, 0.1)}


def lengths(features, length):
    """Return the parameters that give all blocks a length."""
    names = [name for name in features.get_params() if name.endswith("__scale__length")]
    return {f"song_features__{name}": float(length) for name in names}


def encoding(part, **parameters):
    """Return parameters of the encoder of a part."""
    return {f"song_features__{part}__encode__{name}": v for name, v in parameters.items()}


def weights(features, **changed):
    """Return the weights of parts, some of them changed."""
    return {"song_features__transformer_weights": (features.transformer_weights or {}) | changed}


COLD_SONGS = {"song_size": 0.1, "released": None}
SETTINGS = {
    "new songs": Setting(
        ColdSongSplit,
        COLD_SONGS,
        MultitaskPlaylistRanker(history=("artist",), random_state=0),
        True,
        new_song_variants,
    ),
    "new songs by ridge": Setting(ColdSongSplit, COLD_SONGS, RidgeRanker(), True, ridge_variants),
    "new playlists": Setting(
        ColdPlaylistSplit,
        {},
        MultitaskPlaylistRanker(history=("song", "artist", "co-occurrence"), random_state=0),
        False,
        new_playlist_variants,
    ),
}


if __name__ == "__main__":
    main()
