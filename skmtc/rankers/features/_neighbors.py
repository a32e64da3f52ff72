"""New users stand in the place of similar ones."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from skmtc._utils.chunking import row_batches


def similar_users(attributes, known_attributes, n_neighbors):
    """Weigh known users by their similarity to new ones.

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
    new, known = normalize(attributes), normalize(known_attributes)
    n_neighbors = min(n_neighbors, known.shape[0])
    rows, columns = [], []
    for batch in row_batches(new.shape[0], 16 * known.shape[0]):
        similarity = safe_sparse_dot(new[batch], known.T, dense_output=True)
        last = np.partition(similarity, -n_neighbors, axis=1)[:, [-n_neighbors]]
        # Equal attributes may differ in the last bits after normalisation.
        row, column = np.nonzero(similarity >= last - 1e-9)
        rows.append(row + batch.start)
        columns.append(column)
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    has_attributes = np.asarray(abs(new).sum(axis=1)).ravel() > 0
    rows, columns = rows[has_attributes[rows]], columns[has_attributes[rows]]
    counts = np.bincount(rows, minlength=new.shape[0])
    return csr_array((1.0 / counts[rows], (rows, columns)), shape=(new.shape[0], known.shape[0]))
