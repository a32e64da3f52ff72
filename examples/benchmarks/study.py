"""What the studies share: tuning on training rows, evaluation, and work in parts."""

import json
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from groups import by_song_popularity, by_split, summarize_groups, with_references
from machine import machine
from playlists import some_users
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from skmtc import evaluate
from skmtc.metrics import playlist_scoring

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
ABOUT_PLAYLISTS = ["user", "playlist", "group", "size", "user_playlists"]
ALL_METRICS = "all"
REFERENCE = "multitask"
PACKAGES = ("pandas", "implicit", "gensim", "numba")


@dataclass
class Entry:
    """A ranker that takes part in a study.

    Attributes
    ----------
    ranker : estimator or str
        The ranker, not fitted; or why there is none in this setting.

    grid : dict or list of dict
        Values of its parameters to choose from, as for GridSearchCV; empty where there is nothing
        to choose.

    search_share : float
        Share of the training users whose playlists the search gets.

    searched_as : str
        Name of an earlier ranker whose search is taken over.

    goal : str
        Metric to choose by. "all": the mean of all metrics, each divided by the best of the grid.

    n_splits : int or None
        Number of splits, counted from the first, to fit a slow ranker on. None: all.
    """

    ranker: BaseEstimator | str
    grid: dict | list = field(default_factory=dict)
    search_share: float = 1.0
    searched_as: str = ""
    goal: str = "auc"
    n_splits: int | None = None


@dataclass
class Study:
    """Settings, and what takes part in them.

    Attributes
    ----------
    name : str
        Name of the data.

    X : DataFrame
        Membership table.

    make_entries : callable
        Return entries by name from the training rows and the name of the setting.

    splitters : sequence of splitters
        The settings: who is cold.

    seeds : sequence of int
        One split of each setting per seed. Searches see training rows of the first one.

    search_splitters : dict of str to splitter
        By setting: what splits training rows for searches, where it is not the splitter itself.

    references : sequence of str
        Rankers whose leads over each other one are reported, the main one first.

    packages : sequence of str
        Packages whose versions are reported.

    grouped : sequence of str
        Rankers whose values are also reported by group of playlists and songs, with the lead of the
        last reference over each.
    """

    name: str
    X: pd.DataFrame
    make_entries: Any
    splitters: Sequence[Any]
    seeds: Sequence[int] = (0,)
    search_splitters: dict = field(default_factory=dict)
    references: Sequence[str] = (REFERENCE,)
    packages: Sequence[str] = PACKAGES
    grouped: Sequence[str] = ()


class Parts:
    """Tables that are made one by one, and kept in a folder for later runs, if there is one.

    Parameters
    ----------
    folder : str or None
        Where to keep tables; it is made if it is not there.
    """

    def __init__(self, folder):
        self.folder = folder and Path(folder)
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, name, make):
        """Return the table of this name; if there is none yet, `make` makes it."""
        path = self.folder and self.folder / f"{name}.csv".replace(" ", "_")
        if path and path.exists():
            return pd.read_csv(path, keep_default_na=False)
        table = make()
        if path:
            table.to_csv(path, index=False)
        return table


def add_options(parser, splitters):
    """Add the options that all studies have."""
    settings = [splitter.setting for splitter in splitters]
    parser.add_argument("--settings", nargs="+", choices=settings, default=settings)
    parser.add_argument("--jobs", type=int, default=-1, help="number of threads")
    parser.add_argument("--csv", help="file for the table; searches go to a second one beside it")
    parser.add_argument(
        "--parts", help="folder for parts that are done, which later runs take over"
    )
    parser.add_argument("--tiny", action="store_true", help="a few generated playlists")


def part_of_grid(grid, *, tiny):
    """Return a grid, or its first point."""
    if not tiny:
        return grid
    if isinstance(grid, list):
        return grid[:1]
    return {name: values[:1] for name, values in grid.items()}


