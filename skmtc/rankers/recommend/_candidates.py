"""Candidates: the catalogue, some songs, new songs, or songs of each query."""

import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

from skmtc._table import Songs, first_rows, is_table, read_ids, shown, to_frame

KINDS = (
    "None, a list or array of song ids, a table of songs, a table of queries and songs, or a "
    "boolean sparse matrix of shape (n_queries, n_songs)"
)


def read_candidates(ranker, candidates, queries=None):
    """Read the candidates of queries.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted ranker.

    candidates : object
        As for `recommend`.

    queries : Queries or None, default=None
        The queries; None if candidates are the same for all.

    Returns
    -------
    songs : Songs
        All candidates.

    allowed : csr_array of bool of shape (n_queries, n_songs) or None
        Which of them are candidates of each query; None if all are.
    """
    if candidates is None:
        return ranker.reader.catalogue(), None
    if issparse(candidates):
        return ranker.reader.catalogue(), _read_matrix(ranker, candidates, queries)
    _check_kind(candidates)
    if not is_table(candidates) and np.ndim(candidates) == 1:
        return known_songs(ranker, np.asarray(candidates)), None
    frame = to_frame(candidates)
    columns = ranker.reader.find_columns(frame, ("song",))
    keys = [c for c in (columns.user, columns.playlist) if c is not None]
    # An array has all columns of the table of `fit`, as positions count, so it is one of songs.
    if keys and queries is not None and is_table(candidates):
        return _read_pairs(ranker, frame, columns, queries)
    ids = read_ids(frame, columns.song, "song")
    _check_distinct(ids)
    codes = ranker.reader.codes("song", ids)
    return Songs(ids.to_numpy(), codes, frame[codes < 0] if (codes < 0).any() else None), None


def known_songs(ranker, ids):
    """Return songs of the training catalogue by distinct ids."""
    _check_distinct(pd.Series(ids))
    codes = ranker.reader.codes("song", ids) if len(ids) else np.empty(0, dtype=np.intp)
    if len(codes) == 0 or (codes < 0).any():
        unknown = ids[codes < 0][:5].tolist()
        raise ValueError(
            "Candidates given as ids must be songs of the training catalogue; got "
            f"{len(ids)} ids, {int((codes < 0).sum())} of them unknown: {unknown}. Pass new "
            "songs as a table with their feature columns."
        )
    return Songs(ranker.songs_[codes], codes)


def blocked_pairs(allowed, seen):
    """Return the pairs of a block that are not candidates, as a csr_array of bool.

    Parameters
    ----------
    allowed : csr_array of bool of shape (n_rows, n_songs)
        Candidates.

    seen : csr_array of bool of shape (n_rows, n_songs) or None
        Songs that are no candidates although they are allowed.
    """
    blocked = np.ones(allowed.shape, dtype=bool)
    blocked[allowed.nonzero()] = False
    if seen is not None:
        blocked[seen.nonzero()] = True
    return csr_array(blocked)


def _read_matrix(ranker, matrix, queries):
    """Check a boolean matrix of queries and songs of the catalogue."""
    n_queries = None if queries is None else len(queries)
    if n_queries is None or matrix.shape != (n_queries, len(ranker.songs_)):
        raise ValueError(
            "A sparse matrix of candidates must have one row per query and one column per song of "
            f"`songs_`, shape {(n_queries or 0, len(ranker.songs_))}; got shape {matrix.shape}. "
            "Put the columns in the order of `songs_`."
        )
    allowed = csr_array(matrix).astype(bool)
    allowed.sum_duplicates()
    allowed.eliminate_zeros()
    return allowed


