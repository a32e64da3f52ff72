"""Counts of memberships by id."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skmtc.features import ArtistPopularityEncoder, PopularityEncoder


def test_both_encoders_count_the_same():
    songs = pd.DataFrame({"song": ["s2", "s1", "s3"]})
    membership = csr_array([[1, 0, 1], [2, 1, 2], [0, 0, 3]])
    popularity = PopularityEncoder().fit(songs, membership)
    playcount = ArtistPopularityEncoder().fit(songs, membership)
    for encoder in (popularity, playcount):
        assert encoder.ids_[0].tolist() == ["s1", "s2", "s3"]
        assert encoder.counts_[0].tolist() == [3, 2, 1]
    np.testing.assert_allclose(np.log1p(playcount.transform(songs)), popularity.transform(songs))