def run_study(study, options):
    """Run the chosen settings, print the results, and write them.

    Tables are written: one row per setting and ranker, with intervals; as ``..._groups``, the same
    by group; as ``..._search``, one row per ranker and point of its grid; and as ``..._fits``, one
    row per fit, which is written after each fit, so that a run that was stopped leaves what it has.
    Rankers that have no answer in a setting are in ``..._absent``, with the reason.

    Parameters
    ----------
    study : Study
        What to run.

    options : Namespace
        As `add_options` makes them.
    """
    X = study.X
    print(f"{study.name}: {_counts(X)}, {X['song'].nunique()} songs, {len(X)} rows", flush=True)
    for splitter in study.splitters:
        if splitter.setting in options.settings:
            values, searches = run_setting(study, splitter, options)
            if values["ranker"].isin(study.grouped).any():
                groups = summarize_groups(values, METRICS, study.references[-1:], study.grouped)
                _write(groups.assign(**machine()), study.name, options.csv, "_groups")
            values = values[values["group"] == ""]
            table = summarize(values, study.references)
            print(table[["setting", "ranker", *METRICS, "chosen"]].to_string(index=False))
            _write(table, study.name, options.csv)
            _write(searches, study.name, options.csv, "_search")


def run_setting(study, splitter, options):
    """Tune, fit and evaluate all rankers in one setting.

    Returns
    -------
    values : DataFrame
        One row per ranker, split and held-out playlist; more rows of it have the name of a group of
        songs in the column group, and tell of these alone.

    searches : DataFrame
        One row per ranker and point of its grid.
    """
    setting, parts = splitter.setting, Parts(options.parts)
    searches, values, fits = {}, [], []
    for seed in study.seeds:
        train, test = _split(study.X, splitter, seed)
        print(f"{setting}, {seed}: {_counts(train)} to train, {_counts(test)} to test", flush=True)
        evaluated = {}
        is_first = seed == study.seeds[0]
        entries = study.make_entries(train, setting)
        if is_first:
            _write(absent(entries, setting), study.name, options.csv, "_absent")
        for name, entry in entries.items():
            if isinstance(entry.ranker, str):
                continue
            if entry.n_splits is not None and study.seeds.index(seed) >= entry.n_splits:
                continue
            if entry.grid and is_first:
                again = study.search_splitters.get(setting, splitter)
                searches[name] = parts.get(
                    f"search {setting} {name}",
                    partial(search, entry, train, again),
                ).assign(setting=setting, ranker=name)
            chosen = choose(entry, searches.get(entry.searched_as or name))
            same = (id(entry.ranker), json.dumps(chosen))  # whoever chose it, it is fitted once
            if same not in evaluated:
                evaluated[same] = parts.get(
                    f"values {setting} {name} {seed}",
                    partial(
                        evaluate_ranker,
                        entry.ranker,
                        chosen,
                        train,
                        test,
                        packages=study.packages,
                        grouped=is_first and name in study.grouped,
                    ),
                )
            part = evaluated[same].assign(setting=setting, ranker=name, split=seed)
            values.append(part)
            fits.append(by_fit(part[part["group"] == ""]))
            told = fits[-1][[*METRICS, "fit_seconds"]].iloc[0].to_dict()
            print(f"{setting}, {seed}: {name}: {told} {chosen}", flush=True)
            _write(pd.concat(fits), study.name, options.csv, "_fits")
    searches = pd.concat(searches.values()) if searches else pd.DataFrame()
    return pd.concat(values, ignore_index=True), searches


def absent(entries, setting):
    """Return one row per ranker that has no answer in a setting, with the reason."""
    reasons = {name: entry.ranker for name, entry in entries.items()}
    rows = [
        {"setting": setting, "ranker": name, "reason": reason, **machine()}
        for name, reason in reasons.items()
        if isinstance(reason, str)
    ]
    return pd.DataFrame(rows)


def search(entry, train, splitter):
    """Try the grid on training rows alone, which are split once more."""
    grid_search = GridSearchCV(
        entry.ranker,
        entry.grid,
        scoring=playlist_scoring(*METRICS),
        refit=False,
        cv=_search_splitter(splitter, entry.search_share),
        verbose=3,  # rankers use all cores themselves, so that fits take turns
    )
    start = time.process_time()
    grid_search.fit(some_users(train, entry.search_share))
    seconds = time.process_time() - start
    results = grid_search.cv_results_
    table = pd.DataFrame({"parameters": [json.dumps(point) for point in results["params"]]})
    for metric in METRICS:
        table[metric] = results[f"mean_test_{metric}"].round(5)
    # CPU seconds of a fit and its evaluation.
    table["fit_seconds"] = round(seconds / len(table), 1)
    return table.assign(search_share=entry.search_share, **machine(*PACKAGES))


