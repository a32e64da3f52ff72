"""The ranker of the paper: shared, user and playlist weights of song features."""

import os
import warnings
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skmtc._table import Ids, Songs
from skmtc._typing import Column, Seed, StrPath, Table
from skmtc._utils.estimator_state import all_or_nothing, change_lock
from skmtc._utils.fitted_state import Array, Nested, Part, Plain, check_fitted_state
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc._utils.sparse import one_hot
from skmtc._utils.validation import check_choice, check_number
from skmtc.optimize import SOLVERS, MultitaskObjective, warn_not_converged
from skmtc.optimize.prox_newton import FixedShared
from skmtc.rankers.features import WEIGHTS, FeatureRanker, largest_feature
from skmtc.rankers.fitting import (
    CallbackSupportMixin,
    Checkpoint,
    FitCallbacks,
    append_rows,
    append_table,
    check_checkpoint,
    fingerprint,
    playlist_means,
    read_weight_column,
    take_weighted,
    with_callbacks,
)
from skmtc.rankers.history import append_vectors, read_history

# Down to this tolerance, products of single precision are exact enough, and twice as fast.
SINGLE_PRECISION_TOL = 1e-5

# Standardised features stay below this; larger ones are probably in an unlucky unit.
LARGE_FEATURE = 100.0
LOOSE_GAP = 0.1

# Fits without held-out playlists only serve the weights of history terms: they need not be exact.
HOLD_OUT_TOL = 1e-2


