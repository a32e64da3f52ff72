"""Songs that a playlist, or its user, already has."""

import numpy as np
from scipy.sparse import csr_array

from skmtc._utils.sparse import as_ones, one_hot, sum_of_users


def seen_songs(ranker, queries, which):
    """Mark the songs of the training catalogue that queries already have.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted ranker.

    queries : Queries
        The queries.

    which : bool, "playlist" or "user"
        True and "playlist" stand for the songs of known playlists, "user" for those of all
        playlists of known users, False for none.

    Returns
    -------
    seen : csr_array of shape (n_queries, n_songs) or None
        True where a song is seen; None if no query is known.
    """
    check_exclude_seen(which)
    codes = queries.users if which == "user" else queries.playlists
    if which is False or codes.max(initial=-1) < 0:
        return None
    if which == "user":
        rows = as_ones(ranker.membership_)
        held = sum_of_users(rows, ranker.user_of_playlist_, len(ranker.users_))
        return csr_array(one_hot(codes, held.shape[0]) @ held).astype(bool)
    return _marked_rows(ranker.membership_, codes)


def _marked_rows(matrix, codes):
    """Return True at the stored entries of the rows of some codes; a code of -1 has none.

    It is `one_hot(codes) @ matrix`, without the dozen checks of small matrices on the way, which
    took a tenth of the time of a single query.
    """
    starts, ends = matrix.indptr[codes], matrix.indptr[codes + 1]
    sizes = np.where(codes >= 0, ends - starts, 0)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    # Entry i of row r stands at starts[r] + i, and goes to indptr[r] + i.
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)
    marks = np.ones(len(places), dtype=bool)
    return csr_array((marks, matrix.indices[places], indptr), shape=(len(codes), matrix.shape[1]))


def seen_candidates(ranker, queries, songs, which):
    """Mark the candidates that queries already have, as `seen_songs` marks the whole catalogue."""
    seen = seen_songs(ranker, queries, which)
    if seen is None or songs.is_catalogue:
        return seen
    columns = one_hot(songs.codes, len(ranker.songs_)).T
    return csr_array(seen.astype(float) @ columns).astype(bool)


def check_exclude_seen(which):
    """Check which songs are to be left out."""
    if not (isinstance(which, bool) or which in ("playlist", "user")):
        raise ValueError(
            "`exclude_seen` must be True or 'playlist' for the songs of a known playlist, 'user' "
            f"for all songs of its user, or False; got {which!r}. Change `exclude_seen`."
        )
