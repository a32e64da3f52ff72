"""Roles of columns that describe playlists."""

from dataclasses import dataclass, field
from typing import Any

from skmtc._table import is_table, to_frame
from skmtc._typing import Column, Columns
from skmtc.features.roles._column_content import (
    MOST_CATEGORIES,
    Content,
    cell_codes,
    find_date_subject,
    find_duplicates,
    find_subject,
    guess_role,
    make_groups,
    use_of_dates,
)
from skmtc.features.roles._column_names import (
    is_text_name,
    is_usual_id,
    looks_like_id,
    words,
)
from skmtc.features.roles._role_names import (
    as_list,
    check_labels,
    find_id,
    given_labels,
    is_auto,
    left_out,
    show_code,
    show_roles,
    to_use,
)


@dataclass(repr=False)
class PlaylistRoles:
    """The roles of columns in playlist features.

    Parameters
    ----------
    text : list
        Columns of words, such as titles and descriptions.

    left_out : dict
        Why each other column is not used, by name.

    Examples
    --------
    >>> from skmtc.features import PlaylistRoles, make_playlist_features
    >>> roles = PlaylistRoles(text=["title"])
    >>> roles
    PlaylistRoles(text=['title'])
    >>> features = make_playlist_features(roles)
    """

    text: list[Any] = field(default_factory=list)
    left_out: dict[Any, str] = field(default_factory=dict)

    @property
    def used(self) -> list[Any]:
        """The columns that have a role."""
        return list(dict.fromkeys(as_list(self.text)))

    def __repr__(self):
        return show_code(self, ("text", "left_out"))

    def __str__(self):
        return show_roles(self, ("text",))


def guess_playlist_roles(
    columns: Any,
    *,
    text: Columns = "auto",
    playlist: Column | None = "auto",
    user: Column | None = "auto",
    song: Column | None = "auto",
) -> PlaylistRoles:
    """Guess the roles of columns in playlist features, from their cells and their names.

    In a membership table, columns are used that have one value per playlist, but not one per song
    or per user. Titles, descriptions and other strings or lists of many values are text. Numbers,
    dates, names with at most 50 values and columns with one value only are left out. Of a list of
    names, titles and descriptions are text.

    Parameters
    ----------
    columns : DataFrame or list of str
        A table with one row per playlist, or a membership table; or names of columns.

    text : list, str, int or None, default="auto"
        Columns of words. "auto" guesses, None stands for none.

    playlist : str, int or None, default="auto"
        Column of playlist ids, guessed by its usual names, in which rows of one playlist agree.

    user : str, int or None, default="auto"
        Column of user ids, guessed by its usual names.

    song : str, int or None, default="auto"
        Column of song ids, guessed by its usual names.

    Returns
    -------
    roles : PlaylistRoles
        The roles, to be read, changed and passed to `make_playlist_features`. Each column is
        either used or in `left_out`, with the reason.

    See Also
    --------
    make_playlist_features : Makes features of columns with these roles.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import guess_playlist_roles
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob"],
    ...     "playlist": ["p1", "p1", "p2", "p3"],
    ...     "song": ["s1", "s2", "s1", "s3"],
    ...     "year": [2009, 1999, 2009, 2004],
    ...     "title": ["Run fast", "Run fast", "Sleep", "Morning run"],
    ...     "followers": [3, 3, 0, 1],
    ... })
    >>> print(guess_playlist_roles(X))
    text: title
    left out:
      user: has the name of an id
      playlist: has the name of an id
      song: has the name of an id
      year: describes songs
      followers: has no words
    """
    if is_table(columns):
        ids = {"song": song, "user": user, "playlist": playlist}
        return _guess_from_table(to_frame(columns), text, ids)
    labels = as_list(columns)
    return _assign(labels, {label: _reason_against_name(label) for label in labels}, text)


def _reason_against_name(label):
    """Return why a column is not text by its name alone; None if it is.

    A title may be that of a song, so the name must be that of a playlist.
    """
    is_text = is_text_name(label) and words(label)[0] == "playlist"
    return None if is_text else "has no name of a text of playlists"


def _guess_from_table(frame, text, ids):
    check_labels(frame.columns)
    ids = {role: find_id(frame, name, role) for role, name in ids.items()}
    text = text if is_auto(text) else given_labels(frame, text, "text")
    groups = make_groups(frame, **ids)
    rows = groups["playlists"].first if "playlists" in groups else slice(None)
    reasons, contents = {}, []
    for label in frame.columns:
        reasons[label] = _reason_against(frame, label, ids, groups)
        if reasons[label] is None:
            content = Content(label, frame[label].iloc[rows])
            contents.append(content)
            reasons[label] = _reason_against_words(content)
    same = find_duplicates(contents, as_list(None if is_auto(text) else text))
    reasons |= {label: f"is the same as column {other!r}" for label, other in same.items()}
    return _assign(frame.columns, reasons, text)


def _reason_against(frame, label, ids, groups):
    """Return why a column does not describe playlists; None if it does."""
    if label in ids.values() or (is_usual_id(label) and not is_text_name(label)):
        return "has the name of an id"
    codes, distinct = cell_codes(frame[label])
    if len(distinct) < 2:
        return "has one value only" if len(distinct) else "has no values"
    dated = find_date_subject(frame, label, codes, groups)
    if dated is not None:
        return use_of_dates(label, dated)
    subject = find_subject(label, codes, groups) if groups else "playlists"
    if subject == "users" and _users_have_one_playlist(groups):
        return None
    if subject == "playlists":
        return None
    return f"describes {subject}" if subject else "differs between rows of one playlist"


def _users_have_one_playlist(groups):
    """Check whether what describes users describes playlists just as well."""
    return "playlists" in groups and len(groups["users"].first) == len(groups["playlists"].first)


def _reason_against_words(content):
    """Return why a column of playlists is not used as text; None if it is."""
    if content.form not in ("string", "name", "list"):
        return "has no words"
    if looks_like_id(content.label) and not is_text_name(content.label):
        return "has the name of an id"
    role, reason = guess_role(content)
    if role == "text":  # which others leave out as "free text"
        return None
    if role not in ("tags", "identity"):
        return reason or "has no words"
    if reason is None and content.n_distinct <= MOST_CATEGORIES:
        reason = "has few values"
    return None if reason is None else to_use(reason, "text", content.label)


def _assign(labels, reasons, text):
    """Return the roles: columns without a reason against them, or those that are given."""
    if is_auto(text):
        text = [label for label, reason in reasons.items() if reason is None]
    text = as_list(text)
    return PlaylistRoles(text, left_out(labels, text, reasons))
