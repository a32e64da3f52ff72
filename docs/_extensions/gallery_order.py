"""The order of the gallery: from a first table, along the settings and the model, to production."""

from pathlib import Path

ORDER = (
    "quickstart",
    "cold_start",
    "cold_playlists",
    "cold_users",
    "cold_songs",
    "pipeline",
    "grid_search",
    "sparsity",
    "ranking_loss",
    "solvers",
    "explain",
    "results",
    "million_rows",
    "vector_index",
    "generated_playlists",
)


def place(example):
    """Return the place of an example in the gallery."""
    return ORDER.index(Path(example).stem.removeprefix("plot_"))
