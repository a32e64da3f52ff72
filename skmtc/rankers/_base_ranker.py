"""The contract of a ranker: what it can do, and what a new one has to define.

Every ranker is an inner product: a query (a playlist or a user, known or new) and a song each have
a vector, and the score is their product. So a ranker consists of `_fit`, `vectors_of_queries` and
`vectors_of_songs`; all public methods are built on these.
"""

from abc import ABCMeta, abstractmethod
from typing import Any, Literal, Self, Unpack, cast, overload

import pandas as pd
from numpy import float64
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skmtc._table import ROLES, Ids, TableReader, column_label, is_table, read_memberships
from skmtc._typing import Matrix, Seed, Table
from skmtc._utils.estimator_state import (
    VersionedState,
    all_or_nothing,
    change_lock,
    replace_state,
    snapshot,
)
from skmtc._utils.fitted_state import Array, IdArray, Index, Labels, Plain, take
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc._version import project_urls
from skmtc.metrics import make_playlist_scorer
from skmtc.rankers._scoring import BlockScorer
from skmtc.rankers._test_set import build_test_set
from skmtc.rankers._ties import tie_popularity, tie_ranks
from skmtc.rankers.fitting import (
    append_artists,
    kept_positions,
    plain_values,
    read_rows,
    table_attributes,
    warn_left_out,
    who_stays,
)
from skmtc.rankers.recommend import (
    CatalogueCache,
    Options,
    RecommendOptions,
    SongColumns,
    join_song_columns,
    playlist_vectors,
    read_candidates,
    read_song_columns,
    recommend,
    similar_songs,
)

_mean_auc = make_playlist_scorer("auc")