def _read_pairs(ranker, frame, columns, queries):
    """Read a table of queries and songs: each query has the songs of its rows."""
    # 1. Match rows and queries by the id columns of the table.
    asked_columns = ranker.reader.find_columns(queries.rows, ())
    keys = {
        role: (getattr(columns, role), getattr(asked_columns, role))
        for role in ("user", "playlist")
        if getattr(columns, role) is not None
    }
    absent = [label for label, of_queries in keys.values() if of_queries is None]
    if absent:
        raise ValueError(
            f"A table of candidates must name queries by columns that these have; got the column "
            f"{absent[0]!r}, and queries with the columns {list(queries.rows.columns)}. Add the "
            "column to the queries, or drop it from the candidates."
        )
    pair_of_row, query_key = _match(frame, queries.rows, list(keys.values()))
    # 2. Count rows that match no query and have an id that the ranker does not know.
    known = np.ones(len(frame), dtype=bool)
    for role, (label, _) in keys.items():
        known &= ranker.reader.codes(role, read_ids(frame, label, role)) >= 0
    n_strangers = int(np.count_nonzero((pair_of_row < 0) & ~known))
    # 3. Find the distinct songs; leave out new ones if no column describes them.
    ids = read_ids(frame, columns.song, "song")
    distinct, codes, first, song_of_row = _distinct_songs(ids, ranker.reader.ids["song"])
    described = set(frame.columns) - set(columns.labels)
    n_unknown = 0
    if not described and (codes < 0).any():
        n_unknown = int((codes[song_of_row] < 0).sum())
        kept = codes >= 0
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        distinct, first, codes = distinct[kept], first[kept], codes[kept]
        song_of_row = place[song_of_row]
    _warn_left_out(n_strangers, n_unknown, len(frame))
    used = (pair_of_row >= 0) & (song_of_row >= 0)
    if not used.any():
        raise ValueError(
            f"A table of candidates must have songs for at least one query; got {len(frame)} rows, "
            "none of which has the ids of a query and a known song. Check the ids of "
            f"the columns {[label for label, _ in keys.values()]} and {columns.song!r}."
        )
    # 4. Mark the allowed songs of each key, then of each query.
    n_keys = int(query_key.max(initial=0)) + 1
    pairs = (pair_of_row[used], song_of_row[used])
    by_key = csr_array((np.ones(len(pairs[0]), bool), pairs), shape=(n_keys, len(distinct)))
    allowed = by_key[query_key]
    allowed.sum_duplicates()
    new_rows = frame.iloc[first[codes < 0]] if (codes < 0).any() else None
    return Songs(distinct, codes, new_rows), allowed.astype(bool)


def _match(frame, asked, keys):
    """Return the key of each row of a table, -1 if no query has it, and the key of each query."""
    codes_of_asked = codes_of_rows = 0
    is_asked = np.ones(len(frame), dtype=bool)
    for label, of_queries in keys:
        index = pd.Index(asked[of_queries].unique())
        own = index.get_indexer(pd.Index(frame[label]))
        is_asked &= own >= 0
        codes_of_rows = codes_of_rows * (len(index) + 1) + own
        codes_of_asked = codes_of_asked * (len(index) + 1) + index.get_indexer(asked[of_queries])
    distinct, key_of_query = np.unique(codes_of_asked, return_inverse=True)
    key_of_row = pd.Index(distinct).get_indexer(codes_of_rows)
    return np.where(is_asked, key_of_row, -1), key_of_query


def _distinct_songs(ids, known):
    """Return distinct songs, known ones in the order of the catalogue, with their codes.

    Also return the first row of each song, and the song of each row.
    """
    song_of_row, distinct = pd.factorize(np.asarray(ids), sort=False)
    first = first_rows(song_of_row, len(distinct))
    codes = known.codes(distinct)
    order = np.lexsort((first, codes, codes < 0))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return distinct[order], codes[order], first[order], place[song_of_row]


def _warn_left_out(n_strangers, n_unknown, n_rows):
    reasons = [
        f"{count} of {what}"
        for count, what in (
            (n_strangers, "users or playlists that are neither asked for nor known"),
            (n_unknown, "songs that are not known, and that no column describes"),
        )
        if count
    ]
    if reasons:
        warnings.warn(
            f"Left out of {n_rows} rows of candidates: {'; '.join(reasons)}. Correct their ids, or "
            "add the columns that describe new songs.",
            stacklevel=5,
        )


def _check_kind(candidates):
    is_dict = isinstance(candidates, dict)
    is_known = not is_dict and (is_table(candidates) or np.ndim(candidates) in (1, 2))
    if isinstance(candidates, str) or not is_known:
        raise TypeError(
            f"`candidates` must be {KINDS}; got {type(candidates).__name__}. Convert it, e.g. a "
            "set with `sorted`."
        )


def _check_distinct(ids):
    twice = ids[ids.duplicated()]
    if len(twice):
        raise ValueError(
            f"Candidates must be distinct songs; got {shown(twice.iloc[0])} more than once "
            f"({len(twice)} such rows). Drop the copies."
        )
