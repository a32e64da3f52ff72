"""The blocked scorer: all ways to a score agree."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from skmtc._utils.estimator_state import snapshot
from skmtc.rankers.scoring import BlockScorer, score_block
from tests.test_ranker_checks import RANKERS, X_ALL, X_TRAIN


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_pairs_and_blocks_agree(ranker):
    ranker = snapshot(clone(ranker).fit(X_TRAIN))
    frame = ranker.read_table(X_ALL)
    queries, query_of_row = ranker.reader.distinct_queries(frame)
    songs, song_of_row = ranker.reader.distinct_songs(frame)
    scorer = BlockScorer(ranker, queries, songs)
    everybody = np.arange(len(queries))
    block = score_block(scorer.vectors(everybody), scorer.song_vectors, scorer.added(everybody))
    pairs = scorer.score_pairs(query_of_row, song_of_row)
    # Factors are in single precision.
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if block.dtype == np.float32 else {"atol": 1e-10}
    np.testing.assert_allclose(pairs, block[query_of_row, song_of_row], **tolerance)
    assert pairs.tolist() == ranker.predict(X_ALL).tolist()
    some = np.array([3, 1, 4])
    part = score_block(scorer.vectors(some), scorer.song_vectors, scorer.added(some))
    np.testing.assert_allclose(part, block[some], **tolerance)
    with sklearn.config_context(working_memory=1e-3):
        batches = list(scorer.batches(everybody))
        assert len(batches) > 1 or scorer.song_vectors.shape[1] == 1
        assert np.concatenate(batches).tolist() == everybody.tolist()
        np.testing.assert_allclose(
            scorer.score_pairs(query_of_row, song_of_row), pairs, rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_flat_scores_are_found(ranker):
    ranker = snapshot(clone(ranker).fit(X_TRAIN))
    queries, _ = ranker.reader.distinct_queries(ranker.read_table(X_ALL))
    scorer = BlockScorer(ranker, queries, ranker.reader.catalogue())
    everybody = np.arange(len(queries))
    vectors = scorer.vectors(everybody)
    scores = score_block(vectors, scorer.song_vectors, scorer.added(everybody))
    is_flat = np.ptp(scores, axis=1) <= 1e-12 * abs(scores).max(axis=1)
    assert scorer.are_equal(everybody, vectors).tolist() == is_flat.tolist()
