"""A weighted sum of rankers, with weights for every situation."""

import warnings
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from skmtc._typing import Column, Seed, Table
from skmtc._utils.estimator_state import all_or_nothing, change_lock, replace_state
from skmtc._utils.fitted_state import Array, Plain, Stacked, check_fitted_state
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc.rankers._base_ranker import BaseRanker
from skmtc.rankers.fitting import take_weighted
from skmtc.rankers.recommend import join_song_columns, without_song_columns
from skmtc.rankers.scoring import ColumnSplit, side_by_side
from skmtc.rankers.stacking import (
    WHAT,
    WHO,
    ScoreSpread,
    SideBySide,
    default_splitters,
    fit_weights,
    hold_out,
    who_asks,
)

# How warnings of songs with several or infinite values start.
ODD_VALUES = "A song should have one value|Values of (songs|users|playlists) should be finite"


def _all_have_partial_fit(ranker):
    parts = [(name, part) for name, part in ranker.estimators if part != "drop"]
    lacking = [name for name, part in parts if not hasattr(part, "partial_fit")]
    if lacking:  # scikit-learn shows this as the cause of its own error
        raise AttributeError(
            f"All rankers of a stack must have `partial_fit`; got {lacking} without. Fit the stack "
            "again with all rows, or use a MultitaskPlaylistRanker alone."
        )
    return bool(parts)


