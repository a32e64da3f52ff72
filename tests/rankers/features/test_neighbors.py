"""Similar users."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context

from skmtc.rankers.features._neighbors import similar_users

KNOWN = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_weighs_the_nearest_by_cosine(convert):
    weights = similar_users(convert(np.array([[5.0, 1.0], [0.0, 2.0]])), convert(KNOWN), 2)
    np.testing.assert_allclose(weights.toarray(), [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]])


def test_users_as_similar_as_the_last_are_included():
    known = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    weights = similar_users(np.array([[7.0, 0.0]]), known, 1)
    np.testing.assert_allclose(weights.toarray(), [[1 / 3, 1 / 3, 1 / 3, 0]])


def test_a_user_without_attributes_has_no_similar_users():
    weights = similar_users(np.array([[0.0, 0.0], [1.0, 0.0]]), KNOWN, 1)
    np.testing.assert_allclose(weights.toarray(), [[0, 0, 0, 0], [1, 0, 0, 0]])


def test_more_neighbors_than_users_means_all_users():
    np.testing.assert_allclose(similar_users(KNOWN[:1], KNOWN, 99).toarray(), [[0.25] * 4])


def test_blocks_change_nothing():
    rng = np.random.default_rng(0)
    new, known = rng.normal(size=(50, 3)), rng.normal(size=(40, 3))
    with config_context(working_memory=1e-3):
        cut = similar_users(new, known, 5)
    np.testing.assert_allclose(cut.toarray(), similar_users(new, known, 5).toarray())
