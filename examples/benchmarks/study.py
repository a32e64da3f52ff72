"""What the studies share: tuning on training rows, judging, and work that may be done in parts."""

import json
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
from skmtc.metrics import playlist_scoring

METRICS = ["auc", "hit_rate@10", "hit_rate@100"]
GOALS = ["auc", "hit_rate@100"]
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

    search_share : float
        Share of the training users whose playlists the search gets.

    searched_as : str
        Name of an earlier ranker whose search is taken over.

    goal : str
        Metric to choose by.
    """

    ranker: BaseEstimator
    grid: dict = field(default_factory=dict)
    search_share: float = 1.0
    searched_as: str = ""
    goal: str = "auc"


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
        """Give the table of this name; if there is none yet, `make` makes it."""
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
    parts = Parts(options.parts)
    for splitter in splitters:
        if splitter.setting in options.settings:
            table, searches = run_setting(X, splitter, make_entries, parts)
            print(table[["setting", "ranker", *METRICS, "chosen"]].to_string(index=False))
            if options.csv:
                update_csv(table.assign(data=name), options.csv)
                path = Path(options.csv)
                update_csv(searches.assign(data=name), path.with_stem(f"{path.stem}_search"))


def run_setting(X, splitter, make_entries, parts):
    """Tune, fit and judge all rankers in one setting.

    Returns
    -------
    table : DataFrame
        One row per ranker.

    searches : DataFrame
        One row per ranker and point of its grid.
    """
    setting = splitter.setting
    train, test = next(_with_seed(splitter, 0).split(X))
    train, test = X.iloc[train], X.iloc[test]
    print(f"{setting}: {_counts(train)} to train, {_counts(test)} to judge", flush=True)
    searches, judged, values = {}, {}, []
    for name, entry in make_entries(train, setting).items():
        if entry.grid:
            searches[name] = parts.get(
                f"search {setting} {name}",
                lambda: search(entry, train, splitter),  # noqa: B023
            ).assign(setting=setting, ranker=name)
        chosen = choose(entry, searches.get(entry.searched_as or name))
        same = (id(entry.ranker), json.dumps(chosen))  # whoever chose it, it is fitted once
        if same not in judged:
            judged[same] = parts.get(
                f"values {setting} {name}",
                lambda: judge(entry.ranker, chosen, train, test),  # noqa: B023
            )
        part = judged[same].assign(setting=setting, ranker=name)
        print(f"{setting}: {name}: {part[METRICS].mean().round(4).to_dict()} {chosen}", flush=True)
        values.append(part)
    return summarize(pd.concat(values, ignore_index=True)), pd.concat(searches.values())


def search(entry, train, splitter):
    """Try the grid on training rows alone, which are split once more by the same rule."""
    grid_search = GridSearchCV(
        entry.ranker,
        entry.grid,
        scoring=playlist_scoring(*GOALS),
        refit=False,
        cv=_search_splitter(splitter, entry.search_share),
        verbose=3,  # rankers use all cores themselves, so that fits take turns
    )
    grid_search.fit(some_users(train, entry.search_share))
    results = grid_search.cv_results_
    table = pd.DataFrame({"parameters": [json.dumps(point) for point in results["params"]]})
    for goal in GOALS:
        table[goal] = results[f"mean_test_{goal}"].round(5)
    return table.assign(
        search_share=entry.search_share,
        fit_seconds=results["mean_fit_time"].round(1),
        **machine(*PACKAGES),
    )


def choose(entry, searched):
    """Give the parameters with the best value of the entry's goal; none without a search."""
    if searched is None:
        return {}
    return json.loads(searched.loc[searched[entry.goal].idxmax(), "parameters"])


def judge(ranker, chosen, train, test):
    """Fit on all training rows; give one row per held-out playlist."""
    start = time.perf_counter()
    ranker = clone(ranker).set_params(**chosen).fit(train)
    fitted = time.perf_counter()
    values = evaluate(ranker, test, METRICS)[["user", "playlist", *METRICS]]
    return values.assign(
        chosen=", ".join(f"{name}={value:g}" for name, value in chosen.items()),
        train_playlists=train["playlist"].nunique(),
        songs=train["song"].nunique(),
        fit_seconds=round(fitted - start, 1),
        judge_seconds=round(time.perf_counter() - fitted, 1),
        **machine(*PACKAGES),
    )


def summarize(values):
    """Give one row per setting and ranker: means, leads, intervals, and how it was made."""
    table = with_intervals(values, METRICS, reference=REFERENCE).round(5)
    about = values.drop(columns=["user", "playlist", *METRICS])
    return table.merge(about.drop_duplicates(["setting", "ranker"]), on=["setting", "ranker"])


def update_csv(table, path):
    """Write rows, in place of those that the file has for the same data and settings."""
    if Path(path).exists():
        kept = pd.read_csv(path)
        again = kept["data"].isin(table["data"]) & kept["setting"].isin(table["setting"])
        table = pd.concat([kept[~again], table], ignore_index=True)
    table.to_csv(path, index=False)


def _counts(X):
    return f"{X['playlist'].nunique()} playlists of {X['user'].nunique()} users"


def _search_splitter(splitter, share):
    """Split for a search; with few users songs are rarer, and 5 playlists would leave hits only."""
    if share < 1 and hasattr(splitter, "min_song_count"):
        return type(splitter)(min_song_count=2, random_state=1)
    return _with_seed(splitter, 1)


def _with_seed(splitter, seed):
    return type(splitter)(random_state=seed)
