"""Random membership tables, shared by tests."""

import numpy as np
import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st


def random_table(seed, n_rows, n_users):
    """Sample a table in which playlists have one owner each, with repeated rows among them."""
    rng = np.random.default_rng(seed)
    users, playlists, songs = rng.integers([n_users, 3, 8], size=(n_rows, 3)).T
    release = rng.choice([np.nan, 1999, 2001, 2005, 2009], 8, p=[0.1, 0.2, 0.2, 0.3, 0.2])
    X = pd.DataFrame({"user": users, "playlist": 10 * users + playlists, "song": songs})
    return X.assign(year=release[songs])


def tables():
    """Sample random tables, of which a few are too small for anything."""
    return st.builds(random_table, st.integers(0, 9999), st.integers(8, 60), st.integers(2, 8))


def split_or_skip(cv, X):
    """Split, but pass over an example that is too small for it."""
    try:
        return list(cv.split(X))
    except ValueError as error:
        too_small = ("must have", "must be at most", "must be enough", "must be below")
        assume(not any(words in str(error) for words in too_small))
        raise


def shuffled(X, seed=0):
    """Return the rows in another order."""
    return X.iloc[np.random.default_rng(seed).permutation(len(X))]


def renamed(X):
    """Return ids other names, which sort alike."""
    return X.assign(
        user="u" + X["user"].astype(str).str.zfill(3),
        playlist="p" + X["playlist"].astype(str).str.zfill(3),
        song=X["song"] * 7 + 100,
    )


def dense_table(seed=0, n_users=12, n_songs=15):
    """Sample a table in which all users have several playlists and all songs are frequent."""
    rng = np.random.default_rng(seed)
    rows = [
        (user, 10 * user + playlist, song)
        for user in range(n_users)
        for playlist in range(1 + user % 4)
        for song in rng.choice(n_songs, 5, replace=False)
    ]
    X = pd.DataFrame(rows, columns=["user", "playlist", "song"])
    return X.assign(year=rng.integers(1990, 2010, n_songs)[X["song"]])
