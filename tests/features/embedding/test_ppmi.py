"""Shifted positive pointwise mutual information of tokens that share playlists."""

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack
from sklearn import config_context

from skmtc.features.embedding._ppmi import ShiftedPpmi


def draw(n_playlists=40, n_tokens=25, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n_playlists, n_tokens)) < 0.2).astype(float)


def ppmi_of(incidence, *shift):
    """Return the matrix as a whole."""
    ppmi = ShiftedPpmi(csr_array(incidence), *shift)
    return vstack([block for _, block in ppmi.blocks()])


def by_definition(incidence, shift):
    """Follow the formula, pair by pair."""
    n_tokens = incidence.shape[1]
    together = np.zeros((n_tokens, n_tokens))
    for playlist in incidence:
        held = np.flatnonzero(playlist)
        for i in held:
            for j in held[held != i]:
                together[i, j] += 1
    sums, total = together.sum(axis=1), together.sum()
    ppmi = np.zeros((n_tokens, n_tokens))
    for i, j in zip(*together.nonzero(), strict=True):
        information = np.log(together[i, j] * total / (sums[i] * sums[j])) - np.log(shift)
        ppmi[i, j] = max(0.0, information)
    return ppmi


@pytest.mark.parametrize("shift", [0.5, 1.0, 2.0])
def test_it_is_the_formula(shift):
    incidence = draw()
    ppmi = ppmi_of(incidence, shift)
    np.testing.assert_allclose(ppmi.toarray(), by_definition(incidence, shift), rtol=1e-6)
    np.testing.assert_allclose(ppmi.toarray(), ppmi.toarray().T)


def test_two_pairs_by_hand():
    # Playlists {a, b} and {c, d}: each pair once among 4 ordered ones, by chance 1/4 of it.
    ppmi = ppmi_of([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    assert ppmi.nnz == 4
    np.testing.assert_allclose(ppmi.data, np.log(4), rtol=1e-6)


def test_small_working_memory_gives_the_same():
    expected = ppmi_of(draw())
    with config_context(working_memory=1e-3):  # a few rows at a time
        in_blocks = ppmi_of(draw())
    np.testing.assert_array_equal(in_blocks.toarray(), expected.toarray())


@pytest.mark.parametrize("kept_bytes", [0, 500, 10**6])
def test_products_are_the_same_whatever_is_kept(kept_bytes):
    columns = np.random.default_rng(1).standard_normal((25, 3), dtype=np.float32)
    expected = ppmi_of(draw()) @ columns
    with config_context(working_memory=1e-3):
        ppmi = ShiftedPpmi(csr_array(draw()), kept_bytes=kept_bytes)
    for layout in "CFC":
        np.testing.assert_array_equal(ppmi @ np.asarray(columns, order=layout), expected)


def test_blocks_are_kept_within_their_bytes(monkeypatch):
    made = []
    make = ShiftedPpmi._make
    monkeypatch.setattr(ShiftedPpmi, "_make", lambda *args: made.append(args[1]) or make(*args))
    with config_context(working_memory=1e-3):
        ppmi = ShiftedPpmi(csr_array(draw()), kept_bytes=1500)
    sizes = [b.data.nbytes + b.indices.nbytes + b.indptr.nbytes for _, b in ppmi.blocks()]
    n_kept = int((np.cumsum(sizes) <= 1500).sum())
    assert 0 < n_kept < len(sizes) == len(made)
    list(ppmi.blocks())
    assert len(made) == 2 * len(sizes) - n_kept


def test_playlists_of_one_token_tell_nothing():
    assert ppmi_of(np.eye(3)).nnz == 0
