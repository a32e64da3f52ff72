"""Results as tidy tables: one row per recommended song."""

import numpy as np
import pandas as pd

from skmtc.rankers.recommend._song_columns import song_table


def recommendation_frame(ranker, queries, songs, best, scores):
    """Return recommendations as one table.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted ranker, with the names of columns and the columns of its songs.

    queries : Queries
        The queries; the ids in their rows come first.

    songs : Songs
        The candidates.

    best : ndarray of shape (n_queries, n_recommendations)
        Positions in `songs`, best first; -1 where there are no more.

    scores : ndarray of shape (n_queries, n_recommendations)
        Their scores.

    Returns
    -------
    frame : DataFrame
        Ids of the query (its position as "query" if it has none), rank, song, score and the columns
        that describe the song.
    """
    columns = ranker.reader.find_columns(queries.rows, ())
    ids = {
        _name(label, role): queries.rows[label].to_numpy()
        for role, label in (("user", columns.user), ("playlist", columns.playlist))
        if label is not None
    }
    ids = ids or {"query": np.arange(len(queries))}
    return ranked_frame(ranker, ids, songs, best, scores)


def ranked_frame(ranker, ids, songs, best, scores):
    """Return ranked songs as one table, each with the ids of its query."""
    rows, places = np.nonzero(best >= 0)
    positions = best[rows, places]
    frame = pd.DataFrame({name: values[rows] for name, values in ids.items()})
    frame["rank"] = places + 1
    frame[_name(ranker.reader.labels[2], "song")] = songs.ids[positions]
    frame["score"] = scores[rows, places]
    described = song_table(getattr(ranker, "_song_columns", None), songs, positions)
    taken = set(frame.columns)
    described.columns = [f"song_{label}" if label in taken else label for label in described]
    return pd.concat([frame, described], axis=1)


def _name(label, role):
    """Return the name of an id column; columns of arrays have none but their role."""
    return label if isinstance(label, str) else role
