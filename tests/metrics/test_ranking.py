"""Where songs stand among candidates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import skmtc.metrics._ranking as ranking_module
from skmtc.metrics._ranking import Ranking

LABELS = arrays(bool, (4, 9))
# Whole numbers tie; close ones are equal in single precision only; huge ones overflow it.
NUMBERS = st.sampled_from([-1.0, 0.0, -0.0, 1.0, 1.0 + 1e-12, 1.0 - 1e-12, 1e300, 2e300, -np.inf])
SCORES = arrays(float, (4, 9), elements=NUMBERS)


def count(labels, scores, ignore):
    """Count the places one by one."""
    above, level = [], []
    for own, row, out in zip(labels, scores, ignore, strict=True):
        candidates = row[own | ~out]
        above += [int((candidates > s).sum()) for s in row[own]]
        level += [int((candidates == s).sum()) for s in row[own]]
    return above, level


@given(LABELS, SCORES, LABELS, st.sampled_from([0, 4, 64]))
def test_places_are_counts_of_candidates(labels, scores, ignore, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking_module, "MANY_POSITIVES", many)
        above, level = Ranking(labels, scores, ignore=ignore).places
    assert (above.tolist(), level.tolist()) == count(labels, scores, ignore)


@given(LABELS, SCORES, LABELS, st.lists(st.integers(0, 3), min_size=4, max_size=4).map(sorted))
def test_playlists_may_share_rows_of_scores(labels, scores, ignore, rows):
    rows = np.array(rows)
    shared = Ranking(labels, scores, ignore=ignore, row_of_playlist=rows)
    apart = Ranking(labels, scores[rows], ignore=ignore)
    np.testing.assert_array_equal(shared.places, apart.places)
    np.testing.assert_array_equal(shared.n_candidates, apart.n_candidates)
    seen = np.zeros(4, dtype=int)
    for playlists, values, columns in shared.groups():
        for playlist in playlists:
            seen[playlist] += 1
            assert columns.tolist() == np.flatnonzero(~ignore[playlist] | labels[playlist]).tolist()
            np.testing.assert_array_equal(values, scores[rows[playlist]][columns])
    assert (seen == 1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_scores_of_any_type(dtype):
    above, level = Ranking([[1, 0, 1]], np.array([[1, 1, 0]], dtype=dtype)).places
    assert above.tolist() == [0, 2]
    assert level.tolist() == [2, 1]


def test_labels_may_be_sparse_with_repeated_entries():
    labels = csr_array((np.array([1, 1, 0]), np.array([2, 2, 0]), np.array([0, 3])), shape=(1, 3))
    assert Ranking(labels, [[1.0, 2.0, 3.0]]).n_positives.tolist() == [1]
    assert labels.nnz == 3


def test_playlists_with_equal_weights_come_in_one_group():
    ranking = Ranking(None, [[1.0, 2.0]], row_of_playlist=np.zeros(5, dtype=int))
    assert [len(playlists) for playlists, _, _ in ranking.groups()] == [5]


def test_bad_scores_are_reported():
    with pytest.raises(ValueError, match=r"two dimensions, playlists by songs; got shape \(2,\)"):
        Ranking([1, 0], [0.1, 0.2])
    with pytest.raises(ValueError, match="must have a score; got NaN for 1 of 2"):
        Ranking([[1, 0]], [[0.1, np.nan]])
