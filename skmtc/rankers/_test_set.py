"""The test set of a table: its queries, the candidates, and which of them are in the playlists.

All evaluation goes through here: `score`, the scorers of `skmtc.metrics`, `evaluate` and `compare`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skmtc._table import Songs, distinct
from skmtc._utils.chunking import rows_that_fit
from skmtc._utils.sparse import as_ones, with_empty_row
from skmtc._utils.validation import check_choice
from skmtc.metrics import Ranking
from skmtc.rankers.recommend import blocked_pairs, read_candidates, seen_candidates
from skmtc.rankers.scoring import BlockScorer, distinct_rows, score_block, warn_equal_scores

# Bytes per pair of a playlist and a song while the songs that are no candidates are marked.
BLOCKED_BYTES = 32
# Larger blocks of scores leave the caches, and gain nothing.
MOST_ROWS = 256


class PlaylistBlock(NamedTuple):
    """Playlists that are ranked together.

    Attributes
    ----------
    positions : ndarray of shape (n,)
        Positions of the playlists in the test set.

    vectors : ndarray or csr_array of shape (n_rows, n_dimensions)
        Their distinct vectors.

    row_of_playlist : ndarray of shape (n,)
        Which of the vectors each playlist has.

    added : list of csr_array of shape (n_rows, n_songs)
        Matrices whose sum is added to the inner products; empty if there are none.
    """

    positions: np.ndarray
    vectors: np.ndarray | csr_array
    row_of_playlist: np.ndarray
    added: list[csr_array]


@dataclass
class TestSet:
    """The playlists of a test table, laid out for evaluation.

    Attributes
    ----------
    users, playlists : ndarray of shape (n_playlists,)
        Ids; where owners are unknown, playlists stand for users.

    settings : ndarray of shape (n_playlists,)
        What is new to the ranker: "cold user", "cold playlist", "cold songs", two of them joined
        by " + ", or "nothing cold".

    songs : ndarray of shape (n_songs,)
        Ids of the candidates.

    popularity : ndarray of shape (n_songs,)
        Share of the training playlists that hold each candidate. A song that none holds counts
        as if one did.

    codes : ndarray of shape (n_songs,)
        Position of each candidate in the training catalogue; -1 for a new song.

    membership : csr_array of shape (n_training_playlists, n_training_songs)
        The training playlists.

    allowed : csr_array of shape (n_playlists, n_songs) or None
        True where the song is a candidate of the playlist; None if all are.

    y_true : csr_array of shape (n_playlists, n_songs)
        True where the table has the song in the playlist.

    ignore : csr_array of shape (n_playlists, n_songs) or None
        True where the song is no candidate, because the playlist or its user has had it in
        training.

    song_vectors : array or csr_array of shape (n_songs, n_dimensions)
        Vectors of the candidates.

    scorer : BlockScorer
        Scores candidates for the playlists, which are its queries.

    warn_equal : callable or None
        Called with the number of playlists for which all candidates have the same score, if there
        are any.
    """

    users: np.ndarray
    playlists: np.ndarray
    settings: np.ndarray
    songs: np.ndarray
    popularity: np.ndarray
    codes: np.ndarray
    membership: csr_array
    allowed: csr_array | None
    y_true: csr_array
    ignore: csr_array | None
    song_vectors: np.ndarray | csr_array
    scorer: BlockScorer
    warn_equal: Callable[[int], None] | None = None

    @property
    def song_playlists(self):
        """Return which training playlists hold each candidate, a csr_array with a row per song."""
        return with_empty_row(csr_array(as_ones(self.membership).T))[self.codes]

    def rankings(self):
        """Rank the candidates for blocks of playlists that fit the working memory.

        Yields
        ------
        positions : ndarray
            Positions of playlists; each playlist comes in one block.

        ranking : Ranking
            Their scores and songs.
        """
        for block in self.blocks():
            yield block.positions, self.ranking(block)

    def blocks(self):
        """Cut the playlists into blocks whose scores fit the working memory.

        Playlists with equal vectors, such as those of one user or of all unknown users, are
        scored once.

        Yields
        ------
        block : PlaylistBlock
            Playlists; each comes in one block.
        """
        scorer, n_songs = self.scorer, self.song_vectors.shape[0]
        pair_bytes = scorer.pair_bytes + (0 if self.allowed is None else BLOCKED_BYTES)
        block_rows = min(MOST_ROWS, rows_that_fit(pair_bytes * n_songs))
        n_equal = 0
        for asked in scorer.batches(np.arange(len(self.playlists))):
            vectors = scorer.vectors(asked)
            first, row_of_query = self._distinct(asked, vectors)
            equal = scorer.are_equal(asked[first], vectors[first])
            n_equal += int(equal[row_of_query].sum())
            order = np.argsort(row_of_query, kind="stable")
            positions, row_of_query = asked[order], row_of_query[order]
            for start in range(0, len(first), block_rows):
                rows = first[start : start + block_rows]
                bounds = np.searchsorted(row_of_query, [start, start + len(rows)])
                block = slice(*bounds)
                added = scorer.added(asked[rows])
                yield PlaylistBlock(
                    positions[block], vectors[rows], row_of_query[block] - start, added
                )
        if n_equal and self.warn_equal is not None:
            self.warn_equal(n_equal)

    def _distinct(self, positions, vectors):
        """Find queries with scores of their own, and which of these each query shares."""
        first, inverse = distinct_rows(vectors)
        if not self.scorer.adds_terms:
            return first, inverse
        queries = self.scorer.queries.take(positions)
        # Added scores depend on the ids only, of which -1 stands for a new one.
        return distinct(inverse, queries.users + 1, queries.playlists + 1)

    def ranking(self, block):
        """Rank the candidates for a block of playlists."""
        scores = score_block(block.vectors, self.song_vectors, block.added)
        ignore = None if self.ignore is None else self.ignore[block.positions]
        if self.allowed is not None:
            ignore = blocked_pairs(self.allowed[block.positions], ignore)
        return Ranking(
            self.y_true[block.positions],
            scores,
            ignore=ignore,
            row_of_playlist=block.row_of_playlist,
        )

    def without_ranker(self, reads=()):
        """Return what `ranking` and metrics that read some attributes need, for workers."""
        nothing = ("scorer", "warn_equal")
        if "song_playlists" not in reads:
            nothing += ("membership",)
        return replace(self, **dict.fromkeys(nothing))


def build_test_set(ranker, frame, candidates, exclude_seen=True):
    """Build the test set of a table; see `BaseRanker.__skmtc_test_set__`."""
    if isinstance(candidates, str):
        check_choice("candidates", candidates, {"auto", "all"})
    # 1. Read playlists and songs, and choose the candidates.
    queries, query_of_row = ranker.reader.distinct_queries(frame)
    songs, song_of_row = ranker.reader.distinct_songs(frame)
    ranked, column_of_song, allowed = _read_ranked(ranker, candidates, queries, songs)
    # 2. Positives: the rows of the table whose songs are candidates.
    column_of_row = column_of_song[song_of_row]
    found = np.flatnonzero(column_of_row >= 0)  # songs that are no candidates cannot be found
    y_true = csr_array(
        (np.ones(len(found), dtype=bool), (query_of_row[found], column_of_row[found])),
        shape=(len(queries), len(ranked)),
    )
    if allowed is not None:
        y_true = csr_array(y_true.multiply(allowed)).astype(bool)
    # 3. Songs to ignore, because the playlist or its user has them in training.
    ignore = seen_candidates(ranker, queries, ranked, exclude_seen)
    if ignore is not None and exclude_seen == "user":
        y_true = csr_array(y_true > ignore)
    # 4. The setting of each playlist, and the scorer.
    has_new_songs = np.bincount(query_of_row, weights=songs.is_new[song_of_row]) > 0
    columns = ranker.reader.find_columns(queries.rows, ("playlist",))
    scorer = BlockScorer(ranker, queries, ranked)
    playlists = queries.rows[columns.playlist].to_numpy()
    return TestSet(
        users=playlists if columns.user is None else queries.rows[columns.user].to_numpy(),
        playlists=playlists,
        settings=_settings(queries, has_new_songs, users_are_known=columns.user is not None),
        songs=ranked.ids,
        popularity=_popularity(ranker.membership_, ranked),
        codes=ranked.codes,
        membership=ranker.membership_,
        allowed=allowed,
        y_true=y_true,
        ignore=ignore,
        song_vectors=scorer.song_vectors,
        scorer=scorer,
        warn_equal=lambda n_equal: warn_equal_scores(
            ranker, n_equal, len(queries), len(ranked), "Metrics count them as ties."
        ),
    )


def _read_ranked(ranker, candidates, queries, songs):
    """Return the candidates, the column of each song of the table, and the allowed pairs.

    The column is -1 for a song that is no candidate; pairs are None if all are allowed.
    """
    if isinstance(candidates, str):
        if candidates == "auto" and songs.is_new.all():
            return songs, np.arange(len(songs)), None
        return *_with_catalogue(ranker.reader.catalogue(), songs), None
    ranked, allowed = read_candidates(ranker, candidates, queries)
    return ranked, pd.Index(ranked.ids).get_indexer(pd.Index(songs.ids)), allowed


def _with_catalogue(catalogue, songs):
    """Return the catalogue together with new songs, and the column of each of the songs."""
    if not songs.is_new.any():
        return catalogue, songs.codes
    n_new = int(songs.is_new.sum())
    columns = songs.codes.copy()
    columns[songs.is_new] = len(catalogue) + np.arange(n_new)
    ids = np.concatenate([catalogue.ids, songs.ids[songs.is_new]])
    codes = np.concatenate([catalogue.codes, np.full(n_new, -1)])
    return Songs(ids, codes, songs.new_rows), columns


def _popularity(membership, songs):
    """Return the share of training playlists that hold each song, of at least one of them."""
    n_playlists, n_songs = membership.shape
    counts = np.bincount(membership.indices, minlength=n_songs)
    counts = np.where(songs.is_new, 1, np.maximum(counts[songs.codes], 1))
    return counts / max(1, n_playlists)


def _settings(queries, has_new_songs, *, users_are_known):
    """Return what is new about each playlist of a test table."""
    new_playlist = queries.playlists < 0
    new_user = new_playlist & (queries.users < 0) & users_are_known
    who = np.where(new_user, "cold user", np.where(new_playlist, "cold playlist", ""))
    what = np.where(has_new_songs, "cold songs", "")
    both = np.where(new_playlist & has_new_songs, " + ", "")
    names = pd.Series(who) + pd.Series(both) + pd.Series(what)
    return names.replace("", "nothing cold").to_numpy(dtype=object)
