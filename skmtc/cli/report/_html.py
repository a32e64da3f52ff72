"""The report as one HTML file that needs nothing else."""

from base64 import b64encode
from html import escape

from skmtc import __version__
from skmtc.cli._safe_text import printable
from skmtc.cli.report._plain_text import (
    best_of,
    cell,
    column_name,
    has_best,
    metric_meanings,
    split_text,
    verdicts,
    without_best,
    words,
)

GENERATOR = f'<meta name="generator" content="skmtc {__version__}">'
OWN = b'<meta name="generator" content="skmtc '  # how a report is known again

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #59636e;
  --line: #d5dae0; --best: #dcefe6; --bad: #8a4200; --band: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --page: #171b21; --ink: #e6e9ee; --soft: #a4adb8;
  --line: #39414b; --best: #1c4a3a; --bad: #ffb27a; --band: #1e242c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 3rem; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.3rem; margin: 2.2rem 0 .2rem; }
p { margin: .3rem 0 .8rem; } .soft { color: var(--soft); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .8rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 600; }
thead th { border-bottom: 2px solid var(--line); }
tbody tr:nth-child(even) { background: var(--band); }
td.best { background: var(--best); font-weight: 700; }
td.failed { color: var(--bad); text-align: left; white-space: normal; }
.figures { display: grid; gap: 1rem; margin-top: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
.figures img { width: 100%; height: auto; display: block; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .4rem; overflow: hidden; }
.verdicts { margin: .3rem 0 .8rem; padding-left: 1.2rem; }
.left { border-left: .3rem solid var(--bad); padding-left: .6rem; font-weight: 600; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--soft); }
details .scroll { margin-top: .4rem; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .8rem; }
"""

READING = (
    "Fit is in seconds. In each other column the best value is marked, and those of all rankers "
    "that are not told apart from it: differences are taken playlist by playlist, playlists of a "
    "user count as one cluster, intervals are of 95 %, and verdicts are corrected by Holm's method "
    "for the number of rankers."
)


def report_html(found, table, features, figures, left=""):
    """Compose the report.

    `figures` are pairs of (light, dark) SVG by setting and title; `left` tells what is missing.
    """
    sections = [_section(comparison, figures.get(comparison.setting, {})) for comparison in found]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{GENERATOR}
<title>skmtc report: {escape(table.source)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Cold-start playlist recommendation</h1>
<p>{escape(_sentence(table.source)[:-1])}: {escape(table.size)}.</p>
<p class="soft">{escape(_sentence(features.told()))}</p>
{f'<p class="left">{escape(left)}</p>' if left else ""}
{"".join(sections)}
<footer class="soft">
<p>{escape(_meanings(found))} {READING}</p>
<p>Made by skmtc {__version__} with seed {features.seed}; the figures of all tables are in
comparison.csv, all differences with intervals in differences.csv, and all curves in
curves.csv.</p>
</footer>
</body>
</html>
"""


def _meanings(found):
    """Return what the metrics of a report measure, and which of them have no best."""
    labels = list(dict.fromkeys(label for comparison in found for label in comparison.metrics))
    told = " ".join(metric_meanings(labels))
    moderate = without_best(labels)
    if moderate:
        told += f" No ranker is best by {moderate}, of which moderate values are preferable."
    return told


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def _section(comparison, figures):
    pictures = "".join(_picture(title, *pair) for title, pair in figures.items())
    name = words(comparison.setting)
    return f"""<section>
<h2>{escape(_sentence(name)[:-1])}</h2>
<p class="soft">{escape(comparison.meaning)} {escape(_sentence(split_text(comparison)))}</p>
{_verdicts(comparison)}
{_table(comparison)}
{_differences(comparison)}
{f'<div class="figures">{pictures}</div>' if pictures else ""}
{_remark(comparison)}
</section>
"""


def _verdicts(comparison):
    told = "".join(f"<li>{escape(sentence)}</li>" for sentence in verdicts(comparison))
    return f'<ul class="verdicts">{told}</ul>' if told else ""


def _differences(comparison):
    """Return a table of how far each ranker is behind the best, to be unfolded."""
    labels = [label for label in comparison.metrics if has_best(label)]
    found = {label: comparison.differences_by(label) for label in labels}
    if not labels or len(found[labels[0]]) < 2:
        return ""
    heads = "".join(f"<th>{escape(column_name(label))}</th>" for label in labels)
    rows = []
    for name in comparison.rows.index[comparison.rows["error"] == ""]:
        cells = "".join(_difference(label, found[label].loc[name]) for label in labels)
        rows.append(f"<tr><th>{escape(words(name))}</th>{cells}</tr>")
    return (
        "<details><summary>Differences to the best, with 95 % intervals</summary>"
        f'<div class="scroll"><table><thead><tr><th>ranker</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _difference(label, row):
    if row["verdict"] in ("best", ""):
        return _cell(row["verdict"] or "-", bool(row["verdict"]))
    values = [cell(label, row[name]) for name in ("difference", "low", "high")]
    return _cell("{} ({} to {})".format(*values), row["verdict"] == "tied")


def _remark(comparison):
    if not comparison.is_flat("novelty"):
        return ""
    return (
        '<p class="soft">All candidates are equally novel, so novelty says nothing about the '
        "rankers here, and has no figure.</p>"
    )


def _table(comparison):
    labels = [*comparison.metrics, "fit_time"]
    heads = "".join(f"<th>{escape(column_name(c))}</th>" for c in comparison.metrics)
    best = best_of(comparison)
    rows = []
    for name, row in comparison.rows.iterrows():
        if row["error"]:
            cells = (
                f'<td class="failed" colspan="{len(labels)}">{escape(printable(row["error"]))}</td>'
            )
        else:
            cells = "".join(_cell(cell(c, row[c]), best[c][name]) for c in labels)
        rows.append(f"<tr><th>{escape(words(name))}</th>{cells}</tr>")
    return (
        '<div class="scroll"><table><thead><tr><th>ranker</th>'
        f"{heads}<th>fit s</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(text, is_best):
    return f'<td class="best">{text}</td>' if is_best else f"<td>{text}</td>"


def _picture(title, light, dark):
    return (
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">'
        f'<img src="{_data(light)}" alt="{escape(title)}"></picture></figure>'
    )


def _data(svg):
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
