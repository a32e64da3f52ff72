"""Quality and time of all rankers, and of what a user might pick instead, on the same splits.

Every ranker is fitted on the same training rows and evaluated by the same code on the same
playlists and candidates, for new playlists, new users and new songs. Where a package has no answer
for a setting, or is not installed, the table says so::

    python bench_rankers.py                            # generated playlists, all three settings
    python bench_rankers.py --aotm aotm2011.csv.gz     # real playlists; without song attributes
    python bench_rankers.py --data 30music_2017 --rows rows.csv.gz --songs songs.csv.gz
                                                       # real playlists; artists, albums and tags
    python bench_rankers.py --tiny                     # seconds, to see that it runs
    python bench_rankers.py --rankers als,mtc          # names that contain these
    python bench_rankers.py --tune                     # choose options of other packages first
    python bench_rankers.py --csv table.csv --values values.csv.gz

With `--values`, what each ranker reached on each playlist is kept, and a later run adds to it, so
that a long comparison may be made in parts, all of the same table and splits; the table is always
made from all of it. Errors are standard errors of the difference from the best ranker of the
setting: over users or, with several seeds, over draws, whose means then count the same. HitRate@K
is recall@K, and all means, that of novelty too, are over the playlists of a draw. The other
packages are optional; all come with ``pip install skmtc[bench]``, where cmfrec is built from
source.

The rows of 30music_2017 have the columns user, playlist and song, its songs the columns song,
artist, album and tags. Songs in at least 5 playlists and playlists of at least 5 songs are kept. As
release dates are unknown, the new songs are a random tenth.

With `--tune`, options of other packages that have a grid in `competitors.py` are chosen by AUC on
the training rows, split once more by the same rule. Ours are run as they are by default.
"""

import argparse
import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
from boosting import LightGBMRanker
from competitors import (
    EASE,
    Cmfrec,
    Competitor,
    ImplicitALS,
    ImplicitBPR,
    ImplicitKNN,
    IrspackIALS,
    IrspackRP3,
    RectoolsLightFM,
)
from machine import machine
from paired import means_with_errors
from playlists import load, read_described_playlists, some_users
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from skmtc import (
    CollocatedArtistRanker,
    ItemKNNRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    evaluate,
    make_ranker,
)
from skmtc.features import (
    ArtistEmbedding,
    IdentityEncoder,
    TagEncoder,
    guess_song_roles,
    make_song_features,
    make_user_features,
)
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

METRICS = ["auc", "hit_rate@10", "hit_rate@100", "novelty@100"]
PACKAGES = ("implicit", "irspack", "rectools-lightfm", "cmfrec", "lightgbm", "gensim")
DATA = ("generated", "aotm2011", "30music_2017")
NO_ARTISTS = "the table has no artists"
# Options of irspack with features. Those for new songs did best on songs held out of training rows
# of 30Music 2017, among five (dense) and eight (one-hot).
IALS_OF_NEW_SONGS = {
    "dense": {"lambda_item_feature": 300.0, "alpha0": 0.03, "reg": 0.003},
    "one-hot": {"lambda_item_feature": 3.0, "alpha0": 0.003, "reg": 0.01},
}
IALS_OF_KNOWN_SONGS = {
    "dense": {"lambda_item_feature": 300.0},
    "one-hot": {"lambda_item_feature": 3.0},
}


