"""The second argument of `fit`."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array

from skmtc.features._base_encoder import n_playlists_of_song, read_membership

DENSE = np.array([[1, 0, 2], [0, 0, 1], [2, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("form", [np.asarray, csr_array, coo_array, csc_matrix, list])
def test_every_form_of_matrix_is_read(form):
    membership = read_membership(form(DENSE), 4)
    np.testing.assert_array_equal(membership.toarray(), DENSE)
    assert n_playlists_of_song(membership).tolist() == [2, 1, 1, 0]


@pytest.mark.parametrize("y", [None, [3, 1, 2], np.array(["a", "b", "a"])])
def test_no_matrix_stands_for_one_playlist(y):
    np.testing.assert_array_equal(read_membership(y, 3).toarray(), [[1], [2], [3]])


def test_a_matrix_without_playlists_is_fine():
    assert read_membership(csr_array((3, 0)), 3).shape == (3, 0)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (csr_array(DENSE.T), r"one row per song; got shape \(3, 4\) for 4 songs"),
        (-DENSE, "positions from 1 on, and 0 for no membership; got -2"),
        ([1, 2, 3], "inconsistent numbers of samples"),
    ],
)
def test_wrong_memberships(y, message):
    with pytest.raises(ValueError, match=message):
        read_membership(y, 4)
