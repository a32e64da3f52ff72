"""A comparison as text, and what its columns mean."""

import numpy as np

from skmtc.metrics._scorer import parse_metrics

NAMES = {
    "auc": "AUC",
    "hit_rate": "HitRate",
    "novelty": "Novelty",
    "spread": "Spread",
    "ndcg": "NDCG",
    "r_precision": "R-precision",
    "neg_bottom_push_loss": "-BottomPush",
}
# Of novelty and spread the paper prefers moderate values: no ranker is best by them.
MODERATE = ("novelty", "spread")
LEGEND = (
    "* best of its column; of novelty and spread moderate values are preferable, so none is marked"
)


def words(name):
    """Show the name of a ranker or setting as words."""
    return name.replace("-", " ")


def column_name(label):
    """Show the name of a metric as the paper writes it."""
    (metric,) = parse_metrics([label])
    return NAMES[metric.name] + (f"@{metric.k}" if metric.k is not None else "")


def best_of(comparison):
    """Tell for each metric, and the time of the fit, which rankers are best; none of some."""
    rows = comparison.rows
    best = {"fit_time": rows["fit_time"] == rows["fit_time"].min()}
    for metric in parse_metrics(comparison.metrics):
        values = rows[metric.label]
        best[metric.label] = (values == values.max()) & (metric.name not in MODERATE)
    return best


def cell(label, value):
    """Show a value."""
    if np.isnan(value):
        return "-"
    return f"{value:.2f}" if label == "fit_time" else f"{value:.3f}"


def split_text(comparison):
    """Say how large the split is."""
    counts = comparison.split
    return (
        f"{counts['train_playlists']:,.0f} training playlists, {counts['test_playlists']:,.0f} "
        f"test playlists of {counts['test_users']:,.0f} users"
    )


def comparison_text(comparison):
    """Lay out a comparison as lines of text."""
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
    text.append(LEGEND)
    failed = comparison.rows["error"]
    text += [f"{words(name)} failed: {' '.join(e.split())}" for name, e in failed.items() if e]
    return "\n".join(text)
