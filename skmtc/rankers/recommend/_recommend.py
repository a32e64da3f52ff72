"""The steps of `recommend`: read, search, choose, lay out."""

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from sklearn.utils import check_random_state

from skmtc._table.queries import is_everything
from skmtc._typing import Seed
from skmtc._utils.validation import check_number
from skmtc.rankers.recommend._artist_cap import artist_codes, best_with_cap
from skmtc.rankers.recommend._candidates import read_candidates
from skmtc.rankers.recommend._diversity import Diversify, check_diversity
from skmtc.rankers.recommend._frame import recommendation_frame
from skmtc.rankers.recommend._prepared import prepare
from skmtc.rankers.recommend._seen import seen_candidates
from skmtc.rankers.recommend._top_k import GumbelSampling, TopSongs
from skmtc.rankers.scoring import BlockScorer, warn_equal_scores


class RecommendOptions(TypedDict, total=False):
    """Types of the options of `recommend` except `as_frame`, which sets the return type."""

    n_recommendations: int
    candidates: Any
    exclude_seen: bool | str
    max_per_artist: int | None
    diversity: float
    sample: bool
    temperature: float
    random_state: Seed


@dataclass
class Options:
    """The options of `recommend`; see `BaseRanker.recommend`."""

    n_recommendations: int
    candidates: Any
    exclude_seen: bool | str
    max_per_artist: int | None
    diversity: float
    sample: bool
    temperature: float
    random_state: Any
    as_frame: bool


def recommend(ranker, X, options):
    """Recommend songs; `ranker` is a snapshot, which other threads do not change."""
    # 1. Read queries, candidates and the songs to leave out.
    queries = ranker.reader.queries(ranker.reader.as_frame(X))
    songs, allowed = read_candidates(ranker, options.candidates, queries)
    seen = seen_candidates(ranker, queries, songs, options.exclude_seen)
    # 2. Check the options.
    check_diversity(options.diversity, sample=options.sample)
    sampling = _make_sampling(options)
    n_songs = _check_candidate_counts(options, songs, seen, allowed)
    # 3. Search the best songs, and choose among them.
    find, is_equal = make_finder(
        ranker, queries, songs, seen=seen, allowed=allowed, sampling=sampling
    )
    best, scores = _choose(ranker, find, len(queries), songs, n_songs, options, allowed)
    if is_equal.any():
        outcome = "They are ordered by popularity."
        warn_equal_scores(ranker, is_equal.sum(), len(queries), len(songs), outcome, stacklevel=5)
    # 4. Return ids and scores, or a table.
    if options.as_frame:
        return recommendation_frame(ranker, queries, songs, best, scores)
    return songs.ids[best], scores


def make_finder(ranker, queries, songs, *, seen, allowed=None, sampling=None):
    """Return a function that finds the k best of songs for the queries at some positions.

    Also return an array that it fills in: whether all songs have the same score for a query.
    """
    prepared = prepare(ranker, songs)
    scorer = BlockScorer(ranker, queries, songs, prepared=prepared)
    top_songs = TopSongs(
        prepared,
        n_queries=len(queries),
        sampling=sampling,
        n_jobs=getattr(ranker, "n_jobs", None),
    )
    is_equal = np.zeros(len(queries), dtype=bool)

    def find(k, positions):
        found = []
        for asked in scorer.batches(positions):
            vectors = scorer.vectors(asked)
            is_equal[asked] = scorer.are_equal(asked, vectors)
            best = top_songs.best(
                vectors,
                k,
                seen=_rows(seen, asked),
                allowed=_rows(allowed, asked),
                added=scorer.added_to(asked),
                positions=asked,
            )
            found.append(best)
        columns, scores = zip(*found, strict=True)
        return np.concatenate(columns), np.concatenate(scores)

    return find, is_equal


def _rows(matrix, positions):
    """Return rows of a sparse matrix, or the matrix itself if these are all rows."""
    if matrix is None or is_everything(positions, matrix.shape[0]):
        return matrix
    return matrix[positions]


def _choose(ranker, find, n_queries, songs, k, options, allowed):
    """Return the best songs, or those chosen by the artist limit and the diversity."""
    if options.max_per_artist is None and not options.diversity:
        return find(k, np.arange(n_queries))
    artists, most = np.full(len(songs), -1), 1
    if options.max_per_artist is not None:
        most = options.max_per_artist
        check_number("max_per_artist", most, at_least=1, whole=True)
        new = None if songs.new_rows is None else ranker.artists_of(songs.new_rows)
        artists = artist_codes(ranker.known_artists, new, songs)
    diversify = None
    if options.diversity:
        diversify = Diversify(ranker.similarity_vectors(songs), options.diversity)
    may_be_short = options.as_frame and allowed is not None
    return best_with_cap(
        find, n_queries, k, artists, most, diversify=diversify, may_be_short=may_be_short
    )


def _make_sampling(options):
    if not options.sample:
        return None
    if not options.temperature > 0:
        raise ValueError(
            f"`temperature` must be above 0; got {options.temperature!r}. For the best songs "
            "without sampling pass sample=False."
        )
    seed = tuple(check_random_state(options.random_state).randint(2**31, size=4))
    return GumbelSampling(seed, options.temperature)


def _check_candidate_counts(options, songs, seen, allowed):
    """Return how many songs to find; raise if a query has fewer candidates."""
    n = options.n_recommendations
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(
            f"`n_recommendations` must be a positive integer; got {n!r}. Pass the number "
            "of songs per query."
        )
    if allowed is not None:
        return _check_allowed_counts(n, seen, allowed, may_be_short=options.as_frame)
    n_seen = 0 if seen is None else int(np.diff(seen.indptr).max())
    if n > len(songs) - n_seen:
        already = f", of which a playlist already has {n_seen}" if n_seen else ""
        raise ValueError(
            f"`n_recommendations` must be at most the number of candidate songs: {len(songs)}"
            f"{already}; got {n}. Pass fewer, or more `candidates`."
        )
    return n


def _check_allowed_counts(n, seen, allowed, *, may_be_short):
    counts = np.diff(allowed.indptr)
    if seen is not None:
        counts = counts - np.asarray(allowed.multiply(seen).sum(axis=1)).ravel()
    short = np.flatnonzero(counts < n)
    if len(short) and not may_be_short:
        raise ValueError(
            f"Each query must have {n} candidates that it does not have already; got fewer for "
            f"{len(short)} of {len(counts)} queries, such as {int(counts[short[0]])} for the query "
            f"at position {short[0]}. Pass as_frame=True for lists of unequal lengths, fewer "
            "`n_recommendations`, or more `candidates`."
        )
    return max(1, min(n, int(counts.max(initial=0))))
