"""Cold-start settings by name."""

import inspect
import warnings

from skmtc.cli._errors import check_name
from skmtc.cli._progress_lines import note
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

MIN_SONG_COUNT = ColdPlaylistSplit().min_song_count
# With fewer test playlists, rankers are hardly told apart: a number, and a share of small tables.
FEWEST_TESTED = 100
SMALLEST_SHARE = 0.05
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
AT_RANDOM = "at random"  # as `ColdSongSplit.describe` shows it


def make_splitter(setting, table, *, seed, options=None):
    """Make the splitter of a setting; `options` are its own parameters.

    Unless options say otherwise, songs of test playlists may be less frequent than the splitter's
    default has them, if few playlists are tested otherwise; and if no column tells releases, songs
    are held out at random. Both are printed.
    """
    options = dict(options or {})
    known = [p for p in inspect.signature(SETTINGS[setting]).parameters if p not in table.ids]
    for option in options:
        check_name(f"option of {setting}", option, known)
    options = {"random_state": seed} | table.ids | options
    if setting == "cold-playlists" and "min_song_count" not in options:
        options["min_song_count"] = _song_count(table, options)
    splitter = SETTINGS[setting](**options)
    if setting == "cold-songs" and held_out_by(splitter, table) == AT_RANDOM:
        note(
            "there is no column of release years, such as 'year', and none of dates of playlists: "
            "songs to hold out are drawn at random, not the latest"
        )
        splitter.released = None
    return splitter


def held_out_by(splitter, table):
    """Return by which column a splitter holds songs out; None if there is no split."""
    sizes = _describe(splitter, table)
    return None if sizes is None else sizes["held_out_by"]


def meaning(setting, sizes):
    """Return a description of a setting, by what its splitter describes."""
    if setting != "cold-songs":
        return MEANINGS[setting]
    source = sizes["held_out_by"]
    return RANDOM_SONGS if source == AT_RANDOM else f"{MEANINGS[setting]} Latest by: {source}."


def _song_count(table, options):
    """Choose the largest `min_song_count` that leaves enough playlists to test.

    It is at most the splitter's default, times the share of playlists that a sample has: a song in
    five playlists of the whole table is in fewer of the sample.
    """
    first = MIN_SONG_COUNT
    if table.sampled:
        first = max(1, round(MIN_SONG_COUNT * table.playlist_share))
    n_playlists = table.X[table.playlist].nunique()
    fewest = min(FEWEST_TESTED, SMALLEST_SHARE * n_playlists)
    tested = {}
    for count in range(first, 0, -1):
        sizes = _describe(ColdPlaylistSplit(**options | {"min_song_count": count}), table)
        tested[count] = 0 if sizes is None else int(sizes["test_playlists"])
        if tested[count] >= fewest:
            break
    chosen = max(tested, key=tested.get)
    if chosen != first:
        note(
            f"songs of test playlists are in at least {chosen} playlists instead of {first}, so "
            f"that {tested[chosen]:,} of {n_playlists:,} playlists are tested instead of "
            f"{tested[first]:,}"
        )
    return chosen


def _describe(splitter, table):
    """Return the sizes of the first split; None if there is none, for which `split` says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # raised again when the split is made
        try:
            return splitter.describe(table.X).iloc[0]
        except ValueError:
            return None
