"""Playlists generated from the paper's model."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state

from skmtc._typing import Seed
from skmtc.datasets.generate import (
    feature_columns,
    make_audience,
    make_catalogue,
    sample_lengths,
    sample_owners,
    sample_playlist_coef,
    sample_songs,
)


@dataclass(frozen=True)
class Preset:
    """The sizes of a generated world."""

    n_users: int
    n_playlists: int
    n_songs: int
    n_artists: int
    n_features: int
    n_genres: int
    n_countries: int
    mean_length: float
    shortest: int
    missing_rate: float


# The catalogues of the large presets hold more songs and artists than the paper's tables count,
# because those count only what is in a playlist.
PRESETS = {
    "tiny": Preset(10, 40, 120, 20, 4, 3, 3, 10, 2, 0.0),
    "small": Preset(50, 200, 400, 60, 8, 5, 3, 12, 2, 0.0),
    "30music": Preset(8_070, 17_457, 64_000, 10_700, 16, 13, 8, 16.3, 5, 0.2),
    "aotm2011": Preset(14_182, 84_710, 148_000, 16_200, 16, 13, 8, 10.1, 5, 0.2),
}
SIZES = ("n_users", "n_playlists", "n_songs", "n_artists", "n_features", "n_genres")


def make_playlists(
    n_users: int | None = None,
    n_playlists: int | None = None,
    n_songs: int | None = None,
    n_artists: int | None = None,
    *,
    n_features: int | None = None,
    n_genres: int | None = None,
    mean_length: float | None = None,
    missing_rate: float | None = None,
    preset: str = "small",
    fame: float = 1.0,
    repeat: float = 0.0,
    return_truth: bool = False,
    random_state: Seed = None,
) -> Any:
    """Sample a membership table from the multitask model.

    Songs belong to artists, artists to communities, communities to genres, and songs share their
    features with all three. Each playlist has weights that are the sum of shared, user and sparse
    playlist weights; its songs are drawn one after the other, without replacement, with
    probabilities in proportion to exp(score), where the score is the product of these weights and
    the features of the song.

    As in real sets, playlists per user, songs per artist, and the popularity of songs and artists
    have long tails: few users have many playlists, few songs are in many.

    Parameters
    ----------
    n_users : int, default=None
        Number of users; each has at least one playlist. None, here and below, stands for the
        value of the preset.

    n_playlists : int, default=None
        Number of playlists, at least `n_users`.

    n_songs : int, default=None
        Number of songs in the catalogue; songs that no playlist drew are not in the table.

    n_artists : int, default=None
        Number of artists in the catalogue.

    n_features : int, default=None
        Number of numeric song features, named `x0`, `x1` and so on, all of mean about 0 and
        spread about 1. `x0` is fame, which the shared weights favour; `x1` goes with the year; the
        others are like audio features, near to one another within a genre.

    n_genres : int, default=None
        Number of genres, the first ones the largest.

    mean_length : float, default=None
        Mean number of songs of a playlist. A playlist never has more than half of the songs.

    missing_rate : float in [0, 1), default=None
        Share of songs without `genre`, and of users without `age`, `gender` and `country`, each
        on its own. All other columns are complete.

    preset : {"tiny", "small", "30music", "aotm2011"}, default="small"
        Sizes to start from. "tiny": 10 users with 40 playlists of 120 songs by 20 artists;
        "small": 50, 200, 400 and 60. "30music" and "aotm2011" come near the two sets of the paper
        in the size of every part, and take seconds and minutes.

    fame : float, default=1.0
        How much the shared weights favour songs by their fame, part of which is the artist's.
        With 2, popularity alone goes nearly as far as in the data of the paper.

    repeat : float in [0, 1), default=0.0
        Probability that a song of a playlist is one that the user has in an earlier playlist, in
        proportion to how often; a first playlist has no repeats. In AotM-2011 about 0.16 of the
        songs of a user's next playlist are such.

    return_truth : bool, default=False
        Whether to return the true weights too.

    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : DataFrame
        Membership table with the columns user, playlist, song, artist, year, genre, x0 and so on,
        age, gender and country.

    truth : Bunch
        Only with `return_truth`: `shared` of shape (n_features,), DataFrames `user` and `playlist`
        of weights by id, and, with nothing missing, DataFrames `songs` of the whole catalogue,
        `artists` (genre and community) and `users` (attributes), by id.

    Examples
    --------
    >>> from skmtc.datasets import make_playlists
    >>> X = make_playlists(n_users=3, n_playlists=5, n_songs=30, random_state=0)
    >>> X["user"].nunique(), X["playlist"].nunique()
    (3, 5)
    """
    world = _sizes(
        preset,
        n_users=n_users,
        n_playlists=n_playlists,
        n_songs=n_songs,
        n_artists=n_artists,
        n_features=n_features,
        n_genres=n_genres,
        mean_length=mean_length,
        missing_rate=missing_rate,
    )
    if not isinstance(fame, Real) or not np.isfinite(fame):
        raise ValueError(f"`fame` must be a finite number; got {fame!r}. Pass e.g. 1.0.")
    if not isinstance(repeat, Real) or not 0 <= repeat < 1:
        raise ValueError(
            f"`repeat` must be a number of 0 or more and below 1; got {repeat!r}. Change `repeat`."
        )
    rng = check_random_state(random_state)
    catalogue = make_catalogue(
        rng,
        n_songs=world.n_songs,
        n_artists=world.n_artists,
        n_features=world.n_features,
        n_genres=world.n_genres,
    )
    audience = make_audience(
        rng, catalogue.centres, n_users=world.n_users, n_countries=world.n_countries
    )
    shared = np.zeros(world.n_features)
    shared[0] = fame
    owner = sample_owners(rng, world.n_users, world.n_playlists)
    longest = max(2, world.n_songs // 2)
    lengths = sample_lengths(
        rng, world.n_playlists, mean=world.mean_length, shortest=world.shortest, longest=longest
    )
    playlist_coef = sample_playlist_coef(rng, world.n_playlists, world.n_features)
    drawn = sample_songs(
        rng,
        catalogue.features,
        shared + audience.coef,
        playlist_coef,
        owner,
        lengths,
        repeat=repeat,
    )
    songs = _with_missing(rng, catalogue.songs, ["genre"], world.missing_rate)
    users = _with_missing(rng, audience.users, list(audience.users.columns), world.missing_rate)
    X = _table(songs, users, owner, lengths, drawn)
    if not return_truth:
        return X
    return X, _truth(catalogue, audience, shared, playlist_coef)


def _sizes(preset, **given):
    """Return the preset with the sizes that were given in place of its own."""
    if preset not in PRESETS:
        raise ValueError(
            f"`preset` must be one of {sorted(PRESETS)}; got {preset!r}. Choose one of these, and "
            "change single sizes by their own parameters."
        )
    sizes = vars(PRESETS[preset]) | {k: v for k, v in given.items() if v is not None}
    for name in SIZES:
        if not isinstance(sizes[name], Integral) or sizes[name] < 1:
            raise ValueError(
                f"`{name}` must be a positive integer; got {sizes[name]!r}. Change `{name}`."
            )
    for name, low, high in (("mean_length", 1, np.inf), ("missing_rate", 0, 1)):
        if not isinstance(sizes[name], Real) or not low <= sizes[name] < high:
            raise ValueError(
                f"`{name}` must be a number of {low} or more and below {high}; got "
                f"{sizes[name]!r}. Change `{name}`."
            )
    if sizes["n_songs"] < 2:
        raise ValueError(
            f"`n_songs` must be 2 or more, so that playlists leave songs out; got "
            f"{sizes['n_songs']}. Ask for more songs."
        )
    if sizes["n_users"] > sizes["n_playlists"]:
        raise ValueError(
            "Each user must have a playlist: `n_playlists` must be at least `n_users`; got "
            f"n_users={sizes['n_users']} and n_playlists={sizes['n_playlists']}. Ask for more "
            "playlists."
        )
    return Preset(**sizes)


def _with_missing(rng, frame, columns, rate):
    """Empty cells of some columns at random, each on its own."""
    emptied = {c: frame[c].mask(rng.uniform(size=len(frame)) < rate) for c in columns}
    return frame.assign(**emptied) if rate else frame


def _table(songs, users, owner, lengths, drawn):
    """Join songs and users to one row per song in a playlist."""
    playlist = np.repeat(np.arange(len(lengths)), lengths)
    playlist_ids = np.array([f"playlist{p}" for p in range(len(lengths))])
    of_users = users.iloc[owner[playlist]].reset_index()
    X = pd.concat([of_users[["user"]], songs.iloc[drawn].reset_index()], axis=1)
    X.insert(1, "playlist", playlist_ids[playlist])
    return pd.concat([X, of_users.drop(columns="user")], axis=1)


def _truth(catalogue, audience, shared, playlist_coef):
    columns = feature_columns(len(shared))
    playlist_ids = pd.Index([f"playlist{p}" for p in range(len(playlist_coef))], name="playlist")
    return Bunch(
        shared=shared,
        user=pd.DataFrame(audience.coef, index=audience.users.index, columns=columns),
        playlist=pd.DataFrame(playlist_coef, index=playlist_ids, columns=columns),
        songs=catalogue.songs,
        artists=catalogue.artists,
        users=audience.users,
    )
