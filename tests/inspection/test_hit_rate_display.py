"""Hit rates by hand."""

import pandas as pd
from tables import five_songs

from skmtc import PopularityRanker
from skmtc.inspection import HitRateDisplay


def test_hit_rate_by_hand():
    # Songs s1 s3 s4 share the first three places, s2 s5 the others; the playlist has s1 and s5.
    ranker = PopularityRanker().fit(five_songs())
    new = pd.DataFrame({"user": "ana", "playlist": "new", "song": ["s1", "s5"], "artist": "a"})
    display = HitRateDisplay.from_estimator(ranker, new, k=[1, 3, 4, 5])
    expected = [1 / 3 / 2, 1 / 2, (1 + 1 / 2) / 2, 1.0]
    assert abs(display.values[0] - expected).max() < 1e-12
    assert display.ax_.get_ylabel() == "hit rate (recall@K)"
