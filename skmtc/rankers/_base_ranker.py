"""What all rankers share: fit, predict, score, recommend.

Every ranker here is an inner product: a query (a playlist, known or new, of a user, known or
new) and a song each have a vector, and the score is their product. A ranker is therefore two
methods, `vectors_of_queries` and `vectors_of_songs`, and a `_fit`.
"""

import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
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
from skmtc._utils.chunking import row_batches
from skmtc._utils.estimator_state import VersionedState, all_or_nothing, change_lock
from skmtc._utils.fitted_state import Array, IdArray, Index, Labels, Plain, take
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc._utils.validation import check_number
from skmtc._version import project_urls
from skmtc.metrics import make_playlist_scorer
from skmtc.rankers._scoring import add_at
from skmtc.rankers._test_set import build_test_set
from skmtc.rankers.fitting import songs_that_stay, who_stays
from skmtc.rankers.recommend import (
    GumbelSampling,
    TopSongs,
    artist_codes,
    best_with_cap,
    row_products,
    scores_are_equal,
    seen_candidates,
    tie_popularity,
    tie_ranks,
    warn_equal_scores,
)

_mean_auc = make_playlist_scorer("auc")


class BaseRanker(VersionedState, BaseEstimator, metaclass=ABCMeta):
    """Base of all rankers.

    Subclasses have the parameters `user`, `playlist` and `song`, and implement `_fit`,
    `vectors_of_queries` and `vectors_of_songs`. They declare their fitted attributes in
    `_fitted_state`, for the check of stored models and for `forget`, and list in `_derived` those
    that are made again from others where they are needed, and so are never stored.
    """

    _derived = ("_reader",)
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
        query_vectors, right = self.vectors_for(songs)
        scores = np.empty(len(frame))
        # In the order of queries, so that each batch needs the vectors of few of them.
        order = np.argsort(query_of_row, kind="stable")
        for batch in row_batches(len(frame), 24 * right.shape[1]):
            rows = order[batch]
            asked = query_of_row[rows]
            left = query_vectors(queries.take(np.arange(asked[0], asked[-1] + 1)))
            scores[rows] = row_products(left[asked - asked[0]], right[song_of_row[rows]])
        add_at(scores, self, queries, songs, query_of_row, song_of_row)
        return scores

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
        return _mean_auc(self, X)

    def __skmtc_test_set__(
        self, X: Table, *, candidates: Any = "auto", exclude_seen: bool | str = True
    ) -> Any:
        """Build the test set of a table, which scorers and `evaluate` start from.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`.

        candidates : {"auto", "all"}, default="auto"
            Which songs to rank. "auto": if all songs of `X` are new, these; otherwise the songs
            of the training catalogue, together with new songs in `X`. "all": always the latter.

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

    def recommend(
        self,
        X: Table,
        *,
        n_recommendations: int = 10,
        candidates: Any = None,
        exclude_seen: bool | str = True,
        max_per_artist: int | None = None,
        sample: bool = False,
        temperature: float = 1.0,
        random_state: Seed = None,
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the best songs for each playlist or user asked for.

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

        candidates : None, array of song ids, or table of songs, default=None
            None stands for the training catalogue, an array of ids for these songs of it. A table
            with a song column and the feature columns brings new songs.

        exclude_seen : bool, "playlist" or "user", default=True
            Which songs to leave out: True or "playlist", those that a known playlist already
            has; "user", those of all the user's playlists; False, none. By default a new playlist
            may repeat songs of others, as people do.

        max_per_artist : int or None, default=None
            Most songs of one artist in a list: songs of artists who have had so many are passed
            over on the way down the ranking. Artists are in the column "artist", or in the one
            that the ranker's parameter `artist` names, of the table of `fit`, and of
            `candidates` if that brings new songs. Songs whose artist is missing are not capped.

        sample : bool, default=False
            Whether to sampling songs, without replacement, with probabilities in proportion to
            exp(score / temperature), instead of taking the best.

        temperature : float, default=1.0
            The lower, the closer a sample is to the best songs.

        random_state : int, RandomState instance or None, default=None
            Seed of the sample.

        Returns
        -------
        songs : ndarray of shape (n_queries, n_recommendations)
            Song ids, the best (or first drawn) first.

        scores : ndarray of shape (n_queries, n_recommendations)
            Their scores.
        """
        self = self._snapshot()
        queries = self.reader.queries(self.reader.as_frame(X))
        songs = self.reader.candidates(candidates)
        seen = seen_candidates(self, queries, songs, exclude_seen)
        _check_enough(n_recommendations, songs, seen)
        if sample and not temperature > 0:
            raise ValueError(
                f"`temperature` must be above 0; got {temperature!r}. For the best songs without "
                "chance pass sample=False."
            )
        sampling = None
        if sample:
            sampling = GumbelSampling(
                tuple(check_random_state(random_state).randint(2**31, size=4)), temperature
            )
        find, is_equal = self._finder(queries, songs, seen=seen, sampling=sampling)
        if max_per_artist is None:
            best, scores = find(n_recommendations, np.arange(len(queries)))
        else:
            check_number("max_per_artist", max_per_artist, at_least=1, whole=True)
            new = None if songs.new_rows is None else self._artists(songs.new_rows)
            artists = artist_codes(self._song_artists, new, songs)
            best, scores = best_with_cap(
                find, len(queries), n_recommendations, artists, max_per_artist
            )
        if is_equal.any():
            outcome = "They are ordered by popularity."
            warn_equal_scores(self, is_equal.sum(), len(queries), len(songs), outcome)
        return songs.ids[best], scores

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
        return self.full_vectors_of_songs(self.reader.candidates(songs))

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
        artists = self._artists(table.song_rows)
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

    def make_derived(self):
        """Make what is derived from other attributes and is not there.

        :meta private:
        """
        _ = self.reader

    def _keep_derived(self, made):
        """Keep what was derived for a snapshot, unless another thread changes this ranker."""
        new = {n: v for n, v in vars(made).items() if n in self._derived and n not in vars(self)}
        if new and change_lock.acquire(blocking=False):
            try:
                if self.membership_ is made.membership_:
                    vars(self).update(new)
            finally:
                change_lock.release()

    def _artists(self, rows):
        """Return the artist column of some rows; None where there is none."""
        name = getattr(self, "artist", "artist")
        label = None if name is None else column_label(rows, name)
        return None if label is None else rows[label]

    def _appended_artists(self, appended):
        """Return the artists of known and new songs; None where the known ones have none."""
        if self._song_artists is None:
            return None
        is_new = appended.song_source < 0
        artists = np.full(len(is_new), np.nan, dtype=object)
        artists[~is_new] = self._song_artists[appended.song_source[~is_new]]
        new = self._artists(appended.song_rows)
        if new is not None:
            artists[is_new] = _plain_array(new)
        return artists

    def _tie_ranks(self, songs):
        """Return the order of songs with equal scores: popular ones first."""
        counts = self._song_counts
        new = None if songs.new_rows is None else self._artists(songs.new_rows)
        return tie_ranks(tie_popularity(counts, self._song_artists, songs, new))

    def _finder(self, queries, songs, *, seen, sampling):
        """Return a function that finds the k best of songs for the queries at some positions.

        Also return an array that it fills in: whether all songs have the same score for a query.
        """
        query_vectors, song_vectors = self.vectors_for(songs)
        top_songs = TopSongs(
            song_vectors,
            n_queries=len(queries),
            sampling=sampling,
            tie_rank=self._tie_ranks(songs),
            n_jobs=getattr(self, "n_jobs", None),
        )
        is_equal = np.zeros(len(queries), dtype=bool)

        def added_to(asked):
            return lambda rows: self.added_scores(queries.take(asked[rows]), songs)

        def find(k, positions):
            found = []
            for batch in row_batches(len(positions), 24 * song_vectors.shape[1]):
                asked = positions[batch]
                added = added_to(asked) if self.adds_to_scores() else None
                options = {"seen": None if seen is None else seen[asked], "positions": asked}
                vectors = query_vectors(queries.take(asked))
                is_equal[asked] = scores_are_equal(vectors, song_vectors, added)
                found.append(top_songs.best(vectors, k, added=added, **options))
            columns, scores = zip(*found, strict=True)
            return np.concatenate(columns), np.concatenate(scores)

        return find, is_equal


def _song_counts(membership):
    """Count the playlists that hold each song."""
    return np.bincount(membership.indices, minlength=membership.shape[1])


def _plain_array(column):
    """Return the values of a column without types of pandas, which no safe file may hold."""
    values = column.to_numpy()
    return np.where(pd.isna(values), None, values) if values.dtype == object else values


def _check_enough(n_recommendations, songs, seen):
    if not isinstance(n_recommendations, int | np.integer) or n_recommendations < 1:
        raise ValueError(
            f"`n_recommendations` must be a positive integer; got {n_recommendations!r}. "
            "Pass the number of songs to recommend."
        )
    n_seen = 0 if seen is None else int(seen.sum(axis=1).max())
    if n_recommendations > len(songs) - n_seen:
        already = f", of which a playlist already has {n_seen}" if n_seen else ""
        raise ValueError(
            f"`n_recommendations` must be at most the number of candidate songs: {len(songs)}"
            f"{already}; got {n_recommendations}. Pass fewer, or more `candidates`."
        )
