"""Scores and sums over the songs of playlists."""

import tracemalloc

import numpy as np
import pytest
from problems import make_problem
from scipy.sparse import csr_array
from sklearn import config_context

from skmtc.optimize._positives import Positives


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
@pytest.mark.parametrize("working_memory", [1e-3, 1024])
def test_scores_and_sums_equal_loops(convert, working_memory):
    features, membership, _ = make_problem(0)
    weights = np.random.default_rng(0).normal(size=(membership.shape[0], features.shape[1]))
    positives = Positives(convert(features), membership)
    with config_context(working_memory=working_memory):
        scores = positives.scores(weights)
    entries = [(i, m) for i in range(12) for m in np.flatnonzero(membership.toarray()[i])]
    expected = [weights[i] @ features[m] for i, m in entries]
    np.testing.assert_allclose(scores, expected)

    sums = np.zeros_like(weights)
    for value, (i, m) in zip(scores, entries, strict=True):
        sums[i] += value * features[m]
    np.testing.assert_allclose(positives.sum_features(scores), sums)
    lowest = [
        min(s for s, (j, _) in zip(scores, entries, strict=True) if j == i) for i in range(12)
    ]
    np.testing.assert_allclose(positives.reduce(np.minimum, scores), lowest)


def test_scores_take_little_memory_whatever_the_number_of_memberships():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 64)).astype(np.float32)
    songs = np.argsort(rng.random((2000, 500)), axis=1)[:, :20]
    membership = csr_array((np.ones(40_000), songs.ravel(), np.arange(0, 40_001, 20)))
    weights = rng.normal(size=(2000, 64)).astype(np.float32)
    positives = Positives(features, membership)
    tracemalloc.start()
    scores = positives.scores(weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = np.einsum("nkd,nd->nk", features[songs], weights).ravel()
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)
    gathered = features[songs].nbytes
    assert peak - scores.nbytes < 0.3 * gathered
