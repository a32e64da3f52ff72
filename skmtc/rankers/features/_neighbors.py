"""Find the known users and playlists that are similar to new ones, whose weights score these."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from skmtc._utils.chunking import row_batches

# Cosines that differ by less are equal up to rounding.
SAME = 1e-9

# Factor of the weights of similar playlists, which are added to those of the user. On playlists of
# 30Music with titles, held out of training, AUC and HitRate@100 were .784 and .090 without, .821
# and .114 with a gain of 1, and .825 and .131 with 2.
GAIN = 2.0


def similar_users(attributes, known_attributes, n_neighbors):
    """Return weights of known users by their similarity to new ones.

    Parameters
    ----------
    attributes : array or sparse matrix of shape (n_new, n_attributes)
        Attributes of the new users.

    known_attributes : array or sparse matrix of shape (n_users, n_attributes)
        Attributes of the known users.

    n_neighbors : int
        How many of the most similar users, by cosine, to use. Users as similar as the last of
        them are used too, so that the order of users does not matter.

    Returns
    -------
    weights : csr_array of shape (n_new, n_users)
        Rows sum to 1; the row of a user with no attributes but zeros is empty.
    """
    rows, columns, _, n_rows = _nearest(attributes, known_attributes, n_neighbors)
    has_attributes = np.asarray(abs(attributes).sum(axis=1)).ravel() > 0
    rows, columns = rows[has_attributes[rows]], columns[has_attributes[rows]]
    counts = np.bincount(rows, minlength=n_rows)
    shape = (n_rows, known_attributes.shape[0])
    return csr_array((1.0 / counts[rows], (rows, columns)), shape=shape)


def similar_playlists(attributes, known_attributes, n_neighbors):
    """Return weights of known playlists by their similarity to new ones.

    With the cosines s of the most similar playlists, the weight of playlist j is

        GAIN * max(s) * s_j / sum(s),

    so that playlists which have little in common add little.

    Parameters
    ----------
    attributes : array or sparse matrix of shape (n_new, n_attributes)
        Attributes of the new playlists.

    known_attributes : array or sparse matrix of shape (n_playlists, n_attributes)
        Attributes of the known playlists.

    n_neighbors : int
        How many of the most similar playlists to use, and those as similar as the last of them, as
        long as they have anything in common.

    Returns
    -------
    weights : csr_array of shape (n_new, n_playlists)
        The row of a playlist with nothing in common with any other is empty.
    """
    rows, columns, similarity, n_rows = _nearest(
        attributes, known_attributes, n_neighbors, lowest=SAME
    )
    largest, total = np.zeros((2, n_rows))
    np.maximum.at(largest, rows, similarity)
    np.add.at(total, rows, similarity)
    weights = GAIN * largest[rows] * similarity / total[rows]
    return csr_array((weights, (rows, columns)), shape=(n_rows, known_attributes.shape[0]))


def _nearest(attributes, known_attributes, n_neighbors, lowest=-np.inf):
    """Return the pairs of new and known rows that are most similar, and their cosines."""
    new, known = normalize(attributes), normalize(known_attributes)
    n_neighbors = min(n_neighbors, known.shape[0])
    rows, columns, similarities = [], [], []
    for batch in row_batches(new.shape[0], 16 * known.shape[0]):
        similarity = safe_sparse_dot(new[batch], known.T, dense_output=True)
        last = np.partition(similarity, -n_neighbors, axis=1)[:, [-n_neighbors]]
        # Equal attributes may differ in the last bits after normalisation.
        row, column = np.nonzero(similarity >= np.maximum(last - SAME, lowest))
        rows.append(row + batch.start)
        columns.append(column)
        similarities.append(similarity[row, column])
    joined = (np.concatenate(parts) for parts in (rows, columns, similarities))
    return *joined, new.shape[0]
