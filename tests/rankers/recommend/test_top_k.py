"""The best songs of each query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn import config_context

from skmtc._utils.parallel import Workers
from skmtc.rankers.recommend import _top_k
from skmtc.rankers.recommend._prepared import PreparedSongs
from skmtc.rankers.recommend._top_k import GumbelSampling, TopSongs, top_k
from skmtc.rankers.scoring import row_products


@given(arrays(np.float64, (4, 9), elements=st.integers(-2, 2).map(float)), st.integers(1, 9))
def test_equals_a_stable_sort(scores, k):
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(top_k(scores, k), expected)


def test_equal_scores_go_to_the_earlier_column():
    scores = np.array([[1.0, 3.0, 3.0, 3.0, 0.0]])
    assert top_k(scores, 2).tolist() == [[1, 2]]


def _slowly(queries, songs, k, seen=None, added=None):
    """Score all pairs one by one, and sort them."""
    n_queries, n_songs = queries.shape[0], songs.shape[0]
    rows, columns = np.divmod(np.arange(n_queries * n_songs), n_songs)
    scores = row_products(queries[rows], songs[columns]).reshape(n_queries, n_songs)
    if added is not None:
        scores = scores + added.toarray()
    if seen is not None:
        scores[seen.toarray() != 0] = -np.inf
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return best, np.take_along_axis(scores, best, axis=1)


def _vectors(kind, n_rows, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_rows, 5))
    if kind == "ties":
        vectors = np.round(vectors)
    elif kind == "close":  # songs that single precision cannot tell apart
        vectors = np.repeat(vectors[: n_rows // 8 + 1], 8, axis=0)[:n_rows]
        vectors = vectors * (1 + 1e-12 * rng.integers(0, 5, vectors.shape))
    elif kind == "single":
        vectors = vectors.astype(np.float32)
    elif kind == "tiny":
        vectors *= 1e-30
    elif kind == "huge":
        vectors *= 1e25
    elif kind == "zero":
        vectors *= 0
    elif kind == "an outlier":
        vectors[-1] *= 1e6
    elif kind == "sorted":
        vectors = np.sort(vectors, axis=0)
    elif kind == "sparse":
        vectors = csr_array(np.round(vectors))
    return vectors


KINDS = [
    *("normal", "ties", "close", "single", "tiny", "huge", "zero", "an outlier", "sorted"),
    "sparse",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_queries", "n_songs", "k"), [(3, 900, 7), (150, 900, 7), (20, 9, 9)])
def test_equals_sorting_all_scores_exactly(kind, n_queries, n_songs, k):
    queries, songs = _vectors(kind, n_queries, 0), _vectors(kind, n_songs, 1)
    columns, scores = TopSongs(PreparedSongs(songs), n_queries=n_queries).best(queries, k)
    expected, expected_scores = _slowly(queries, songs, k)
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(scores, expected_scores)


@pytest.mark.parametrize("kind", ["normal", "ties", "sparse"])
@pytest.mark.parametrize("n_queries", [2, 100])
def test_some_songs_are_left_out_and_some_get_more(kind, n_queries):
    queries, songs = _vectors(kind, n_queries, 0), _vectors(kind, 500, 1)
    chance = np.random.default_rng(2).random((2, n_queries, 500))
    seen, added = csr_array(chance[0] < 0.3), csr_array(np.where(chance[1] < 0.05, chance[1], 0))

    def halves(rows):
        return [0.5 * added[rows], 0.5 * added[rows]]

    found = TopSongs(PreparedSongs(songs), n_queries=n_queries).best(
        queries, 20, seen=seen, added=halves
    )
    expected = _slowly(queries, songs, 20, seen, added)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_where_too_few_songs_are_left():
    seen = csr_array(np.array([[0, 1, 1], [1, 1, 1]]))
    columns, scores = TopSongs(PreparedSongs(np.eye(3)), n_queries=2).best(
        np.ones((2, 3)), 2, seen=seen
    )
    assert columns.tolist() == [[0, -1], [-1, -1]]
    assert scores.tolist() == [[1.0, -np.inf], [-np.inf, -np.inf]]


@pytest.mark.parametrize("kind", ["normal", "sparse"])
@pytest.mark.parametrize("n_queries", [2, 200])
def test_where_no_songs_are_left(kind, n_queries):
    queries, songs = _vectors(kind, n_queries, 0), _vectors(kind, 9, 1)
    seen = csr_array(np.ones((n_queries, 9)))
    columns, scores = TopSongs(PreparedSongs(songs), n_queries=n_queries).best(
        queries, 3, seen=seen
    )
    assert (columns == -1).all()
    assert (scores == -np.inf).all()


@pytest.mark.parametrize("sampling", [None, GumbelSampling((1, 2), 0.5)])
def test_blocks_and_threads_change_nothing(sampling):
    queries, songs = _vectors("close", 200, 0), _vectors("close", 800, 1)
    results = []
    for n_jobs, megabytes in [(1, 100), (2, 100), (3, 1), (None, 0.01)]:
        with config_context(working_memory=megabytes):
            finder = TopSongs(PreparedSongs(songs), n_queries=200, sampling=sampling, n_jobs=n_jobs)
            results.append(finder.best(queries, 10))
    for columns, scores in results[1:]:
        np.testing.assert_array_equal(columns, results[0][0])
        np.testing.assert_array_equal(scores, results[0][1])


@pytest.mark.parametrize("kind", ["close", "sparse"])
@pytest.mark.parametrize("sampling", [None, GumbelSampling((1, 2), 0.5)])
def test_processes_change_nothing(kind, sampling, monkeypatch):
    monkeypatch.setattr(_top_k, "FEWEST_ELSEWHERE", 200)
    queries, songs = _vectors(kind, 400, 0), _vectors(kind, 500, 1)
    chance = np.random.default_rng(2).random((2, 400, 500))
    added = csr_array(np.where(chance[1] < 0.05, chance[1], 0))
    options = {
        "seen": csr_array(chance[0] < 0.3),
        "added": lambda rows: [added[rows]],
        "positions": np.arange(400)[::-1],
    }
    here = TopSongs(PreparedSongs(songs), n_queries=400, sampling=sampling).best(
        queries, 10, **options
    )
    sent = []
    whole = Workers.map

    def count(workers, function, items):
        sent.extend(items := list(items))
        return whole(workers, function, items)

    monkeypatch.setattr(Workers, "map", count)
    with parallel_config(backend="loky"):
        there = TopSongs(PreparedSongs(songs), n_queries=400, sampling=sampling, n_jobs=2).best(
            queries, 10, **options
        )
        assert len(sent) == 4  # of 128 queries or fewer
        TopSongs(PreparedSongs(songs), n_queries=400, sampling=sampling, n_jobs=1).best(
            queries, 10, **options
        )
        TopSongs(PreparedSongs(songs), n_queries=199, sampling=sampling, n_jobs=2).best(
            queries[:199], 10
        )
    assert len(sent) == 4
    np.testing.assert_array_equal(there[0], here[0])
    np.testing.assert_array_equal(there[1], here[1])


def test_a_draw_takes_songs_in_proportion_to_exponentials():
    songs, n_draws, temperature = np.array([[0.0], [0.5], [1.0], [1.5]]), 40_000, 0.7
    finder = TopSongs(
        PreparedSongs(songs), n_queries=n_draws, sampling=GumbelSampling((0,), temperature)
    )
    columns, scores = finder.best(np.ones((n_draws, 1)), 2)
    np.testing.assert_array_equal(scores, songs[columns, 0])
    weights = np.exp(songs[:, 0] / temperature)
    first = weights / weights.sum()
    # Without replacement, the second is drawn from what the first has left.
    pairs = first[:, None] * weights / (weights.sum() - weights[:, None])
    np.fill_diagonal(pairs, 0.0)
    seen = np.histogram2d(*columns.T, bins=4, range=[[-0.5, 3.5]] * 2)[0] / n_draws
    errors = np.sqrt(pairs * (1 - pairs) / n_draws)
    assert (abs(seen - pairs) <= 4 * errors).all()
