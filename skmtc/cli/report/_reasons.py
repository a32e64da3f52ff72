"""Explain in words why a ranker recommends a song."""

import re

import numpy as np
import pandas as pd

from skmtc.cli._safe_text import cell_of_terminal
from skmtc.inspection import explain
from skmtc.rankers import StackingRanker

N_REASONS = 2
# Vectors that are learned from playlists.
LEARNED = {"song": "in playlists like these", "artist": "artists like these"}
HISTORY = {
    "song": "the user has it",
    "artist": "the user has its artist",
    "co-occurrence": "goes with the user's songs",
}


def reasons(ranker, rows):
    """Return what raises the score of each row most.

    Parameters
    ----------
    ranker : estimator
        Fitted ranker.

    rows : DataFrame
        One row per song and playlist, with the columns seen in `fit`.

    Returns
    -------
    reasons : list of str
        One per row; empty for a ranker that has no weights of features.
    """
    if isinstance(ranker, StackingRanker):
        # Explain the ranker that counts most, of those that have weights of features.
        shares = explain(ranker, rows).abs().sum().droplevel(1).sort_values(ascending=False)
        parts = [ranker.named_estimators_[name] for name in shares.index]
        ranker = next((part for part in parts if hasattr(part, "shared_coef_")), ranker)
    if not hasattr(ranker, "shared_coef_"):
        return [""] * len(rows)
    contributions = explain(ranker, rows)
    grounds = [_ground(part, str(feature)) for part, feature in contributions.columns]
    by_ground = contributions.T.groupby(np.array(grounds, dtype=object), sort=False).sum().T
    by_ground = by_ground.drop(columns="", errors="ignore")
    return [_in_words(row) for _, row in by_ground.iterrows()]


def facts(train, song, user, artists):
    """Return counts of a song in training, for rankers without weights of features."""
    n_playlists = int(train.playlists_of_song.get(song, 0))
    text = f"in {n_playlists} playlists" if n_playlists != 1 else "in 1 playlist"
    n_same = train.songs_of_artist(user, artists.get(song))
    return text + (f"; the user has {n_same} of its artist" if n_same else "")


def _in_words(row):
    """Return the largest positive contributions of a row."""
    best = row[row > 0].sort_values(ascending=False, kind="stable")[:N_REASONS]
    return ", ".join(f"{cell_of_terminal(name)} +{value:.2g}" for name, value in best.items())


def _ground(part, feature):
    """Return the display name of a feature; empty for the intercept."""
    if part == "history":
        return HISTORY.get(feature, feature)
    if feature == "constant":
        return ""
    block, _, name = feature.rpartition("__")
    if re.fullmatch(r".*_vector\d+", name) and block in LEARNED:
        return LEARNED[block]
    if "popularity" in name:
        return "artist's popularity" if "artist" in name else "popularity"
    numbered = re.fullmatch(r"(.+?)_?\d+", name)
    if numbered and block in ("vector", "text"):  # one of many dimensions
        return numbered.group(1).replace("_", " ")
    return (name or feature).replace("_", " ")


class Training:
    """Training rows as known before a test.

    Parameters
    ----------
    X : DataFrame
        Training rows.

    table : Table
        The table that they are of.

    artist : str or None
        Column of artists.
    """

    def __init__(self, X, table, artist):
        self.X, self.table, self.artist = X, table, artist
        pairs = X[[table.playlist, table.song]].drop_duplicates()
        self.playlists_of_song = pairs[table.song].value_counts().to_dict()

    def songs_of_artist(self, user, artist):
        """Count the songs of an artist that a user has."""
        if self.artist is None or self.table.user is None or pd.isna(artist):
            return 0
        own = self.X[self.X[self.table.user] == user]
        return own.loc[own[self.artist] == artist, self.table.song].nunique()
