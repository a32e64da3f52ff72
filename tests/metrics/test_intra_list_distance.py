"""Intra-list distance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

from skmtc.metrics import intra_list_distance_score

RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((7, 3))


@given(arrays(float, (2, 7), elements=st.floats(-9, 9), unique=True), st.integers(2, 9))
def test_is_the_mean_cosine_distance_of_pairs(scores, k):
    lists = np.argsort(-scores, axis=1)[:, :k]
    expected = [pdist(VECTORS[songs], "cosine").mean() for songs in lists]
    for vectors in (VECTORS, csr_array(VECTORS)):
        values = intra_list_distance_score(None, scores, vectors=vectors, k=k, average=None)
        np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize("without", [[], [2], [5]])
@pytest.mark.parametrize("k", [3, 4, 5])
def test_ties_are_the_mean_over_all_lists(k, without):
    # Songs 0 and 1 are first; four of the others share the rest.
    scores = np.array([9.0, 8.0, 5.0, 5.0, 5.0, 5.0, 0.0])
    vectors = VECTORS.copy()
    vectors[without] = 0.0
    sums = pairs = 0.0
    for others in combinations([2, 3, 4, 5], k - 2):
        known = [song for song in (0, 1, *others) if song not in without]
        distances = pdist(vectors[known], "cosine")
        sums, pairs = sums + distances.sum(), pairs + len(distances)
    value = intra_list_distance_score(None, [scores], vectors=vectors, k=k)
    assert value == pytest.approx(sums / pairs)


def test_is_not_defined_without_two_songs():
    options = {"vectors": [[1.0], [0.0], [2.0]], "average": None}
    assert np.isnan(intra_list_distance_score(None, [[3, 2, 1]], k=1, **options)).all()
    assert np.isnan(intra_list_distance_score(None, [[3, 2, 1]], k=2, **options)).all()
    assert intra_list_distance_score(None, [[3, 2, 1]], k=3, **options).tolist() == [0.0]
    with pytest.raises(ValueError, match="`vectors` must have one row per song, 2; got shape"):
        intra_list_distance_score(None, [[1.0, 2.0]], vectors=[[1.0]])
