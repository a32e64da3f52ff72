"""`skmtc tune`: the best penalties and push, printed as code that runs."""

from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler

from skmtc.cli._progress_lines import Progress, beats, print_line
from skmtc.cli._safe_text import printable
from skmtc.cli.inputs import IMPORTED, Features, make_ranker, make_splitter, open_table
from skmtc.cli.report import column_name, join_code, words
from skmtc.metrics import make_playlist_scorer

GRID = {
    "user_l2": [0.03, 0.1, 0.3, 1.0, 3.0],
    "playlist_l1": [0.3, 1.0, 3.0],
    "shared_l1": [0.001, 0.003, 0.01, 0.03],
    "push": [0.5, 1.0, 2.0],
}


def run_tune(args):
    """Search, and print the best setting as Python code."""
    with beats(f"reading {printable(args.table)}", quiet=args.quiet):
        table = open_table(args.table, user=args.user, playlist=args.playlist, song=args.song)
        features = Features.of(table, args.seed)
    new_songs = args.setting == "cold-songs"
    ranker = make_ranker("multitask", table, features, new_songs=new_songs)
    points = _points(ranker, args)
    splitter = make_splitter(args.setting, table, seed=args.seed, options={"n_splits": args.splits})
    if not args.quiet:
        print_line(f"{table.source}: {table.size}; {features.describe()}")
    search = _search(ranker, points, splitter, table, args)
    # The first point is that of the defaults.
    default, best = (search.cv_results_["mean_test_score"][i] for i in (0, search.best_index_))
    what = column_name(args.metric)
    outcome = f"best of {len(points)} for {words(args.setting)}: {what} {best:.4f}"
    outcome += f" (with the defaults {default:.4f})"
    print(best_code(points[search.best_index_], table, features, outcome, new_songs=new_songs))


def _points(ranker, args):
    """Choose settings to try: the defaults first, then those of the grid or a sample of it."""
    defaults = {name: ranker.get_params()[name] for name in GRID}
    if args.grid:
        others = ParameterGrid(GRID)
    else:
        n_iter = min(args.n_iter, len(ParameterGrid(GRID)))
        others = ParameterSampler(GRID, n_iter, random_state=args.seed)
    return [defaults, *(point for point in others if point != defaults)]


def _search(ranker, points, splitter, table, args):
    scorer = make_playlist_scorer(args.metric)
    with Progress(len(points) * args.splits, quiet=args.quiet) as progress:

        def score(estimator, X, _=None):
            chosen = ", ".join(f"{name}={getattr(estimator, name):g}" for name in GRID)
            progress.start(f"{words(args.setting)}: {chosen}")
            return scorer(estimator, X)

        grid = [{name: [value] for name, value in point.items()} for point in points]
        search = GridSearchCV(ranker, grid, cv=splitter, scoring=score, refit=False)
        search.fit(table.X)
        progress.finish()
    return search


def best_code(point, table, features, outcome, *, new_songs):
    """Return the code that fits the ranker on the table, with the outcome as a comment."""
    columns = {role: column for role, column in table.ids.items() if column != role}
    made = features.code(new_songs=new_songs)
    values = {name: repr(value) for name, value in point.items()} | made
    values |= {"n_jobs": "-1", "random_state": repr(features.seed)}
    values |= {role: repr(column) for role, column in columns.items()}
    names = [name for parameter in made for name in IMPORTED[parameter]]
    reading = "".join(f", {role}={column!r}" for role, column in columns.items())
    lines = [
        f"# {outcome}",
        "from skmtc import MultitaskPlaylistRanker",
        "from skmtc.datasets import read_table",
        f"from skmtc.features import {', '.join(sorted(names))}",
        "",
        f"X = read_table({table.path!r}{reading})",
        *join_code(table),
        "ranker = MultitaskPlaylistRanker(",
        *(f"    {name}={code}," for name, code in values.items()),
        ")",
        "ranker.fit(X)",
    ]
    return "\n".join(lines)
