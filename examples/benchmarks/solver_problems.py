"""Problems for the solver benchmarks: real playlists, or drawn ones."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD

from skmtc.datasets import make_playlists


def aotm_problem(path, *, user_share, n_features, n_songs=None, seed=0):
    """Read playlists of a share of the users; features are learned from the playlists.

    The file has the columns user_id, playlist_id, song_id and pos. Playlists with at least five
    songs are kept, of the `n_songs` most popular ones if that is given.
    """
    table = pd.read_csv(path).drop_duplicates(["playlist_id", "song_id"])
    rng = np.random.default_rng(seed)
    users = np.sort(table["user_id"].unique())
    chosen = rng.choice(users, int(user_share * len(users)), replace=False)
    table = table[table["user_id"].isin(chosen)]
    if n_songs is not None:
        table = table[table["song_id"].isin(table["song_id"].value_counts().index[:n_songs])]
    table = table[table.groupby("playlist_id")["song_id"].transform("size") >= 5]
    names = {"user_id": "user", "playlist_id": "playlist", "song_id": "song"}
    return _learned_problem(table.rename(columns=names), n_features)


def preset_problem(preset, *, n_features):
    """Make playlists of the size of one of the paper's sets; features are learned from them."""
    return _learned_problem(make_playlists(preset=preset, random_state=0), n_features)


def _learned_problem(table, n_features):
    """Lay out a table of memberships.

    Features are the leading singular vectors of the songs x playlists matrix and the logarithm of
    popularity, standardised and clipped at 4.
    """
    user, _ = pd.factorize(table["user"])
    playlist, playlists = pd.factorize(table["playlist"])
    song, _ = pd.factorize(table["song"])
    membership = csr_array((np.ones(len(table), dtype=np.int32), (playlist, song)))
    owner = np.zeros(len(playlists), dtype=int)
    owner[playlist] = user
    popularity = np.bincount(song)
    weighted = csr_array(membership.T / np.sqrt(popularity)[:, None])
    vectors = TruncatedSVD(n_features - 2, random_state=0).fit_transform(weighted)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    features = np.column_stack([vectors, np.log1p(popularity)])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.clip(features, -4, 4).astype(np.float32), membership, owner


def sampled_problem(n_playlists, n_users, n_songs, n_features, *, length=12, seed=0):
    """Draw playlists from the model, in blocks."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_songs, n_features - 1)).astype(np.float32)
    features[:, 0] = np.clip(rng.exponential(size=n_songs) - 1, -1, 4)
    owner = np.concatenate([np.arange(n_users), rng.integers(0, n_users, n_playlists - n_users)])
    user = rng.normal(scale=2 / np.sqrt(n_features), size=(n_users, n_features - 1))
    user[:, 0] += 1
    songs = np.empty((n_playlists, length), dtype=int)
    for start in range(0, n_playlists, 500):
        rows = slice(start, start + 500)
        scores = user[owner[rows]].astype(np.float32) @ features.T
        scores += rng.gumbel(size=scores.shape).astype(np.float32)
        songs[rows] = np.argpartition(-scores, length, axis=1)[:, :length]
    rows = np.repeat(np.arange(n_playlists), length)
    membership = csr_array(
        (np.ones(len(rows), dtype=np.int32), (rows, songs.ravel())), shape=(n_playlists, n_songs)
    )
    return features, membership, owner
