"""Base class of splitters: read ids, yield rows, and count rows that are left out."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from skmtc._table import ROLES, IdColumns, Ids, check_owners, find_id_columns, read_ids, to_frame
from skmtc._typing import Column, Seed, Table


@dataclass
class CodedRows:
    """The rows of a membership table, with codes in place of ids.

    Codes are positions among sorted ids, so that the order of rows does not matter.

    Attributes
    ----------
    frame : DataFrame
        The table.

    users, playlists, songs : ndarray of shape (n_rows,)
        Codes; where owners are unknown, playlists are their own users.

    n_users, n_playlists, n_songs : int
        Numbers of distinct ids.

    columns : IdColumns
        Labels of the id columns.
    """

    frame: pd.DataFrame
    users: np.ndarray
    playlists: np.ndarray
    songs: np.ndarray
    n_users: int
    n_playlists: int
    n_songs: int
    columns: IdColumns

    @cached_property
    def user_of_playlist(self):
        """Owner of each playlist."""
        owner = np.empty(self.n_playlists, dtype=np.intp)
        owner[self.playlists] = self.users
        return owner

    @cached_property
    def playlist_songs(self):
        """The distinct pairs of a playlist and a song, as two aligned arrays."""
        return distinct_pairs(self.playlists, self.songs, self.n_songs)

    @cached_property
    def user_songs(self):
        """The distinct pairs of a user and a song, as two aligned arrays."""
        return distinct_pairs(self.users, self.songs, self.n_songs)


@dataclass
class Parts:
    """One split: training rows, test rows, and the reasons for leaving out others.

    Attributes
    ----------
    train, test : ndarray of bool of shape (n_rows,)
        Membership of each side.

    left_out : dict of str to int
        Numbers of rows on neither side, by reason.

    passed_over : dict of str to int
        Numbers of playlists, users or songs that were not held out, by reason.

    facts : dict of str to object
        Other values that `describe` shows, by name.
    """

    train: np.ndarray
    test: np.ndarray
    left_out: dict[str, int] = field(default_factory=dict)
    passed_over: dict[str, int] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)


class ColdSplitter(BaseCrossValidator):
    """Base of all splitters.

    Subclasses have the parameters `n_splits`, `random_state`, `user`, `playlist` and `song`, say
    in `setting` what is cold and in `_fewest_splits` how few splits make sense, and implement
    `_parts`.
    """

    def split(
        self, X: Table, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the rows of training and test sets.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: one row per song in a playlist.

        y : None
            Ignored.

        groups : None
            Ignored.

        Yields
        ------
        train : ndarray
            Positions of the training rows.

        test : ndarray
            Positions of the test rows.
        """
        rows = self._read(X)
        self._described = []
        for number, parts in enumerate(self._parts(rows, check_random_state(self.random_state))):
            _check_not_empty(parts, number, self)
            self._described.append(_describe(rows, parts, number))
            yield np.flatnonzero(parts.train), np.flatnonzero(parts.test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : None
            Ignored.

        Returns
        -------
        n_splits : int
            Number of training and test sets.
        """
        return self.n_splits

    def describe(self, X: Table | None = None) -> pd.DataFrame:
        """Count what each split holds and leaves out.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns), default=None
            Membership table to split. None: the splits that were made last, which is the way to
            see them if `random_state` is not an int.

        Returns
        -------
        counts : DataFrame
            One row per split: numbers of training and test playlists, users, songs and rows;
            `test_new_users`, users of the test set that are unknown to training; rows left out of
            both sides, in total and by reason; and what was skipped, i.e. not held out
            though it was its turn, by reason.
        """
        if X is not None:
            for _ in self.split(X):
                pass
        if not getattr(self, "_described", None):
            raise ValueError(
                "There must be a split to describe; got X=None before any split was made. Pass "
                "the table."
            )
        return pd.DataFrame(self._described).set_index("split")

    @abstractmethod
    def _parts(self, rows, rng):
        """Yield the parts of each split."""

    def _read(self, X):
        check_count("n_splits", self.n_splits, self._fewest_splits)
        check_shuffle(self)
        frame = to_frame(X)
        columns = find_id_columns(
            frame, user=self.user, playlist=self.playlist, song=self.song, required=ROLES
        )
        labels = {role: getattr(columns, role) for role in ROLES}
        labels["user"] = labels["user"] if columns.user is not None else columns.playlist
        codes, counts, everyone = {}, {}, {}
        for role, label in labels.items():
            ids, codes[f"{role}s"] = Ids.factorize(read_ids(frame, label, role), role)
            counts[f"n_{role}s"] = len(ids)
            everyone[role] = ids
        if columns.user is not None:
            check_owners(codes["users"], codes["playlists"], everyone["user"], everyone["playlist"])
        return CodedRows(frame, **codes, **counts, columns=columns)


def distinct_pairs(one, other, n_other):
    """Return the distinct pairs of aligned codes, as two arrays."""
    pairs = pd.unique(one.astype(np.int64) * n_other + other)
    return pairs // n_other, pairs % n_other


class ColdKFold(ColdSplitter):
    """Base of splitters that hold out every playlist, user or song exactly once."""

    _fewest_splits = 2

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _order(self, n_ids, rng):
        """Return the order in which ids are assigned to folds."""
        return rng.permutation(n_ids) if self.shuffle else np.arange(n_ids)

    def _folds(self, order, what):
        """Return the fold of each id, assigned round-robin in an order of all ids."""
        if self.n_splits > len(order):
            raise ValueError(
                f"`n_splits` must be at most the number of {what}, {len(order)}; got "
                f"{self.n_splits}. Pass fewer splits."
            )
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = np.arange(len(order)) % self.n_splits
        return fold


def check_shuffle(splitter):
    """Raise if `random_state` is set with `shuffle=False`."""
    if not getattr(splitter, "shuffle", True) and splitter.random_state is not None:
        raise ValueError(
            f"`random_state` must be None with shuffle=False, which is not random; got "
            f"{splitter.random_state!r}. Pass shuffle=True, or leave `random_state` out."
        )


def check_share(name, value):
    """Check a parameter that is a share of ids."""
    if not (isinstance(value, int | float | np.number) and 0 < value < 1):
        raise ValueError(
            f"`{name}` must be a share above 0 and below 1; got {value!r}. Change `{name}`."
        )


def check_count(name, value, fewest):
    """Check a parameter that is a count."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < fewest:
        raise ValueError(
            f"`{name}` must be an integer of at least {fewest}; got {value!r}. Change `{name}`."
        )


