"""How much each playlist counts: the mean weight of its rows."""

import numpy as np

from skmtc.rankers.fitting import playlist_means, read_weight_column


def weight_playlists(ranker, table, frame, sample_weight=None):
    """Store how much each playlist counts, in the table and in the ranker.

    The ranker stores the weights (None if all playlists count alike), the factor that makes their
    mean 1, and the label of the column that they are read from.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        The ranker, whose parameter `weight` may name a column.

    table : MembershipTable
        Training table.

    frame : DataFrame
        All its rows.

    sample_weight : ndarray of shape (n_rows,), default=None
        Weight of each row.
    """
    label, _ = read_weight_column(frame, ranker.weight)
    weights = _row_weights(ranker, frame, sample_weight)
    made, scale = None, 1.0
    alike = weights is None and table.left_out["repeated rows"] == 0
    if not alike and len(table.playlists):
        means = _playlist_means(table, frame, table.columns.playlist, weights)
        scale = 1.0 / float(means.mean())
        made = means * scale
    table.playlist_weights = made
    vars(ranker).update(playlist_weight_=made, _weight_scale=scale, _weight_label=label)


def append_weights(ranker, appended, frame, sample_weight, scale):
    """Return the weights of known and new playlists; None if all count alike.

    Parameters
    ----------
    ranker : MultitaskPlaylistRanker
        Fitted ranker.

    appended : AppendedTable
        Known and new playlists.

    frame : DataFrame
        The new rows.

    sample_weight : ndarray of shape (n_rows,) or None
        Weight of each new row.

    scale : float
        Factor of the mean weight of the rows of a playlist.

    Returns
    -------
    weights : ndarray of shape (n_playlists,) or None
        Known playlists keep their weights.
    """
    weights = _row_weights(ranker, frame, sample_weight)
    known = ranker.playlist_weight_
    if known is None and weights is None:
        return None
    label = ranker.reader.find_columns(frame, ("playlist",)).playlist
    known = np.ones(len(ranker.playlists_)) if known is None else known
    is_new = appended.playlist_source < 0
    joined = _playlist_means(appended, frame, label, weights) * scale
    joined[~is_new] = known[appended.playlist_source[~is_new]]
    return joined


def _row_weights(ranker, frame, sample_weight):
    """Return the weights of rows, given or of the column `weight`; None if all are alike."""
    _, of_column = read_weight_column(frame, ranker.weight)
    if of_column is not None and sample_weight is not None:
        raise ValueError(
            f"Weights must be given once; got `sample_weight` and weight={ranker.weight!r}. Pass "
            "one of them."
        )
    return sample_weight if of_column is None else of_column


def _playlist_means(table, frame, label, weights):
    weights = np.ones(len(frame)) if weights is None else weights
    return playlist_means(table, table.playlists.codes(frame[label]), weights)
