"""The folder of a report: tables as CSV, a page, and figures."""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from skmtc._utils.atomic_files import write_whole
from skmtc.cli._errors import CommandError
from skmtc.cli._progress_lines import note
from skmtc.cli._safe_text import csv_text
from skmtc.cli.report._comparison import CURVES
from skmtc.cli.report._figures import draw_curves, figure_bytes, style_of
from skmtc.cli.report._html import OWN, report_html
from skmtc.cli.report._plain_text import words

DEFAULT_FOLDER = "skmtc-report"
PAGE = "report.html"
TABLES = ("comparison.csv", "differences.csv", "curves.csv")


def check_folder(path):
    """Make the folder, before any work, and refuse one in which foreign files are in the way."""
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


def write_report(folder, found, table, features):
    """Write all files of a report; give the path of its page."""
    figures, files = {}, {}
    if find_spec("matplotlib") is None:
        note("no figures: they need matplotlib; pip install matplotlib")
    else:
        figures, files = _draw_all(found)
    page = report_html(found, table, features, figures).encode()
    # The page first: it marks the folder as that of a report, whatever happens to the rest.
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


def _draw_all(found):
    """Plot each curve of each setting, for light and dark pages, and as a file."""
    names = list(dict.fromkeys(name for comparison in found for name in comparison.rows.index))
    figures, files = {}, {}
    for comparison in found:
        if len(comparison.lengths) < 2:
            continue
        for metric, what in CURVES.items():
            curves = {words(name): v for name, v in comparison.curve(metric).items()}
            if not curves or comparison.is_flat(metric):
                continue
            title = f"{what}, {words(comparison.setting)}"
            drawn = {}
            for theme in ("light", "dark"):
                styles = {words(n): style_of(i, theme) for i, n in enumerate(names)}
                drawn[theme] = draw_curves(
                    comparison.lengths,
                    curves,
                    title=title,
                    ylabel=f"{what}@K",
                    styles=styles,
                    theme=theme,
                )
            pair = tuple(figure_bytes(figure, "svg") for figure in drawn.values())
            figures.setdefault(comparison.setting, {})[title] = pair
            name = f"{metric}_{comparison.setting.replace('-', '_')}.png"
            files[name] = figure_bytes(drawn["light"], "png")
    return figures, files


def _comparison_table(found):
    parts = []
    for comparison in found:
        columns = [*comparison.metrics, "fit_time", "score_time", "error"]
        rows = comparison.rows[columns].reset_index()
        rows.insert(0, "setting", comparison.setting)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _difference_table(found):
    parts = [c.differences.rename(columns={"cv": "setting"}) for c in found]
    parts = [part for part in parts if len(part)] or parts[:1]
    return pd.concat(parts, ignore_index=True)


def _curve_table(found):
    rows = []
    for comparison in found:
        curves = {metric: comparison.curve(metric) for metric in CURVES}
        for name in curves["hit_rate"]:
            for i, k in enumerate(comparison.lengths):
                values = {metric: curves[metric][name][i] for metric in CURVES}
                rows.append({"setting": comparison.setting, "ranker": name, "k": k} | values)
    return pd.DataFrame(rows, columns=["setting", "ranker", "k", *CURVES])