def known(codes, train, n_codes):
    """Return which codes occur in training rows."""
    occurs = np.zeros(n_codes, dtype=bool)
    occurs[codes[train]] = True
    return occurs


def _check_not_empty(parts, number, splitter):
    for side, mask in (("training", parts.train), ("test", parts.test)):
        if not mask.any():
            why = {k: v for k, v in {**parts.left_out, **parts.passed_over}.items() if v}
            rare = getattr(splitter, "min_song_count", 1) > 1
            do = ", other sizes or a lower `min_song_count`" if rare else " or other sizes"
            raise ValueError(
                f"Split {number} of {splitter!r} must have {side} rows; got none of {len(mask)} "
                f"rows, for these reasons: {why or 'the table is too small'}. Use a larger "
                f"table{do}."
            )


def _describe(rows, parts, number):
    counts = {"split": number}
    for side in ("train", "test"):
        mask = getattr(parts, side)
        for what in ("playlists", "users", "songs"):
            counts[f"{side}_{what}"] = len(pd.unique(getattr(rows, what)[mask]))
        counts[f"{side}_rows"] = int(mask.sum())
    test_users = np.unique(rows.users[parts.test])
    is_new = ~known(rows.users, parts.train, rows.n_users)[test_users]
    counts["test_new_users"] = int(is_new.sum())
    counts |= parts.facts
    counts["left_out_rows"] = int((~parts.train & ~parts.test).sum())
    counts |= {f"left_out_rows: {why}": count for why, count in parts.left_out.items()}
    return counts | {f"passed_over_{why}": count for why, count in parts.passed_over.items()}
