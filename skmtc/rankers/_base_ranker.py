"""The base of all rankers: the public methods, which are built on the contract of a ranker."""

from typing import Any, Literal, Self, Unpack, cast, overload

import pandas as pd
from numpy import float64
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skmtc._typing import Matrix, Seed, Table
from skmtc._utils.doc_link import DocLinkMixin
from skmtc._utils.estimator_state import all_or_nothing, change_lock, replace_state, snapshot
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc.metrics import make_playlist_scorer
from skmtc.rankers._ranker_contract import RankerContract
from skmtc.rankers._test_set import build_test_set
from skmtc.rankers.fitting import who_stays
from skmtc.rankers.recommend import (
    Options,
    RecommendOptions,
    read_candidates,
    recommend,
    similar_songs,
)
from skmtc.rankers.scoring import BlockScorer

_mean_auc = make_playlist_scorer("auc")


class BaseRanker(DocLinkMixin, RankerContract):
    """Base of all rankers: what users call.

    A new ranker extends this class, and defines `_fit`, `vectors_of_queries` and
    `vectors_of_songs`; see `RankerContract`. Public methods work on a snapshot of the ranker, so
    that other threads may change it in the meantime.
    """

    def fit(self, X: Table, y: Any = None) -> Self:
        """Fit the ranker on a membership table.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: one row per song in a playlist.

        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        with all_or_nothing(self):
            table, frame = self.start_fit(X)
            with fit_fits_memory(self, table):
                self._fit(table, frame)
                self.store_table(table)
        return self

    def predict(self, X: Table) -> NDArray[float64]:
        """Score the song of each row for the playlist of the row.

        The ids decide which weights are used: those of a known playlist, of a known user, or
        those for new users. A new song is scored by its own columns.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`. A DataFrame needs the ids, and for
            new songs and users the columns that describe them.

        Returns
        -------
        scores : ndarray of shape (n_rows,)
            Scores; higher is better.
        """
        ranker = snapshot(self)
        frame = ranker.read_table(X)
        queries, query_of_row = ranker.reader.distinct_queries(frame)
        songs, song_of_row = ranker.reader.distinct_songs(frame)
        return BlockScorer(ranker, queries, songs).score_pairs(query_of_row, song_of_row)

    def score(self, X: Table, y: Any = None) -> float:
        """Return the mean AUC over the playlists of a table.

        Candidates are the training catalogue and the new songs of `X`, or only the new songs if
        all songs of `X` are new. Songs that a playlist has in training are not candidates for it.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`.

        y : None
            Ignored.

        Returns
        -------
        auc : float
            Mean probability that a song of the playlist scores above another candidate.
        """
        return cast(float, _mean_auc(self, X))

    def __skmtc_test_set__(
        self, X: Table, *, candidates: Any = "auto", exclude_seen: bool | str = True
    ) -> Any:
        """Build the test set of a table, which scorers and `evaluate` start from."""
        ranker = snapshot(self)
        return build_test_set(ranker, ranker.read_table(X), candidates, exclude_seen)

    @overload
    def recommend(
        self, X: Table, *, as_frame: Literal[True], **options: Unpack[RecommendOptions]
    ) -> pd.DataFrame: ...

    @overload
    def recommend(
        self, X: Table, *, as_frame: Literal[False] = ..., **options: Unpack[RecommendOptions]
    ) -> tuple[NDArray[Any], NDArray[float64]]: ...

    def recommend(
        self,
        X: Table,
        *,
        n_recommendations: int = 10,
        candidates: Any = None,
        exclude_seen: bool | str = True,
        max_per_artist: int | None = None,
        diversity: float = 0.0,
        sample: bool = False,
        temperature: float = 1.0,
        random_state: Seed = None,
        as_frame: bool = False,
    ) -> tuple[NDArray[Any], NDArray[float64]] | pd.DataFrame:
        """Recommend songs for playlists or users.

        See :ref:`results` for candidates per query, diversity, equal scores and parallelism.

        Parameters
        ----------
        X : DataFrame or array of shape (n_queries, n_columns)
            One query per row: a known playlist, a user who wants a new one, or the attributes of
            a new user. Unknown columns may be left out.

        n_recommendations : int, default=10
            Number of songs per query.

        candidates : None, array of song ids, table or sparse matrix, default=None
            Songs to rank. None: the training catalogue; an array of ids: these songs of it; a
            table with a song column and feature columns: also new songs. For candidates that
            differ between queries, pass a table that also has a user or playlist column, or a
            boolean sparse matrix of shape (n_queries, n_songs) in the order of `songs_`.

        exclude_seen : bool, "playlist" or "user", default=True
            Songs to leave out. True or "playlist": those that the known playlist already has;
            "user": those of all the user's playlists; False: none.

        max_per_artist : int or None, default=None
            Maximum number of songs of one artist per query. Songs whose artist is missing are
            not limited.

        diversity : float, default=0.0
            Weight of maximal marginal relevance, from 0 (the best songs) to 1: how much songs
            should differ from each other. With it, scores need not fall along a list.

        sample : bool, default=False
            Whether to sample songs, without replacement, with probabilities proportional to
            exp(score / temperature), instead of taking the best.

        temperature : float, default=1.0
            The lower, the closer a sample is to the best songs.

        random_state : int, RandomState instance or None, default=None
            Random seed of the sample.

        as_frame : bool, default=False
            Whether to return a DataFrame. Queries with too few candidates then have fewer rows.

        Returns
        -------
        songs : ndarray of shape (n_queries, n_recommendations)
            Song ids, best (or first sampled) first.

        scores : ndarray of shape (n_queries, n_recommendations)
            Their scores, as `predict` returns them.

        frame : DataFrame
            Instead of both, if `as_frame`: one row per recommended song, with the ids of the query
            (or its position, "query"), rank, song, score, and the columns of songs seen in `fit`.
        """
        options = Options(
            n_recommendations=n_recommendations,
            candidates=candidates,
            exclude_seen=exclude_seen,
            max_per_artist=max_per_artist,
            diversity=diversity,
            sample=sample,
            temperature=temperature,
            random_state=random_state,
            as_frame=as_frame,
        )
        return recommend(snapshot(self), X, options)

    @overload
    def similar_songs(
        self, songs: Any, n: int = ..., *, as_frame: Literal[True]
    ) -> pd.DataFrame: ...

    @overload
    def similar_songs(
        self, songs: Any, n: int = ..., *, as_frame: Literal[False] = ...
    ) -> tuple[NDArray[Any], NDArray[float64]]: ...

    def similar_songs(
        self, songs: Any, n: int = 10, *, as_frame: bool = False
    ) -> tuple[NDArray[Any], NDArray[float64]] | pd.DataFrame:
        """Find the songs of the catalogue that are most similar to given songs.

        The similarity is the cosine of two song vectors: features, factors, or training playlists,
        depending on the ranker. See :ref:`similar-songs`.

        Parameters
        ----------
        songs : song id, list or array of song ids, or table of songs
            Known songs by id, or a table with a song column and the columns that describe songs,
            which may contain new songs.

        n : int, default=10
            Number of similar songs per song.

        as_frame : bool, default=False
            Whether to return a DataFrame.

        Returns
        -------
        songs : ndarray of shape (n_songs, n)
            Ids of the most similar songs, most similar first, without the song itself.

        scores : ndarray of shape (n_songs, n)
            Their cosines.

        frame : DataFrame
            Instead of both, if `as_frame`: one row per song found, with the columns similar_to (id
            of the given song), rank, song, score, and the columns of songs seen in `fit`.

        Examples
        --------
        The first two songs are in the same playlists:

        >>> import pandas as pd
        >>> from skmtc import PopularityRanker
        >>> X = pd.DataFrame({
        ...     "user": ["ana", "ana", "bob", "bob", "eve"],
        ...     "playlist": ["gym", "gym", "run", "run", "tea"],
        ...     "song": ["s1", "s2", "s1", "s2", "s3"],
        ...     "title": ["Alive", "Breathe", "Alive", "Breathe", "Calm"],
        ... })
        >>> PopularityRanker().fit(X).similar_songs(["s1"], n=1, as_frame=True)
          similar_to  rank song  score    title
        0         s1     1   s2    1.0  Breathe
        """
        return similar_songs(snapshot(self), songs, n, as_frame=as_frame)

    def forget(self, users: ArrayLike) -> Self:
        """Remove users and everything stored about them alone.

        This removes their ids, attributes, weights and playlists, and songs that no other user has.
        Scores of other users and playlists do not change, except where they depend on the removed
        songs. What was learned from many users together, such as shared weights, stays: to remove
        a user's influence on it, call `fit` without the user.

        Parameters
        ----------
        users : list or array of user ids
            Known users. With `user=None`, ids of playlists.

        Returns
        -------
        self : object
            The ranker, changed in place.
        """
        check_is_fitted(self)
        with change_lock:
            replace_state(self, self._without(*who_stays(self, users)))
        return self

    def query_vectors(self, X: Table) -> Matrix:
        """Return the vectors of queries, whose inner products with song vectors are scores.

        Parameters
        ----------
        X : DataFrame or array of shape (n_queries, n_columns)
            One query per row, as for `recommend`.

        Returns
        -------
        vectors : array or csr_array of shape (n_queries, n_dimensions)
            One vector per query.
        """
        ranker = snapshot(self)
        return ranker.full_vectors_of_queries(ranker.reader.queries(ranker.reader.as_frame(X)))

    def song_vectors(self, songs: Any = None) -> Matrix:
        """Return the vectors of songs, whose inner products with query vectors are scores.

        Parameters
        ----------
        songs : None, array of song ids, or table of songs, default=None
            As `candidates` of `recommend`.

        Returns
        -------
        vectors : array or csr_array of shape (n_songs, n_dimensions)
            One vector per song, in the order of `songs`, or of `songs_` for None.
        """
        ranker = snapshot(self)
        return ranker.full_vectors_of_songs(read_candidates(ranker, songs)[0])
