"""Playlist features whose cosine is the similarity of playlists."""

from typing import Any

from sklearn.compose import ColumnTransformer

from skmtc._typing import Columns
from skmtc.features._text import TextEncoder
from skmtc.features.roles import PlaylistRoles, guess_playlist_roles, is_auto


def make_playlist_features(
    columns: Any = None, *, text: Columns = "auto", min_frequency: float | None = 1
) -> ColumnTransformer:
    """Make a transformer of playlist attributes: the words of titles and descriptions.

    A new playlist is scored by the weights of the known playlists with the most similar
    attributes, and similarity is the cosine of these features. Each text is a vector of unit
    length with one dimension per word, and rare words weigh more (`TextEncoder`). A missing text
    and new words are zeros, which have no effect.

    Parameters
    ----------
    columns : DataFrame, list of str, PlaylistRoles or None, default=None
        Where the columns of text come from if these are not given: guessed from the cells of a
        table (with one row per playlist, or a membership table), from names alone, or as they are
        in `PlaylistRoles`. None: they are given, by name or by position.

    text : list, str, int or None, default="auto"
        Columns of words. "auto" stands for what `guess_playlist_roles` finds.

    min_frequency : int or float, default=1
        Words of fewer playlists than this are ignored. A float is a share of the playlists.

    Returns
    -------
    transformer : ColumnTransformer
        To be passed as `playlist_features`, with the part ``text``.

    See Also
    --------
    guess_playlist_roles : The guess about columns, to be read and changed.
    make_user_features : The same for users.

    Examples
    --------
    The first two titles share the word "run", which is less rare than the others:

    >>> import pandas as pd
    >>> from skmtc.features import make_playlist_features
    >>> playlists = pd.DataFrame({
    ...     "playlist": ["p1", "p2", "p3"],
    ...     "title": ["run fast", "Morning Run", None],
    ... })
    >>> features = make_playlist_features(playlists)
    >>> features.fit_transform(playlists).toarray().round(2)
    array([[0.8 , 0.  , 0.61],
           [0.  , 0.8 , 0.61],
           [0.  , 0.  , 0.  ]])
    >>> features.get_feature_names_out().tolist()
    ['text__title_fast', 'text__title_morning', 'text__title_run']
    """
    roles = _roles(columns, text)
    if not roles.used:
        raise ValueError(
            f"Playlist features need at least one column of text; got none: {roles!r}. Name the "
            "columns to use with `text`, or pass playlist_features=None to the ranker where "
            "nothing is known of playlists."
        )
    encoder = TextEncoder(n_components=None, min_frequency=min_frequency)
    return ColumnTransformer([("text", encoder, roles.text)], sparse_threshold=1)


def _roles(columns, text):
    if isinstance(columns, PlaylistRoles):
        text, columns = (columns.text if is_auto(text) else text), None
    return guess_playlist_roles(columns, text=text)
