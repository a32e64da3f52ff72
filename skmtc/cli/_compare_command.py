"""`skmtc` and `skmtc compare`: all rankers in all settings, and a report."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skmtc._compare import Evaluation, fit_all, fits_by_fold, fits_by_playlist
from skmtc._evaluate import summarize
from skmtc.cli._errors import CommandError, one_line
from skmtc.cli._progress_lines import (
    REPORTED_SECONDS,
    Progress,
    beats,
    minutes,
    note,
    note_first_compilation,
    print_line,
)
from skmtc.cli._safe_text import printable
from skmtc.cli.inputs import (
    ARTIST_RANKERS,
    SETTINGS,
    Config,
    Features,
    Table,
    available_rankers,
    fit_seconds,
    make_ranker,
    make_splitter,
    meaning,
    open_table,
    read_config,
    sample_rows,
    sample_table,
)
from skmtc.cli.report import (
    CURVES,
    Comparison,
    Examples,
    SongNames,
    check_folder,
    has_best,
    write_partly,
    write_report,
)
from skmtc.cli.report import comparison_text as text_of

METRICS = ["auc", "hit_rate@10", "hit_rate@100", "novelty@10", "spread"]
# The values of K of the curves.
CURVE_LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# Intervals of means, by the bootstrap.
CONFIDENCE = 0.95
N_RESAMPLES = 1000
# Seconds after which the first table is printed, even if some rankers are missing.
FIRST_TABLE = 30


def run_sample(args):
    """Compare all rankers in the three settings, on the embedded sample."""
    _compare(sample_table(), args, [], [], METRICS, Config())
    print("To compare on your own table: skmtc compare TABLE. Help: skmtc --help")


def run_compare(args):
    """Compare rankers on the user's table."""
    config = read_config(args.config)
    columns = {role: getattr(args, role) for role in ("user", "playlist", "song")}
    columns = config.columns | {role: c for role, c in columns.items() if c is not None}
    with beats(f"reading {printable(args.table)}", quiet=args.quiet):
        table = open_table(args.table, **columns)
    settings = _once(args.setting or config.setting or [])
    rankers = _once(args.rankers or config.rankers or [])
    metrics = _once(args.metrics or config.metrics or METRICS)
    _compare(table, args, settings, rankers, metrics, config)


def _compare(table, args, settings, rankers, metrics, config):
    """Compare, and write a report; by default with all settings and rankers that suit the table."""
    folder = check_folder(args.out)
    if "matrix-factorization" not in available_rankers():
        note("matrix factorization needs the package implicit: pip install implicit")
    with beats("looking at the table", quiet=args.quiet):
        table = _sampled(table, args)
        features = Features.of(table, args.seed)
    if not args.quiet:
        print_line(f"{table.source}: {table.whole_size or table.size}; {features.describe()}")
        if table.sampled:
            print_line(f"{table.sampled}: {table.size}; the whole table: --all")
        note_first_compilation()
    settings = settings or _possible_settings(features)
    rankers = rankers or _possible_rankers(features)
    run = Run(table, features, settings, rankers, metrics, config)

    def store(found):
        write_partly(folder, found, table, features, run.n_fits)

    found = run.compare(store, quiet=args.quiet)
    with beats("drawing the report", quiet=args.quiet):
        page = write_report(folder, found, table, features, config.parameters)
    print(f"Report: {page}")


def _possible_settings(features):
    """Return all settings that a table has columns for, and print the others."""
    if features.describes_songs:
        return list(SETTINGS)
    note(
        "left out: cold-songs, as no column describes songs; such are artist, tags, year or numbers"
    )
    return [setting for setting in SETTINGS if setting != "cold-songs"]


def _possible_rankers(features):
    """Return all rankers that a table has columns for, and print the others."""
    rankers = available_rankers()
    if features.songs.artist is not None:
        return rankers
    note(f"left out: {' and '.join(ARTIST_RANKERS)}, as no column has artists")
    return [name for name in rankers if name not in ARTIST_RANKERS]


def _sampled(table, args):
    """Return a sample of a large table, unless the whole table is requested."""
    if args.all:
        return table
    return sample_rows(table, max_songs=args.max_songs, max_rows=args.max_rows, seed=args.seed)


