"""Who is cold, by name."""

import inspect

from skmtc.cli._errors import check_name
from skmtc.cli._progress import note
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

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


def make_splitter(setting, table, *, seed, options=None):
    """Make the splitter of a setting; `options` are its own parameters."""
    options = dict(options or {})
    known = [p for p in inspect.signature(SETTINGS[setting]).parameters if p not in table.ids]
    for option in options:
        check_name(f"option of {setting}", option, known)
    if setting == "cold-songs" and "released" not in options and "year" not in table.X.columns:
        note("there is no column 'year': songs to hold out are drawn at random, not the latest")
        options["released"] = None
    return SETTINGS[setting](**({"random_state": seed} | table.ids | options))
