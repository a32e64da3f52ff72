"""The contract of a ranker inside the package: what it defines, may redefine, and offers.

Every ranker is an inner product: a query (a playlist or a user, known or new) and a song each have
a vector, and the score is the product of the two. So a ranker consists of `_fit`,
`vectors_of_queries` and `vectors_of_songs`; `BaseRanker` builds all public methods on these.
"""

from abc import ABCMeta, abstractmethod

from sklearn.base import BaseEstimator

from skmtc._table import ROLES, Ids, TableReader, column_label, is_table, read_memberships
from skmtc._utils.estimator_state import VersionedState
from skmtc._utils.fitted_state import Array, IdArray, Index, Labels, Plain, take
from skmtc.rankers.fitting import (
    append_artists,
    kept_positions,
    plain_values,
    read_rows,
    table_attributes,
    warn_left_out,
)
from skmtc.rankers.recommend import (
    CatalogueCache,
    SongColumns,
    join_song_columns,
    playlist_vectors,
    read_song_columns,
)
from skmtc.rankers.scoring import as_blocks, tie_popularity, tie_ranks


class RankerContract(VersionedState, BaseEstimator, metaclass=ABCMeta):
    """What a ranker defines, what it may redefine, and what the rest of the package may use.

    Subclasses have the parameters `user`, `playlist` and `song`. They declare their fitted
    attributes in `_fitted_state`, for the check of stored models and for `forget`, and list in
    `_derived` those that are computed from others when needed, and so are never stored.
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True  # ids
        tags.target_tags.required = False
        return tags

    # 1. What a ranker defines.

    @abstractmethod
    def _fit(self, table, frame):
        """Set the fitted attributes, from a `MembershipTable` and the frame with all its rows."""

    @abstractmethod
    def vectors_of_queries(self, queries):
        """Return one vector per query (`Queries`), dense or sparse; codes of -1 are new ids.

        :meta private:
        """

    @abstractmethod
    def vectors_of_songs(self, songs):
        """Return one vector per song (`Songs`), dense or sparse; codes of -1 are new songs.

        :meta private:
        """

    # 2. What a ranker may redefine.

    def _check_parameters(self):
        """Raise an error for an invalid parameter; `fit` calls it first."""

    def vectors_for(self, songs):
        """Return the function that makes query vectors for some songs, and their vectors.

        :meta private:
        """
        return self.vectors_of_queries, as_blocks(self.vectors_of_songs(songs))

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
        """Compute the derived attributes that are missing, such as after unpickling.

        :meta private:
        """
        _ = self.reader, self.catalogue_cache

    def _without(self, user_stays, playlist_stays):
        """Return the attributes that change when users and playlists are removed."""
        return take(self, self._kept_positions(user_stays, playlist_stays))

    def _kept_positions(self, user_stays, playlist_stays):
        """Return which positions stay, by dimension, when users and playlists are removed."""
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

    def read_table(self, X):
        """Read a table with the columns of `fit`; columns that are not needed may be missing.

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
        """Arrays that searches of the catalogue reuse from one `recommend` to the next.

        :meta private:
        """
        if not hasattr(self, "_catalogue_cache"):
            self._catalogue_cache = CatalogueCache()
        return self._catalogue_cache

    @property
    def known_artists(self):
        """Artists of the songs of `fit`; None if these have none.

        :meta private:
        """
        return self._song_artists

    def tie_ranks(self, songs):
        """Return the rank of each song among songs of equal score: popular ones come first.

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
