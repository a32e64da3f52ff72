"""Playlists by the million, written to disk a part at a time."""

from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from skmtc._typing import Seed, StrPath
from skmtc._utils.progress import with_bar
from skmtc._utils.validation import check_number
from skmtc.datasets._tables import write_table
from skmtc.datasets.generate import make_popular_songs, sample_block, sample_owners

# Playlists whose random numbers come from one seed, so that rows do not depend on `part_size`.
BLOCK = 1000


def write_playlists(
    folder: StrPath,
    n_playlists: int = 1_000_000,
    *,
    n_users: int | None = None,
    n_songs: int = 3_500_000,
    n_artists: int = 300_000,
    mean_length: float = 66.3,
    part_size: int = 20_000,
    random_state: Seed = None,
) -> list[Path]:
    """Write a generated table like the Million Playlist Dataset as Parquet files.

    The defaults are near its sizes: 66 million rows, and 2.3 million songs that are in a
    playlist. The popularity of songs and artists, songs per artist and the lengths of playlists
    have long tails. A playlist is about one or two of many communities of artists, and often has
    several songs by an artist.

    No more than one part is in memory at a time, next to the catalogue, which takes about 50 bytes
    a song. Ids are numbers of 32 bits.

    Parameters
    ----------
    folder : path-like
        Where to write; it is made if it is not there, and must be empty.

    n_playlists : int, default=1_000_000
        Number of playlists.

    n_users : int or None, default=None
        Number of users; each has at least one playlist, and few have many. None: as in the Million
        Playlist Dataset, owners are unknown, and there is no column user.

    n_songs : int, default=3_500_000
        Number of songs in the catalogue; songs that no playlist drew are not in the table.

    n_artists : int, default=300_000
        Number of artists in the catalogue.

    mean_length : float, default=66.3
        Mean number of songs of a playlist.

    part_size : int, default=20_000
        Number of playlists in a file. It does not change the table.

    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    paths : list of Path
        The files, in the order of their playlists; :func:`read_table` takes the folder. Columns
        are user (with `n_users`), playlist, song, artist and duration (in seconds).

    See Also
    --------
    make_playlists : Smaller tables, sampled from the multitask model itself.

    Examples
    --------
    >>> import tempfile
    >>> from skmtc.datasets import read_table, write_playlists
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_playlists(
    ...         folder, 50, n_users=20, n_songs=500, n_artists=40, part_size=30, random_state=0
    ...     )
    ...     X = read_table(folder)
    >>> [path.name for path in paths]
    ['part-00000.parquet', 'part-00001.parquet']
    >>> X["user"].nunique(), X["playlist"].nunique()
    (20, 50)
    """
    _check(n_playlists, n_users, n_songs, n_artists, mean_length, part_size)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(
            f"`folder` must be empty, so that tables do not mix; got {str(folder)!r}, which holds "
            f"{sorted(path.name for path in folder.iterdir())[:3]}. Remove these, or pass another "
            "folder."
        )
    seeds = check_random_state(random_state).randint(2**31 - 1, size=3)
    rng = np.random.default_rng(seeds[0])
    songs = make_popular_songs(rng, n_songs, n_artists)
    owners = None
    if n_users is not None:
        owners = sample_owners(np.random.RandomState(seeds[1]), n_users, n_playlists)
        tastes = songs.sample_communities(rng, n_users)[owners]
    else:
        tastes = songs.sample_communities(rng, n_playlists)
    paths = []
    starts = range(0, n_playlists, part_size)
    for number, start in enumerate(with_bar(starts, "Writing parts", len(starts))):
        stop = min(start + part_size, n_playlists)
        blocks = [
            _block(songs, tastes, owners, seeds[2], block, mean_length)
            for block in range(start // BLOCK, -(-stop // BLOCK))
        ]
        part = pd.concat(blocks, ignore_index=True)
        part = part[part["playlist"].between(start, stop - 1)]
        paths.append(folder / f"part-{number:05d}.parquet")
        write_table(part, paths[-1])
    return paths


def _block(songs, tastes, owners, seed, block, mean_length):
    """Return the table of the playlists that share a seed."""
    chosen = slice(block * BLOCK, (block + 1) * BLOCK)
    rng = np.random.default_rng([int(seed), block])
    playlists, positions = sample_block(rng, songs, tastes[chosen], mean_length=mean_length)
    playlists += chosen.start
    columns = {} if owners is None else {"user": owners[playlists].astype(np.int32)}
    return pd.DataFrame(
        columns
        | {
            "playlist": playlists.astype(np.int32),
            "song": songs.ids[positions],
            "artist": songs.artists[positions],
            "duration": songs.durations[positions],
        }
    )


def _check(n_playlists, n_users, n_songs, n_artists, mean_length, part_size):
    check_number("n_playlists", n_playlists, at_least=1, whole=True)
    check_number("n_songs", n_songs, at_least=2, whole=True)
    check_number("n_artists", n_artists, at_least=1, whole=True)
    check_number("part_size", part_size, at_least=1, whole=True)
    if n_users is not None:
        check_number("n_users", n_users, at_least=1, whole=True)
        if n_users > n_playlists:
            raise ValueError(
                "Each user must have a playlist: `n_playlists` must be at least `n_users`; got "
                f"n_users={n_users} and n_playlists={n_playlists}. Ask for more playlists."
            )
    if not isinstance(mean_length, Real) or not 1 <= mean_length < np.inf:
        raise ValueError(
            f"`mean_length` must be a finite number of 1 or more; got {mean_length!r}. Change it."
        )
