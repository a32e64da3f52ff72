"""Playlists drawn from the paper's own model."""

import numpy as np
import pandas as pd
from sklearn.utils import Bunch, check_random_state


def make_playlists(
    n_users=50,
    n_playlists=200,
    n_songs=400,
    n_artists=60,
    *,
    n_features=8,
    mean_length=12,
    return_truth=False,
    random_state=None,
):
    """Draw a membership table from the multitask model.

    Songs have features that they partly share with their artist, one of them close to popularity.
    Each playlist has weights that are the sum of shared, user and sparse playlist weights, and its
    songs are drawn without replacement with probabilities in proportion to exp(score).

    Parameters
    ----------
    n_users : int, default=50
        Number of users; each has at least one playlist.

    n_playlists : int, default=200
        Number of playlists, at least `n_users`.

    n_songs : int, default=400
        Number of songs in the catalogue; songs that no playlist drew are not in the table.

    n_artists : int, default=60
        Number of artists.

    n_features : int, default=8
        Number of numeric song features, which are named `x0`, `x1` and so on.

    mean_length : int, default=12
        Mean number of songs of a playlist.

    return_truth : bool, default=False
        Whether to return the true weights too.

    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : DataFrame
        Membership table with the columns user, playlist, song, artist, year, x0 and so on, age and
        country.

    truth : Bunch
        Only with `return_truth`: `shared` of shape (n_features,), DataFrames `user` and `playlist`
        of weights by id, and a DataFrame `songs` of the features of the whole catalogue.

    Examples
    --------
    >>> from skmtc.datasets import make_playlists
    >>> X = make_playlists(n_users=3, n_playlists=5, n_songs=30, random_state=0)
    >>> X["user"].nunique(), X["playlist"].nunique()
    (3, 5)
    """
    if not 1 <= n_users <= n_playlists:
        raise ValueError(
            "Each user must have a playlist: `n_playlists` must be at least `n_users`; got "
            f"n_users={n_users} and n_playlists={n_playlists}. Ask for more playlists."
        )
    rng = check_random_state(random_state)
    artist_of_song = rng.randint(n_artists, size=n_songs)
    artist_features = rng.normal(size=(n_artists, n_features))
    features = 0.7 * artist_features[artist_of_song] + 0.7 * rng.normal(size=(n_songs, n_features))
    features[:, 0] = np.clip(rng.exponential(size=n_songs) - 1.0, -1.0, 4.0)  # long-tailed

    # Attributes carry information about user weights: users of a country lean the same way.
    country = rng.randint(3, size=n_users)
    country_weights = rng.normal(scale=0.5, size=(3, n_features))
    shared = np.zeros(n_features)
    shared[0] = 1.0
    user = country_weights[country] + rng.normal(scale=0.4, size=(n_users, n_features))
    playlist = rng.normal(scale=0.8, size=(n_playlists, n_features))
    playlist *= rng.uniform(size=playlist.shape) < 0.15
    owner = np.concatenate([np.arange(n_users), _long_tail(rng, n_users, n_playlists - n_users)])

    scores = (shared + user[owner] + playlist) @ features.T
    lengths = np.clip(rng.poisson(mean_length, size=n_playlists), 2, max(2, n_songs // 2))
    drawn = np.argsort(-(scores + rng.gumbel(size=scores.shape)), axis=1)
    rows = [(i, m) for i, length in enumerate(lengths) for m in drawn[i, :length]]
    i, m = np.array(rows).T

    songs = pd.DataFrame(features, columns=[f"x{j}" for j in range(n_features)])
    songs.insert(0, "artist", [f"artist{a}" for a in artist_of_song])
    songs.insert(1, "year", rng.randint(1970, 2012, size=n_songs))
    songs.index = pd.Index([f"song{s}" for s in range(n_songs)], name="song")
    user_ids = np.array([f"user{u}" for u in range(n_users)])
    playlist_ids = np.array([f"playlist{p}" for p in range(n_playlists)])
    X = pd.DataFrame({"user": user_ids[owner[i]], "playlist": playlist_ids[i]})
    X = pd.concat([X, songs.iloc[m].reset_index()], axis=1)
    X["age"] = rng.randint(16, 70, size=n_users)[owner[i]]
    X["country"] = np.array(["AU", "DE", "US"])[country[owner[i]]]
    if not return_truth:
        return X
    columns = [f"x{j}" for j in range(n_features)]
    truth = Bunch(
        shared=shared,
        user=pd.DataFrame(user, index=user_ids, columns=columns),
        playlist=pd.DataFrame(playlist, index=playlist_ids, columns=columns),
        songs=songs,
    )
    return X, truth


def _long_tail(rng, n_users, size):
    activity = rng.pareto(1.5, size=n_users) + 0.2
    return rng.choice(n_users, size=size, p=activity / activity.sum())
