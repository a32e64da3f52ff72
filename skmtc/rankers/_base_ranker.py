"""What all rankers share: fit, predict, score, recommend.

Every ranker here is an inner product: a query (a playlist, known or new, of a user, known or
new) and a song each have a vector, and the score is their product. A ranker is therefore two
methods, `vectors_of_queries` and `vectors_of_songs`, and a `_fit`.
"""

import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, Literal, Self, Unpack, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skmtc._table import (
    ROLES,
    Ids,
    TableReader,
    check_even_rows,
    column_label,
    is_table,
    read_memberships,
    to_frame,
)
from skmtc._table.near_names import check_names
from skmtc._typing import Matrix, Seed, Table
from skmtc._utils.estimator_state import VersionedState, all_or_nothing, change_lock
from skmtc._utils.fitted_state import Array, IdArray, Index, Labels, Plain, take
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc._version import project_urls
from skmtc.metrics import make_playlist_scorer
from skmtc.rankers._scoring import BlockScorer
from skmtc.rankers._test_set import build_test_set
from skmtc.rankers._ties import tie_popularity, tie_ranks
from skmtc.rankers.fitting import songs_that_stay, who_stays
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

    Subclasses have the parameters `user`, `playlist` and `song`, and implement `_fit`,
    `vectors_of_queries` and `vectors_of_songs`. They declare their fitted attributes in
    `_fitted_state`, for the check of stored models and for `forget`, and list in `_derived` those
    that are made again from others where they are needed, and so are never stored.
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
        """Learn from a membership table.

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
            table, frame = self._start_fit(X)
            with fit_fits_memory(self, table):
                self._learn(X, table, frame)
        return self

    def predict(self, X: Table) -> NDArray[np.float64]:
        """Score the song of each row for the playlist of the row.

        Which weights count is read from the ids: a known playlist, a new playlist of a known
        user, or a new user. A new song is scored by its own columns.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`. A DataFrame needs the ids, and for
            new songs and users the columns that describe them.

        Returns
        -------
        scores : ndarray of shape (n_rows,)
            The higher, the better the song suits the playlist.
        """
        self = self._snapshot()
        frame = self.read_table(X)
        queries, query_of_row = self.reader.distinct_queries(frame)
        songs, song_of_row = self.reader.distinct_songs(frame)
        return BlockScorer(self, queries, songs).score_pairs(query_of_row, song_of_row)

    def score(self, X: Table, y: Any = None) -> float:
        """Mean AUC over the playlists of a table.

        Candidates are the songs of the training catalogue, together with new songs in `X`; if all
        songs of `X` are new, the new songs only. Songs that a known playlist had in training are
        not counted against it.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`.

        y : None
            Ignored.

        Returns
        -------
        auc : float
            Mean over playlists of the probability that a song of the playlist scores above
            another candidate.
        """
        return cast(float, _mean_auc(self, X))

    def __skmtc_test_set__(
        self, X: Table, *, candidates: Any = "auto", exclude_seen: bool | str = True
    ) -> Any:
        """Build the test set of a table, which scorers and `evaluate` start from.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`.

        candidates : {"auto", "all"}, or as for `recommend`, default="auto"
            Which songs to rank. "auto": if all songs of `X` are new, these; otherwise the songs
            of the training catalogue, together with new songs in `X`. "all": always the latter.
            Songs of `X` that are no candidates are not to be found.

        exclude_seen : bool, "playlist" or "user", default=True
            Which songs of training are no candidates; as for `recommend`. With "user", songs of
            `X` that the user has in training are not to be found either.

        Returns
        -------
        test_set : TestSet
            The playlists of `X` with their songs, and an iterator over blocks of scores.
        """
        self = self._snapshot()
        return build_test_set(self, self.read_table(X), candidates, exclude_seen)

    @overload
    def recommend(
        self, X: Table, *, as_frame: Literal[True], **options: Unpack[RecommendOptions]
    ) -> pd.DataFrame: ...

    @overload
    def recommend(
        self, X: Table, *, as_frame: Literal[False] = ..., **options: Unpack[RecommendOptions]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]: ...

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
    ) -> tuple[NDArray[Any], NDArray[np.float64]] | pd.DataFrame:
        """Recommend songs for each playlist or user asked for.

        Scores are those of `predict`. Of equal scores the song in more training playlists comes
        first (a new song counts as its artist), then the one that comes first in the catalogue or
        in `candidates`; a warning counts the queries whose scores are all equal. Queries are
        shared out to threads: `n_jobs` of them if the
        ranker has that parameter and it is not None, else one per core; a thousand or more to the
        processes or the cluster that joblib is configured for. This changes no result.

        Parameters
        ----------
        X : DataFrame or array of shape (n_queries, n_columns)
            One query per row: a known playlist, or a user who wants a new one, or the attributes
            of a new user. Columns that are not known may be left out.

        n_recommendations : int, default=10
            How many songs to give.

        candidates : None, array of song ids, table or sparse matrix, default=None
            None stands for the training catalogue, an array of ids for these songs of it. A table
            with a song column and the feature columns brings new songs. Where candidates differ
            between queries, as for licences: a table that has a user or playlist column, too, in
            which each query has the songs of its rows, or a boolean sparse matrix of shape
            (n_queries, n_songs), with songs in the order of `songs_`. Rows of ids that are neither
            asked for nor known, and of unknown songs that no column describes, are left out with
            a warning that counts them.

        exclude_seen : bool, "playlist" or "user", default=True
            Which songs to leave out: True or "playlist", those that a known playlist already
            has; "user", those of all the user's playlists; False, none. By default a new playlist
            may repeat songs of others, as people do.

        max_per_artist : int or None, default=None
            Most songs of one artist in a list: songs of artists who have had so many are passed
            over on the way down the ranking. Artists are in the column "artist", or in the one
            that the ranker's parameter `artist` names, of the table of `fit`, and of
            `candidates` if that brings new songs. Songs whose artist is missing are not capped.

        diversity : float, default=0.0
            From 0, the best songs, to 1: how much songs shall differ from each other (maximal
            marginal relevance). Of the best 5 * `n_recommendations` songs, whose scores are scaled
            to [0, 1], the next one has the largest (1 - diversity) * score - diversity * cosine
            with the most similar song chosen so far; see :meth:`similar_songs` for the vectors.
            Songs come in the order of choice, so scores need not fall.

        sample : bool, default=False
            Whether to sampling songs, without replacement, with probabilities in proportion to
            exp(score / temperature), instead of taking the best.

        temperature : float, default=1.0
            The lower, the closer a sample is to the best songs.

        random_state : int, RandomState instance or None, default=None
            Seed of the sample.

        as_frame : bool, default=False
            Whether to return a DataFrame. Queries with fewer candidates of their own than
            `n_recommendations` then have fewer rows.

        Returns
        -------
        songs : ndarray of shape (n_queries, n_recommendations)
            Song ids, the best (or first drawn) first.

        scores : ndarray of shape (n_queries, n_recommendations)
            Their scores.

        frame : DataFrame
            In place of both, if `as_frame`: one row per recommended song, with the ids of the
            query (its position as "query" if it has none), rank (from 1 on), song, score, and the
            columns of the table of `fit` that describe songs, such as title and artist. Texts are
            cut after 200 characters; lists of texts are joined; vectors, and more than 24 columns
            of numbers, are not stored.
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
        return recommend(self._snapshot(), X, options)

    @overload
    def similar_songs(
        self, songs: Any, n: int = ..., *, as_frame: Literal[True]
    ) -> pd.DataFrame: ...

    @overload
    def similar_songs(
        self, songs: Any, n: int = ..., *, as_frame: Literal[False] = ...
    ) -> tuple[NDArray[Any], NDArray[np.float64]]: ...

    def similar_songs(
        self, songs: Any, n: int = 10, *, as_frame: bool = False
    ) -> tuple[NDArray[Any], NDArray[np.float64]] | pd.DataFrame:
        """Find the songs of the catalogue that are most similar to some songs.

        The similarity is the cosine of two vectors, whatever the query:

        - rankers with features of songs compare features, centred on the mean of the catalogue if
          they are dense, without the constant one;
        - `MatrixFactorizationRanker` compares factors;
        - all others, and those whose songs have no feature, compare the training playlists that
          hold songs, in which a playlist of n of all N songs counts log(N / n); a new song has the
          mean vector of its artist's songs;
        - `StackingRanker` takes the mean of its rankers' similarities, with their weights for
          known playlists.

        Of equal similarities the song in more training playlists comes first. Songs are compared in
        blocks that fit scikit-learn's `working_memory`.

        Parameters
        ----------
        songs : song id, list or array of song ids, or table of songs
            Known songs by id. A table with a song column and the columns that describe songs
            brings new songs. Of a new song, something must be known that known songs have, too:
            features, or the artist; otherwise there is an error.

        n : int, default=10
            How many similar songs to find for each song.

        as_frame : bool, default=False
            Whether to return a DataFrame.

        Returns
        -------
        songs : ndarray of shape (n_songs, n)
            Ids of the most similar songs, the most similar first, without the song itself.

        scores : ndarray of shape (n_songs, n)
            Their cosines.

        frame : DataFrame
            In place of both, if `as_frame`: one row per song found, with the columns similar_to (id
            of the song asked for), rank, song, score, and those that describe the song in the
            table of `fit`.

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
        return similar_songs(self._snapshot(), songs, n, as_frame=as_frame)

    def forget(self, users: ArrayLike) -> Self:
        """Remove users, with all that is stored of them alone.

        Their ids, attributes and weights go, and so do their playlists, with ids and weights, and
        the songs that nobody else has, with their artists if these have no other song. Other
        known users and playlists are scored as before, to the last bit; only where songs went do
        history terms, `OwnSongsRanker` and `StackingRanker`, which measure the catalogue, score a
        little differently. A user who was removed is scored as a new user.

        What was learned from many users together stays, such as shared weights, popularity, and
        the words, tags and names that features are made of. Only a new `fit` without the users
        undoes their part in these. A transformer passed as `user_features` may hold values of
        single users, such as the names of all countries.

        Parameters
        ----------
        users : list or array of user ids
            Whom to remove; all must be known. Where owners are unknown (`user=None`), ids of
            playlists.

        Returns
        -------
        self : object
            The ranker, changed in place.
        """
        check_is_fitted(self)
        with change_lock:
            self._replace(self._without(*who_stays(self, users)))
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
        self = self._snapshot()
        return self.full_vectors_of_queries(self.reader.queries(self.reader.as_frame(X)))

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
        self = self._snapshot()
        return self.full_vectors_of_songs(read_candidates(self, songs)[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True  # ids
        tags.target_tags.required = False
        return tags

    # What the rest of the package may ask of a fitted ranker, beside its public methods.

    @property
    def reader(self) -> TableReader:
        """Reads tables by the ids of `fit`.

        :meta private:
        """
        if not hasattr(self, "_reader"):  # after unpickling
            ids = {role: Ids(getattr(self, f"{role}s_"), role).ready() for role in ROLES}
            self._reader = self._make_reader(ids, self.user_of_playlist_)
        return self._reader

    @property
    def catalogue_cache(self) -> CatalogueCache:
        """What searches of the catalogue need, from one `recommend` to the next.

        :meta private:
        """
        if not hasattr(self, "_catalogue_cache"):
            self._catalogue_cache = CatalogueCache()
        return self._catalogue_cache

    def read_table(self, X):
        """Read a table with the columns of `fit`, or with those that are needed.

        :meta private:
        """
        return self._read(X, reset=False)

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
        """Return a list of csr_arrays whose sum scores have beyond inner products.

        :meta private:
        """
        return []

    @property
    def known_artists(self):
        """Artists of the songs of `fit`; None if these have none.

        :meta private:
        """
        return self._song_artists

    def artists_of(self, rows):
        """Return the artist column of some rows; None if there is none.

        :meta private:
        """
        name = getattr(self, "artist", "artist")
        label = None if name is None else column_label(rows, name)
        return None if label is None else rows[label]

    def tie_ranks(self, songs):
        """Return the order of songs with equal scores: popular ones first.

        :meta private:
        """
        new = None if songs.new_rows is None else self.artists_of(songs.new_rows)
        return tie_ranks(tie_popularity(self._song_counts, self._song_artists, songs, new))

    def similarity_vectors(self, songs):
        """Return vectors of length 1 whose inner products are similarities of songs.

        :meta private:
        """
        return playlist_vectors(self, songs)

    def full_vectors_of_queries(self, queries):
        """Return query vectors whose inner products are scores with all that is added.

        :meta private:
        """
        return self.vectors_of_queries(queries)

    def full_vectors_of_songs(self, songs):
        """Return the song vectors that belong to `full_vectors_of_queries`.

        :meta private:
        """
        return self.vectors_of_songs(songs)

    def _reader_of(self, table):
        ids = {role: getattr(table, f"{role}s").ready() for role in ROLES}
        return self._make_reader(ids, table.user_of_playlist)

    def _make_reader(self, ids, user_of_playlist):
        return TableReader(
            (self.user, self.playlist, self.song),
            self._id_labels,
            is_array=self._reads_arrays,
            columns=getattr(self, "feature_names_in_", None),
            ids=ids,
            user_of_playlist=user_of_playlist,
        )

    def _learn(self, X, table, frame):
        """Learn from a checked table, and store it."""
        self._fit(table, frame)
        self._store(table)

    @abstractmethod
    def _fit(self, table, frame):
        """Learn from a checked table; `frame` has all its rows."""

    def _finish_fit(self, X):
        """Do now what the songs of a table would make necessary later."""

    def _start_fit(self, X):
        """Check parameters and table; give the table as arrays and as a frame."""
        self._check_parameters()
        frame = self._read(X, reset=True)
        table = read_memberships(frame, user=self.user, playlist=self.playlist, song=self.song)
        self._warn_left_out(table.left_out)
        self._id_labels = table.columns.labels
        self._reader = self._reader_of(table)
        self._song_columns = read_song_columns(frame, table, getattr(self, "artist", "artist"))
        return table, frame

    def _check_parameters(self):
        """Check the constructor's parameters, before any work."""

    def _read(self, X, *, reset):
        """Read a table with the columns of `fit`."""
        is_array = not is_table(X)
        if reset:
            self._reads_arrays = is_array
        if is_array:
            check_even_rows(X)
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            return to_frame(X)
        frame = to_frame(X)
        if reset or not self.reader.finds_columns_by_name:
            validate_data(self, frame, reset=reset, skip_check_array=True)
            return frame
        # What is not needed may be missing: who needs a column that is not there tells so.
        check_names(frame.columns, self.feature_names_in_)
        return frame[[c for c in self.feature_names_in_ if c in frame.columns]]

    def _warn_left_out(self, left_out):
        told = [f"{count} {what}" for what, count in left_out.items() if count]
        if told:
            warnings.warn(
                f"Left out of fit: {'; '.join(told)}. A song that stands twice in a playlist "
                "counts once, and a playlist with every song of the catalogue teaches nothing. "
                "The counts are in `left_out_`.",
                stacklevel=4,
            )

    def _store(self, table):
        artists = self.artists_of(table.song_rows)
        self._song_artists = None if artists is None else _plain_array(artists)
        vars(self).update(self._tables(table))

    def _tables(self, table):
        """Return the attributes that tell of the table."""
        return {
            "songs_": table.songs.values,
            "playlists_": table.playlists.values,
            "users_": table.users.values,
            "membership_": table.membership,
            "user_of_playlist_": table.user_of_playlist,
            "left_out_": table.left_out,
            "_song_counts": _song_counts(table.membership),
            "_reader": self._reader_of(table),
            "_catalogue_cache": CatalogueCache(),
        }

    def _without(self, user_stays, playlist_stays):
        """Return the attributes that change when users and playlists go."""
        kept = {"users": user_stays, "playlists": playlist_stays}
        song_stays = songs_that_stay(self.membership_, playlist_stays)
        if not song_stays.all():
            kept["songs"] = song_stays
            kept |= self._artists_that_stay(song_stays)
        return take(self, kept)

    def _artists_that_stay(self, song_stays):
        """Return which artists have a song that stays, by the dimension that they make."""
        if self._song_artists is None or getattr(self, "artists_", None) is None:
            return {}
        return {"artists": pd.Index(self.artists_).isin(self._song_artists[song_stays])}

    def _replace(self, state):
        """Replace fitted attributes in one step, and drop what is made again from others."""
        kept = {name: value for name, value in vars(self).items() if name not in self._derived}
        self.__dict__ = kept | state

    def _snapshot(self):
        """Return a ranker with the attributes of this moment, whatever other threads change."""
        check_is_fitted(self)
        made = type(self).__new__(type(self))
        made.__dict__ = vars(self).copy()  # in one step
        made.make_derived()
        self._keep_derived(made)
        return made

    def lasting_attributes(self):
        """Return parameters and fitted attributes, without what is made again from them.

        :meta private:
        """
        return [value for name, value in vars(self).items() if name not in self._derived]

    def make_derived(self):
        """Make what is derived from other attributes and is not there.

        :meta private:
        """
        _ = self.reader, self.catalogue_cache

    def _keep_derived(self, made):
        """Keep what was derived for a snapshot, unless another thread changes this ranker."""
        new = {n: v for n, v in vars(made).items() if n in self._derived and n not in vars(self)}
        if new and change_lock.acquire(blocking=False):
            try:
                if self.membership_ is made.membership_:
                    vars(self).update(new)
            finally:
                change_lock.release()

    def _appended_artists(self, appended):
        """Return the artists of known and new songs; None where the known ones have none."""
        if self._song_artists is None:
            return None
        is_new = appended.song_source < 0
        artists = np.full(len(is_new), np.nan, dtype=object)
        artists[~is_new] = self._song_artists[appended.song_source[~is_new]]
        new = self.artists_of(appended.song_rows)
        if new is not None:
            artists[is_new] = _plain_array(new)
        return artists

    def _appended_song_columns(self, source, new_rows):
        """Return the columns of known and new songs; `source` is -1 for new ones."""
        return join_song_columns(getattr(self, "_song_columns", None), source, new_rows)


def _song_counts(membership):
    """Count the playlists that hold each song."""
    return np.bincount(membership.indices, minlength=membership.shape[1])


def _plain_array(column):
    """Return the values of a column without types of pandas, which no safe file may hold."""
    values = column.to_numpy()
    return np.where(pd.isna(values), None, values) if values.dtype == object else values