class StackingRanker(BaseRanker):
    """Rank songs by a weighted sum of rankers.

    No ranker is best everywhere: ridge regression with identities finds the top of the list for
    new songs, the multitask ranker orders the rest. The weights of rankers are learned on
    held-out rows, for each situation: who asks (a known playlist, a new playlist of a known user,
    a new user) and for what (known or new songs). The situation of a row is read from its ids.

    1. Users, playlists and songs, and songs of known playlists, are held out of the table, all at
       once, so that one validation fit of each ranker is enough for all situations.
    2. For each query, scores of a ranker are divided by their standard deviation over the
       catalogue. For each situation, non-negative weights of these scores minimise the mean
       logarithm of the rank of the held-out songs. A ranker without which this rises by less than
       1.5 standard errors gets weight 0.
    3. All rankers are fitted again on the whole table.

    A situation with too few held-out playlists takes the weights of the nearest one.

    Parameters
    ----------
    estimators : list of (str, ranker)
        Names and rankers. Their parameters `user`, `playlist` and `song` are set to those of the
        stack. "drop" in the place of a ranker leaves it out.

    cv : list of splitters or None, default=None
        What is held out: the first test set of each splitter, taken from the rows that the one
        before left for training. None: `ColdUserSplit`, `ColdPlaylistSplit` and `ColdSongSplit`,
        with larger test sets of small tables. A splitter that finds nothing to hold out is passed
        over, with a warning if it is given here.

    n_jobs : int or None, default=None
        How many rankers to fit at the same time, in the sense of joblib.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of what is held out and of the sampled candidates.

    Attributes
    ----------
    estimators_ : list of rankers
        Fitted rankers.

    names_ : list of str
        Their names.

    coef_ : ndarray of shape (2, 3, n_estimators)
        Weights for known and new songs (first axis) of known playlists, new playlists and new
        users (second axis), with sum 1; `weights_` shows them as a table.

    n_held_out_ : ndarray of shape (2, 3)
        Number of held-out playlists that the weights of each situation were fitted on; 0 where
        they are those of another situation.

    songs_, users_, playlists_ : ndarray
        Distinct ids, sorted.

    membership_ : csr_array of shape (n_playlists, n_songs)
        1-based position of each song in each training playlist.

    user_of_playlist_ : ndarray of shape (n_playlists,)
        Position in `users_` of each playlist's owner.

    left_out_ : dict
        How many repeated rows and full playlists were left out of fit.

    n_features_in_ : int
        Number of columns of the table seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    make_ranker : Stacks the rankers that suit a table.

    Examples
    --------
    >>> from skmtc import PopularityRanker, RidgeRanker, StackingRanker
    >>> from skmtc.datasets import make_playlists
    >>> X = make_playlists(random_state=0)
    >>> ranker = StackingRanker(
    ...     [("popularity", PopularityRanker()), ("ridge", RidgeRanker())], random_state=0
    ... ).fit(X)
    >>> ranker.weights_.columns.tolist()
    ['popularity', 'ridge']
    >>> weights = ranker.weights_.loc[("known playlist", "new songs")]
    >>> bool(weights["ridge"] > weights["popularity"])
    True
    """

    estimators_: list[Any]

    # What `fit` takes as keyword arguments, for `set_fit_request`.
    __metadata_request__fit = {"sample_weight": None}

    _derived: tuple[str, ...] = (*BaseRanker._derived, "_score_spreads")
    _fitted_state = {
        "names_": Plain(list),
        "estimators_": Stacked("rankers", "songs", "playlists", "users"),
        "coef_": Array(len(WHAT), len(WHO), "rankers", at_least=0),
        "n_held_out_": Array(len(WHAT), len(WHO), kinds="i", at_least=0),
    }

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def fit(self, X: Table, y: Any = None, **fit_params: Any) -> Self:
        """Learn from a membership table.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: one row per song in a playlist.

        y : None
            Ignored.

        **fit_params : dict
            Only `sample_weight`, an array of shape (n_rows,), which is passed on to the rankers
            whose `fit` takes it. Rows of weight 0 count as if they were not there, for all rankers.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        others = set(fit_params) - {"sample_weight"}
        if others:
            raise TypeError(
                "`fit` must get no other arguments than `sample_weight`; got "
                f"{sorted(others)}. Leave them out."
            )
        X, weights = take_weighted(X, fit_params.get("sample_weight"))
        with all_or_nothing(self):
            table, frame = self.start_fit(X)
            with fit_fits_memory(self, table):
                self._fit(table, frame, weights)
                self.store_table(table)
        return self

    @property
    def weights_(self) -> pd.DataFrame:
        """The weights of rankers, one row per situation."""
        situations = pd.MultiIndex.from_product([WHAT, WHO], names=["what", "who"])
        table = self.coef_.reshape(len(situations), -1)
        return pd.DataFrame(table, situations, self.names_).swaplevel().sort_index()

    @property
    def named_estimators_(self) -> dict[str, Any]:
        """The fitted rankers by name."""
        return dict(zip(self.names_, self.estimators_, strict=True))

    @property
    def user_features_(self) -> Any:
        """The fitted transformer of users, of the first ranker that has one; else None."""
        return self._first_attribute("user_features_")

    @property
    def playlist_features_(self) -> Any:
        """The fitted transformer of playlists, of the first ranker that has one; else None."""
        return self._first_attribute("playlist_features_")

    def _first_attribute(self, name):
        found = (getattr(ranker, name, None) for ranker in self.estimators_)
        return next((value for value in found if value is not None), None)

    @available_if(_all_have_partial_fit)
    def partial_fit(self, X: Table, y: Any = None) -> Self:
        """Add playlists, users and songs to every ranker; weights stay as they are.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`.

        y : None
            Ignored.

        Returns
        -------
        self : object
            The ranker.
        """
        if not hasattr(self, "coef_"):
            return self.fit(X)
        # Attributes of the table, which are alike in all rankers.
        names = ["songs_", "playlists_", "users_", "membership_", "user_of_playlist_", "left_out_"]
        names += ["_song_artists", "_song_counts"]
        with change_lock:
            check_fitted_state(self)
            # Of copies, so that all rankers have the new rows or none has.
            estimators = [copy(ranker).partial_fit(X) for ranker in self.estimators_]
            shared = {name: getattr(estimators[0], name) for name in names}
            added = self.reader.distinct_songs(self.read_table(X))[0]
            source = self.reader.codes("song", shared["songs_"])
            columns = getattr(self, "_song_columns", None)
            shared["_song_columns"] = join_song_columns(columns, source, added.new_rows)
            replace_state(self, shared | {"estimators_": estimators})
        return self

    def forget(self, users: ArrayLike) -> Self:
        """Remove users, with all that is stored of them alone, from every ranker.

        Parameters
        ----------
        users : list or array of user ids
            Whom to remove; all must be known.

        Returns
        -------
        self : object
            The ranker, changed in place.
        """
        with change_lock, all_or_nothing(self):
            estimators = [copy(ranker).forget(users) for ranker in self.estimators_]
            super().forget(users)
            self.estimators_ = estimators
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the rankers as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of rankers, too.

        Returns
        -------
        params : dict
            Values by name.
        """
        params = super().get_params(deep=False)
        if deep and _are_named(self.estimators):
            for name, ranker in self.estimators:
                params[name] = ranker
                if hasattr(ranker, "get_params"):
                    own = ranker.get_params(deep=True)
                    params |= {f"{name}__{key}": value for key, value in own.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, rankers by their names, or parameters of rankers.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            The ranker.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if _are_named(self.estimators):
            named = {name: params.pop(name) for name, _ in self.estimators if name in params}
            if named:
                self.estimators = [(n, named.get(n, ranker)) for n, ranker in self.estimators]
        return super().set_params(**params)

    def _sk_visual_block_(self):
        names, rankers = map(list, zip(*self.estimators, strict=True))
        return SideBySide(rankers, names)

    def _check_parameters(self):
        _check_estimators(self)
        _check_cv(self.cv)

    def _fit(self, table, frame, weights=None):
        used = [(name, ranker) for name, ranker in self.estimators if ranker != "drop"]
        self.names_ = [name for name, _ in used]
        rng = check_random_state(self.random_state)
        ids = {"user": self.user, "playlist": self.playlist, "song": self.song}
        splitters = self.cv
        if splitters is None:
            seed = rng.randint(2**31 - 1)
            splitters = default_splitters(ids, max(1, len(table.playlists)), seed)
        # 1. Rows for the validation fits, and held-out rows of every situation.
        rows = hold_out(frame, splitters, table.columns, rng, warn=self.cv is not None)
        everything = np.arange(len(frame))
        # With no rows left for validation fits, there is one fit, of all rows.
        fits = [rows.kept, everything] if len(rows.kept) else [everything]
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_clone)(
                ranker,
                ids,
                self._as_given(frame.iloc[part]),
                None if weights is None else weights[part],
                is_last=part is everything,
            )
            for part in fits
            for _, ranker in used
        )
        # 2. Weights, by the validation fits, which have not seen the held-out rows.
        held = self._as_given(frame.iloc[rows.held])
        self.coef_, self.n_held_out_ = fit_weights(fitted[: len(used)], held, rng)
        # 3. The rankers fitted on all rows.
        self.estimators_ = fitted[-len(used) :]
        self._score_spreads = [ScoreSpread(ranker) for ranker in self.estimators_]

    def _as_given(self, frame):
        """Return rows in the form of the table of `fit`."""
        return frame.to_numpy() if self._reads_arrays else frame

    def vectors_for(self, songs):
        # Weights differ by kind: 0 for known songs, 1 for new ones, as in `WHAT`. Each kind has
        # blocks, which are 0 for songs of the other one. Where all are of one kind, one suffices.
        kinds = [kind for kind in (0, 1) if (songs.is_new == bool(kind)).any()]
        song_blocks = self._blocks_of_songs(songs, kinds)
        if not any(issparse(block) for block in song_blocks):
            return partial(self._dense_vectors_of_queries, kinds=kinds), np.hstack(song_blocks)
        splits = [ColumnSplit(block) for block in song_blocks]

        def split_blocks(blocks):
            return side_by_side([split(block) for split, block in zip(splits, blocks, strict=True)])

        def vectors_of_queries(queries):
            return split_blocks(self._blocks_of_queries(queries, kinds))

        return vectors_of_queries, split_blocks(song_blocks)

    def vectors_of_queries(self, queries):
        return self._dense_vectors_of_queries(queries, kinds=(0, 1))

    def vectors_of_songs(self, songs):
        blocks = self._blocks_of_songs(songs, (0, 1))
        if any(issparse(block) for block in blocks):
            return csr_array(hstack([csr_array(block) for block in blocks]))
        return np.hstack(blocks)

    def full_vectors_of_queries(self, queries):
        parts = [csr_array(ranker.full_vectors_of_queries(queries)) for ranker in self.estimators_]
        factors = [self._factors(k, queries) for k in range(len(parts))]
        blocks = [
            _scaled_rows(part, of_kinds[kind])
            for kind in (0, 1)
            for part, of_kinds in zip(parts, factors, strict=True)
        ]
        return csr_array(hstack(blocks))

    def full_vectors_of_songs(self, songs):
        parts = [csr_array(ranker.full_vectors_of_songs(songs)) for ranker in self.estimators_]
        of_kind = [(songs.is_new == bool(kind)).astype(float)[:, None] for kind in (0, 1)]
        return csr_array(hstack([part * mask for mask in of_kind for part in parts]))

    def _dense_vectors_of_queries(self, queries, kinds):
        return np.hstack([_dense(block) for block in self._blocks_of_queries(queries, kinds)])

    def _blocks_of_queries(self, queries, kinds):
        """Return the vectors of queries, scaled, of each kind and ranker with a weight."""
        parts, factors = {}, {}
        for k in self._used(kinds):
            parts[k] = self.estimators_[k].vectors_of_queries(queries)
            factors[k] = self._factors(k, queries, parts[k])
        blocks = [
            _scaled_rows(parts[k], factors[k][kind]) for kind in kinds for k in self._used([kind])
        ]
        return blocks or [np.zeros((len(queries), 1))]

    def _blocks_of_songs(self, songs, kinds):
        """Return the vectors of songs, 0 for songs of another kind, of each kind and ranker."""
        parts = {k: self.estimators_[k].vectors_of_songs(songs) for k in self._used(kinds)}
        blocks = []
        for kind in kinds:
            is_of_kind = (songs.is_new == bool(kind)).astype(float)
            blocks += [
                _scaled_rows(parts[k], is_of_kind) if len(kinds) > 1 else parts[k]
                for k in self._used([kind])
            ]
        return blocks or [np.zeros((len(songs), 1))]

    def similarity_vectors(self, songs):
        """Return the rankers' unit vectors side by side, weighted as for known playlists.

        :meta private:
        """
        weights = self.coef_[0, 0]
        parts = [
            np.sqrt(weight) * csr_array(ranker.similarity_vectors(songs))
            for ranker, weight in zip(self.estimators_, weights, strict=True)
            if weight > 0
        ]
        return csr_array(hstack(parts))

    def _used(self, kinds):
        """Return the positions of rankers with a weight in some situation of the kinds."""
        return np.flatnonzero(self.coef_[list(kinds)].any(axis=(0, 1)))

    def _factors(self, k, queries, vectors=None):
        """Return the factors of the scores of one ranker, for known and for new songs.

        They are its weights in the situation of each query over the standard deviation of the
        query's scores. `vectors` are the ranker's vectors of the queries, if they are there.
        """
        if vectors is None:
            vectors = self.estimators_[k].vectors_of_queries(queries)
        return self.coef_[:, who_asks(queries), k] * self._spreads[k].inverse(vectors)

    def make_derived(self):
        super().make_derived()
        for ranker in self.estimators_:
            ranker.make_derived()
        _ = self._spreads

    @property
    def _spreads(self):
        """The spread of each ranker's scores, by which they are divided."""
        if not hasattr(self, "_score_spreads"):  # after unpickling
            self._score_spreads = [ScoreSpread(ranker) for ranker in self.estimators_]
        return self._score_spreads

    def adds_to_scores(self):
        used = self._used((0, 1))
        return any(self.estimators_[k].adds_to_scores() for k in used)

    def added_scores(self, queries, songs):
        kinds = songs.is_new.astype(np.intp)
        added = []
        for k in self._used((0, 1)):
            ranker = self.estimators_[k]
            if not ranker.adds_to_scores():
                continue
            factors = self._factors(k, queries)
            for part in ranker.added_scores(queries, songs):
                rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
                data = part.data * factors[kinds[part.indices], rows]
                added.append(csr_array((data, part.indices, part.indptr), shape=part.shape))
        return added

    def scores_of_rankers(self, frame):
        """Return what each ranker adds to the scores of rows, for explanations.

        :meta private:
        """
        queries, query_of_row = self.reader.distinct_queries(frame)
        songs, song_of_row = self.reader.distinct_songs(frame)
        kinds = songs.is_new.astype(np.intp)[song_of_row]
        X = self._as_given(frame)
        scores = [
            self._factors(k, queries)[kinds, query_of_row] * ranker.predict(X)
            for k, ranker in enumerate(self.estimators_)
        ]
        return np.column_stack(scores)


def _fit_clone(ranker, ids, X, weights, *, is_last):
    """Return a fitted clone of a ranker, with the id columns of the stack.

    `is_last` tells fits on the whole table, which warn of values that validation fits have, too.
    """
    with warnings.catch_warnings():
        # The stack warns of rows left out once, for all rankers.
        warnings.filterwarnings("ignore", message="Left out of fit")
        if not is_last:
            warnings.filterwarnings("ignore", message=ODD_VALUES)
        ranker = clone(ranker).set_params(**ids)
        is_weighted = weights is not None and has_fit_parameter(ranker, "sample_weight")
        with without_song_columns():  # the stack has them
            return ranker.fit(X, sample_weight=weights) if is_weighted else ranker.fit(X)


def _scaled_rows(vectors, scale):
    """Return vectors times one factor per row, in their own form."""
    if issparse(vectors):
        return csr_array(csr_array(vectors).multiply(scale[:, None]))
    return vectors * scale[:, None]


def _dense(vectors):
    return vectors.toarray() if issparse(vectors) else vectors


def _are_named(pairs):
    """Check whether a value is a list of names and whatever they stand for."""
    return isinstance(pairs, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in pairs
    )


def _check_estimators(stack):
    pairs = stack.estimators
    if not _are_named(pairs) or not pairs:
        raise ValueError(
            f"`estimators` must be a list of names and rankers; got {pairs!r}. Pass e.g. "
            '[("multitask", MultitaskPlaylistRanker()), ("ridge", RidgeRanker())].'
        )
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names) or any("__" in name or not name for name in names):
        raise ValueError(
            f"Names of `estimators` must be distinct and without '__'; got {names}. Rename them."
        )
    taken = set(names) & set(BaseRanker.get_params(stack, deep=False))
    if taken:
        raise ValueError(
            f"Names of `estimators` must not be those of parameters; got {sorted(taken)}. Rename "
            "them."
        )
    used = [(name, ranker) for name, ranker in pairs if ranker != "drop"]
    if not used:
        raise ValueError("At least one of `estimators` must be a ranker; got 'drop' for all.")
    for name, ranker in used:
        if not isinstance(ranker, BaseRanker):
            raise TypeError(
                f"`estimators` must be rankers of this package; got {type(ranker).__name__} as "
                f"{name!r}. Pass e.g. a RidgeRanker."
            )


def _check_cv(cv):
    is_list = isinstance(cv, list | tuple)
    if cv is not None and not (is_list and all(hasattr(one, "get_n_splits") for one in cv)):
        raise TypeError(
            f"`cv` must be None or a list of splitters; got {cv!r}. Pass e.g. "
            "[ColdPlaylistSplit(), ColdSongSplit()]."
        )
