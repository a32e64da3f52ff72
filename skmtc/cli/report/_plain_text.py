"""Print a comparison as text, with the meaning of its columns."""

import numpy as np

from skmtc.metrics import parse_metric

LEGEND = (
    "* best of its column, or not told apart from the best (paired over playlists by user, Holm, "
    "5 %)"
)


def words(name):
    """Return the name of a ranker or setting as words."""
    return name.replace("-", " ")


def column_name(label):
    """Return the name of a metric as the paper writes it."""
    return parse_metric(label).label


def has_best(label):
    """Check whether some ranker is best by a metric."""
    return parse_metric(label).record.direction == "higher"


def without_best(labels):
    """Return the names of the metrics that have no best, as words; empty if there are none."""
    return _listed([column_name(label) for label in labels if not has_best(label)])


def metric_meanings(labels):
    """Return a sentence for each metric: what it measures."""
    records = {parse_metric(label).record.name: parse_metric(label) for label in labels}
    return [
        f"{chosen.label.partition('@')[0]}{'@K' if chosen.k is not None else ''} is "
        f"{chosen.record.description}."
        for chosen in records.values()
    ]


def best_of(comparison):
    """Return for each metric, and the time of the fit, which rankers are best or tied with it."""
    rows = comparison.rows
    best = {"fit_time": rows["fit_time"] == rows["fit_time"].min()}
    for label in comparison.metrics:
        verdicts = comparison.differences_by(label)["verdict"]
        is_best = verdicts.isin(["best", "tied"]) & has_best(label)
        best[label] = is_best.reindex(rows.index, fill_value=False)
    return best


def verdicts(comparison):
    """Return a sentence for each metric that has a best: who that is, and by how much."""
    return [
        sentence
        for label in comparison.metrics
        if has_best(label)
        if (sentence := _verdict(label, comparison.differences_by(label)))
    ]


def _verdict(label, found):
    if len(found) < 2 or not found["verdict"].all():
        return ""
    first, is_tied = found.index[0], found["verdict"] == "tied"
    sentence = (
        f"{column_name(label)}: {words(first)} is best ({cell(label, found['mean'].iloc[0])})"
    )
    if is_tied.any():
        sentence += f", tied with {_listed([words(name) for name in found.index[is_tied]])}"
    worse = found[found["verdict"] == "worse"]
    if len(worse) == 0:
        return f"{sentence}; no ranker is told apart from it."
    row = worse.iloc[0]
    ahead = [cell(label, -row[name]) for name in ("difference", "high", "low")]
    return f"{sentence}, ahead of {words(worse.index[0])} by {ahead[0]} ({ahead[1]} to {ahead[2]})."


def _listed(names):
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def cell(label, value):
    """Return a value as text."""
    if np.isnan(value):
        return "-"
    return f"{value:.2f}" if label == "fit_time" else f"{value:.3f}"


def split_text(comparison):
    """Describe how large the split is."""
    counts = comparison.split
    return (
        f"{counts['train_playlists']:,.0f} training playlists; tested on "
        f"{counts['test_playlists']:,.0f} of {comparison.n_playlists:,} playlists, of "
        f"{counts['test_users']:,.0f} users"
    )


def comparison_text(comparison):
    """Return a comparison as lines of text."""
    labels = [*comparison.metrics, "fit_time"]
    heads = ["ranker", *map(column_name, comparison.metrics), "fit s"]
    best = best_of(comparison)
    lines = [heads]
    for name, row in comparison.rows.iterrows():
        cells = [cell(c, row[c]) + ("*" if best[c][name] else " ") for c in labels]
        lines.append([words(name), *cells])
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    lines[0] = [heads[0], *(f"{head} " for head in heads[1:])]
    widths[1:] = [
        max(width, len(head)) for width, head in zip(widths[1:], lines[0][1:], strict=True)
    ]
    text = [f"{words(comparison.setting)}: {split_text(comparison)}"]
    for line in lines:
        rest = "".join(f"  {c:>{width}}" for c, width in zip(line[1:], widths[1:], strict=True))
        text.append(f"{line[0]:<{widths[0]}}{rest}".rstrip())
    moderate = without_best(comparison.metrics)
    legend = f"{LEGEND}; there is no best by {moderate}" if moderate else LEGEND
    text += [legend, *verdicts(comparison)]
    failed = comparison.rows["error"]
    text += [f"{words(name)} failed: {' '.join(e.split())}" for name, e in failed.items() if e]
    return "\n".join(text)
