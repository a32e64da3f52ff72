"""The bottom push, against a transcription of the paper's formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skmtc.metrics import bottom_push_loss

LABELS = arrays(bool, (3, 7))
SCORES = arrays(float, (3, 7), elements=st.integers(0, 3).map(float))


@given(LABELS, SCORES, LABELS)
def test_equals_the_formula(labels, scores, ignore):
    losses = bottom_push_loss(labels, scores, ignore=ignore, average=None)
    for own, row, out, loss in zip(labels, scores, ignore, losses, strict=True):
        outside = row[~own & ~out]
        if own.any() and len(outside):
            assert loss == sum(row[own].min() <= s for s in outside) / len(outside)
        else:
            assert np.isnan(loss)


def test_perfect_inverted_and_by_hand():
    assert bottom_push_loss([[1, 1, 0, 0]], [[4, 3, 2, 1]]) == 0.0
    assert bottom_push_loss([[1, 1, 0, 0]], [[1, 2, 3, 4]]) == 1.0
    # The lowest song, 2, is reached by the 3 and the 2 outside, not by the 1.
    assert bottom_push_loss([[1, 1, 0, 0, 0]], [[4, 2, 3, 2, 1]]) == pytest.approx(2 / 3)
