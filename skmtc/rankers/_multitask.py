"""The ranker of the paper: shared, user and playlist weights of song features."""

import os
from copy import copy
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

from numpy.typing import ArrayLike

from skmtc._typing import Column, Seed, StrPath, Table
from skmtc._utils.estimator_state import all_or_nothing, change_lock, replace_state
from skmtc._utils.fitted_state import Array, Nested, Part, Plain, check_fitted_state
from skmtc._utils.memory_errors import fit_fits_memory
from skmtc._utils.validation import check_choice, check_number
from skmtc.optimize import PENALTIES, SOLVERS
from skmtc.rankers.features import (
    WEIGHTS,
    FeatureRanker,
    learn_features,
    sum_of_weights,
    weights_of_similar_playlists,
)
from skmtc.rankers.fitting import (
    CallbackSupportMixin,
    append_table,
    check_checkpoint,
    fit_callbacks,
    open_checkpoint,
    take_weighted,
    warn_left_out,
)
from skmtc.rankers.history import append_vectors
from skmtc.rankers.multitask import (
    append_users,
    append_weights,
    check_history,
    check_penalties,
    coef_attributes,
    fit_history,
    make_objective,
    no_solution,
    solution_attributes,
    solver_options,
    starting_point,
    warn_if_inexact,
    weight_playlists,
)


