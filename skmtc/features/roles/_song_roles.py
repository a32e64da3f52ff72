"""Roles of columns that describe songs."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skmtc._table import is_table, to_frame
from skmtc._typing import Column, Columns
from skmtc.features.roles._column_content import (
    FEWEST_DISTINCT,
    Content,
    cell_codes,
    find_date_subject,
    find_duplicates,
    find_subject,
    guess_role,
    is_number,
    make_groups,
    preference,
    says_the_same,
    use_of_dates,
)
from skmtc.features.roles._column_names import (
    ID_NAMES,
    find_name,
    find_names,
    is_identity_name,
    is_tag_name,
    is_text_name,
    is_usual_id,
    looks_like_id,
    stem,
    words,
)
from skmtc.features.roles._role_names import (
    as_list,
    check_labels,
    check_numbers,
    find_id,
    given_label,
    given_labels,
    is_auto,
    left_out,
    show_code,
    show_roles,
    to_use,
)

SINGLE = ("song", "artist", "key")
SEVERAL = ("numeric", "date", "tags", "identity", "vector", "text")
KEY_NAMES = ("key", "musical_key")

# So many numbered columns of numbers with one stem, as in emb_0 … emb_63, are one vector.
FEWEST_NUMBERED = 16


@dataclass(repr=False)
class SongRoles:
    """The roles of columns in song features.

    Parameters
    ----------
    song, artist, key : str, int or None, default=None
        Columns of song ids, artists and musical keys, by name or position.

    numeric : list
        Columns of numbers.

    date : list
        Columns of dates.

    tags : list
        Columns of names with few values or with several per song, such as genres and languages.

    identity : list
        Columns of names with many values, such as albums and record labels.

    vector : list
        Columns whose cells are arrays of numbers of one length, and columns of numbers that
        together are a vector.

    text : list
        Columns of free text.

    left_out : dict
        Why each other column is not used, by name.

    Examples
    --------
    >>> from skmtc.features import SongRoles
    >>> roles = SongRoles(song="song", numeric=["year", "tempo"], tags=["genre"])
    >>> roles.numeric.remove("tempo")
    >>> roles.used
    ['song', 'year', 'genre']
    >>> roles
    SongRoles(song='song', numeric=['year'], tags=['genre'])
    """

    song: Column | None = None
    artist: Column | None = None
    key: Column | None = None
    numeric: list[Any] = field(default_factory=list)
    date: list[Any] = field(default_factory=list)
    tags: list[Any] = field(default_factory=list)
    identity: list[Any] = field(default_factory=list)
    vector: list[Any] = field(default_factory=list)
    text: list[Any] = field(default_factory=list)
    left_out: dict[Any, str] = field(default_factory=dict)

    @property
    def used(self) -> list[Any]:
        """The columns that have a role."""
        columns = [getattr(self, role) for role in SINGLE]
        columns = [column for column in columns if column is not None]
        for role in SEVERAL:
            columns += as_list(getattr(self, role))
        return list(dict.fromkeys(columns))

    def __repr__(self):
        return show_code(self, (*SINGLE, *SEVERAL, "left_out"))

    def __str__(self):
        return show_roles(self, (*SINGLE, *SEVERAL))


def guess_song_roles(
    columns: Any,
    *,
    song: Column | None = "auto",
    artist: Column | None = "auto",
    key: Column | None = "auto",
    numeric: Columns = "auto",
    date: Columns = "auto",
    tags: Columns = "auto",
    identity: Columns = "auto",
    vector: Columns = "auto",
    text: Columns = None,
    user: Column | None = "auto",
    playlist: Column | None = "auto",
) -> SongRoles:
    """Guess the roles of columns in song features, from their cells and their names.

    Song, artist and key are known by their usual names. Any other column of a table is used if it
    describes songs, that is, if rows of one song agree on it (but for 1 % of the songs, whose first
    row counts), and if it has at least two values and is not the same as another column:

    - dates, and strings such as "2011-05-03", have the role `date`; dates of playlists and rows,
      such as `created_at` and `added_at`, are no features of songs, and `left_out` says what they
      serve;
    - arrays of numbers of one length, and at least 16 columns of numbers whose names end in a
      running number, have the role `vector`;
    - lists of names, strings with a separator such as "rock|pop", and names with at most 50 values
      (or with 200 songs per value) have the role `tags`;
    - names with more values, each repeated at least 1.2 times on average, and integers with the
      name of an album, a label or an id have the role `identity`;
    - strings of several words that are almost all distinct are free text;
    - other numbers, and truth values, have the role `numeric`.

    Of a list of names, whatever has no telling name is taken for numbers.

    Parameters
    ----------
    columns : DataFrame or list of str
        A table with one row per song, or a membership table; or names of columns.

    song : str, int or None, default="auto"
        Column of song ids. "auto" guesses, None stands for no column; so below.

    artist : str, int or None, default="auto"
        Column of artists.

    key : str, int or None, default="auto"
        Column of musical keys, from 0 (C) to 11 (B), guessed by the name "key". With None, a key
        is a number like others.

    numeric : list, str, int or None, default="auto"
        Columns of numbers.

    date : list, str, int or None, default="auto"
        Columns of dates.

    tags : list, str, int or None, default="auto"
        Columns of genres, tags and other categories.

    identity : list, str, int or None, default="auto"
        Columns of albums, record labels and other names with many values.

    vector : list, str, int or None, default="auto"
        Columns of vectors. With None, numbered columns are numbers like others.

    text : list, str, int or None, default=None
        Columns of free text, such as titles. They are used only if they are named, or with "auto".

    user, playlist : str, int or None, default="auto"
        Columns of user and playlist ids, guessed by their usual names. They tell which columns
        describe users or playlists rather than songs.

    Returns
    -------
    roles : SongRoles
        The roles, to be read, changed and passed to `make_song_features`. Each column is either
        used or in `left_out`, with the reason.

    See Also
    --------
    make_song_features : Makes features of columns with these roles.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import guess_song_roles
    >>> X = pd.DataFrame({
    ...     "playlist": ["gym", "gym", "run", "run"],
    ...     "song": ["s1", "s2", "s1", "s3"],
    ...     "artist": ["a", "b", "a", "b"],
    ...     "year": [2009, 1999, 2009, 2004],
    ...     "genres": ["rock|pop", "pop", "rock|pop", "jazz|pop"],
    ...     "title": ["Go", "Stop", "Go", "Wait"],
    ...     "position": [1, 2, 2, 1],
    ... })
    >>> print(guess_song_roles(X))
    song: song
    artist: artist
    numeric: year
    tags: genres
    left out:
      playlist: has the name of an id
      title: is free text; pass text=['title'] to use it
      position: differs between rows of one song; pass numeric=['position'] to use the first row
    """
    single = {"song": song, "artist": artist, "key": key}
    several = {"numeric": numeric, "date": date, "tags": tags}
    several |= {"identity": identity, "vector": vector, "text": text}
    if is_table(columns):
        owners = {"user": user, "playlist": playlist}
        return _guess_from_table(to_frame(columns), single, several, owners)
    return _guess_from_names(as_list(columns), single, several)


def _guess_from_names(labels, single, several):
    usual = {"song": ID_NAMES["song"], "artist": ID_NAMES["artist"], "key": KEY_NAMES}
    roles = SongRoles()
    for role, name in single.items():
        setattr(roles, role, find_name(labels, usual[role]) if is_auto(name) else name)
    for role, names in several.items():
        setattr(roles, role, [] if is_auto(names) else as_list(names))
    free = [label for label in labels if label not in roles.used]
    guessed = {label: _role_of_name(label) for label in free}
    if is_auto(several["vector"]):
        guessed = _join_numbered(guessed, free)
    reasons = _assign(roles, guessed, several)
    _check_named(labels, roles)
    roles.left_out = left_out(labels, roles.used, reasons)
    return roles


def _role_of_name(label):
    """Return the role of a column by its name alone, and why it is left out, or None."""
    if is_usual_id(label, ("user", "playlist", "song", "artist")):
        return None, "has the name of an id"
    if is_tag_name(label):
        return "tags", None
    if is_identity_name(label):
        return "identity", None
    if looks_like_id(label):
        return "identity", "has the name of an id"
    if is_text_name(label):
        return "text", "is free text"
    return ("date" if words(label)[-1:] == ["date"] else "numeric"), None


def _guess_from_table(frame, single, several, owners):
    check_labels(frame.columns)
    owners = {role: find_id(frame, name, role) for role, name in owners.items()}
    roles = SongRoles()
    _find_single(frame, single, roles, owners)
    for role, names in several.items():
        setattr(roles, role, [] if is_auto(names) else given_labels(frame, names, role))
    _check_types(frame, roles)
    groups = make_groups(frame, song=roles.song, **owners)
    rows = groups["songs"].first if "songs" in groups else np.arange(len(frame))
    free = [label for label in frame.columns if label not in roles.used]
    reasons, contents = {}, {}
    for label in free:
        reasons[label], contents[label] = _read(frame, label, rows, groups, owners, single)
    contents = {label: c for label, c in contents.items() if c is not None}
    _find_key(single["key"], contents, roles)
    used = [Content(label, frame[label].iloc[rows]) for label in roles.used]
    same = find_duplicates([*used, *contents.values()], roles.used)
    reasons |= {label: f"is the same as column {other!r}" for label, other in same.items()}
    guessed = {label: guess_role(c) for label, c in contents.items() if label not in same}
    guessed = {label: found for label, found in guessed.items() if label != roles.key}
    if is_auto(several["vector"]):
        numbers = [label for label in free if is_number(frame[label]) and label != roles.key]
        guessed = _join_numbered(guessed, numbers)
    guessed = _drop_aliases(guessed, contents, used, roles)
    reasons |= _assign(roles, guessed, several)
    roles.left_out = left_out(frame.columns, roles.used, reasons)
    return roles


def _find_single(frame, single, roles, owners):
    """Find the columns of songs and artists, and a key that was named."""
    for role, name in single.items():
        if name is not None and not is_auto(name):
            setattr(roles, role, given_label(frame, name, role))
    taken = [*owners.values(), *roles.used]
    for role in ("song", "artist"):
        if is_auto(single[role]):
            labels = [label for label in frame.columns if label not in taken]
            setattr(roles, role, _find_ids(frame, find_names(labels, ID_NAMES[role]), role))


def _find_ids(frame, labels, role):
    """Return the first column with a usual name whose values are ids; None without."""
    contents = [Content(label, frame[label]) for label in labels]
    contents = [c for c in contents if c.n_distinct > (role == "artist") and _has_ids(c)]
    # A number of a track has the name of its id, but far fewer values.
    most = max((c.n_distinct for c in contents), default=0)
    return next((c.label for c in contents if 2 * c.n_distinct >= most), None)


def _has_ids(content):
    if content.form == "number":
        return content.is_integral
    several = words(content.label)[-1:] == ["artists"] and content.separator is not None
    return content.form in ("string", "name") and not several


def _find_key(key, contents, roles):
    """Take a column with the name and the values of musical keys for the key."""
    label = find_name(contents, KEY_NAMES)
    if not is_auto(key) or label is None:
        return
    content = contents[label]
    if is_number(content.column) and content.is_integral:
        values = content.distinct.to_numpy(dtype=float)
        if values.min() >= -1 and values.max() <= 12:  # below 0: not recognised
            roles.key = label


def _read(frame, label, rows, groups, owners, single):
    """Return why a column does not describe songs, or None, and its cells if it does."""
    if label in owners.values() or is_usual_id(label, ("user", "playlist")):
        return "has the name of an id", None
    for role in ("song", "artist"):
        if single[role] is None and is_usual_id(label, (role,)):
            return f"has the name of an id; pass {role}={label!r} to use it", None
    codes, distinct = cell_codes(frame[label])
    if len(distinct) < 2:
        return ("has one value only" if len(distinct) else "has no values"), None
    dated = find_date_subject(frame, label, codes, groups)
    if dated is not None:
        return use_of_dates(label, dated), None
    subject = find_subject(label, codes, groups) if groups else "songs"
    if subject in ("users", "playlists"):
        return f"describes {subject}", None
    content = Content(label, frame[label].iloc[rows])
    if subject is None and "songs" in groups:
        role = guess_role(content)[0]
        line = f"; pass {role}=[{label!r}] to use the first row" if role else ""
        return f"differs between rows of one song{line}", None
    if content.n_distinct < 2:
        return "has one value only", None
    return None, content


def _join_numbered(guessed, labels):
    """Return the guesses with numbered columns of numbers as vectors, in order of the number.

    Columns without a guess, such as constants, count as numbered, so that they leave no gap.
    """
    found = [n for n in _find_numbered(labels) if guessed.get(n) == ("numeric", None)]
    others = {label: guess for label, guess in guessed.items() if label not in found}
    return others | dict.fromkeys(found, ("vector", None))


def _find_numbered(labels):
    """Return the columns that share a stem and end in a running number, in order of the number."""
    stems = {}
    for label in labels:
        match = re.fullmatch(r"(.*?)(\d+)", str(label))
        if match:
            stems.setdefault(match[1], {})[int(match[2])] = label
    runs = [
        [numbered[number] for number in sorted(numbered)]
        for numbered in stems.values()
        if len(numbered) >= FEWEST_NUMBERED and max(numbered) - min(numbered) < len(numbered)
    ]
    return [label for run in sorted(runs, key=lambda run: str(run[0])) for label in run]


def _drop_aliases(guessed, contents, used, roles):
    """Leave out names and ids that say the same as others, or as the artist or song."""
    kept = [c for c in used if c.label in (roles.artist, *roles.identity, *roles.tags)]
    song = [c for c in used if c.label == roles.song]
    named = [label for label, (role, _) in guessed.items() if role in ("identity", "tags")]
    for label in sorted(named, key=preference):
        content, (role, reason) = contents[label], guessed[label]
        if content.form == "list" or (role == "tags" and content.separator is not None):
            continue
        others = kept + song if stem(label)[-1:] in (["song"], ["track"], ["isrc"]) else kept
        other = next((other for other in others if _is_alias(content, other, role)), None)
        if other is not None:
            guessed[label] = None, f"says the same as column {other.label!r}"
        elif reason is None:
            kept.append(content)
    return guessed


def _is_alias(content, other, role):
    # Few categories may pair up by chance, unless their names say that they belong together.
    few = role == "tags" and content.n_distinct <= FEWEST_DISTINCT
    if few and stem(content.label) != stem(other.label):
        return False
    return says_the_same(content, other)


def _assign(roles, guessed, several):
    """Add columns to the roles that are to be guessed; return why the others are left out."""
    reasons = {}
    for label, (role, reason) in guessed.items():
        if role is None:
            reasons[label] = reason
        elif reason is not None and not (role == "text" and is_auto(several["text"])):
            reasons[label] = to_use(reason, role, label)
        elif is_auto(several[role]):
            if label not in roles.used:
                getattr(roles, role).append(label)
        else:
            reasons[label] = f"was not chosen; add it to {role} to use it"
    return reasons


def _check_named(labels, roles):
    missing = [c for c in roles.used if c not in labels]
    if labels and missing:
        raise ValueError(
            f"Columns with a role must be among the columns; got {missing[0]!r}, and the columns "
            f"{labels}. Correct the name, or add it to the columns."
        )


def _check_types(frame, roles):
    """Check that columns that were named for a role have cells that it can use."""
    check_numbers(frame, roles.numeric, "numeric")
    check_numbers(frame, as_list(roles.key), "key")
    names = "names, codes or lists of them"
    for role, labels, needs, fits in (
        ("date", roles.date, "dates, or strings such as '2011-05-03'", _fits_date),
        ("tags", roles.tags, names, _fits_tags),
        ("identity", roles.identity, "names or codes, one per song", _fits_identity),
        ("vector", roles.vector, "numbers, or lists of numbers of one length", _fits_vector),
        ("text", roles.text, "strings", lambda c: c.form == "string"),
    ):
        for label in labels:
            content = Content(label, frame[label])
            if content.n_distinct and not fits(content):
                raise TypeError(
                    f"Columns of role `{role}` must have {needs}; got {label!r} of type "
                    f"{frame[label].dtype}. Convert the column, or give it another role."
                )


def _fits_date(content):
    return content.form == "date" or (content.form == "string" and content.has_dates)


def _fits_tags(content):
    return content.form == "list" or _fits_identity(content)


def _fits_identity(content):
    is_code = content.form == "number" and (
        content.is_integral or pd.api.types.is_bool_dtype(content.column.dtype)
    )
    return is_code or content.form in ("string", "name")


def _fits_vector(content):
    return content.form == "number" or (content.form == "list" and content.is_vector)
