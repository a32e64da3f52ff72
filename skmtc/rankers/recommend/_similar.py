"""Similar songs: cosines of vectors of songs."""

from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

from skmtc._table import Songs, is_table, shown, to_frame
from skmtc._utils.sparse import (
    mean_of_groups,
    merge_rows,
    one_hot,
    product_batches,
    song_rows_of_playlists,
)
from skmtc._utils.validation import check_number
from skmtc.rankers.recommend._candidates import read_candidates
from skmtc.rankers.recommend._frame import ranked_frame
from skmtc.rankers.recommend._prepared import PreparedSongs
from skmtc.rankers.recommend._top_k import TopSongs


def similar_songs(ranker, songs, n, *, as_frame):
    """Find the songs of the catalogue that are most similar to some songs; see `BaseRanker`."""
    check_number("n", n, at_least=1, whole=True)
    asked = _read_songs(ranker, songs)
    catalogue = ranker.reader.catalogue()
    if n > len(catalogue) - int((asked.codes >= 0).any()):
        raise ValueError(
            f"`n` must be at most the number of other songs in the catalogue of {len(catalogue)}; "
            f"got {n}. Ask for fewer."
        )
    vectors = ranker.similarity_vectors(catalogue)
    of_asked = ranker.similarity_vectors(asked)
    _check_known(asked, of_asked)
    ties = ranker.tie_ranks(catalogue)
    if issparse(vectors):
        best, scores = _nearest_of_sparse(of_asked, vectors, n, asked.codes, ties)
    else:
        n_jobs = getattr(ranker, "n_jobs", None)
        top = TopSongs(PreparedSongs(vectors, ties), n_queries=len(asked), n_jobs=n_jobs)
        itself = csr_array(one_hot(asked.codes, len(catalogue))).astype(bool)
        best, scores = top.best(of_asked, n, seen=itself)
    if as_frame:
        return ranked_frame(ranker, {"similar_to": asked.ids}, catalogue, best, scores)
    return catalogue.ids[best], scores


def _nearest_of_sparse(rows, vectors, n, itself, ties):
    """Find the n largest inner products of each row, of which nearly all are 0.

    Only products that are stored are looked at; where these are fewer than n, the first songs in
    the order of ties fill the list up with 0.
    """
    best = np.empty((rows.shape[0], n), dtype=np.intp)
    scores = np.zeros((rows.shape[0], n))
    others = csr_array(vectors.T)
    by_tie = np.argsort(ties)
    for batch in product_batches(rows, others):
        products = csr_array(rows[batch] @ others)
        for row, (start, stop) in enumerate(pairwise(products.indptr), start=batch.start):
            columns, values = products.indices[start:stop], products.data[start:stop]
            found = np.flatnonzero((columns != itself[row]) & (values > 0))
            order = np.lexsort((ties[columns[found]], -values[found]))[:n]
            chosen, n_found = columns[found[order]], len(order)
            best[row, :n_found], scores[row, :n_found] = chosen, values[found[order]]
            if n_found < n:
                first = by_tie[: n + n_found + 1]
                left = first[~np.isin(first, [*chosen, itself[row]])]
                best[row, n_found:] = left[: n - n_found]
    return best, scores


def playlist_vectors(ranker, songs):
    """Return unit vectors of songs over the training playlists that hold them.

    A playlist of n of all N songs counts log(N / n), so that the cosine of two songs is their
    co-occurrence, for which long playlists count less. A new song has the mean vector of the songs
    of its artist; one whose artist is not known has zeros.
    """
    rows = song_rows_of_playlists(ranker.membership_, "tfidf")
    if not songs.is_new.any():
        return rows if songs.is_catalogue else rows[songs.codes]
    known = rows[songs.codes[~songs.is_new]]
    return merge_rows(songs.is_new, known, _of_artists(ranker, songs, rows))


def unit_rows(vectors):
    """Scale rows to length 1; rows of zeros stay."""
    if issparse(vectors):
        vectors = csr_array(vectors, dtype=np.float64)
        lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
        scale = 1.0 / np.where(lengths > 0, lengths, 1.0)
        data = vectors.data * np.repeat(scale, np.diff(vectors.indptr))
        return csr_array((data, vectors.indices, vectors.indptr), shape=vectors.shape)
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]


def _of_artists(ranker, songs, rows):
    artists = ranker.artists_of(songs.new_rows) if ranker.known_artists is not None else None
    if artists is None:
        return csr_array((len(songs.new_rows), rows.shape[1]))
    # Codes of artists, known and new together; missing ones have no songs.
    codes = pd.factorize(np.concatenate([ranker.known_artists, artists.to_numpy(dtype=object)]))[0]
    n_known = len(ranker.songs_)
    means = mean_of_groups(codes[:n_known], codes.max(initial=-1) + 1) @ rows
    return unit_rows(one_hot(codes[n_known:], means.shape[0]) @ means)


def _read_songs(ranker, songs):
    """Read known songs by id, or a table of known and new songs."""
    if isinstance(songs, str) or (np.ndim(songs) == 0 and not is_table(songs)):
        songs = [songs]
    if is_table(songs) or np.ndim(songs) == 2:
        return read_candidates(ranker, to_frame(songs))[0]
    ids = np.asarray(songs)
    codes = ranker.reader.codes("song", ids) if len(ids) else np.empty(0, dtype=np.intp)
    if len(codes) == 0 or (codes < 0).any():
        unknown = [shown(one) for one in ids[codes < 0][:5]]
        raise ValueError(
            f"Songs given as ids must be known to the ranker; got {len(ids)} ids, "
            f"{int((codes < 0).sum())} of them unknown: {', '.join(unknown)}. Pass new songs as a "
            "table with the columns that describe them."
        )
    return Songs(ranker.songs_[codes], codes)


def _check_known(asked, vectors):
    """Raise if nothing is known of a new song."""
    lengths = np.asarray(abs(vectors).sum(axis=1)).ravel()
    nothing = asked.is_new & (lengths == 0)
    if nothing.any():
        raise ValueError(
            f"A new song must have features or a known artist; "
            f"got {int(nothing.sum())} of {len(asked)} without, the first "
            f"{shown(asked.ids[nothing][0])}. Add the columns that describe it, or use a ranker "
            "with `song_features`."
        )