@dataclass
class Run:
    """A comparison of rankers on a table.

    Attributes
    ----------
    table : Table
        The table.

    features : Features
        What its columns are.

    settings, rankers, metrics : list of str
        Their names.

    config : Config
        Parameters of rankers and options of splitters.
    """

    table: Table
    features: Features
    settings: list[str]
    rankers: list[str]
    metrics: list[str]
    config: Config

    @property
    def n_fits(self):
        """Number of fits, one per setting and ranker."""
        return len(self.settings) * len(self.rankers)

    @cached_property
    def seconds(self):
        """Estimated seconds of one fit of each ranker, by name."""
        return fit_seconds(self.rankers, self.table)

    @cached_property
    def names(self):
        """Display names of songs and playlists."""
        return SongNames(self.table, self.features.songs.artist)

    def compare(self, store, *, quiet=False):
        """Compare, and print the table of each setting; note the settings without a split.

        Parameters
        ----------
        store : callable
            Called with the comparisons so far after each ranker.

        quiet : bool, default=False
            Whether to print no progress.

        Returns
        -------
        found : list of Comparison
            One per setting.
        """
        for name in set(self.config.parameters) & set(self.rankers):
            self._make(name)  # raises for a misspelt parameter, before any fit
        found, reasons, is_shown = [], [], False
        seconds = len(self.settings) * sum(self.seconds.values())
        if not quiet and seconds > REPORTED_SECONDS:
            print_line(
                f"{self.n_fits} fits, about {minutes(seconds)}; the report grows as they come"
            )
        with Progress(self.n_fits, quiet=quiet, cost=seconds) as progress:
            for setting in self.settings:
                splitter = make_splitter(
                    setting,
                    self.table,
                    seed=self.features.seed,
                    options=self.config.splits.get(setting),
                )
                try:
                    splits = list(splitter.split(self.table.X))
                except ValueError as error:
                    reasons.append(f"{setting}: {one_line(error)}")
                    note(f"left out: {reasons[-1]}")
                    progress.skip(len(self.rankers), sum(self.seconds.values()))
                    continue
                found.append(None)
                for comparison in self._compare_in(setting, splitter, splits, progress):
                    found[-1] = comparison
                    store(found)
                    n_left = len(self.rankers) - len(comparison.rows)
                    if not is_shown and n_left and progress.seconds > FIRST_TABLE:
                        is_shown = True
                        text = text_of(comparison)
                        progress.print(f"so far, {n_left} rankers to come:\n{text}\n")
                is_shown = True
                progress.print(f"{text_of(found[-1])}\n")
            progress.finish()
        if not found:
            raise CommandError(f"No setting has a split: {'; '.join(reasons)}")
        return found

    def _make(self, name, *, new_songs=False):
        return make_ranker(
            name,
            self.table,
            self.features,
            new_songs=new_songs,
            parameters=self.config.parameters.get(name),
        )

    def _compare_in(self, setting, splitter, splits, progress):
        """Yield the comparison of the first ranker in a setting, of the first two, and so on."""
        sizes = splitter.describe().iloc[0].to_dict()
        n_playlists = int(self.table.X[self.table.playlist].nunique())
        lengths = _curve_lengths(self.table, splits)
        labels = [f"{metric}@{k}" for metric in CURVES for k in lengths]
        computed = _once([*self.metrics, *labels])
        columns = ["ranker", "cv", "fold", "user", "playlist", *self.metrics]
        rows, playlists, intervals = [], [], {}
        examples = Examples(self.table, self.features, self.names, *splits[0])
        evaluation = Evaluation(computed, error_score=np.nan, inspect=examples.inspect)
        for name in self.rankers:
            progress.start(f"{setting}: {name}", self.seconds[name])
            try:
                ranker = self._make(name, new_songs=setting == "cold-songs")
            except CommandError as error:
                rows.append(_failed(name, computed, error))
            else:
                fits = fit_all({name: ranker}, self.table.X, {setting: splits}, evaluation)
                row = fits_by_fold(fits, computed, np.nan)
                means = row[[*computed, "fit_time", "score_time"]].mean(skipna=False)
                rows.append({"ranker": name} | means.to_dict() | {"error": max(row["error"])})
                if not rows[-1]["error"]:
                    by_playlist = fits_by_playlist(fits, computed)
                    playlists.append(by_playlist[columns])
                    intervals[name] = _intervals(by_playlist, self.features.seed)
                    examples.add(name, fits[0].inspected)
            yield Comparison(
                setting,
                self.metrics,
                _sorted(pd.DataFrame(rows).set_index("ranker"), self.metrics),
                lengths,
                split=sizes,
                playlists=_stacked(playlists, columns),
                n_playlists=n_playlists,
                meaning=meaning(setting, sizes),
                intervals=dict(intervals),
                examples=list(examples.found.values()),
            )


def _intervals(by_playlist, seed):
    """Return the mean of each metric with its bootstrap interval, over users."""
    options = {"confidence": CONFIDENCE, "n_resamples": N_RESAMPLES, "random_state": seed}
    return summarize(by_playlist, ["ranker", "cv"], **options).set_index("metric")


def _stacked(tables, columns):
    """Return concatenated tables; a table without rows if there are none."""
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _sorted(rows, metrics):
    """Return rows sorted by the first metric that has a best, with failed rankers last."""
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
