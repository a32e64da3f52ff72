"""CPU seconds of rankers: to fit, to tune, to evaluate and to recommend, on the same rows."""

import time

import pandas as pd
from bench_rankers import rankers
from playlists import some_users
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.datasets import make_playlists
from skmtc.metrics import playlist_scoring
from skmtc.model_selection import ColdPlaylistSplit

METRICS = ("auc", "hit_rate@10", "hit_rate@100")
USER_SHARE = 0.25
MULTITASK = {"user_l2": [0.1, 0.3, 1.0, 3.0], "playlist_l1": [0.1, 0.2, 1.0]}


def twelve(first, firsts, second, seconds):
    """Return twelve points of options of another package."""
    return {"options": [{first: a, second: b} for a in firsts for b in seconds]}


# Twelve points each; popularity and the recommended ranker have nothing to tune.
GRIDS = {
    "popularity": None,
    "item kNN": {"n_neighbors": [50, 100, 200, 500, 1000, 2000], "weighting": ["tfidf", "cosine"]},
    "ridge": {"l2": [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0]},
    "MTC": MULTITASK,
    "MTC with history": MULTITASK,
    "recommended": None,
    "implicit ALS": twelve("factors", (32, 64, 128), "regularization", (0.05, 1.0, 10.0, 100.0)),
    "irspack iALS": twelve("alpha0", (0.01, 0.03, 0.1), "reg", (0.001, 0.003, 0.01, 0.03)),
    "irspack iALS, one-hot": twelve(
        "lambda_item_feature", (3.0, 30.0, 300.0), "alpha0", (0.003, 0.01, 0.03, 0.1)
    ),
    "irspack RP3beta": twelve("alpha", (0.6, 0.8, 1.0), "beta", (0.0, 0.2, 0.4, 0.6)),
    "EASE": {"options": [{"l2": 10.0 * 2**k} for k in range(12)]},
    "LightFM": twelve("no_components", (32, 64, 128), "item_alpha", (0.0, 1e-6, 1e-5, 1e-4)),
}


def measure_costs(X, *, tiny):
    """Return one row per ranker: CPU seconds of each step, on playlists of a share of the users.

    New playlists of known users are held out, evaluated by `evaluate`, and get the best 100 songs
    by `recommend`; a search evaluates twelve settings on training rows, split once more. All
    rankers go through the same code, so differences are those of models. The share of the users is
    small because twelve fits of each ranker take long.
    """
    X = X.drop(columns="title")
    X = X if tiny else some_users(X, USER_SHARE).reset_index(drop=True)
    splitter = ColdPlaylistSplit(user_size=0.5, min_song_count=1, random_state=0)
    train, test = (X.iloc[rows] for rows in next(splitter.split(X)))
    compile_kernels()
    everyone = rankers(train, "cold playlists")
    rows = []
    for name, grid in GRIDS.items():
        ranker = everyone[name]
        if isinstance(ranker, str):
            rows.append({"ranker": name, "note": ranker})
            continue
        if tiny and grid is not None:
            grid = {key: values[:1] for key, values in grid.items()}
        rows.append({"ranker": name, **measure(ranker, grid, splitter, train, test), "note": ""})
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    sizes = {"playlists": train["playlist"].nunique(), "songs": train["song"].nunique()}
    sizes["test_playlists"] = test["playlist"].nunique()
    return table.assign(rows=len(train), **sizes)


def measure(ranker, grid, splitter, train, test):
    """Return CPU seconds of fit, evaluate, recommend and, if there is a grid, a search."""
    times = {}
    fitted, times["fit_seconds"] = timed(lambda: clone(ranker).fit(train))
    _, times["evaluate_seconds"] = timed(lambda: evaluate(fitted, test, METRICS))
    queries = test[["user", "playlist"]].drop_duplicates()
    _, times["recommend_seconds"] = timed(lambda: fitted.recommend(queries, n_recommendations=100))
    if grid is not None:
        search = GridSearchCV(
            ranker, grid, scoring=playlist_scoring(*METRICS), refit=False, cv=splitter
        )
        _, times["tune_seconds"] = timed(lambda: search.fit(train))
    return times


def compile_kernels():
    """Fit once on a few rows, so that no ranker is charged for compiling."""
    X = make_playlists(preset="tiny", random_state=0)
    terms = ("song", "artist", "co-occurrence")
    ranker = MultitaskPlaylistRanker(history=terms, random_state=0).fit(X.drop(columns="year"))
    ranker.recommend(X[["user"]].head(2))


def timed(call):
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    result = call()
    return result, round(time.process_time() - start, 2)
