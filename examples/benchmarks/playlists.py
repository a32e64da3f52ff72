"""Membership tables for the benchmarks: real playlists, or drawn ones."""

import numpy as np
import pandas as pd

from skmtc.datasets import make_playlists


def read_playlists(path, *, fewest_playlists=10, fewest_songs=5, user_share=1.0, seed=0):
    """Read a table of AotM-2011 in playlist order.

    The file has the columns user_id, playlist_id, song_id and pos. Songs in at least
    `fewest_playlists` and playlists of at least `fewest_songs` are kept; then a share of the users.
    """
    X = pd.read_csv(path, usecols=["user_id", "playlist_id", "song_id", "pos"])
    X = X.sort_values(["playlist_id", "pos"], kind="stable").drop(columns="pos")
    X.columns = [name.removesuffix("_id") for name in X.columns]
    X = X.drop_duplicates(["playlist", "song"])
    X = filter_until_stable(X, fewest_playlists=fewest_playlists, fewest_songs=fewest_songs)
    return some_users(X, user_share, seed).reset_index(drop=True)


def read_described_playlists(rows, songs, *, fewest_playlists=5, fewest_songs=5):
    """Read playlists whose songs have an artist, an album and tags, such as 30Music of 2017.

    The first file has the columns user, playlist and song, the second song, artist, album and tags.
    Songs in at least `fewest_playlists` and playlists of at least `fewest_songs` are kept.
    """
    X = pd.read_csv(rows, usecols=["user", "playlist", "song"]).drop_duplicates()
    X = filter_until_stable(X, fewest_playlists=fewest_playlists, fewest_songs=fewest_songs)
    names = dict.fromkeys(["artist", "album", "tags"], str)
    about = pd.read_csv(songs, usecols=["song", *names], dtype=names)
    return X.merge(about, on="song", how="left")


def filter_until_stable(X, *, fewest_playlists, fewest_songs):
    """Return the rows of songs in enough playlists and of playlists with enough songs."""
    n_rows = None
    while n_rows != len(X):  # either filter may undo the other
        n_rows = len(X)
        X = X[X.groupby("song")["playlist"].transform("size") >= fewest_playlists]
        X = X[X.groupby("playlist")["song"].transform("size") >= fewest_songs]
    return X


def some_users(X, share, seed=0):
    """Return the rows of a share of the users."""
    users = np.sort(X["user"].unique())
    n_users = max(1, round(share * len(users)))
    chosen = np.random.default_rng(seed).choice(users, n_users, replace=False)
    return X[X["user"].isin(chosen)]


def load(path, *, tiny, user_share=1.0):
    """Return the name and the table of a run: the file at `path`, or playlists that are made."""
    if path:
        return "AotM-2011", read_playlists(path, user_share=0.03 if tiny else user_share)
    preset = "small" if tiny else "30music"
    return f"make_playlists({preset!r})", make_playlists(preset=preset, random_state=0)


def sample_table(n_users, n_playlists, n_songs, mean_length=12):
    """Draw playlists with long tails of users and songs, and nothing to learn."""
    rng = np.random.default_rng(0)
    lengths = rng.poisson(mean_length, n_playlists) + 1
    playlists = np.repeat(np.arange(n_playlists), lengths)
    owners = (n_users * rng.random(n_playlists) ** 2).astype(int)
    songs = (n_songs * rng.random(len(playlists)) ** 2).astype(int)
    X = pd.DataFrame({"user": owners[playlists], "playlist": playlists, "song": songs})
    return X.drop_duplicates(ignore_index=True)
