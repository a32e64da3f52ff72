"""`skmtc` and `skmtc compare`: all rankers in all settings, and a report."""

import sys

import numpy as np
import pandas as pd

from skmtc._compare import fit_all, fits_by_fold, fits_by_playlist
from skmtc.cli._comparison import CURVES, Comparison
from skmtc.cli._config import Config, read_config
from skmtc.cli._errors import CommandError, one_line
from skmtc.cli._features import Features
from skmtc.cli._progress import Progress, note, tell_first_compilation
from skmtc.cli._rankers import available_rankers, make_ranker
from skmtc.cli._report import check_folder, write_partly, write_report
from skmtc.cli._settings import SETTINGS, make_splitter, meaning
from skmtc.cli._table import open_table, sample_table
from skmtc.cli._text import comparison_text, has_best

METRICS = ["auc", "hit_rate@10", "hit_rate@100", "novelty@10", "spread"]
# The places K of the curves; with more than half of the candidates any ranker hits.
CURVE_LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def run_sample(args):
    """Compare all rankers in the three settings, on the embedded sample."""
    _compare(sample_table(), args, list(SETTINGS), available_rankers(), METRICS, Config())
    print("On your own table: skmtc compare TABLE. More: skmtc --help")


def run_compare(args):
    """Compare rankers on the user's table."""
    config = read_config(args.config)
    columns = {role: getattr(args, role) for role in ("user", "playlist", "song")}
    columns = config.columns | {role: c for role, c in columns.items() if c is not None}
    table = open_table(args.table, **columns)
    settings = args.setting or config.setting or list(SETTINGS)
    rankers = args.rankers or config.rankers or available_rankers()
    metrics = args.metrics or config.metrics or METRICS
    _compare(table, args, _once(settings), _once(rankers), _once(metrics), config)


def _compare(table, args, settings, rankers, metrics, config):
    folder = check_folder(args.out)
    if "matrix-factorization" not in available_rankers():
        note("matrix factorization needs the package implicit: pip install implicit")
    features = Features.of(table, args.seed)
    if not args.quiet:
        print(f"{table.source}: {table.size}; {features.told()}", file=sys.stderr)
        tell_first_compilation()
    n_steps = len(settings) * len(rankers)

    def store(found):
        write_partly(folder, found, table, features, n_steps)

    found = compare_settings(
        table, features, settings, rankers, metrics, config=config, quiet=args.quiet, store=store
    )
    for comparison in found:
        print(comparison_text(comparison), end="\n\n")
    print(f"Report: {write_report(folder, found, table, features)}")


def compare_settings(
    table, features, settings, rankers, metrics, *, config, quiet=False, store=None
):
    """Compare rankers in settings; a setting that the table has no split for is told.

    `store` is called with the comparisons so far after each ranker.
    """
    for name in set(config.parameters) & set(rankers):  # misspelt ones are told before any fit
        make_ranker(name, table, features, parameters=config.parameters[name])
    found, reasons = [], []
    with Progress(len(settings) * len(rankers), quiet=quiet) as progress:
        for setting in settings:
            options = config.splits.get(setting)
            splitter = make_splitter(setting, table, seed=features.seed, options=options)
            try:
                splits = list(splitter.split(table.X))
            except ValueError as error:
                reasons.append(f"{setting}: {one_line(error)}")
                note(f"left out: {reasons[-1]}")
                progress.skip(len(rankers))
                continue
            about = {
                "split": splitter.describe().iloc[0].to_dict(),
                "n_playlists": int(table.X[table.playlist].nunique()),
                "meaning": meaning(setting, splitter),
            }
            found.append(None)
            for found[-1] in _compare_rankers(
                table, features, setting, splits, rankers, metrics, config, progress, about
            ):
                if store is not None:
                    store(found)
        progress.finish()
    if not found:
        raise CommandError(f"No setting has a split: {'; '.join(reasons)}")
    return found


def _compare_rankers(table, features, setting, splits, rankers, metrics, config, progress, about):
    """Yield the comparison of the first ranker, of the first two, and so on."""
    lengths = _curve_lengths(table, splits)
    labels = [f"{metric}@{k}" for metric in CURVES for k in lengths]
    computed = _once([*metrics, *labels])
    columns = ["ranker", "cv", "fold", "user", "playlist", *metrics]
    rows, playlists = [], []
    for name in rankers:
        progress.start(f"{setting}: {name}")
        try:
            ranker = make_ranker(
                name,
                table,
                features,
                new_songs=setting == "cold-songs",
                parameters=config.parameters.get(name),
            )
        except CommandError as error:
            rows.append(_failed(name, computed, error))
        else:
            fits = fit_all({name: ranker}, table.X, {setting: splits}, computed, error_score=np.nan)
            row = fits_by_fold(fits, computed, np.nan)
            means = row[[*computed, "fit_time", "score_time"]].mean(skipna=False)
            rows.append({"ranker": name} | means.to_dict() | {"error": max(row["error"])})
            if not rows[-1]["error"]:
                playlists.append(fits_by_playlist(fits, computed)[columns])
        yield Comparison(
            setting,
            metrics,
            _sorted(pd.DataFrame(rows).set_index("ranker"), metrics),
            lengths,
            playlists=_stacked(playlists, columns),
            **about,
        )


def _stacked(tables, columns):
    """Put tables below each other; there may be none."""
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _sorted(rows, metrics):
    """Put the best rankers by the first metric that has a best first, and failed ones last."""
    chosen = next((m for m in metrics if has_best(m)), metrics[0])
    return rows.sort_values(chosen, ascending=False, kind="stable", na_position="last")


def _failed(name, computed, error):
    unknown = dict.fromkeys([*computed, "fit_time", "score_time"], np.nan)
    return {"ranker": name} | unknown | {"error": str(error)}


def _curve_lengths(table, splits):
    """Choose numbers of songs up to half of the candidates of the smallest split."""
    songs = table.X[table.song].to_numpy()
    most = []
    for train, test in splits:
        known, asked = set(songs[train]), set(songs[test])
        most.append(len(asked) if known.isdisjoint(asked) else len(known | asked))
    return [k for k in CURVE_LENGTHS if k <= max(1, min(most) // 2)]


def _once(names):
    return list(dict.fromkeys(names))