def main():
    """Run the comparison of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=DATA, help="which playlists; default: generated ones")
    parser.add_argument("--aotm", help="table of AotM-2011, a CSV file; implies --data aotm2011")
    parser.add_argument("--rows", help="rows of 30music_2017: user, playlist, song")
    parser.add_argument("--songs", help="songs of 30music_2017: song, artist, album, tags")
    parser.add_argument("--user-share", type=float, default=1.0, help="share of the users to read")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--rankers", default="", help="parts of names, separated by commas")
    parser.add_argument("--dimension", type=int, help="of the song vectors of our rankers")
    parser.add_argument("--tune", action="store_true", help="choose options of other packages")
    parser.add_argument("--settings", nargs="+", help="some of the settings")
    parser.add_argument(
        "--user-size", type=float, default=0.2, help="share of users with new playlists in the test"
    )
    parser.add_argument(
        "--playlist-size", type=float, default=0.5, help="share of their playlists in the test"
    )
    parser.add_argument(
        "--random-state", type=int, nargs="+", default=[0], help="seeds of the splits"
    )
    parser.add_argument("--csv", help="file to write the table to")
    parser.add_argument("--values", help="file that keeps the value of each playlist")
    options = parser.parse_args()
    data, X = read(parser, options)
    data += f", user_size={options.user_size:g}, playlist_size={options.playlist_size:g}"
    data += f", random_state={' '.join(map(str, options.random_state))}"
    counts = {name: X[name].nunique() for name in ("user", "playlist", "song")}
    print(f"{data}: {counts}, {len(X)} rows")
    values = run(X, options)
    table = summarize(values, data)
    print(table.drop(columns=["data", "machine", "date", "versions"]).to_string(index=False))
    if options.csv:
        table.to_csv(options.csv, index=False)


def read(parser, options):
    """Return the name and the table of the playlists that the command line asks for."""
    if options.data == "30music_2017":
        if not (options.rows and options.songs):
            parser.error("--data 30music_2017 needs the files --rows and --songs")
        X = read_described_playlists(options.rows, options.songs)
        return "30Music 2017", some_users(X, options.user_share).reset_index(drop=True)
    if options.data == "aotm2011" and not options.aotm:
        parser.error("--data aotm2011 needs the file --aotm")
    return load(options.aotm, tiny=options.tiny, user_share=options.user_share)


def run(X, options):
    """Judge the chosen rankers in all settings; give one row per playlist."""
    kept = Path(options.values) if options.values else None
    parts = [pd.read_csv(kept, low_memory=False)] if kept and kept.exists() else []
    wanted = options.rankers.lower().split(",")
    for splitter in splitters(X, options):
        if options.settings and splitter.setting not in options.settings:
            continue
        draw = splitter.random_state
        train, test = next(splitter.split(X))
        train, test = X.iloc[train], X.iloc[test]
        for name, ranker in rankers(train, splitter.setting, options.dimension).items():
            if any(part in name.lower() for part in wanted):
                if options.tune and getattr(ranker, "grid", ()):
                    ranker = choose(name, ranker, train, splitter)
                part = evaluate_ranker(name, ranker, train, test, splitter.setting).assign(
                    draw=draw
                )
                parts = [_without(p, name, splitter.setting, draw) for p in parts] + [part]
                if kept:
                    pd.concat(parts).to_csv(kept, index=False)
    return pd.concat(parts, ignore_index=True)


def splitters(X, options):
    """Return the splits of the settings that a table allows: new songs need a description."""
    for seed in options.random_state:
        yield ColdPlaylistSplit(
            user_size=options.user_size, playlist_size=options.playlist_size, random_state=seed
        )
        yield ColdUserSplit(random_state=seed)
        if "year" in X:
            yield ColdSongSplit(random_state=seed)
        elif "artist" in X:
            yield ColdSongSplit(song_size=0.1, released=None, random_state=seed)


def rankers(X, setting, dimension=None):
    """Return all rankers by name; a string in place of a ranker says why there is none."""
    described = "artist" in X
    songs = song_features(X, setting)
    if dimension is not None and "song__encode__vector_size" in songs.get_params():
        songs.set_params(song__encode__vector_size=dimension)
    attributes = song_features(X, setting, learned=False) if described else None
    # Attributes of users are those of generated playlists.
    users = make_user_features(X) if "country" in X else None
    history = ("song", "artist", "co-occurrence") if described else ("song", "co-occurrence")
    artist = "artist" if described else None
    ours = {
        "popularity": PopularityRanker(artist=artist),
        "own songs first": OwnSongsRanker(artist=artist),
        "item kNN": ItemKNNRanker(artist=artist),
        "SAGH": SameArtistRanker() if described else NO_ARTISTS,
        "CAGH": CollocatedArtistRanker() if described else NO_ARTISTS,
        "WMF": MatrixFactorizationRanker(
            content_model="mlp" if described else None,
            song_features=attributes,
            user_features=users,
            n_jobs=-1,
            random_state=0,
        ),
        "ridge": RidgeRanker(song_features=songs, user_features=users),
        "BPR on features": PairwiseRanker(song_features=songs, user_features=users, random_state=0),
        "MTC": MultitaskPlaylistRanker(song_features=songs, user_features=users, n_jobs=-1),
        "MTC with history": MultitaskPlaylistRanker(
            song_features=songs, user_features=users, history=history, n_jobs=-1
        ),
        "recommended": make_ranker(X, random_state=0),
    }
    # New songs are ranked for known playlists, so that other models learn vectors of playlists.
    who = {"by": "playlist"} if setting == "cold songs" else {"user_features": users}
    others = {
        "implicit ALS": ImplicitALS(),
        "implicit BPR": ImplicitBPR(),
        "implicit item kNN": ImplicitKNN(),
        "irspack RP3beta": IrspackRP3(),
        "EASE": EASE(),
        "irspack iALS": IrspackIALS(**who),
        "irspack iALS, dense": NO_ARTISTS,
        "irspack iALS, one-hot": NO_ARTISTS,
        "LightFM": RectoolsLightFM(**who),
        "cmfrec": Cmfrec(song_features=attributes, **who),
        "LightGBM": LightGBMRanker(song_features=songs, user_features=users),
    }
    if described:
        dense, one_hot, only_one_hot = (
            plain_features(X, **parts)
            for parts in ({"one_hot": False}, {}, {"artist_vectors": False})
        )
        options = IALS_OF_NEW_SONGS if setting == "cold songs" else IALS_OF_KNOWN_SONGS
        others |= {
            "irspack iALS, dense": IrspackIALS(
                song_features=dense, options=options["dense"], **who
            ),
            "irspack iALS, one-hot": IrspackIALS(
                song_features=one_hot, options=options["one-hot"], **who
            ),
            "LightFM": RectoolsLightFM(song_features=only_one_hot, **who),
        }
    return ours | {name: _reason(ranker, setting) or ranker for name, ranker in others.items()}


def song_features(X, setting, *, learned=True):
    """Make features from the attributes of songs and, if they may be learned, from playlists.

    New songs are in no playlist, so that neither popularity nor a vector of their own is known.
    """
    if "artist" in X:
        new_songs = setting == "cold songs" or not learned
        return make_song_features(X, new_songs=new_songs, random_state=0)
    return make_song_features(X[["song"]], random_state=0)


def plain_features(X, *, artist_vectors=True, one_hot=True):
    """Make the features that users of other packages would: tf-idf tags, vectors, one-hot names."""
    roles = guess_song_roles(X)
    artist = [] if roles.artist is None else [roles.artist]
    parts = [
        ("numeric", StandardScaler(), roles.numeric),
        ("tags", TagEncoder(min_frequency=5), roles.tags),
        ("artist", ArtistEmbedding(random_state=0), artist if artist_vectors else []),
        ("one_hot", IdentityEncoder(), [*artist, *roles.identity] if one_hot else []),
    ]
    used = [part for part in parts if part[-1]]
    return ColumnTransformer(used, sparse_threshold=1.0)


def choose(name, ranker, train, splitter):
    """Choose options by AUC on training rows, which are split once more by the same rule."""
    again = copy(splitter)
    again.random_state = splitter.random_state + 1
    first, second = next(again.split(train))
    scores = []
    for options in ranker.grid:
        tried = clone(ranker).set_params(options=options).fit(train.iloc[first])
        scores.append(evaluate(tried, train.iloc[second], ["auc"])["auc"].mean())
        print(f"{splitter.setting}: {name}: {options}: {scores[-1]:.4f}", flush=True)
    return clone(ranker).set_params(options=ranker.grid[np.argmax(scores)])


def evaluate_ranker(name, ranker, train, test, setting):
    """Fit and evaluate one ranker; give one row per playlist, or one that says why not."""
    about = {"setting": setting, "ranker": name}
    if isinstance(ranker, str):
        print(f"{setting}: {name}: {ranker}", flush=True)
        return pd.DataFrame([about | {"note": ranker}])
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as new artists, of which there is no end
        ranker.fit(train)
        fitted = time.perf_counter()
        values = evaluate(ranker, test, METRICS)[["user", "playlist", *METRICS]]
    seconds = {"fit_seconds": fitted - start, "evaluation_seconds": time.perf_counter() - fitted}
    told = values[METRICS].mean().round(4).to_dict() | {k: round(s, 1) for k, s in seconds.items()}
    print(f"{setting}: {name}: {told}", flush=True)
    options = getattr(ranker, "options", None) or {}
    chosen = ", ".join(f"{option}={value:g}" for option, value in options.items())
    return values.assign(**about, **seconds, chosen=chosen, note="")


def summarize(values, data):
    """Return one row per setting and ranker, also for rankers that cannot."""
    done = values[values["note"].fillna("") == ""]
    keys = ["setting", "ranker"]
    table = means_with_errors(done if done["draw"].nunique() == 1 else by_draw(done), METRICS)
    by_ranker = done.groupby(keys, sort=False)
    about = by_ranker[["fit_seconds", "evaluation_seconds"]].mean()
    about["chosen"] = by_ranker["chosen"].agg(lambda chosen: "; ".join(chosen.dropna().unique()))
    table = table.merge(about.reset_index(), on=keys)
    table["playlists"] = pd.MultiIndex.from_frame(table[keys]).map(by_ranker.size())
    notes = values.loc[values["note"].fillna("") != "", [*keys, "note"]].drop_duplicates()
    table = pd.concat([table, notes], ignore_index=True).round(4)
    table = table.sort_values(["setting", "auc"], ascending=[True, False], kind="stable")
    return table.assign(data=data, **machine(*PACKAGES))


def by_draw(values):
    """Return the means of each draw, in the place of a playlist: all draws count the same."""
    means = values.groupby(["setting", "ranker", "draw"], sort=False)[METRICS].mean().reset_index()
    return means.assign(user=means["draw"], playlist=means["draw"])


def _reason(competitor: Competitor | str, setting):
    """Return why a competitor has no answer; None if it has."""
    if isinstance(competitor, str):
        return competitor
    needs = {"cold users": competitor.user_features, "cold songs": competitor.song_features}
    if setting in competitor.cannot:
        return f"cannot: {competitor.cannot[setting]}"
    if setting in needs and needs[setting] is None:
        return f"cannot: it has no attributes of {setting.removeprefix('cold ')} here"
    return competitor.missing()


def _without(values, ranker, setting, draw):
    same = (values["ranker"] == ranker) & (values["setting"] == setting) & (values["draw"] == draw)
    return values[~same]


if __name__ == "__main__":
    main()