class BaseRanker(VersionedState, BaseEstimator, metaclass=ABCMeta):
    """Base of all rankers.

    Subclasses have the parameters `user`, `playlist` and `song`, and define `_fit`,
    `vectors_of_queries` and `vectors_of_songs`. They declare their fitted attributes in
    `_fitted_state`, for the check of stored models and for `forget`, and list in `_derived` those
    that are computed from others when needed, and so are never stored.
    """

    _derived: tuple[str, ...] = ("_reader", "_catalogue_cache")
    _fitted_state = {
        "songs_": IdArray("songs"),
        "playlists_": IdArray("playlists"),
        "users_": IdArray("users"),
        "membership_": Array(
            "playlists", "songs", kinds="i", sparse=True, canonical=True, at_least=1
        ),
        "user_of_playlist_": Index("playlists", into="users"),
        "left_out_": Plain(dict),
        "_song_artists": Labels("songs", optional=True),
        "_song_counts": Array("songs", kinds="i", at_least=0),
        "_song_columns": SongColumns(optional=True),
        "_id_labels": Plain(tuple),
        "_reads_arrays": Plain(bool),
    }

    _doc_link_module = "skmtc"

    @property
    def _doc_link_template(self):
        pages = project_urls().get("Documentation")
        return f"{pages}/generated/skmtc.{{estimator_name}}.html" if pages else ""

    def _doc_link_url_param_generator(self, estimator=None):
        return {"estimator_name": type(estimator or self).__name__}

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
        ranker = self.snapshot()
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
        ranker = self.snapshot()
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
        return recommend(self.snapshot(), X, options)

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
        return similar_songs(self.snapshot(), songs, n, as_frame=as_frame)

    def forget(self, users: ArrayLike) -> Self:
        """Remove users and everything stored about them alone.

        This removes their ids, attributes, weights and playlists, and songs that nobody else has.
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
        ranker = self.snapshot()
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
        ranker = self.snapshot()
        return ranker.full_vectors_of_songs(read_candidates(ranker, songs)[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True  # ids
        tags.target_tags.required = False
        return tags

    # 1. What a ranker defines.

    @abstractmethod
    def _fit(self, table, frame):
        """Learn from a checked table; `frame` has all its rows."""

    @abstractmethod
    def vectors_of_queries(self, queries):
        """Return one vector per query.

        :meta private:
        """

    @abstractmethod
    def vectors_of_songs(self, songs):
        """Return one vector per song.

        :meta private:
        """

    # 2. What a ranker may redefine.

    def _check_parameters(self):
        """Check the constructor's parameters, before any work."""

    def vectors_for(self, songs):
        """Return the function that makes query vectors for some songs, and their vectors.

        :meta private:
        """
        return self.vectors_of_queries, self.vectors_of_songs(songs)

    def adds_to_scores(self):
        """Check whether scores have more than inner products.

        :meta private:
        """
        return False

    def added_scores(self, queries, songs):
        """Return a list of csr_arrays whose sum is added to the inner products.

        :meta private:
        """
        return []

    def full_vectors_of_queries(self, queries):
        """Return query vectors whose inner products are scores, added scores included.

        :meta private:
        """
        return self.vectors_of_queries(queries)

    def full_vectors_of_songs(self, songs):
        """Return the song vectors that belong to `full_vectors_of_queries`.

        :meta private:
        """
        return self.vectors_of_songs(songs)

    def similarity_vectors(self, songs):
        """Return vectors of length 1 whose inner products are similarities of songs.

        :meta private:
        """
        return playlist_vectors(self, songs)

    def artists_of(self, rows):
        """Return the artist column of some rows; None if there is none.

        :meta private:
        """
        name = getattr(self, "artist", "artist")
        label = None if name is None else column_label(rows, name)
        return None if label is None else rows[label]

    def make_derived(self):
        """Compute the derived attributes that are missing, e.g. after unpickling.

        :meta private:
        """
        _ = self.reader, self.catalogue_cache

    def _without(self, user_stays, playlist_stays):
        """Return the attributes that change when users and playlists are removed."""
        return take(self, self._kept_positions(user_stays, playlist_stays))

    def _kept_positions(self, user_stays, playlist_stays):
        return kept_positions(self, user_stays, playlist_stays)

    # 3. What the rest of the package may use, beside the public methods.

    def start_fit(self, X):
        """Check the parameters and read the table; return it as arrays and as a frame.

        :meta private:
        """
        self._check_parameters()
        self._reads_arrays = not is_table(X)
        frame = read_rows(self, X, reset=True)
        table = read_memberships(frame, user=self.user, playlist=self.playlist, song=self.song)
        warn_left_out(table.left_out)
        self._id_labels = table.columns.labels
        self._reader = self._make_reader(table.ids, table.user_of_playlist)
        self._song_columns = read_song_columns(frame, table, getattr(self, "artist", "artist"))
        return table, frame

    def store_table(self, table):
        """Store the ids and memberships of a table.

        :meta private:
        """
        artists = self.artists_of(table.song_rows)
        self._song_artists = None if artists is None else plain_values(artists)
        self._reader = self._make_reader(table.ids, table.user_of_playlist)
        self._catalogue_cache = CatalogueCache()
        vars(self).update(table_attributes(table))

    def _appended_table(self, appended):
        """Return the attributes of the table of `fit` with the rows of `partial_fit`."""
        columns = getattr(self, "_song_columns", None)
        return table_attributes(appended) | {
            "left_out_": {k: n + self.left_out_[k] for k, n in appended.left_out.items()},
            "_song_artists": append_artists(self, appended),
            "_song_columns": join_song_columns(columns, appended.song_source, appended.song_rows),
            "_reader": self._make_reader(appended.ids, appended.user_of_playlist),
            "_catalogue_cache": CatalogueCache(),
        }

    def snapshot(self):
        """Return a copy with the attributes of this moment, whatever other threads change.

        :meta private:
        """
        check_is_fitted(self)
        return snapshot(self)

    def read_table(self, X):
        """Read a table with the columns of `fit`, or with those that are needed.

        :meta private:
        """
        return read_rows(self, X, reset=False)

    @property
    def reader(self) -> TableReader:
        """Reads tables by the ids of `fit`.

        :meta private:
        """
        if not hasattr(self, "_reader"):  # after unpickling
            ids = {role: Ids(getattr(self, f"{role}s_"), role) for role in ROLES}
            self._reader = self._make_reader(ids, self.user_of_playlist_)
        return self._reader

    @property
    def catalogue_cache(self) -> CatalogueCache:
        """What searches of the catalogue reuse from one `recommend` to the next.

        :meta private:
        """
        if not hasattr(self, "_catalogue_cache"):
            self._catalogue_cache = CatalogueCache()
        return self._catalogue_cache

    def lasting_attributes(self):
        """Return parameters and fitted attributes, without those derived from them.

        :meta private:
        """
        return [value for name, value in vars(self).items() if name not in self._derived]

    @property
    def known_artists(self):
        """Artists of the songs of `fit`; None if these have none.

        :meta private:
        """
        return self._song_artists

    def tie_ranks(self, songs):
        """Return the order of songs with equal scores: popular ones first.

        :meta private:
        """
        new = None if songs.new_rows is None else self.artists_of(songs.new_rows)
        return tie_ranks(tie_popularity(self._song_counts, self._song_artists, songs, new))

    def _make_reader(self, ids, user_of_playlist):
        return TableReader(
            (self.user, self.playlist, self.song),
            self._id_labels,
            is_array=self._reads_arrays,
            columns=getattr(self, "feature_names_in_", None),
            ids={role: known.ready() for role, known in ids.items()},
            user_of_playlist=user_of_playlist,
        )
