"""The report as one self-contained HTML file."""

import shlex
from base64 import b64encode
from html import escape

from skmtc import __version__
from skmtc.cli._safe_text import printable
from skmtc.cli.report._advice import advice, chosen_ranker
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
OWN = b'<meta name="generator" content="skmtc '  # marks a file as a report

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
tbody tr.hit { background: var(--best); font-weight: 600; }
td.best { background: var(--best); font-weight: 700; }
td small { display: block; color: var(--soft); font-weight: 400; font-size: .78rem; }
td.failed { color: var(--bad); text-align: left; white-space: normal; }
.figures { display: grid; gap: 1rem; margin-top: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
.figures img { width: 100%; height: auto; display: block; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .4rem; overflow: hidden; }
.verdicts { margin: .3rem 0 .8rem; padding-left: 1.2rem; }
.left { border-left: .3rem solid var(--bad); padding-left: .6rem; font-weight: 600; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--soft); }
details .scroll { margin-top: .4rem; }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .3rem; } h4 { font-size: 1rem; margin: 0 0 .2rem; }
pre { overflow-x: auto; margin: .4rem 0; padding: .7rem .9rem; border: 1px solid var(--line);
  border-radius: .4rem; background: var(--band); font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono",
  Menlo, Consolas, monospace; }
code { white-space: nowrap; }
.sampled { border-left: .3rem solid var(--soft); padding-left: .6rem; }
.use { padding-left: 1.2rem; } .use li { margin-bottom: .5rem; }
.example { border: 1px solid var(--line); border-radius: .4rem; padding: .8rem; margin-top: .8rem; }
.example p { margin: .2rem 0; overflow-wrap: anywhere; } .example summary { color: var(--ink); }
.example mark { background: var(--best); color: inherit; border-radius: .2rem; padding: 0 .2rem; }
.lists { display: grid; gap: .8rem; margin-top: .6rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); }
.lists > div { min-width: 0; } .lists h4 { color: var(--soft); font-weight: 600; }
.songs th, .songs td { padding: .25rem .6rem; text-align: left; }
.songs td { white-space: normal; overflow-wrap: break-word; min-width: 6rem; }
.songs td:first-child { min-width: 2.6rem; text-align: right; white-space: nowrap; }
.songs td.why { color: var(--soft); font-weight: 400; font-size: .85rem; min-width: 9rem; }
@media (max-width: 32rem) { .example { padding: .6rem .4rem; } th, td { padding: .4rem .5rem; }
  .songs th, .songs td { padding: .25rem .35rem; } .songs td { min-width: 3.6rem; }
  .songs td:first-child { min-width: 1.6rem; } .songs td.why { min-width: 7rem; } }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .8rem; }
"""

READING = (
    "Fit is in seconds. In each other column the best value is marked, and those of all rankers "
    "that are not told apart from it: differences are taken playlist by playlist, playlists of a "
    "user count as one cluster, intervals are of 95 %, and verdicts are corrected by Holm's method "
    "for the number of rankers. Below each mean is its 95 % interval by the bootstrap over users, "
    "which is wider than that of a difference on the same playlists."
)
CURVES_SHOWN = (
    "Curves of the best rankers and of popularity; bands are intervals of 95 %. All rankers are in "
    "curves.csv."
)
EXAMPLES_SHOWN = (
    "Random test playlists, and the songs that the two best rankers put first (the two best of "
    "those that differ); hits, which are songs of the playlist, are marked. A reason is what "
    "raises the score most, by skmtc.inspection.explain; for rankers without weights, it is "
    "counts of the song in training."
)
N_BEST = 2  # rankers in examples


def report_html(found, table, features, figures, left="", codes=None):
    """Return the report as HTML.

    Parameters
    ----------
    found : list of Comparison
        What rankers did in each setting.

    table : Table
        The table.

    features : Features
        What its columns are.

    figures : dict of str to dict of str to (bytes, bytes)
        Light and dark SVG by setting and title.

    left : str, default=""
        What is missing.

    codes : dict of str to str or None, default=None
        Python code of the ranker to use, by setting.

    Returns
    -------
    page : str
        HTML.
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
<p>{escape(table.source)}: {escape(table.whole_size or table.size)}.</p>
{_sampled(table)}
<p class="soft">{escape(_sentence(features.describe()))}</p>
{f'<p class="left">{escape(left)}</p>' if left else ""}
{_use(found, table, codes or {})}
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
    text = " ".join(metric_meanings(labels))
    moderate = without_best(labels)
    if moderate:
        text += f" No ranker is best by {moderate}, of which moderate values are preferable."
    return text


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def _sampled(table):
    if not table.sampled:
        return ""
    part = _sentence(f"{table.sampled}: {table.size}")
    text = f"{part} All figures are of this part. For the whole table pass"
    return f'<p class="sampled">{escape(text)} <code>--all</code>.</p>'


