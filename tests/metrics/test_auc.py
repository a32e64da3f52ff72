"""Area under the ROC curve."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from skmtc.metrics import auc_score

LABELS = arrays(np.int8, (3, 8), elements=st.integers(0, 1))
SCORES = arrays(np.float64, (3, 8), elements=st.integers(-3, 3).map(float))


@given(LABELS, SCORES)
def test_equals_sklearn_row_by_row(labels, scores):
    for row, area in enumerate(auc_score(labels, scores, average=None)):
        if 0 < labels[row].sum() < 8:
            assert area == pytest.approx(roc_auc_score(labels[row], scores[row]))
        else:
            assert np.isnan(area)


@given(LABELS, SCORES, LABELS)
def test_ignored_songs_are_no_candidates(labels, scores, ignore):
    areas = auc_score(labels, scores, ignore=csr_array(ignore), average=None)
    for row in range(3):
        kept = (ignore[row] == 0) | (labels[row] == 1)
        if 0 < labels[row][kept].sum() < kept.sum():
            expected = roc_auc_score(labels[row][kept], scores[row][kept])
            assert areas[row] == pytest.approx(expected)
        else:
            assert np.isnan(areas[row])


@given(LABELS, SCORES)
def test_only_the_order_matters(labels, scores):
    before = auc_score(labels, scores, average=None)
    np.testing.assert_array_equal(auc_score(labels, np.exp(scores), average=None), before)
    np.testing.assert_allclose(auc_score(labels, -scores, average=None), 1 - before)


@given(LABELS, SCORES)
def test_is_the_exact_share_of_pairs_correctly_rounded(labels, scores):
    for row, area in enumerate(auc_score(labels, scores, average=None)):
        inside, outside = scores[row][labels[row] == 1], scores[row][labels[row] == 0]
        won = sum(Fraction(int(s > t)) + Fraction(int(s == t), 2) for s in inside for t in outside)
        if len(inside) and len(outside):
            assert area == float(Fraction(won, len(inside) * len(outside)))


@given(LABELS, SCORES)
@pytest.mark.filterwarnings("ignore:AUC is not defined")
def test_the_mean_is_over_playlists_where_it_is_defined(labels, scores):
    areas = auc_score(labels, scores, average=None)
    assume(not np.isnan(areas).all())
    assert auc_score(labels, scores) == pytest.approx(np.nanmean(areas))


def test_by_hand():
    # Positive 3 beats 1 and 2, ties with the other 3: (1 + 1 + 0.5) / 3.
    assert auc_score([[1, 0, 0, 0]], [[3, 1, 2, 3]]) == pytest.approx(2.5 / 3)


@pytest.mark.parametrize("convert", [csr_array, csr_matrix])
def test_sparse_labels_are_left_alone(convert):
    labels = convert(np.array([[1, 0, 1], [0, 1, 0]]))
    labels.data[0] = 0  # an explicit zero is no label
    scores = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert auc_score(labels, scores, average=None).tolist() == [1.0, 0.5]
    assert labels.nnz == 3


def test_nothing_to_rank():
    with pytest.warns(UndefinedMetricWarning, match="AUC is not defined for 1 of 1 playlists"):
        assert np.isnan(auc_score([[1, 1]], [[0.0, 1.0]]))


def test_one_candidate():
    assert np.isnan(auc_score([[1]], [[0.3]], average=None)).all()
    assert np.isnan(auc_score([[0]], [[0.3]], average=None)).all()


def test_perfect_and_inverted_rankings():
    labels = [[1, 1, 0, 0]]
    assert auc_score(labels, [[4, 3, 2, 1]]) == 1.0
    assert auc_score(labels, [[1, 2, 3, 4]]) == 0.0
    assert auc_score(labels, [[0, 0, 0, 0]]) == 0.5


def test_shapes_must_agree():
    with pytest.raises(
        ValueError, match=r"one shape, playlists by songs; got \(1, 2\) and \(1, 3\)"
    ):
        auc_score([[1, 0]], [[0.1, 0.2, 0.3]])