class MultitaskPlaylistRanker(CallbackSupportMixin, FeatureRanker):
    """Rank songs for playlists by multitask learning.

    The score of a song for a playlist is linear in the song's features. The weights of a playlist
    are the sum of shared weights, weights of its user and weights of its own, fitted so that songs
    of a playlist rank above the rest of the catalogue. The ids decide which of them score a row:

    ============================== =============================================
    a known playlist               shared + user + playlist weights
    a new playlist of a known user shared + user weights
    a new user with attributes     shared + mean weights of the most similar users
    a new user                     shared weights
    ============================== =============================================

    New songs only need their features. With `playlist_features`, the weights of the most similar
    playlists are added for a new playlist that has attributes, such as a title.

    Parameters
    ----------
    user_l2 : float, default=0.3
        Penalty on the squared l2 norm of each user's weights; the paper's lambda_1 is
        `user_l2 / N` for N playlists, so that other users do not change a playlist's own fit.

    playlist_l1 : float, default=0.2
        Penalty on the l1 norm of each playlist's weights; the paper's lambda_2 is
        `playlist_l1 / N`. Small values overfit short playlists.

    shared_l1 : float, default=0.02
        Penalty on the l1 norm of the shared weights; the paper's lambda_3 is `shared_l1 * U / N`
        for U users. It falls with the number of playlists per user, as user weights otherwise
        absorb what is common to all users, and new users are left without.

    push : float, default=1.0
        The larger, the more the lowest-ranked songs of a playlist count (the paper's p).

    song_features : transformer, list of columns, "auto", "passthrough" or None, default=None
        Makes the features of songs; see :ref:`features`. It is cloned and fitted on one row per
        distinct song, `fit_transform(songs, membership)`, with `membership` the sparse songs x
        playlists matrix of 1-based positions. "auto" uses all that the table tells of songs, by
        `make_song_features`; None the numeric columns that describe songs, or "auto" if there are
        none; a list the columns it names; "passthrough" every column that is not an id. A scaler
        is applied to the numeric columns that describe songs. The parts ``identity`` and
        ``tag_identity`` of a ColumnTransformer are not used: use the history term "artist".

    user_features : transformer, "auto", "passthrough" or None, default=None
        Makes the attributes of users, one row per distinct user. New users are compared with
        known ones by the cosine of their attributes. "auto" uses what the table tells of users,
        by `make_user_features`. None: attributes are not used.

    playlist_features : transformer, "auto", "passthrough" or None, default=None
        Makes the attributes of playlists, such as words of their titles, one row per distinct
        playlist. The weights of the playlists with the most similar attributes are added to the
        score of a new playlist; see :ref:`playlist-titles`. "auto" uses what the table tells of
        playlists, by `make_playlist_features`. None: attributes are not used.

    n_neighbors : int, default=10
        Number of similar users (or, with `playlist_features`, playlists) whose weights score a new
        one; ties with the last are included.

    history : HistoryTerms, str, tuple of str or None, default=None
        Terms for what the user already has, which are added to scores, or their names: "song",
        "artist", "co-occurrence". Tune them as ``history__gain`` and so on. See :ref:`history`.
        None is the model of the paper.

    artist : str or int, default="artist"
        Column of the artist, by name or position, for the history term "artist" and for
        `max_per_artist` of `recommend`.

    weight : str, int or None, default=None
        Column of row weights, positive numbers, by name or position, which is then not a feature.
        See `sample_weight` of `fit`. None: all rows count alike.

    loss : {"classification", "ranking"}, default="classification"
        The paper's classification loss, or the p-norm push, the ranking loss that it approximates.

    fit_intercept : bool, default=True
        Whether to add the paper's constant feature. Its weights are the last column of every
        coefficient array and are penalised like any other.

    songs_per_pass : int or None, default=None
        On how many songs the sums over the songs outside a playlist are made: a weighted sample of
        the catalogue, made once in `fit`, in place of all. Songs of a playlist always count in
        full. It makes time and memory of a fit independent of the size of the catalogue, see
        :ref:`song-sample`. None: all songs, or 50,000 of more than 200,000.

    solver : {"prox-newton", "owlqn"}, default="prox-newton"
        "prox-newton" needs few passes over the data; "owlqn" is the solver of the paper.

    tol : float, default=1e-3
        Tolerance. For "prox-newton" it bounds the relative suboptimality of the objective; smaller
        values do not improve AUC, and below 1e-5 features are multiplied in double precision. For
        "owlqn" it bounds the largest entry of the minimum-norm subgradient, per playlist.

    max_iter : int, default=1000
        Maximum number of iterations of the solver.

    warm_start : bool, default=False
        Whether `fit` starts at the weights of the previous fit, matched by ids; new users and
        playlists start at zero. It has no effect if the number of features changes.

    checkpoint : path-like or None, default=None
        File to save the state of `fit` in every few seconds. After an interruption, `fit` with the
        same table and parameters resumes from it, with a warning. See :ref:`checkpoints`.

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
        Random seed of the songs that "prox-newton" samples in its first iterations if there are
        many. Another seed gives the same weights to within `tol`. Also the seed of the sample of
        `songs_per_pass`, where None stands for 0.

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
        Value of the objective at the solution. `partial_fit` does not update this and the
        following five attributes.

    catalogue_objective_ : tuple of float
        With `songs_per_pass`, an estimate of the objective over all songs at the solution, and its
        standard error: the losses of up to 1,024 random playlists are summed over all songs.
        Otherwise `objective_` and 0.

    optimality_ : float
        Optimality at the solution, to be compared with `tol`. For "prox-newton", the predicted
        relative decrease of the objective in the last iteration.

    dual_gap_ : float
        Upper bound on the relative suboptimality, usually far above it; NaN for "owlqn".

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
    With scikit-learn 1.9 and later, `set_callbacks` sets callbacks such as `ProgressBar` and
    `ScoringMonitor` (:mod:`sklearn.callback`), with one task per solver iteration. The fit stops
    without a warning if `on_fit_task_end` returns True. Callbacks get ones for `y`.

    References
    ----------
    D. Chen, C. S. Ong, A. K. Menon. Cold-start Playlist Recommendation with Multitask Learning.
    arXiv:1901.06125, 2019.

    Examples
    --------
    Ana likes fast songs, Bob slow ones, so a new playlist of Ana's gets the fast song first:

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
        "catalogue_objective_": Plain(tuple),
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
        songs_per_pass: int | None = None,
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
        self.songs_per_pass = songs_per_pass
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
            Non-negative weight of each row, such as `half_life_weights` returns. The loss of
            playlist i is multiplied by

            .. math:: w_i = \frac{v_i}{\frac{1}{N} \sum_j v_j}, \qquad
                      v_i = \frac{1}{M_i} \sum_{r \in i} s_r

            for the weights :math:`s_r` of its rows, its :math:`M_i` distinct songs and N
            playlists. A row repeated k times counts as a row of weight k, a row of weight 0 is
            ignored. None: all rows have weight 1.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        X, weights = take_weighted(X, sample_weight)
        with all_or_nothing(self):
            # 1. Check the parameters and read the table.
            table, frame = self.start_fit(X)
            weight_playlists(self, table, frame, weights)
            with fit_fits_memory(self, table), fit_callbacks(self, X) as callbacks:
                self._fit(table, frame, callbacks)
                self.store_table(table)
        return self

    def _fit(self, table, frame, callbacks):
        # 2. Make the features of songs, users and playlists.
        features = learn_features(self, table, frame, roles=("user", "playlist"))
        if len(table.playlists) == 0:
            vars(self).update(no_solution(self))
            return
        # 3. Build the objective.
        objective = make_objective(self, features, table)

        def iteration_ends(state):
            stopped = partial(self._attributes_at, table, objective, state)
            return callbacks.iteration_ends(state, stopped)

        # 4. Solve. An interrupted fit resumes from its checkpoint.
        checkpoint = open_checkpoint(self.checkpoint, objective, solver=self.solver, tol=self.tol)
        options = solver_options(self, iteration_ends)
        result = saved = checkpoint.load(objective.shape)
        if saved is None or not saved.converged:
            start = starting_point(self, table, objective, saved)
            options["callback"] = checkpoint.then(options["callback"])
            result = SOLVERS[self.solver].solve(objective, **start, **options)
            if not result.converged or self.history is not None:
                checkpoint.save(result)
        # 5. Store the weights, and fit those of history terms with all others fixed.
        vars(self).update(solution_attributes(self, objective, result))
        if not callbacks.stopped:
            warn_if_inexact(self, result, features)
        self.history_ = fit_history(self, table, frame)
        # Only now: a fit that is killed while history terms are fitted resumes here.
        if result.converged:
            checkpoint.remove()

    def partial_fit(self, X: Table, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add playlists, users and songs, with the shared weights fixed.

        For every user in `X`, the user and playlist weights are fitted to `tol` on all of the
        user's playlists, old and new. Weights of other users do not change. The shared weights and
        the transformers stay as they are: refit from time to time to update them.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Membership table with the columns seen in `fit`: new playlists, or new songs of known
            playlists, which are appended to them. New songs are added to the catalogue. Rows that
            are already known count as repeated.

        y : None
            Ignored.

        sample_weight : array of shape (n_rows,), default=None
            Weight of each row, on the scale of the weights of `fit`. None: 1. Known playlists keep
            their weight.

        Returns
        -------
        self : object
            The ranker, unchanged if this raises or is interrupted.

        Examples
        --------
        Add a new user, with a song that is new, too:

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
            # 1. Read the new rows, and append them to the table of `fit`.
            check_fitted_state(self)
            self._check_intercept()
            frame = self.read_table(X)
            appended = append_table(self, frame)
            warn_left_out(appended.left_out)
            weights = append_weights(self, appended, frame, weights, self._weight_scale)
            # 2. Solve the problems of the users whose playlists change.
            state = self._appended_table(appended) | append_users(self, appended, weights)
            # 3. Store everything in one step, which cannot be interrupted.
            replace_state(self, state)
        return self

    def __getstate__(self):
        # A path object of one system can be none on another.
        state = super().__getstate__()
        if isinstance(state["checkpoint"], os.PathLike):
            state["checkpoint"] = os.fspath(state["checkpoint"])
        return state

    def _check_parameters(self):
        check_penalties({name: getattr(self, name) for name in PENALTIES})
        check_number("push", self.push, above=0)
        check_number("tol", self.tol, above=0)
        check_number("max_iter", self.max_iter, at_least=1, whole=True)
        check_number("n_neighbors", self.n_neighbors, at_least=1, whole=True)
        if self.songs_per_pass is not None:
            check_number("songs_per_pass", self.songs_per_pass, at_least=1, whole=True)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("loss", self.loss, ("classification", "ranking"))
        check_history(self.history, self.loss)
        check_checkpoint(self.checkpoint)

    def _check_intercept(self):
        if self.fit_intercept != (self.feature_names_out_[-1] == "constant"):
            raise ValueError(
                f"`fit_intercept` must be as in `fit`; got {self.fit_intercept} now. Set it back, "
                "or call `fit`."
            )

    def _attributes_at(self, table, objective, state):
        """Return the attributes that the ranker would have if the solver stopped now."""
        stopped = copy(self)
        stopped.store_table(table)
        stopped.history_ = None  # history terms are fitted after all other weights
        return vars(stopped) | coef_attributes(objective, state["coef"]())

    @property
    def weight_label(self):
        """Label of the column of weights, which is no feature.

        :meta private:
        """
        return getattr(self, "_weight_label", None)

    def vectors_of_queries(self, queries):
        vectors = sum_of_weights(self, queries)
        is_new = queries.playlists < 0
        if is_new.any():
            similar = weights_of_similar_playlists(self, queries.rows[is_new])
            if similar is not None:
                vectors[is_new] += similar
        return vectors

    def user_vectors(self, queries):
        """Return the weights of queries, without those of similar playlists.

        :meta private:
        """
        return sum_of_weights(self, queries)

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
