"""What the studies share: tuning on training rows, judging, and tables that grow by setting."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from intervals import with_intervals
from machine import machine
from playlists import some_users
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from skmtc import evaluate
from skmtc.metrics import make_playlist_scorer

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
REFERENCE = "multitask"
PACKAGES = ("pandas", "implicit", "gensim", "numba")


@dataclass
class Entry:
    """A ranker that takes part in a study.

    Attributes
    ----------
    ranker : estimator
        The ranker, not fitted.

    grid : dict
        Values of its parameters to choose from; empty where there is nothing to choose.

    tuned_as : str
        Name of an earlier ranker whose choice is taken over.
    """

    ranker: BaseEstimator
    grid: dict = field(default_factory=dict)
    tuned_as: str = ""


def add_options(parser, splitters, *, search_share):
    """Add the options that all studies have."""
    settings = [splitter.setting for splitter in splitters]
    parser.add_argument("--settings", nargs="+", choices=settings, default=settings)
    parser.add_argument(
        "--search-share", type=float, default=search_share, help="share of users to tune with"
    )
    parser.add_argument("--jobs", type=int, default=-1, help="number of threads")
    parser.add_argument("--csv", help="file to write the table to")
    parser.add_argument("--tiny", action="store_true", help="a few generated playlists")


def part_of_grid(grid, *, tiny):
    """Give a grid, or its first point."""
    return {name: values[:1] if tiny else values for name, values in grid.items()}


def run_study(name, X, splitters, make_entries, options):
    """Run the chosen settings, print what was seen, and write it after each.

    Parameters
    ----------
    name : str
        Name of the data.

    X : DataFrame
        Membership table.

    splitters : sequence of splitters
        The settings: who is cold.

    make_entries : callable
        Gives entries by name from the training rows and the name of the setting.

    options : Namespace
        As `add_options` makes them.
    """
    print(f"{name}: {_counts(X)}, {X['song'].nunique()} songs, {len(X)} rows", flush=True)
    share = 1.0 if options.tiny else options.search_share
    for splitter in splitters:
        if splitter.setting in options.settings:
            table = run_setting(X, splitter, make_entries, user_share=share)
            table.insert(0, "data", name)
            print(table[["setting", "ranker", *METRICS, "chosen"]].to_string(index=False))
            if options.csv:
                update_csv(table.assign(search_share=share), options.csv)


def run_setting(X, splitter, make_entries, *, user_share, seed=0):
    """Tune, fit and judge all rankers in one setting; give one row per ranker."""
    setting = splitter.setting
    train, test = next(_with_seed(splitter, seed).split(X))
    train, test = X.iloc[train], X.iloc[test]
    print(f"{setting}: {_counts(train)} to train, {_counts(test)} to judge", flush=True)
    # The search splits the training rows by the same rule, and sees no others.
    some, cv = some_users(train, user_share, seed), _with_seed(splitter, seed + 1)
    chosen, values, about = {}, [], []
    for name, entry in make_entries(train, setting).items():
        start = time.perf_counter()
        chosen[name] = chosen.get(entry.tuned_as) or choose(entry, some, cv)
        searched = time.perf_counter()
        ranker = clone(entry.ranker).set_params(**chosen[name]).fit(train)
        fitted = time.perf_counter()
        values.append(evaluate(ranker, test, METRICS).assign(setting=setting, ranker=name))
        about.append(
            {
                "ranker": name,
                "chosen": ", ".join(f"{_short(k)}={v:g}" for k, v in chosen[name].items()),
                "search_seconds": round(searched - start, 1),
                "fit_seconds": round(fitted - searched, 1),
                "judge_seconds": round(time.perf_counter() - fitted, 1),
                "train_playlists": train["playlist"].nunique(),
                "songs": train["song"].nunique(),
            }
        )
        told = values[-1][METRICS].mean().round(4).to_dict()
        print(f"{setting}: {name}: {told} {about[-1]}", flush=True)
    table = with_intervals(pd.concat(values, ignore_index=True), METRICS, reference=REFERENCE)
    return table.round(5).merge(pd.DataFrame(about), on="ranker")


def choose(entry, X, cv):
    """Give the parameters with the best AUC, by a grid search that sees training rows only."""
    if not entry.grid:
        return {}
    scorer = make_playlist_scorer("auc")
    # Rankers use all cores themselves, so that fits take turns.
    search = GridSearchCV(entry.ranker, entry.grid, scoring=scorer, cv=cv, refit=False)
    search.fit(X)
    results = pd.DataFrame(search.cv_results_)
    for row in results.sort_values("rank_test_score").itertuples():
        print(f"  {row.mean_test_score:.4f} {row.params}", flush=True)
    return search.best_params_


def update_csv(table, path):
    """Write rows, in place of those that the file has for the same data and settings."""
    table = table.assign(**machine(*PACKAGES))
    if Path(path).exists():
        kept = pd.read_csv(path)
        again = kept["data"].isin(table["data"]) & kept["setting"].isin(table["setting"])
        table = pd.concat([kept[~again], table], ignore_index=True)
    table.to_csv(path, index=False)


def _counts(X):
    return f"{X['playlist'].nunique()} playlists of {X['user'].nunique()} users"


def _with_seed(splitter, seed):
    return type(splitter)(random_state=seed)


def _short(parameter):
    return parameter.rpartition("__")[2]