def choose(entry, searched):
    """Return the parameters with the best value of the entry's goal; none without a search."""
    if searched is None:
        return {}
    metrics = METRICS if entry.goal == ALL_METRICS else [entry.goal]
    relative = (searched[metrics] / searched[metrics].max()).mean(axis=1)
    return json.loads(searched.loc[relative.idxmax(), "parameters"])


def evaluate_ranker(ranker, chosen, train, test, *, packages=PACKAGES, grouped=False):
    """Fit on all training rows; return one row per held-out playlist. Seconds are CPU seconds.

    With `grouped`, there are more rows about parts of the songs of playlists, by popularity.
    """
    start = time.process_time()
    ranker = clone(ranker).set_params(**chosen).fit(train)
    fitted = time.process_time()
    values = evaluate(ranker, test, METRICS).assign(group="")
    seconds = time.process_time() - fitted
    if grouped:
        parts = by_song_popularity(train, test).items()
        others = [evaluate(ranker, rows, METRICS).assign(group=name) for name, rows in parts]
        values = pd.concat([values, *others], ignore_index=True)
    n_playlists = train.groupby("user")["playlist"].nunique()
    return values[["user", "playlist", "group", "size", *METRICS]].assign(
        user_playlists=values["user"].map(n_playlists).fillna(0).astype(int),
        chosen=describe(chosen),
        train_playlists=train["playlist"].nunique(),
        songs=train["song"].nunique(),
        fit_seconds=round(fitted - start, 1),
        evaluation_seconds=round(seconds, 1),
        **machine(*packages),
    )


def describe(chosen):
    """Return parameters as text; options of other packages are a dict within."""
    options = chosen.get("options", {})
    flat = {name: value for name, value in chosen.items() if name != "options"} | options
    told = [f"{k}={v:g}" if isinstance(v, int | float) else f"{k}={v}" for k, v in flat.items()]
    return ", ".join(told)


def by_fit(values):
    """Return one row for the values of one fit: means, and how it was made."""
    about = values.drop(columns=[*ABOUT_PLAYLISTS, *METRICS]).iloc[:1]
    counts = {"n_users": values["user"].nunique(), "n_playlists": len(values)}
    return about.assign(**values[METRICS].mean().round(5), **counts)


def summarize(values, references):
    """Return one row per setting, reference and ranker: means, leads and intervals, and sizes.

    Users of several splits are resampled with their playlists of all splits. Leads are of the
    playlists that both rankers have. Sizes and seconds are means over splits.
    """
    keys = ["setting", "ranker"]
    table = with_references(by_split(values), METRICS, references)
    fits = values.drop(columns=[*ABOUT_PLAYLISTS, *METRICS])
    fits = fits.drop_duplicates([*keys, "split"]).drop(columns="split")
    by_ranker = fits.groupby(keys, sort=False)
    numbers = list(fits.select_dtypes("number").columns)
    about = by_ranker[numbers].mean().round(1).join(by_ranker[_texts(fits)].first())
    about["n_splits"] = by_ranker.size()
    return table.merge(about.reset_index(), on=keys)


def update_csv(table, path):
    """Write rows, in place of those that the file has for the same data and settings."""
    if Path(path).exists():
        kept = pd.read_csv(path)
        again = kept["data"].isin(table["data"]) & kept["setting"].isin(table["setting"])
        table = pd.concat([kept[~again], table], ignore_index=True)
    table.to_csv(path, index=False)


def _write(table, name, csv, ending=""):
    """Write a table of one setting, if files are wanted and there is anything to write."""
    if csv and len(table):
        path = Path(csv)
        update_csv(table.assign(data=name), path.with_stem(f"{path.stem}{ending}"))


def _texts(table):
    """Return the columns that are neither numbers nor keys."""
    texts = table.select_dtypes(exclude="number").columns
    return [name for name in texts if name not in ("setting", "ranker")]


def _counts(X):
    return f"{X['playlist'].nunique()} playlists of {X['user'].nunique()} users"


def _split(X, splitter, seed):
    """Return the training and test rows of one split."""
    train, test = next(_with_seed(splitter, seed).split(X))
    return X.iloc[train], X.iloc[test]


def _search_splitter(splitter, share):
    """Split for a search; with few users songs are rarer, and 5 playlists would leave hits only."""
    again = _with_seed(splitter, 1)
    if share < 1 and hasattr(again, "min_song_count"):
        again.min_song_count = min(2, again.min_song_count)
    return again


def _with_seed(splitter, seed):
    splitter = copy(splitter)
    splitter.random_state = seed
    return splitter
