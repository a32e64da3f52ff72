"""Limit the songs of one artist in a list of recommendations."""

import numpy as np
import pandas as pd

from skmtc._utils.chunking import row_batches
from skmtc.rankers.recommend._diversity import POOL


def artist_codes(known_artists, artists_of_new, songs):
    """Return a code for the artist of each song.

    Parameters
    ----------
    known_artists : ndarray or None
        Artists of the songs of the training catalogue; None if the table of `fit` had none.

    artists_of_new : Series or None
        Artists of the new ones among the songs; None if their table has none.

    songs : Songs
        The songs.

    Returns
    -------
    codes : ndarray of shape (n_songs,)
        Equal for songs of one artist; -1 where the artist is missing.
    """
    artists = np.empty(len(songs), dtype=object)
    for which, source, table in (
        (~songs.is_new, known_artists, "table of fit"),
        (songs.is_new, artists_of_new, "table of candidates"),
    ):
        if not which.any():
            continue
        if source is None:
            raise ValueError(
                f"`max_per_artist` needs the artists of songs; got none, as the {table} has no "
                "artist column. Add the column 'artist' (or the one that the ranker's parameter "
                "`artist` names), or pass max_per_artist=None."
            )
        artists[which] = source[songs.codes[which]] if source is known_artists else source
    return pd.factorize(artists)[0]


def best_with_cap(find, n_queries, k, artists, most, *, diversify=None, may_be_short=False):
    """Return the best songs of each query, at most a number of them of one artist.

    Parameters
    ----------
    find : callable
        `find(depth, positions)` returns the columns and scores of the best songs of the queries at
        some positions, best first; -1 where there are no more.

    n_queries : int
        Number of queries.

    k : int
        Number of songs to return.

    artists : ndarray of shape (n_songs,)
        Code of the artist of each column; songs of -1 are not capped.

    most : int
        How many songs of an artist a list may have.

    diversify : Diversify or None, default=None
        How to choose among the songs that were found; None takes the best.

    may_be_short : bool, default=False
        Whether a list may have fewer than k songs if there are no more.

    Returns
    -------
    columns, scores : ndarray of shape (n_queries, k)
        In the order of the ranking; -1 and -inf where there are no more.
    """
    columns, scores = np.full((n_queries, k), -1, dtype=np.intp), np.full((n_queries, k), -np.inf)
    first_depth = 2 * k + 16 if diversify is None else POOL * k
    # Search deeper and deeper for the queries that have too few songs within the limit.
    left, depth = np.arange(n_queries), min(first_depth, len(artists))
    while True:
        short = []
        for batch in row_batches(len(left), 64 * depth):
            positions = left[batch]
            found, found_scores = find(depth, positions)
            artists_found = np.where(found < 0, -1, artists[found])
            kept = within_cap(artists_found, most) & (found >= 0)
            is_full = kept.sum(axis=1) >= k
            if depth == len(artists) and not is_full.all():
                if not may_be_short:
                    _refuse(positions[~is_full][0], kept.sum(axis=1)[~is_full][0], k, most)
                is_full[:] = True
            if diversify is None:
                places = _first_kept(kept[is_full], k)
            else:
                pool = found[is_full], found_scores[is_full]
                places = diversify.choose(*pool, k, artists_found[is_full], most)
            rows = np.flatnonzero(is_full)[:, None]
            columns[positions[is_full]] = np.where(places >= 0, found[rows, places], -1)
            scores[positions[is_full]] = np.where(places >= 0, found_scores[rows, places], -np.inf)
            short.append(positions[~is_full])
        left, depth = np.concatenate(short), min(4 * depth, len(artists))
        if len(left) == 0:
            return columns, scores


def _first_kept(kept, k):
    """Return the places of the first k entries that are kept, in order; -1 for no more."""
    places = np.argsort(~kept, axis=1, kind="stable")[:, :k]
    return np.where(np.take_along_axis(kept, places, axis=1), places, -1)


def within_cap(artists, most):
    """Return which entries are among the first of their value in their row; -1 always is."""
    # Sort each row by artist: the place of an entry within its run is the number of earlier ones.
    order = np.argsort(artists, axis=1, kind="stable")
    ordered = np.take_along_axis(artists, order, axis=1)
    place = np.broadcast_to(np.arange(artists.shape[1]), artists.shape)
    begins = np.ones(artists.shape, dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    earlier = place - np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    kept = np.empty(artists.shape, dtype=bool)
    np.put_along_axis(kept, order, (earlier < most) | (ordered < 0), axis=1)
    return kept


def _refuse(position, n_kept, k, most):
    raise ValueError(
        f"There must be {k} candidate songs with at most {most} of an artist for each query; got "
        f"{n_kept} for the query at position {position}. Pass a larger `max_per_artist`, fewer "
        "`n_recommendations` or more `candidates`."
    )