class MultitaskPlaylistRanker(CallbackSupportMixin, FeatureRanker):
    """Rank songs for playlists by multitask learning.

    The score of a song for a playlist is linear in the song's features. The weights of a playlist
    are the sum of weights shared by all, weights of its user and weights of its own, fitted so
    that songs of a playlist rank above the rest of the catalogue. Which of them score a row is
    read from the ids:

    ============================== =============================================
    a known playlist               shared + user + playlist weights
    a new playlist of a known user shared + user weights
    a new user with attributes     shared + mean weights of the most similar users
    a new user                     shared weights
    ============================== =============================================

    New songs need nothing but their features. A new playlist that has attributes, such as a title,
    gets the weights of the most similar playlists in addition, with `playlist_features`.

    Parameters
    ----------
    user_l2 : float, default=0.3
        Penalty on the squared l2 norm of each user's weights. With N playlists, the paper's
        lambda_1 is `user_l2 / N`: a playlist's own fit does not change when strangers join the
        data.

    playlist_l1 : float, default=0.2
        Penalty on the l1 norm of each playlist's weights; the paper's lambda_2 is
        `playlist_l1 / N`. Weights that are too free overfit short playlists.

    shared_l1 : float, default=0.02
        Penalty on the l1 norm of the shared weights. With U users, the paper's lambda_3 is
        `shared_l1 * U / N`: the more playlists a user has, the more of what is common to all do
        user weights take up, and a penalty that is fixed would leave nothing to new users.

    push : float, default=1.0
        The larger, the more the lowest ranked songs of a playlist count (the paper's p).

    song_features : transformer, list of columns, "passthrough" or None, default=None
        Makes the features of songs. It is cloned and fitted on one row per distinct song,
        `fit_transform(songs, membership)`, where `membership` is the sparse songs x playlists
        matrix of 1-based positions. A DataFrame keeps the song id among its columns but not
        the user and playlist ids; an array keeps all its columns in place. None takes the numeric
        columns that describe songs, a list those that it names, "passthrough" every column that
        is not an id. A scaler gets the numeric columns that describe songs. Parts
        of a ColumnTransformer that are named ``identity`` and ``tag_identity``, as
        `make_song_features` makes them, are left out: a weight for each user and each of
        thousands of artists is more than the solver can fit, and the history term "artist"
        stands in for them.

    user_features : transformer, "passthrough" or None, default=None
        Makes the attributes of users, by whose cosine new users are compared with known ones. It
        is fitted on one row per distinct user. None: attributes are not used.

    playlist_features : transformer, "passthrough" or None, default=None
        Makes the attributes of playlists, such as words of their titles, by whose cosine new
        playlists are compared with known ones. It is fitted on one row per distinct playlist. The
        user and playlist weights of the most similar playlists, averaged by their cosines and
        multiplied by twice the largest of these, are added to what a new playlist is scored by. See
        :ref:`playlist-titles`. None: attributes are not used.

    n_neighbors : int, default=10
        How many similar users stand in for a new one; users as similar as the last are included. So
        many similar playlists count for a new one with `playlist_features`, too.

    history : HistoryTerms, str, tuple of str or None, default=None
        Terms for what the user already has, which are added to scores, or their names: "song",
        "artist", "co-occurrence". Its parameters are tuned as ``history__gain`` and the like. See
        :ref:`history`. None is the model of the paper.

    artist : str or int, default="artist"
        Column of the artist, by name or position, for the history term "artist" and for
        `max_per_artist` of `recommend`.

    weight : str, int or None, default=None
        Column of the weight of each row, a positive number, by name or position; it describes
        neither songs nor users. See `sample_weight` of `fit`. None: rows count alike.

    loss : {"classification", "ranking"}, default="classification"
        The paper's classification loss, or the p-norm push, a ranking loss that it stands in
        for.

    fit_intercept : bool, default=True
        Whether to add the paper's constant feature. Its weights are the last column of every
        coefficient array and are penalised like any other.

    solver : {"prox-newton", "owlqn"}, default="prox-newton"
        "prox-newton" needs few passes over the data; "owlqn" is the solver of the paper.

    tol : float, default=1e-3
        When to stop. For "prox-newton" it is the relative suboptimality of the objective; smaller
        values do not buy AUC. With 1e-5 or more, features are multiplied in single precision. For
        "owlqn" it is the largest entry of the subgradient of smallest norm, per playlist.

    max_iter : int, default=1000
        Most iterations of the solver.

    warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous fit, by the ids of users and
        playlists; new ones start at zero. With another number of features it starts anew.

    checkpoint : path-like or None, default=None
        File to save the state of `fit` in, every few seconds. When a fit was killed, `fit` with
        the same table and parameters goes on from there, with a warning that says so; after
        success the file is removed. See :ref:`checkpoints`.

    n_jobs : int, default=None
        Number of threads, in the sense of joblib, or of processes or cores of a cluster where
        joblib's configuration names such a backend. It never changes the result.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the sample of songs that "prox-newton" starts with when there are many. Another
        seed gives the same weights to within `tol`.

    verbose : int, default=0
        1 prints a line per iteration: objective, optimality and seconds.

    Attributes
    ----------
    shared_coef_ : ndarray of shape (n_features,)
        Weights shared by all playlists.

    user_coef_ : ndarray of shape (n_users, n_features)
        Weights of each user, in the order of `users_`.

    playlist_coef_ : ndarray of shape (n_playlists, n_features)
        Weights of each playlist, in the order of `playlists_`.

    songs_, users_, playlists_ : ndarray
        Distinct ids, sorted.

    lambdas_ : tuple of float
        The penalties in the paper's scaling: lambda_1, lambda_2, lambda_3.

    objective_ : float
        Value of the objective at the solution. This and the following four tell of the last `fit`:
        `partial_fit` leaves them as they are.

    optimality_ : float
        Measure of optimality at the solution, to be compared with `tol`. For "prox-newton", the
        share of the objective that the last iteration was predicted to gain.

    dual_gap_ : float
        A bound on the relative suboptimality that is certain, but mostly far larger than the
        truth; NaN for "owlqn".

    solver_history_ : dict of str to list
        Objective, optimality, seconds and, for "prox-newton", passes over the data and gaps, one
        value per iteration.

    n_iter_ : int
        Number of iterations of the solver.

    history_ : HistoryTerms or None
        Fitted history terms; None without `history`.

    playlist_weight_ : ndarray of shape (n_playlists,) or None
        How much the losses of each playlist count, with mean 1 in `fit`; None if all count alike.

    song_features_, user_features_, playlist_features_ : transformer or None
        Fitted transformers.

    song_vectors_ : array or csr_array of shape (n_songs, n_features)
        Features of the training catalogue, the constant one included.

    user_attributes_, playlist_attributes_ : array, csr_array or None
        Attributes of the known users and playlists.

    feature_names_out_ : ndarray of shape (n_features,)
        Names of the features, in the order of the coefficients.

    membership_ : csr_array of shape (n_playlists, n_songs)
        1-based position of each song in each training playlist.

    user_of_playlist_ : ndarray of shape (n_playlists,)
        Position in `users_` of each playlist's owner.

    left_out_ : dict
        How many repeated rows and full playlists were left out of `fit` and of each
        `partial_fit` since.

    n_features_in_ : int
        Number of columns of the table seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    PopularityRanker : Ranking by popularity alone.

    Notes
    -----
    With scikit-learn 1.9 and later, a fit can be watched by callbacks, such as `ProgressBar` and
    `ScoringMonitor`: `set_callbacks`, see :mod:`sklearn.callback`. An iteration of the solver is a
    task. The fit stops without a warning when the hook `on_fit_task_end` of a callback returns
    True. Callbacks that ask for `y` get ones, as every row of a table is a positive.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning.
    arXiv:1901.06125, 2019.

    Examples
    --------
    Ana likes fast songs, Bob slow ones. A new playlist of Ana's gets the fast song first:

    >>> import pandas as pd
    >>> from skmtc import MultitaskPlaylistRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "gym", "run", "zen", "zen", "nap"],
    ...     "song": ["s1", "s2", "s3", "s4", "s5", "s6"],
    ...     "tempo": [1.5, 1.0, 2.0, -1.0, -1.5, -2.0],
    ... })
    >>> ranker = MultitaskPlaylistRanker(user_l2=0.1).fit(X)
    >>> songs, scores = ranker.recommend(
    ...     pd.DataFrame({"user": ["ana", "bob"]}), n_recommendations=2
    ... )
    >>> songs.tolist()
    [['s3', 's1'], ['s6', 's5']]
    """

    _fitted_state = WEIGHTS | {
        "lambdas_": Plain(tuple),
        "objective_": Plain(Real),
        "optimality_": Plain(Real),
        "dual_gap_": Plain(Real),
        "n_iter_": Plain.count(),
        "solver_history_": Plain(dict),
        "history_": Nested("songs", optional=True),
        "playlist_features_": Part(optional=True),
        "playlist_attributes_": Array(
            "playlists", "playlist_attributes", sparse=None, optional=True
        ),
        "_is_playlist_number": Plain(dict, optional=True),
        "playlist_weight_": Array("playlists", above=0, optional=True),
        "_weight_scale": Plain.number(above=0, optional=True),
        "_weight_label": Plain(str, Integral, optional=True),
    }

    def __init__(
        self,
        *,
        user_l2: float = 0.3,
        playlist_l1: float = 0.2,
        shared_l1: float = 0.02,
        push: float = 1.0,
        song_features: Any = None,
        user_features: Any = None,
        playlist_features: Any = None,
        n_neighbors: int = 10,
        history: Any = None,
        artist: Column | None = "artist",
        weight: Column | None = None,
        loss: str = "classification",
        fit_intercept: bool = True,
        solver: str = "prox-newton",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        checkpoint: StrPath | None = None,
        n_jobs: int | None = None,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.user_l2 = user_l2
        self.playlist_l1 = playlist_l1
        self.shared_l1 = shared_l1
        self.push = push
        self.song_features = song_features
        self.user_features = user_features
        self.playlist_features = playlist_features
        self.n_neighbors = n_neighbors
        self.history = history
        self.artist = artist
        self.weight = weight
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Table, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        r"""Learn from a membership table.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table: one row per song in a playlist.

        y : None
            Ignored.

        sample_weight : array of shape (n_rows,), default=None
            Weight of each row, not negative, such as `half_life_weights` makes. The losses of
            playlist i count :math:`w_i` times, where

            .. math:: w_i = \frac{v_i}{\frac{1}{N} \sum_j v_j}, \qquad
                      v_i = \frac{1}{M_i} \sum_{r \in i} s_r

            for its rows r with weights :math:`s_r`, its :math:`M_i` distinct songs, and N
            playlists: the mean weight of its rows, over the mean of all playlists. A row that is
            repeated k times counts as a row of weight k, and a row of weight 0 as if it were not
            there. None: all rows have weight 1.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        X, weights = take_weighted(X, sample_weight)
        with all_or_nothing(self):
            table, frame = self._start_fit(X)
            self._weigh_playlists(table, frame, weights)
            with fit_fits_memory(self, table):
                self._learn(X, table, frame)
        return self

    def partial_fit(self, X: Table, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add playlists, users and songs exactly, with the shared weights held.

        For every user named in `X`, the user's own problem is solved to `tol`: all the user's
        playlists, old and new, against the catalogue, over user and playlist weights. Weights of
        users who are not named do not change by a bit. The shared weights, and all that
        transformers learned in `fit`, stay as they are; refit now and then to renew them.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`: new playlists, or new songs of known
            ones, which follow the songs that these have. New songs join the catalogue; so do
            the attributes of new users. Rows that are known already count as repeated.

        y : None
            Ignored.

        sample_weight : array of shape (n_rows,), default=None
            Weight of each row, in the scale of those of `fit`; None stands for 1. Known playlists
            keep their weight.

        Returns
        -------
        self : object
            The ranker. If this raises or is interrupted, it is as it was before.

        Examples
        --------
        Eve is new, and brings a song that nobody had:

        >>> import pandas as pd
        >>> from skmtc import MultitaskPlaylistRanker
        >>> X = pd.DataFrame({
        ...     "user": ["ana", "ana", "bob", "bob"],
        ...     "playlist": ["gym", "gym", "zen", "zen"],
        ...     "song": ["s1", "s2", "s4", "s5"],
        ...     "tempo": [1.5, 1.0, -1.0, -1.5],
        ... })
        >>> ranker = MultitaskPlaylistRanker(user_l2=0.1).fit(X)
        >>> eve = pd.DataFrame(
        ...     {"user": ["eve"], "playlist": ["run"], "song": ["s3"], "tempo": [2.0]}
        ... )
        >>> ranker.partial_fit(eve).users_.tolist()
        ['ana', 'bob', 'eve']
        >>> songs, _ = ranker.recommend(pd.DataFrame({"user": ["eve"]}), n_recommendations=2)
        >>> songs.tolist()
        [['s3', 's1']]
        """
        if not hasattr(self, "shared_coef_"):
            return self.fit(X, sample_weight=sample_weight)
        self._check_parameters()
        X, weights = take_weighted(X, sample_weight)
        with change_lock:  # of two threads, the second adds to what the first has added
            check_fitted_state(self)
            self._check_intercept()
            frame = self._read(X, reset=False)
            appended = append_table(self, frame)
            self._warn_left_out(appended.left_out)
            playlist_weights = self._extended_weights(appended, frame, weights)
            # Nothing is stored before everything is there; and this cannot be interrupted.
            self._replace(self._extended(appended, playlist_weights))
        return self

    def fit_path(self, X, settings):
        """Fit several settings of the penalties, each from the weights of the one before.

        :meta private:
        """
        for setting in settings:
            clone(self).set_params(**setting)._check_parameters()
        if not settings:
            return []
        # 1. Read the table and make the features once.
        self.set_params(**settings[0])
        table, frame = self._start_fit(X)
        self._weigh_playlists(table, frame, None)
        features = self._fit_features(table, frame)
        self._store(table)
        path = [copy(self).set_params(**setting) for setting in settings]
        if len(table.playlists) == 0:
            for ranker in path:
                ranker._store_nothing_learned()
            return path
        # 2. The objective takes penalties in the scaling of the problem, as in `fit`.
        objective = self._objective(features, table)
        names = ("user_l2", "playlist_l1", "shared_l1")
        penalties = [
            {name: ranker._problem_parameters(table)[name] for name in names} for ranker in path
        ]
        solve_path = SOLVERS[self.solver].solve_path
        # 3. Solve and store one setting after the other.
        results = solve_path(objective, penalties, **self._solver_options())
        for ranker, result in zip(path, results, strict=True):
            ranker._store_result(objective, result, features)
            ranker._fit_history(table, frame)
        return path

    def __getstate__(self):
        # A path object of one system can be none on another.
        state = super().__getstate__()
        if isinstance(state["checkpoint"], os.PathLike):
            state["checkpoint"] = os.fspath(state["checkpoint"])
        return state

    def _check_parameters(self):
        for name in ("user_l2", "playlist_l1", "shared_l1"):
            check_number(name, getattr(self, name), at_least=0)
        check_number("push", self.push, above=0)
        check_number("tol", self.tol, above=0)
        check_number("max_iter", self.max_iter, at_least=1, whole=True)
        check_number("n_neighbors", self.n_neighbors, at_least=1, whole=True)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("loss", self.loss, ("classification", "ranking"))
        self._check_history()
        check_checkpoint(self.checkpoint)

    def _weigh_playlists(self, table, frame, weights):
        """Store how much each playlist counts, in the table and as an attribute."""
        self._weight_label, _ = read_weight_column(frame, self.weight)
        weights = self._row_weights(frame, weights)
        self.playlist_weight_, self._weight_scale = None, 1.0
        if weights is None and table.left_out["repeated rows"] == 0:
            return
        if len(table.playlists) == 0:
            return
        playlists = table.playlists.codes(frame[table.columns.playlist])
        weights = np.ones(len(frame)) if weights is None else weights
        means = playlist_means(table, playlists, weights)
        self._weight_scale = 1.0 / float(means.mean())
        table.playlist_weights = self.playlist_weight_ = means * self._weight_scale

    def _row_weights(self, frame, weights):
        """Return the weights of rows, given or of the column `weight`; None if all are alike."""
        _, of_column = read_weight_column(frame, self.weight)
        if of_column is not None and weights is not None:
            raise ValueError(
                f"Weights must be given once; got `sample_weight` and weight={self.weight!r}. Pass "
                "one of them."
            )
        return weights if of_column is None else of_column

    def _extended_weights(self, appended, frame, weights):
        """Return the weights of known and new playlists; None if all count alike."""
        weights = self._row_weights(frame, weights)
        known = self.playlist_weight_
        if known is None and weights is None:
            return None
        label = self.reader.find_columns(frame, ("playlist",)).playlist
        playlists = appended.playlists.codes(frame[label])
        weights = np.ones(len(frame)) if weights is None else weights
        known = np.ones(len(self.playlists_)) if known is None else known
        is_new = appended.playlist_source < 0
        joined = playlist_means(appended, playlists, weights) * self._weight_scale
        joined[~is_new] = known[appended.playlist_source[~is_new]]
        return joined

    @with_callbacks
    def _learn(self, X, table, frame):
        callbacks = FitCallbacks(self, X, partial(self._attributes_at, table))
        self._fit(table, frame, callbacks)
        self._store(table)
        callbacks.fit_ends()

    def _fit(self, table, frame, callbacks):
        features = self._fit_features(table, frame)
        if len(table.playlists) == 0:
            self._store_nothing_learned()
            return
        objective = self._objective(features, table)
        checkpoint = self._open_checkpoint(objective)
        coef0 = self._previous_coef(table, objective) if self.warm_start else None
        result = self._solve(
            objective, coef0, partial(callbacks.iteration_ends, objective), checkpoint
        )
        self._store_result(objective, result, features, may_warn=not callbacks.stopped)
        self._fit_history(table, frame)
        # Only now: a fit that is killed in its second stage goes on from the end of the first.
        if checkpoint is not None and result.converged:
            checkpoint.remove()

    def _open_checkpoint(self, objective):
        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, fingerprint(objective, self.solver), self.tol)

    def _check_history(self):
        history = read_history(self.history)
        if history is None:
            return
        history.check()
        if self.loss != "classification":
            raise ValueError(
                "`history` needs loss='classification', because scores of a ranking loss have no "
                f"level that terms could be added to; got loss={self.loss!r}. Pass history=None."
            )

    def _fit_features(self, table, frame):
        features = self._fit_song_features(table, frame)
        self._fit_user_features(table, frame)
        self._fit_playlist_features(table, frame)
        return features

    def _objective(self, features, table):
        features = self._in_working_precision(features)
        return MultitaskObjective(
            features,
            table.membership,
            table.user_of_playlist,
            sample_weight=table.playlist_weights,
            **self._problem_parameters(table),
        )

    def _fit_history(self, table, frame):
        """Fit the weights of history terms, with all other weights fixed."""
        history = read_history(self.history)
        if history is None:
            self.history_ = None
            return
        rng = check_random_state(check_random_state(self.random_state).randint(2**31 - 1))
        fit_without = partial(self._fit_without, table, frame)
        self.history_ = clone(history).learn(
            table, fit_without, artist=self.artist, random_state=rng, n_jobs=self.n_jobs
        )

    def _fit_without(self, table, frame, fold):
        """Fit features, and the users of held-out playlists, on what a fold keeps.

        Returns
        -------
        weights_of : callable
            Returns the weights of playlists, given whether they count as known.

        song_vectors : array or csr_array of shape (n_songs, n_features)
            Vectors of all songs; held-out songs are transformed like new ones.

        converged : bool
            Whether the solver reached its tolerance.
        """
        ranker = copy(self)
        ranker._reader = self.reader
        songs = np.flatnonzero(~fold.is_new_song)
        kept, owners = fold.kept[:, songs], table.user_of_playlist
        part = replace(table, membership=kept, song_rows=table.song_rows.iloc[songs])
        features = self._in_working_precision(ranker._fit_song_features(part, frame))
        # Only users of held-out playlists are asked for, so only these are fitted.
        users = np.unique(owners[np.concatenate([fold.new, fold.known])])
        lengths = np.diff(kept.indptr)
        teaches = (lengths > 0) & (lengths < len(songs))
        rows = np.flatnonzero(np.isin(owners, users) & teaches)
        objective = MultitaskObjective(
            features,
            kept[rows],
            np.searchsorted(users, owners[rows]),
            sample_weight=None if table.playlist_weights is None else table.playlist_weights[rows],
            **self._problem_parameters(table),
        )
        options = {"tol": max(self.tol, HOLD_OUT_TOL), "max_iter": self.max_iter}
        result = SOLVERS[self.solver].solve(objective, **options)
        shared, user, playlist = objective.split(result.coef)
        user_coef = np.zeros((len(table.users), objective.n_features))
        playlist_coef = np.zeros((len(owners), objective.n_features))
        user_coef[users], playlist_coef[rows] = user, playlist

        def weights_of(playlists, are_known):
            weights = shared + user_coef[owners[playlists]]
            return weights + playlist_coef[playlists] if are_known else weights

        codes = np.full(len(fold.is_new_song), -1)
        codes[songs] = np.arange(len(songs))
        new_rows = table.song_rows.iloc[np.flatnonzero(fold.is_new_song)]
        vectors = ranker.vectors_of_songs(Songs(table.songs.values, codes, new_rows))
        return weights_of, vectors, result.converged

    def _problem_parameters(self, table):
        names = ("user_l2", "playlist_l1", "push", "loss", "fit_intercept", "n_jobs")
        shared_l1 = self._lambdas(len(table.users), len(table.playlists))[2]
        return {name: getattr(self, name) for name in names} | {"shared_l1": shared_l1}

    def _solve(self, objective, coef0, iteration_ends, checkpoint):
        """Minimise; with a checkpoint, from where a fit that did not end has left it."""
        solve, options = SOLVERS[self.solver].solve, self._solver_options(iteration_ends)
        if checkpoint is None:
            return solve(objective, coef0, **options)
        saved = checkpoint.load(objective.shape)
        if saved is not None:
            if saved.converged:
                return saved
            coef0, options["history0"] = saved.coef, saved.history
        options["callback"] = checkpoint.then(options["callback"])
        result = solve(objective, coef0, **options)
        if not result.converged or self.history is not None:
            checkpoint.save(result)
        return result

    def _solver_options(self, iteration_ends=None):
        def callback(state):
            if self.verbose:
                _print_iteration(state)
            return iteration_ends is not None and iteration_ends(state)

        return {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "random_state": check_random_state(self.random_state).randint(2**31 - 1),
            "callback": callback,
        }

    def vectors_of_queries(self, queries):
        vectors = self._sum_of_weights(queries)
        is_new = queries.playlists < 0
        similar = self._similar_playlists(queries.rows[is_new]) if is_new.any() else None
        if similar is not None:
            # Full weights of the similar playlists: those of their users, and their own.
            of_users = similar @ one_hot(self.user_of_playlist_, len(self.users_))
            vectors[is_new] += of_users @ self.user_coef_ + similar @ self.playlist_coef_
        return vectors

    def _user_vectors(self, queries):
        """Return what queries are scored by without the attributes of new playlists."""
        return self._sum_of_weights(queries)

    def bound_history(self):
        """Return the fitted history terms with the playlists of this ranker, or None.

        :meta private:
        """
        history = self.history_
        if history is None:
            return None
        if not history.is_bound_to(self.membership_, self.user_of_playlist_):
            if history.is_bound:  # to the playlists of another ranker, which shares the terms
                history = self.history_ = copy(history)
            history.bind(self.membership_, self.user_of_playlist_, len(self.users_))
        return history

    def make_derived(self):
        super().make_derived()
        self.bound_history()

    def adds_to_scores(self):
        return self.history_ is not None and self.history_.changes_scores()

    def added_scores(self, queries, songs):
        return self.bound_history().scores(queries, songs) if self.adds_to_scores() else []

    def full_vectors_of_queries(self, queries):
        vectors = self.vectors_of_queries(queries)
        if not self.adds_to_scores():
            return vectors
        return append_vectors(vectors, self.bound_history().query_vectors(queries))

    def full_vectors_of_songs(self, songs):
        vectors = self.vectors_of_songs(songs)
        if not self.adds_to_scores():
            return vectors
        return append_vectors(vectors, self.bound_history().song_vectors(songs))

    def _in_working_precision(self, features):
        if SOLVERS[self.solver].takes_single_precision and self.tol >= SINGLE_PRECISION_TOL:
            return features.astype(np.float32)
        return features

    def _previous_coef(self, table, objective):
        """Put the weights of the previous fit in the places of their ids."""
        coef = objective.zeros()
        shared, user, playlist = objective.split(coef)
        if not hasattr(self, "shared_coef_") or len(self.shared_coef_) != len(shared):
            return None
        shared[:] = self.shared_coef_
        for rows, role, ids in (
            (user, "user", table.users),
            (playlist, "playlist", table.playlists),
        ):
            codes = Ids(getattr(self, f"{role}s_"), role).codes(ids.index)
            rows[codes >= 0] = getattr(self, f"{role}_coef_")[codes[codes >= 0]]
        return coef

    def _store_result(self, objective, result, features, *, may_warn=True):
        hint = self._scaling_hint(features)
        if may_warn and not result.converged:
            warn_not_converged(result, tol=self.tol, max_iter=self.max_iter, hint=hint)
        elif may_warn and hint and _is_loose(result):
            gap = result.history["restricted_gap"][-1]
            warnings.warn(
                f"The solver reached tol={self.tol:g}, but features of unlike sizes make its steps "
                f"short, so that this says little: the bound on the relative suboptimality is "
                f"{gap:.2g}. {hint}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._store_coef(objective, result.coef)
        self.lambdas_ = self._lambdas(objective.n_users, objective.n_playlists)
        self.objective_ = result.objective
        self.optimality_ = result.optimality
        self.n_iter_ = result.n_iter
        self.solver_history_ = result.history
        self.dual_gap_ = result.history["dual_gap"][-1] if "dual_gap" in result.history else np.nan

    def _lambdas(self, n_users, n_playlists):
        """Return the penalties in the paper's scaling."""
        return (
            self.user_l2 / n_playlists,
            self.playlist_l1 / n_playlists,
            self.shared_l1 * n_users / n_playlists,
        )

    def _store_coef(self, objective, coef):
        self.shared_coef_, self.user_coef_, self.playlist_coef_ = (
            part.copy() for part in objective.split(coef)
        )

    def _attributes_at(self, table, objective, coef):
        """Return the attributes that the ranker would have if the solver stopped at `coef`."""
        stopped = copy(self)
        stopped._store(table)
        stopped._store_coef(objective, coef)
        stopped.history_ = None  # history terms are fitted after all other weights
        return vars(stopped)

    def _store_nothing_learned(self):
        """Store weights of zero: every playlist is full, which the warning has told."""
        n_features = len(self.feature_names_out_)
        self.shared_coef_ = np.zeros(n_features)
        self.user_coef_ = self.playlist_coef_ = np.zeros((0, n_features))
        self.lambdas_ = (np.inf, np.inf, float(self.shared_l1))
        self.objective_ = self.optimality_ = self.dual_gap_ = 0.0
        self.solver_history_ = {}
        self.n_iter_ = 0
        self.history_ = None

    def _extended(self, appended, playlist_weights):
        """Solve the named users' problems; give all attributes that change."""
        vectors = self._appended_song_vectors(appended)
        user_coef = append_rows(appended.user_source, self.user_coef_, 0.0)
        playlist_coef = append_rows(appended.playlist_source, self.playlist_coef_, 0.0)
        if len(appended.named_users):
            self._solve_named(appended, vectors, user_coef, playlist_coef, playlist_weights)
        n_users, n_playlists = len(appended.users), len(appended.playlists)
        return self._tables(appended) | {
            "song_vectors_": vectors,
            "_song_artists": self._appended_artists(appended),
            "_song_columns": self._appended_song_columns(appended.song_source, appended.song_rows),
            "user_attributes_": self._appended_user_attributes(appended),
            "playlist_attributes_": self._joined_playlist_attributes(appended),
            "user_coef_": user_coef,
            "playlist_coef_": playlist_coef,
            "playlist_weight_": playlist_weights,
            "lambdas_": self._lambdas(n_users, n_playlists) if n_playlists else self.lambdas_,
            "left_out_": {k: n + self.left_out_[k] for k, n in appended.left_out.items()},
            "history_": None if self.history_ is None else self.history_.appended(appended),
        }

    def _solve_named(self, appended, vectors, user_coef, playlist_coef, weights):
        """Put the weights of the named users and of their playlists in their rows."""
        features = vectors[:, :-1] if self.fit_intercept else vectors
        users = appended.named_users
        rows = np.flatnonzero(np.isin(appended.user_of_playlist, users))
        objective = FixedShared(
            self._in_working_precision(features),
            appended.membership[rows],
            np.searchsorted(users, appended.user_of_playlist[rows]),
            shared=self.shared_coef_,
            sample_weight=None if weights is None else weights[rows],
            **self._problem_parameters(appended),
        )
        coef0 = np.vstack([self.shared_coef_, user_coef[users], playlist_coef[rows]])
        solve = SOLVERS[self.solver].solve_users
        result = solve(objective, coef0, **self._solver_options())
        if not result.converged:
            hint = self._scaling_hint(features)
            warn_not_converged(result, tol=self.tol, max_iter=self.max_iter, hint=hint)
        _, user_coef[users], playlist_coef[rows] = objective.split(result.coef)

    def _check_intercept(self):
        if self.fit_intercept != (self.feature_names_out_[-1] == "constant"):
            raise ValueError(
                f"`fit_intercept` must be as in `fit`; got {self.fit_intercept} now. Set it back, "
                "or call `fit`."
            )

    def _scaling_hint(self, features):
        if features.shape[1] == 0:
            return ""
        name, size = largest_feature(features, self.feature_names_out_)
        if size <= LARGE_FEATURE:
            return ""
        return (
            f"Feature {name!r} reaches {size:.3g}: rescale it, e.g. with "
            "make_song_features(X) as `song_features`; otherwise lower `tol` or increase "
            "`max_iter`."
        )


def _is_loose(result):
    """Check whether the bound on the suboptimality leaves room for doubt.

    Steps become short, too, where features of unlike sizes hold the solver up.
    """
    return result.history.get("restricted_gap", [0.0])[-1] > LOOSE_GAP


def _print_iteration(state):
    print(
        f"iteration {state['iteration']:4d}  objective {state['objective']:.8f}  "
        f"optimality {state['optimality']:.2e}  {state['seconds']:.2f} s"
    )
