"""SongEmbedding: songs of the same playlists are close."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skmtc.features import SongEmbedding


def test_songs_of_the_same_playlists_are_closer_by_a_margin():
    rng = np.random.RandomState(0)
    membership = np.zeros((200, 400), dtype=int)  # each song is in about 16 playlists
    for playlist in range(400):
        songs = rng.choice(100, size=8, replace=False) + 100 * (playlist % 2)
        membership[songs, playlist] = np.arange(1, 9)
    ids = pd.DataFrame({"song": rng.permutation(200)})
    vectors = SongEmbedding(random_state=0).fit_transform(ids, csr_array(membership))
    cosine = vectors @ vectors.T
    same = np.arange(200)[:, None] // 100 == np.arange(200) // 100
    other_song = ~np.eye(200, dtype=bool)
    assert cosine[same & other_song].mean() > cosine[~same].mean() + 0.3
