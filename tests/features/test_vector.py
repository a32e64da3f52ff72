"""VectorEncoder."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features import VectorEncoder


def test_arrays_lists_and_numbers_make_one_block():
    songs = pd.DataFrame(
        {"audio": [np.array([1.0, 2.0]), [3, 4], None], "e_0": [0.5, np.nan, 2.0], "e_1": [1, 2, 3]}
    )
    encoder = VectorEncoder().fit(songs)
    assert encoder.transform(songs).tolist() == [[1, 2, 0.5, 1], [3, 4, 0, 2], [0, 0, 2, 3]]
    assert encoder.get_feature_names_out().tolist() == ["audio_0", "audio_1", "e_0", "e_1"]


def test_vectors_must_have_one_length():
    with pytest.raises(ValueError, match=r"must have one length; got lengths \[1, 2\]"):
        VectorEncoder().fit(pd.DataFrame({"audio": [[1.0, 2.0], [3.0]]}))
    encoder = VectorEncoder().fit(pd.DataFrame({"audio": [[1.0, 2.0]]}))
    with pytest.raises(ValueError, match="must have 2 numbers, as in fit; got one of 3"):
        encoder.transform(pd.DataFrame({"audio": [[1.0, 2.0, 3.0]]}))


def test_vectors_must_hold_numbers():
    table = pd.DataFrame({"audio": [["a", "b"]]})
    with pytest.raises(TypeError, match="Column 'audio' must hold vectors of numbers"):
        VectorEncoder().fit(table).transform(table)
