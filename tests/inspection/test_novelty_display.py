"""Novelty by hand."""

import numpy as np
import pandas as pd
from tables import five_songs

from skmtc import PopularityRanker
from skmtc.inspection import NoveltyDisplay


def test_novelty_by_hand():
    # Five playlists: the best three songs are in two of them, the others in one.
    ranker = PopularityRanker().fit(five_songs())
    new = pd.DataFrame({"user": "ana", "playlist": "new", "song": ["s1"], "artist": "a"})
    display = NoveltyDisplay.from_estimator(ranker, new, k=[3, 5])
    often, seldom = -np.log2(2 / 5), -np.log2(1 / 5)
    assert abs(display.values[0] - [often, (3 * often + 2 * seldom) / 5]).max() < 1e-12
    assert display.ax_.get_ylabel() == "novelty (bits)"


def test_the_mean_is_over_users():
    X = five_songs()
    ranker = PopularityRanker().fit(X)
    # Of two known playlists of ana and one of eve, those of ana count half each.
    of_playlist = {
        p: NoveltyDisplay.from_estimator(ranker, X[X["playlist"] == p], k=[1]).values[0, 0]
        for p in ("gym", "run", "bed")
    }
    rows = X[X["playlist"].isin(["gym", "run", "bed"])]
    mean = NoveltyDisplay.from_estimator(ranker, rows, k=[1]).values[0, 0]
    of_ana = (of_playlist["gym"] + of_playlist["run"]) / 2
    assert abs(mean - (of_ana + of_playlist["bed"]) / 2) < 1e-12
