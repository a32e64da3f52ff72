"""Weighted matrix factorisation, with a content model for new songs."""

import threading
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from skmtc._typing import Column, Seed
from skmtc._utils.fitted_state import Array, Plain, Several
from skmtc._utils.parallel import local_jobs
from skmtc._utils.sparse import as_ones, mean_of_groups, one_hot
from skmtc._utils.validation import check_choice, check_number
from skmtc.rankers.features import (
    FeatureRanker,
    first_known,
    fit_attributes,
    fit_content_model,
    fit_song_features,
    numeric_song_columns,
    vectors_of_new_songs,
)
from skmtc.rankers.recommend import unit_rows

TARGETS = ("auto", "user", "playlist")

# Held while the content model of a ranker is fitted; no part of any ranker's state.
_fitting_content_model = threading.Lock()

FACTORS = {
    "songs": Array("songs", "factors"),
    "users": Array("users", "factors"),
    "playlists": Array("playlists", "factors", optional=True),
}


class MatrixFactorizationRanker(FeatureRanker):
    """Rank songs by weighted matrix factorisation (WMF; WMF+kNN; MF+MLP).

    The factors of songs and users, or of songs and playlists, are those of `implicit`'s
    alternating least squares, which must be installed (``pip install implicit``). Which factors
    score a row is read from the ids:

    ============================== =======================================================
    a known playlist               factors of the playlist, or those of its user
    a new playlist of a known user factors of the user
    a new user with attributes     mean factors of the most similar users
    a new user                     mean factors of all users
    a known song                   factors of the song
    a new song with features       factors predicted by `content_model`
    a new song                     mean factors of all songs
    ============================== =======================================================

    Parameters
    ----------
    n_factors : int, default=64
        Number of factors.

    factor_l2 : float, default=0.01
        Penalty on the squared l2 norm of all factors.

    confidence : float, default=10.0
        A song that a user has in n playlists counts ``1 + confidence * n`` times as much as one
        that the user does not have.

    n_iterations : int, default=15
        Number of iterations of alternating least squares.

    target : {"auto", "user", "playlist"}, default="auto"
        What to factorise: songs x users playcounts (number of a user's playlists that hold the
        song), or songs x playlists, where the factors of a user are the mean of those of the
        user's playlists. "auto" does as the paper: users for known songs, and, if there is a
        content model, also playlists for new songs.

    song_features : transformer, list of columns, "auto", "passthrough" or None, default=None
        Makes the features of songs for `content_model`. It is cloned and fitted on one row per
        distinct song, `fit_transform(songs, membership)`, where `membership` is the sparse
        songs x playlists matrix of 1-based positions. "auto" uses all that the table tells of
        songs, by `make_song_features`; None the numeric columns that describe songs, if there are
        any; a list the columns it names; "passthrough" every column that is not an id. A scaler
        gets the numeric columns that describe songs.

    content_model : regressor, "mlp" or None, default="mlp"
        Predicts the factors of a song from its features. "mlp" is an `MLPRegressor` with one
        hidden layer of 64 units on standardised features. None: there is no content model, and
        song features are not used. As it takes longer than all the rest and only new songs need
        it, it is fitted when the first of them is scored; to have it done before, ask for
        `content_model_`.

    user_features : transformer, "auto", "passthrough" or None, default=None
        Makes the attributes of users, by whose cosine new users are compared with known ones. It
        is fitted on one row per distinct user. None: attributes are not used.

    n_neighbors : int, default=100
        How many similar users stand in for a new one; users as similar as the last are included.

    n_jobs : int, default=None
        Number of threads, in the sense of joblib. It never changes the result.

    user : str, int or None, default="user"
        Column of user ids, by name or position. None: owners are unknown, and each playlist is
        its own user.

    playlist : str or int, default="playlist"
        Column of playlist ids.

    song : str or int, default="song"
        Column of song ids.

    random_state : int, RandomState instance or None, default=None
        Seed of the first factors and of the "mlp".

    Attributes
    ----------
    known_factors_ : dict of str to ndarray
        Factors that score known songs: "songs" of shape (n_songs, n_factors), "users" of shape
        (n_users, n_factors), and "playlists" of shape (n_playlists, n_factors), or None where a
        playlist has the factors of its user.

    new_factors_ : dict or None
        The same for new songs, where `target="auto"` made factors by playlist for them. None:
        `known_factors_` score new songs too.

    content_model_ : regressor or None
        Fitted content model; None without song features. It is fitted when it is first asked for
        or a new song is first scored, whichever comes first, with the same result.

    songs_, users_, playlists_ : ndarray
        Distinct ids, sorted.

    song_features_, user_features_ : transformer or None
        Fitted transformers.

    user_attributes_ : array, csr_array or None
        Attributes of the known users.

    feature_names_out_ : ndarray
        Names of the features of the content model, a constant one last; empty without one.

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
    MultitaskPlaylistRanker : Ranker that learns from features in all settings.

    References
    ----------
    Y. Hu, Y. Koren, C. Volinsky. Collaborative Filtering for Implicit Feedback Datasets. 2008.

    Examples
    --------
    Two circles of users share no song, so that each is recommended the songs of its own:

    >>> import pandas as pd
    >>> from skmtc import MatrixFactorizationRanker
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "ana", "bob", "eve", "eve", "dan"],
    ...     "playlist": ["p1", "p1", "p2", "p3", "p3", "p4"],
    ...     "song": ["s1", "s2", "s1", "s3", "s4", "s3"],
    ... })
    >>> ranker = MatrixFactorizationRanker(n_factors=2, random_state=0).fit(X)
    >>> songs, _ = ranker.recommend(X.iloc[[2, 5]][["user", "playlist"]], n_recommendations=1)
    >>> songs.tolist()
    [['s2'], ['s4']]
    """

    fit_intercept = True  # so that the content model always has a feature
    _fitted_state = {
        "known_factors_": Several(FACTORS),
        "new_factors_": Several(FACTORS, optional=True),
        "_content": Plain(dict),
    }

    features_for_new_songs_only = True

    def __init__(
        self,
        *,
        n_factors: int = 64,
        factor_l2: float = 0.01,
        confidence: float = 10.0,
        n_iterations: int = 15,
        target: str = "auto",
        song_features: Any = None,
        content_model: Any = "mlp",
        user_features: Any = None,
        n_neighbors: int = 100,
        n_jobs: int | None = None,
        user: Column | None = "user",
        playlist: Column = "playlist",
        song: Column = "song",
        random_state: Seed = None,
    ) -> None:
        self.n_factors = n_factors
        self.factor_l2 = factor_l2
        self.confidence = confidence
        self.n_iterations = n_iterations
        self.target = target
        self.song_features = song_features
        self.content_model = content_model
        self.user_features = user_features
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.user = user
        self.playlist = playlist
        self.song = song
        self.random_state = random_state

    def _check_parameters(self):
        check_number("factor_l2", self.factor_l2, at_least=0)
        check_number("confidence", self.confidence, at_least=0)
        for name in ("n_factors", "n_iterations", "n_neighbors"):
            check_number(name, getattr(self, name), at_least=1, whole=True)
        check_choice("target", self.target, TARGETS)
        if isinstance(self.content_model, str):
            check_choice("content_model", self.content_model, ("mlp",))

    def _fit(self, table, frame):
        _import_als()  # raises if it is missing, before any work
        seed = self._seed()
        vars(self).update(fit_attributes(self, "user", table, frame))
        features = self._fit_content_features(table, frame)
        by_playlist = self.target == "playlist"
        self.known_factors_ = self._factorize(table, seed, by_playlist=by_playlist)
        self.new_factors_ = None
        if self.target == "auto" and features is not None and table.columns.user is not None:
            self.new_factors_ = self._factorize(table, seed, by_playlist=True)
        # What the content model is fitted from, once it is needed, and then the fitted model. It is
        # a dict, so that copies of this ranker share what one of them fits.
        self._content = {"source": None, "fitted": None}
        if features is not None:
            model = self.content_model
            model = model if isinstance(model, str) else clone(model)  # as it is at this time
            self._content["source"] = (model, features, seed)

    @property
    def content_model_(self) -> Any:
        """Fitted content model, or None."""
        if not hasattr(self, "_content"):
            raise AttributeError("`content_model_` is there after `fit` only. Call `fit` first.")
        content = self._content
        if content["fitted"] is None and content["source"] is not None:
            with _fitting_content_model:
                if content["fitted"] is None:  # no other thread was first
                    model, features, seed = content["source"]
                    factors = (self.new_factors_ or self.known_factors_)["songs"]
                    content["fitted"] = fit_content_model(model, features, factors, seed)
                    content["source"] = None  # which can be as large as all the rest
        return content["fitted"]

    def _finish_fit(self, X):
        if self.reader.distinct_songs(self.read_table(X))[0].is_new.any():
            getattr(self, "content_model_")  # noqa: B009

    def _without(self, user_stays, playlist_stays):
        getattr(self, "content_model_")  # noqa: B009 (fitted while all songs are there)
        return super()._without(user_stays, playlist_stays)

    def vectors_of_queries(self, queries):
        blocks = [self.known_factors_, self.new_factors_]
        return np.hstack([self._query_factors(f, queries) for f in blocks if f is not None])

    def vectors_of_songs(self, songs):
        factors = self.known_factors_["songs"]
        n_factors = factors.shape[1]
        # Of two blocks, known songs use the first and new songs the last.
        width = n_factors if self.new_factors_ is None else 2 * n_factors
        vectors = np.zeros((len(songs), width), dtype=factors.dtype)
        vectors[~songs.is_new, :n_factors] = factors[songs.codes[~songs.is_new]]
        if songs.is_new.any():
            vectors[songs.is_new, -n_factors:] = self._factors_of_new(songs)
        return vectors

    def similarity_vectors(self, songs):
        """Return factors of length 1: of two blocks the last, which new songs have, too.

        Without a content model nothing is known of new songs, which have zeros.

        :meta private:
        """
        factors = (self.new_factors_ or self.known_factors_)["songs"]
        vectors = np.zeros((len(songs), factors.shape[1]), dtype=factors.dtype)
        vectors[~songs.is_new] = factors[songs.codes[~songs.is_new]]
        if songs.is_new.any() and self.content_model_ is not None:
            vectors[songs.is_new] = self._factors_of_new(songs)
        return unit_rows(vectors)

    def _query_factors(self, factors, queries):
        users, playlists = factors["users"], factors["playlists"]
        mean = users.sum(axis=0) / max(1, len(users))
        return first_known(self, queries, playlists=playlists, users=users, otherwise=mean)

    def _factors_of_new(self, songs):
        model = self.content_model_
        if model is None:
            factors = self.known_factors_["songs"]
            return factors.sum(axis=0) / max(1, len(factors))
        features = vectors_of_new_songs(self, songs)
        return model.predict(features).reshape(len(songs.new_rows), -1)

    def _factorize(self, table, seed, *, by_playlist):
        """Return the factors of songs, users and playlists."""
        counts = as_ones(table.membership)
        if by_playlist:
            playlists, songs = self._als(counts, seed)
            users = mean_of_groups(table.user_of_playlist, len(table.users)) @ playlists
            return {"songs": songs, "users": users.astype(songs.dtype), "playlists": playlists}
        owned = one_hot(table.user_of_playlist, len(table.users)).T
        users, songs = self._als(csr_array(owned @ counts), seed)
        return {"songs": songs, "users": users, "playlists": None}

    def _als(self, counts, seed):
        """Factorise counts by `implicit`; return the factors of rows and columns."""
        if counts.nnz == 0:  # every playlist is full, as `fit` has warned
            return tuple(np.zeros((n, self.n_factors), dtype=np.float32) for n in counts.shape)
        matrix = csr_matrix(counts, dtype=np.float32)
        matrix.data = 1.0 + np.float32(self.confidence) * matrix.data
        # Each row is solved by one thread, so that their number does not change the result. More
        # threads inside BLAS would slow `implicit` down, of which it warns.
        with threadpool_limits(1, user_api="blas"):
            model = _import_als()(
                factors=self.n_factors,
                regularization=self.factor_l2,
                iterations=self.n_iterations,
                num_threads=local_jobs(self.n_jobs),
                random_state=seed,
                use_gpu=False,
            )
            model.fit(matrix, show_progress=False)
        return model.user_factors, model.item_factors

    def _fit_content_features(self, table, frame):
        """Return the features of the content model; None where there is none."""
        self.song_features_, self.feature_names_out_ = None, np.array([], dtype=object)
        if self.content_model is None:
            return None
        if self.song_features is None and not numeric_song_columns(frame, table.columns):
            return None
        fitted = fit_song_features(self, table, frame).attributes
        features = fitted.pop("song_vectors_")  # the vectors of songs are their factors
        vars(self).update(fitted)
        return features

    def _seed(self):
        """Return a number for `implicit`, whose own way to read `random_state` differs."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def _import_als():
    try:
        from implicit.als import AlternatingLeastSquares
    except ImportError as error:
        raise ImportError(
            "MatrixFactorizationRanker needs the package implicit; got no such package. Install "
            "it with `pip install implicit`."
        ) from error
    return AlternatingLeastSquares
