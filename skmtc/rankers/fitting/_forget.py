"""Users who ask to be deleted."""

from copy import deepcopy
from difflib import get_close_matches

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skmtc._table import shown
from skmtc._utils.fitted_state import Each, IdArray, fitted_fields

# An unknown id is compared with this many known ones, its neighbours in sorted order.
MOST_COMPARED = 2000


def who_stays(ranker, users):
    """Return which users and which playlists of a fitted ranker stay when some users go.

    Returns
    -------
    users, playlists : ndarray of bool
        Which rows stay.
    """
    user_stays = np.ones(len(ranker.users_), dtype=bool)
    user_stays[_known_codes(ranker, users)] = False
    return user_stays, user_stays[ranker.user_of_playlist_]


def kept_positions(ranker, user_stays, playlist_stays):
    """Return which positions stay when users and playlists are removed, by dimension.

    Songs that only removed playlists hold are removed, too, and so are artists whose songs are.
    """
    kept = {"users": user_stays, "playlists": playlist_stays}
    song_stays = _songs_that_stay(ranker.membership_, playlist_stays)
    if song_stays.all():
        return kept
    kept["songs"] = song_stays
    artists = ranker.known_artists
    if artists is not None and getattr(ranker, "artists_", None) is not None:
        kept["artists"] = pd.Index(ranker.artists_).isin(artists[song_stays])
    return kept


def _songs_that_stay(membership, playlist_stays):
    """Return which songs stay: all but those that only removed playlists hold."""
    stays = np.ones(membership.shape[1], dtype=bool)
    stays[membership[~playlist_stays].indices] = False
    stays[membership[playlist_stays].indices] = True
    return stays


def without_ids(transformer, ids, label):
    """Return a copy of a fitted transformer whose encoders of song ids do not know some songs.

    Parameters
    ----------
    transformer : estimator
        A transformer of songs.

    ids : ndarray
        The songs.

    label : object
        Name of the column of song ids.
    """
    made = deepcopy(transformer)
    seen, parts = set(), [made]
    while parts:
        part = parts.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, list | tuple):
            parts += part
        elif isinstance(part, BaseEstimator):
            _forget_ids(part, ids, label)
            parts += vars(part).values()
    return made


def _forget_ids(encoder, ids, label):
    """Remove ids from the columns of an encoder that hold ids of songs."""
    fields = {n: f.field for n, f in fitted_fields(type(encoder)).items() if isinstance(f, Each)}
    columns = getattr(encoder, "feature_names_in_", np.empty(0))
    for name, field in fields.items():
        if not isinstance(field, IdArray) or name not in vars(encoder):
            continue
        for column, known in enumerate(vars(encoder)[name]):
            named_so = column < len(columns) and columns[column] == label
            if getattr(encoder, "_role", None) != "song" and not named_so:
                continue
            kept = {field.dimensions[0]: ~pd.Index(known).isin(ids)}
            for other, of_other in fields.items():
                if of_other.has_any(kept):
                    values = vars(encoder)[other]
                    values[column] = of_other.take(values[column], kept)


def _known_codes(ranker, users):
    if isinstance(users, str) or np.ndim(users) != 1:
        raise TypeError(
            f"`users` must be a list of user ids; got {users!r}. Put a single id in a list."
        )
    if len(users) == 0:
        return np.empty(0, dtype=np.intp)
    users = np.asarray(users)
    codes = ranker.reader.codes("user", users)
    if (codes < 0).any():
        unknown = users[codes < 0]
        raise ValueError(
            f"Users to forget must be known to the ranker; got {len(unknown)} unknown of "
            f"{len(users)}, the first {shown(unknown[0])}; the nearest known are "
            f"{_nearest(unknown[0], ranker.users_)}. Correct or leave out these ids; nothing was "
            "forgotten."
        )
    return codes


def _nearest(wanted, known):
    place = int(np.searchsorted(known, wanted))
    start = max(0, place - MOST_COMPARED // 2)
    names = {str(one): one for one in known[start : start + MOST_COMPARED]}
    close = get_close_matches(str(wanted), names, n=3, cutoff=0.0)
    return "[" + ", ".join(shown(names[name]) for name in close) + "]"
