"""Sample a large table, for a first comparison within minutes."""

from dataclasses import replace

import numpy as np

# The cost of a fit grows with users times songs. These bounds keep all rankers in all settings
# below five minutes on two cores, and songs in ten playlists each on average.
MAX_SONGS = 8_000
MAX_ROWS = 80_000
# A playlist stays if it has so many songs left, or all of its own.
FEWEST_LEFT = 3
# With fewer users than this, playlists are sampled in place of users.
FEWEST_USERS = 500


def sample_rows(table, *, max_songs=MAX_SONGS, max_rows=MAX_ROWS, seed=0):
    """Return a sample of a table within bounds, described by its attribute `sampled`.

    1. The songs in most playlists are kept.
    2. Users are kept at random, with all their playlists.

    Parameters
    ----------
    table : Table
        The whole table.

    max_songs, max_rows : int or None, default=8_000, 80_000
        Bounds; None for no bound.

    seed : int, default=0
        Seed of the sample.

    Returns
    -------
    table : Table
        The same object if the whole table is within the bounds.
    """
    rng = np.random.default_rng(seed)
    X, kept_parts = table.X, []
    n_songs = X[table.song].nunique()
    # 1. Songs.
    if max_songs is not None and n_songs > max_songs:
        X = _frequent_songs(X, table, max_songs, rng)
        kept_parts.append(f"the {max_songs:,} songs in most playlists of {n_songs:,}")
    # 2. Users.
    if max_rows is not None and len(X) > max_rows:
        who, kept, total, X = _some_users(X, table, max_rows, rng)
        kept_parts.append(f"{kept:,} of {total:,} {who} at random")
    if not kept_parts:
        return table
    share = X[table.playlist].nunique() / table.X[table.playlist].nunique()
    return replace(
        table,
        X=X.reset_index(drop=True),
        sampled=f"sampled for speed: {', and '.join(kept_parts)}",
        whole_size=table.size,
        playlist_share=share,
    )


def _frequent_songs(X, table, max_songs, rng):
    """Return the rows of the songs in most playlists; ties are broken at random."""
    counts = X.drop_duplicates([table.playlist, table.song])[table.song].value_counts()
    counts = counts.sort_index().sample(frac=1.0, random_state=rng)
    kept = counts.sort_values(ascending=False, kind="stable").index[:max_songs]
    left = X[X[table.song].isin(kept)]
    before, after = (frame[table.playlist].value_counts() for frame in (X, left))
    is_kept = (after >= FEWEST_LEFT) | (after == before.reindex(after.index))
    return left[left[table.playlist].isin(after.index[is_kept])]


def _some_users(X, table, max_rows, rng):
    """Return users, or playlists if users are few, whose rows are within the bound."""
    who, column = "users", table.user
    if column is not None:
        kept, n_all = _sample_ids(X[column], max_rows, rng)
    if column is None or len(kept) < FEWEST_USERS:
        who, column = "playlists", table.playlist
        kept, n_all = _sample_ids(X[column], max_rows, rng)
    return who, len(kept), n_all, X[X[column].isin(kept)]


def _sample_ids(ids, max_rows, rng):
    """Return ids at random with at most so many rows, at least one, and the number of all."""
    sizes = ids.value_counts().sort_index().sample(frac=1.0, random_state=rng)
    kept = sizes.index[sizes.cumsum() <= max_rows]
    return kept if len(kept) else sizes.index[:1], len(sizes)