def _use(found, table, codes):
    """Return which ranker to use in each setting, with the code that makes it."""
    items = []
    for comparison in found:
        text = advice(comparison)
        if not text:
            continue
        is_open = "" if items else " open"
        setting = _sentence(words(comparison.setting))[:-1]
        item = f"<strong>{escape(setting)}.</strong> {escape(text)}"
        code = codes.get(comparison.setting)
        if code:
            name = chosen_ranker(comparison)
            new_songs = " --new-songs" if comparison.setting == "cold-songs" else ""
            command = f"skmtc fit {shlex.quote(table.source)} --ranker {name}{new_songs}"
            item += (
                f"<details{is_open}><summary>In Python, or as a command</summary>"
                f"<pre>{escape(code)}</pre><pre>{escape(command)} --out model.skops</pre></details>"
            )
        items.append(f"<li>{item}</li>")
    if not items:
        return ""
    return f'<h2>Which ranker to use</h2><ul class="use">{"".join(items)}</ul>'


def _section(comparison, figures):
    pictures = "".join(_picture(title, *pair) for title, pair in figures.items())
    name = words(comparison.setting)
    return f"""<section>
<h2>{escape(_sentence(name)[:-1])}</h2>
<p class="soft">{escape(comparison.meaning)} {escape(_sentence(split_text(comparison)))}</p>
{_verdicts(comparison)}
{_table(comparison)}
{_differences(comparison)}
{f'<p class="soft">{CURVES_SHOWN}</p><div class="figures">{pictures}</div>' if pictures else ""}
{_remark(comparison)}
{_examples(comparison)}
</section>
"""


def _examples(comparison):
    """Return a few test playlists, with what the two best rankers recommend."""
    good = comparison.rows.index[comparison.rows["error"] == ""]
    best = _different(good, comparison.examples)
    if not best:
        return ""
    found = "".join(_example(example, best) for example in comparison.examples)
    return f'<h3>What it recommends</h3><p class="soft">{EXAMPLES_SHOWN}</p>{found}'


def _different(names, examples):
    """Return the first rankers of which no two recommend the same in all examples."""
    lists = {
        name: [[song.title for song in example.lists[name]] for example in examples]
        for name in names
        if examples and all(name in example.lists for example in examples)
    }
    best = []
    for name, found in lists.items():
        if all(found != lists[other] for other in best):
            best.append(name)
    return best[:N_BEST]


def _example(example, rankers):
    hits = {
        (s.title, s.artist) for name in rankers for s in example.lists.get(name, ()) if s.is_hit
    }
    owner = f", of user {escape(example.owner)}" if example.owner else ""
    had = f": {_songs(example.had)}, …" if example.had else ""
    more = ", …" if example.n_wanted > len(example.wanted) else ""
    noun = "song" if example.n_wanted == 1 else "songs"
    lists = "".join(_suggestions(words(name), example.lists.get(name, ())) for name in rankers)
    return f"""<div class="example"><h4>Playlist {escape(example.name)}{owner}</h4>
<p class="soft">{escape(_sentence(example.known)[:-1])}{had}</p>
<p>{example.n_wanted:,} {noun} to find: {_songs(example.wanted, hits)}{more}</p>
<div class="lists">{lists}</div></div>
"""


def _songs(songs, hits=()):
    shown = []
    for title, artist in songs:
        text = escape(f"{title} \N{EN DASH} {artist}" if artist else title)
        shown.append(f"<mark>{text}</mark>" if (title, artist) in hits else text)
    return "; ".join(shown)


def _suggestions(name, suggestions):
    rows = []
    for rank, song in enumerate(suggestions, start=1):
        mark = "✓ " if song.is_hit else ""
        cells = f"<td>{mark}{rank}</td><td>{escape(song.title)}</td>"
        if any(s.artist for s in suggestions):
            cells += f"<td>{escape(song.artist)}</td>"
        cells += f'<td class="why">{escape(song.why)}</td>'
        rows.append(f'<tr class="hit">{cells}</tr>' if song.is_hit else f"<tr>{cells}</tr>")
    artist = "<th>artist</th>" if any(s.artist for s in suggestions) else ""
    n_hits = sum(s.is_hit for s in suggestions)
    return (
        f"<div><h4>{escape(name)}: {n_hits} of {len(suggestions)} are hits</h4>"
        f'<div class="scroll"><table class="songs"><thead><tr><th></th><th>song</th>{artist}'
        f"<th>why</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _verdicts(comparison):
    text = "".join(f"<li>{escape(sentence)}</li>" for sentence in verdicts(comparison))
    return f'<ul class="verdicts">{text}</ul>' if text else ""


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
            cells = "".join(
                _cell(cell(c, row[c]) + _interval(comparison, name, c), best[c][name])
                for c in labels
            )
        rows.append(f"<tr><th>{escape(words(name))}</th>{cells}</tr>")
    return (
        '<div class="scroll"><table><thead><tr><th>ranker</th>'
        f"{heads}<th>fit s</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _interval(comparison, name, label):
    if label == "fit_time" or (ends := comparison.interval(name, label)) is None:
        return ""
    return f"<small>{cell(label, ends[0])} to {cell(label, ends[1])}</small>"


def _cell(text, is_best):
    return f'<td class="best">{text}</td>' if is_best else f"<td>{text}</td>"


def _picture(title, light, dark):
    return (
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">'
        f'<img src="{_data(light)}" alt="{escape(title)}"></picture></figure>'
    )


def _data(svg):
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
