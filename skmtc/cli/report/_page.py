"""The folder of a report: tables as CSV, a page, and figures."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from skmtc._utils.atomic_files import write_whole
from skmtc.cli._errors import CommandError
from skmtc.cli._progress_lines import note
from skmtc.cli._safe_text import csv_text
from skmtc.cli.report._advice import chosen_ranker, ranker_code
from skmtc.cli.report._comparison import CURVES
from skmtc.cli.report._figures import draw_curves, figure_bytes
from skmtc.cli.report._html import OWN, report_html
from skmtc.cli.report._plain_text import words

DEFAULT_FOLDER = "skmtc-report"
PAGE = "report.html"
# More curves with intervals are hard to distinguish.
N_CURVES = 5
BASELINE = "popularity"
TABLES = ("comparison.csv", "differences.csv", "curves.csv")


def check_folder(path):
    """Make the folder, and raise if it contains other files than those of a report."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"The report needs a folder; got the file {path!r}. Change --out.")
    folder.mkdir(parents=True, exist_ok=True)
    if not _is_own(folder):
        foreign = [name for name in (PAGE, *TABLES) if (folder / name).exists()]
        foreign += sorted(p.name for p in folder.glob("*.png") if p.name.startswith(tuple(CURVES)))
        if foreign:
            raise CommandError(
                f"The report must not overwrite foreign files; got {foreign} in {str(folder)!r}, "
                "which are not of an earlier report. Choose another folder with --out."
            )
    return folder


def _is_own(folder):
    page = folder / PAGE
    return page.is_file() and OWN in page.read_bytes()[:4096]


def write_report(folder, found, table, features, parameters=None):
    """Write all files of a report; return the path of its page.

    `parameters` are those of rankers that are not defaults, by name.
    """
    figures, files = {}, {}
    if find_spec("matplotlib") is None:
        note("no figures: they need matplotlib; pip install matplotlib")
    else:
        figures, files = _draw_all(found)
    codes = _codes(found, table, features, parameters or {})
    page = report_html(found, table, features, figures, codes=codes).encode()
    # Write the page first: it marks the folder as that of a report, even if the rest fails.
    write_whole(folder / PAGE, page)
    _write_tables(folder, found)
    for name, content in files.items():
        write_whole(folder / name, content)
    return folder / PAGE


def write_partly(folder, found, table, features, n_steps):
    """Write the page and tables of what is done so far, without figures."""
    done = sum(len(comparison.rows) for comparison in found)
    left = f"Not finished: {done} of {n_steps} fits are done."
    write_whole(folder / PAGE, report_html(found, table, features, {}, left).encode())
    _write_tables(folder, found)


def _write_tables(folder, found):
    tables = _comparison_table(found), _difference_table(found), _curve_table(found)
    for name, content in zip(TABLES, tables, strict=True):
        write_whole(folder / name, csv_text(content).encode())


def _codes(found, table, features, parameters):
    """Return the code of the ranker to use in each setting."""
    chosen = {c.setting: name for c in found if (name := chosen_ranker(c)) is not None}
    return {
        setting: ranker_code(
            name,
            table,
            features,
            new_songs=setting == "cold-songs",
            parameters=parameters.get(name),
        )
        for setting, name in chosen.items()
    }


def _draw_all(found):
    """Plot each curve of each setting, for light and dark pages, and as a file."""
    figures, files = {}, {}
    for comparison in found:
        if len(comparison.lengths) < 2:
            continue
        for metric, what in CURVES.items():
            curves = _shown_curves(comparison, metric, found)
            if not any(curve is not None for curve in curves.values()):
                continue
            if comparison.is_flat(metric):
                continue
            title = f"{what}, {words(comparison.setting)}"
            drawn = {
                theme: draw_curves(metric, comparison.lengths, curves, title=title, theme=theme)
                for theme in ("light", "dark")
            }
            pair = tuple(figure_bytes(figure, "svg") for figure in drawn.values())
            figures.setdefault(comparison.setting, {})[title] = pair
            name = f"{metric}_{comparison.setting.replace('-', '_')}.png"
            files[name] = figure_bytes(drawn["light"], "png")
    return figures, files


def _shown_curves(comparison, metric, found):
    """Return the curves of the best rankers and of popularity.

    A ranker that is drawn in any setting has a place in all, so that its colour is the same.
    """
    places = dict.fromkeys(name for one in found for name in _best_drawn(one))
    bands, drawn = comparison.bands(metric), _best_drawn(comparison)
    return {words(name): bands[name] if name in drawn else None for name in sorted(places)}


def _best_drawn(comparison):
    good = list(comparison.rows.index[comparison.rows["error"] == ""])
    return [name for name in good if name in good[:N_CURVES] or name == BASELINE]


def _comparison_table(found):
    parts = []
    for comparison in found:
        columns = [*comparison.metrics, "fit_time", "score_time", "error"]
        rows = comparison.rows[columns].reset_index()
        for label in comparison.metrics:
            for end in ("high", "low"):
                values = [_end(comparison, name, label, end) for name in rows["ranker"]]
                rows.insert(rows.columns.get_loc(label) + 1, f"{label}_{end}", values)
        rows.insert(0, "setting", comparison.setting)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _end(comparison, name, label, end):
    found = comparison.interval(name, label)
    return np.nan if found is None else found[end == "high"]


def _difference_table(found):
    parts = [c.differences.rename(columns={"cv": "setting"}) for c in found]
    parts = [part for part in parts if len(part)] or parts[:1]
    return pd.concat(parts, ignore_index=True)


def _curve_table(found):
    rows, ends = [], ("", "_low", "_high")
    for comparison in found:
        bands = {metric: comparison.bands(metric) for metric in CURVES}
        for name in bands["hit_rate"]:
            for i, k in enumerate(comparison.lengths):
                row = {"setting": comparison.setting, "ranker": name, "k": k}
                for metric in CURVES:
                    values = bands[metric][name][:, i]
                    row |= {f"{metric}{end}": v for end, v in zip(ends, values, strict=True)}
                rows.append(row)
    columns = [f"{metric}{end}" for metric in CURVES for end in ends]
    return pd.DataFrame(rows, columns=["setting", "ranker", "k", *columns])
