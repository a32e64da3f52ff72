"""Which columns say what about a song."""

from dataclasses import dataclass, field

import pandas as pd

from skmtc._table import to_frame
from skmtc.features._roles import (
    ID_NAMES,
    as_list,
    check_labels,
    check_numbers,
    find_name,
    given_label,
    given_labels,
    has_one_value_per,
    id_reasons,
    is_auto,
    is_number,
    left_out,
    looks_like_id,
)

NAMES = {
    "song": ID_NAMES["song"],
    "artist": ID_NAMES["artist"],
    "genre": ("genre", "genres"),
    "key": ("key",),
}


@dataclass
class SongRoles:
    """The roles of columns in song features.

    Parameters
    ----------
    song, artist, genre, key : str, int or None, default=None
        Columns of song ids, artists, genres and musical keys, by name or position.

    numeric : list
        Columns of numbers.

    left_out : dict
        Why each other column is not used, by name.

    Examples
    --------
    >>> from skmtc.features import SongRoles, make_song_features
    >>> roles = SongRoles(song="song", numeric=["year", "tempo"])
    >>> roles.numeric.remove("tempo")
    >>> roles.used
    ['song', 'year']
    >>> features = make_song_features(roles, embedding=False)
    """

    song: object = None
    artist: object = None
    genre: object = None
    key: object = None
    numeric: list = field(default_factory=list)
    left_out: dict = field(default_factory=dict)

    @property
    def used(self):
        """The columns that have a role."""
        single = (self.song, self.artist, self.genre, self.key)
        return [c for c in (*single, *self.numeric) if c is not None]


def guess_song_roles(
    columns, *, numeric="auto", key="auto", genre="auto", artist="auto", song="auto"
):
    """Guess the roles of columns in song features, from their types and names.

    Of a DataFrame, numbers are used that have one value per song and no name of ids. Song, artist,
    genre and key are known by their usual names. Of a list of names, whatever has no telling name
    is taken for numbers.

    Parameters
    ----------
    columns : DataFrame or list of str
        A table with one row per song, or a membership table; or names of columns.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" guesses, None stands for none; so below.

    key : str, int or None, default="auto"
        Column of musical keys, from 0 (C) to 11 (B), guessed by the name "key". With None, a key
        is a number like others.

    genre : str, int or None, default="auto"
        Column of genres.

    artist : str, int or None, default="auto"
        Column of artists.

    song : str, int or None, default="auto"
        Column of song ids.

    Returns
    -------
    roles : SongRoles
        The roles, to be read, changed and passed to `make_song_features`.

    See Also
    --------
    make_song_features : Makes features of columns with these roles.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import guess_song_roles
    >>> X = pd.DataFrame({
    ...     "playlist": ["gym", "gym", "run"],
    ...     "song": ["s1", "s2", "s1"],
    ...     "artist": ["a", "b", "a"],
    ...     "year": [2009, 1999, 2009],
    ...     "title": ["Go", "Stop", "Go"],
    ...     "position": [1, 2, 2],
    ... })
    >>> roles = guess_song_roles(X)
    >>> roles.song, roles.artist, roles.genre, roles.numeric
    ('song', 'artist', None, ['year'])
    >>> for column, reason in roles.left_out.items():
    ...     print(column, reason)
    playlist has the name of an id
    title has no numbers and no telling name
    position differs between rows of one song
    """
    given = {"song": song, "artist": artist, "genre": genre, "key": key}
    if isinstance(columns, pd.DataFrame) or hasattr(columns, "to_pandas"):
        return _guess_from_table(to_frame(columns), given, numeric)
    return _guess_from_names(as_list(columns), given, numeric)


def _guess_from_names(labels, given, numeric):
    roles = SongRoles()
    for role, name in given.items():
        setattr(roles, role, find_name(labels, NAMES[role]) if is_auto(name) else name)
    roles.numeric = [] if is_auto(numeric) else as_list(numeric)
    reasons = id_reasons(labels)
    if is_auto(numeric):
        roles.numeric = [c for c in labels if c not in roles.used and c not in reasons]
    _check_named(labels, roles)
    roles.left_out = left_out(labels, roles.used, reasons)
    return roles


def _guess_from_table(frame, given, numeric):
    check_labels(frame.columns)
    roles = SongRoles()
    for role, name in given.items():
        if is_auto(name):
            label = find_name(frame.columns, NAMES[role])
            usable = label is not None and (role != "key" or is_number(frame[label]))
            setattr(roles, role, label if usable else None)
        elif name is not None:
            setattr(roles, role, given_label(frame, name, role))
    free = [label for label in frame.columns if label not in roles.used]
    reasons = {label: _reason_against(frame, label, roles.song) for label in free}
    if is_auto(numeric):
        roles.numeric = [label for label, reason in reasons.items() if reason is None]
    else:
        roles.numeric = given_labels(frame, numeric, "numeric")
    check_numbers(frame, [c for c in (roles.key, *roles.numeric) if c is not None], "numeric")
    _check_genre(frame, roles.genre)
    roles.left_out = left_out(frame.columns, roles.used, reasons)
    return roles


def _reason_against(frame, label, song):
    """Say why a column is not a number that describes songs; None if it is one."""
    if looks_like_id(label):
        return "has the name of an id"
    if not is_number(frame[label]):
        return "has no numbers and no telling name"
    if frame[label].isna().all():
        return "has no values"
    if song is not None and not has_one_value_per(frame, label, song):
        return "differs between rows of one song"
    return None


def _check_named(labels, roles):
    missing = [c for c in roles.used if c not in labels]
    if labels and missing:
        raise ValueError(
            f"Columns with a role must be among the columns; got {missing[0]!r}, and the columns "
            f"{labels}. Correct the name, or add it to the columns."
        )


def _check_genre(frame, label):
    if label is None:
        return
    column = frame[label]
    fractions = pd.api.types.is_float_dtype(column.dtype) and (column.dropna() % 1 != 0).any()
    if fractions or pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise TypeError(
            f"The column of role `genre` must have names, codes or lists of them; got {label!r} of "
            f"type {column.dtype}. Name another column, or pass genre=None."
        )
