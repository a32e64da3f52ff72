"""Cold-start settings by name."""

import inspect

from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from skmtc.cli._errors import check_name
from skmtc.cli._progress_lines import note
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

MIN_SONG_COUNT = ColdPlaylistSplit().min_song_count
SETTINGS = {
    "cold-playlists": ColdPlaylistSplit,
    "cold-users": ColdUserSplit,
    "cold-songs": ColdSongSplit,
}
MEANINGS = {
    "cold-playlists": "New playlists of known users, with known songs.",
    "cold-users": "Playlists of new users, with known songs.",
    "cold-songs": "Newly released songs, for known playlists.",
}
RANDOM_SONGS = "Songs that no training playlist has, chosen at random, for known playlists."


def make_splitter(setting, table, *, seed, options=None):
    """Make the splitter of a setting; `options` are its own parameters."""
    options = dict(options or {})
    known = [p for p in inspect.signature(SETTINGS[setting]).parameters if p not in table.ids]
    for option in options:
        check_name(f"option of {setting}", option, known)
    if setting == "cold-playlists" and table.sampled and "min_song_count" not in options:
        # A song in five playlists of the whole table is in fewer of a sample.
        options["min_song_count"] = max(1, round(MIN_SONG_COUNT * table.playlist_share))
    if setting == "cold-songs" and "released" not in options:
        options["released"] = _release_column(table)
        if options["released"] is None:
            note(
                "there is no column of release years, such as 'year': songs to hold out are drawn "
                "at random, not the latest"
            )
    return SETTINGS[setting](**({"random_state": seed} | table.ids | options))


def meaning(setting, splitter):
    """Return a description of a setting."""
    if setting == "cold-songs" and splitter.released is None:
        return RANDOM_SONGS
    return MEANINGS[setting]


def _release_column(table):
    """Return the column of release years or dates; None if there is none."""
    if "year" in table.X.columns:
        return "year"
    for column in table.X.columns:
        name, dtype = str(column).lower(), table.X[column].dtype
        is_named = "year" in name or "release" in name
        is_ordered = is_numeric_dtype(dtype) or is_datetime64_any_dtype(dtype)
        if is_named and is_ordered and _is_of_songs(table, column):
            return column
    return None


def _is_of_songs(table, column):
    """Check whether each song has one value."""
    return (table.X.groupby(table.song)[column].nunique(dropna=False) == 1).all()
