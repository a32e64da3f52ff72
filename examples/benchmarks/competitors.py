"""What a user might pick instead: other packages as rankers, evaluated by the same code.

Each class fits a package's model on the users x songs matrix of playcounts or on the playlists x
songs matrix, with song features and user attributes where it takes any, and gives vectors whose
inner products are its scores. A class says in `cannot` which settings its package has no answer
for, and why.
"""

import importlib
import io
import warnings
from contextlib import redirect_stdout

import numpy as np
from scipy.sparse import coo_matrix, csr_array, csr_matrix, eye, hstack
from threadpoolctl import threadpool_limits

from skmtc._utils.sparse import as_ones, one_hot
from skmtc.rankers.features import (
    FeatureRanker,
    attributes_of,
    fit_attributes,
    fit_song_features,
    vectors_of_new_songs,
)

NO_USERS = "an unknown user has no vector"
NO_SONGS = "an unknown song has no vector"


class Competitor(FeatureRanker):
    """Base of competitors.

    Subclasses implement `_factorise`, which sets `user_vectors_` and `catalogue_vectors_`, and, if
    they can, `_vectors_of_new_users` and `_vectors_of_new_songs`. Those whose results depend much
    on the options of the model have a `grid` to choose `options` from.

    With ``by="playlist"``, the "users" of the model are playlists, which is the better choice where
    all playlists are known, as they are when new songs are ranked.
    """

    package = module = ""
    cannot = {"cold users": NO_USERS, "cold songs": NO_SONGS}
    fit_intercept = True
    n_neighbors = 1
    grid = ()

    def __init__(self, *, song_features=None, user_features=None, by="user", options=None, seed=0):
        self.song_features = song_features
        self.user_features = user_features
        self.by = by
        self.options = options
        self.seed = seed

    user, playlist, song = "user", "playlist", "song"

    @property
    def random_state(self):
        """The seed, under the name that the making of features reads."""
        return self.seed

    @classmethod
    def missing(cls):
        """Return how to install the package; None if it is installed."""
        try:
            importlib.import_module(cls.module)
        except ImportError:
            return f"not installed: pip install {cls.package}"
        return None

    def _fit(self, table, frame):
        self.song_attributes_ = None
        if self.song_features is not None:
            songs = fit_song_features(self, table, frame)
            vars(self).update(songs.attributes, song_attributes_=songs.matrix)
        vars(self).update(fit_attributes(self, "user", table, frame))
        counts = as_ones(table.membership)
        if self.by == "user":
            counts = one_hot(table.user_of_playlist, len(table.users)).T @ counts
        self.counts_ = csr_matrix(counts, dtype=np.float32)
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # progress bars
            warnings.simplefilter("ignore")
            # Their own threads and those of BLAS get in each other's way.
            with threadpool_limits(1, user_api="blas"):
                self._factorise(self.counts_)

    def vectors_of_queries(self, queries):
        """Return one vector per query."""
        codes = queries.users if self.by == "user" else queries.playlists
        known = codes >= 0
        if known.all():
            return self.user_vectors_[codes]
        attributes = attributes_of(self, "user", queries.rows[~known])
        vectors = np.empty((len(queries), self.user_vectors_.shape[1]), dtype=np.float32)
        vectors[known] = self.user_vectors_[codes[known]]
        vectors[~known] = self._vectors_of_new_users(attributes)
        return vectors

    def vectors_of_songs(self, songs):
        """Return one vector per song."""
        if not songs.is_new.any():
            return self.catalogue_vectors_[songs.codes]
        vectors = np.empty((len(songs), self.catalogue_vectors_.shape[1]), dtype=np.float32)
        vectors[~songs.is_new] = self.catalogue_vectors_[songs.codes[~songs.is_new]]
        vectors[songs.is_new] = self._vectors_of_new_songs(self.features_of_new(songs))
        return vectors

    def features_of_new(self, songs):
        """Return the features of new songs, without the constant one."""
        return vectors_of_new_songs(self, songs)[:, :-1]


class ImplicitALS(Competitor):
    """Alternating least squares of `implicit`."""

    package, module = "implicit", "implicit.als"
    grid = tuple(
        {"factors": factors, "regularization": penalty, "alpha": alpha}
        for factors in (32, 64)
        for penalty in (0.05, 10.0, 100.0)
        for alpha in (1.0, 10.0)
    )

    def _factorise(self, counts):
        from implicit.als import AlternatingLeastSquares

        options = {"factors": 64, "regularization": 0.05} | (self.options or {})
        model = AlternatingLeastSquares(
            iterations=15, use_gpu=False, random_state=self.seed, **options
        )
        model.fit(counts, show_progress=False)
        self.user_vectors_, self.catalogue_vectors_ = model.user_factors, model.item_factors


class ImplicitBPR(Competitor):
    """Bayesian personalised ranking of `implicit`."""

    package, module = "implicit", "implicit.bpr"

    def _factorise(self, counts):
        from implicit.bpr import BayesianPersonalizedRanking

        options = {"factors": 63, "iterations": 100} | (self.options or {})
        model = BayesianPersonalizedRanking(use_gpu=False, random_state=self.seed, **options)
        model.fit(counts, show_progress=False)
        self.user_vectors_, self.catalogue_vectors_ = model.user_factors, model.item_factors


class ImplicitKNN(Competitor):
    """Neighbours of `implicit`: songs near those that the user has, by cosine or TF-IDF."""

    package, module = "implicit", "implicit.nearest_neighbours"

    def _factorise(self, counts):
        from implicit.nearest_neighbours import CosineRecommender, TFIDFRecommender

        options = {"K": 100, "weighting": "cosine"} | (self.options or {})
        kinds = {"cosine": CosineRecommender, "tfidf": TFIDFRecommender}
        model = kinds[options["weighting"]](K=options["K"])
        model.fit(counts, show_progress=False)
        self.user_vectors_ = csr_array(counts, dtype=np.float64)
        self.catalogue_vectors_ = csr_array(model.similarity.T, dtype=np.float64)


class IrspackRP3(Competitor):
    """RP3beta of `irspack`: random walks from the user's songs."""

    package, module = "irspack", "irspack"
    grid = tuple(
        {"alpha": alpha, "beta": beta, "normalize_weight": normalised}
        for alpha in (0.6, 1.0)
        for beta in (0.0, 0.3, 0.6)
        for normalised in (False, True)
    )

    def _factorise(self, counts):
        from irspack import RP3betaRecommender

        options = {"normalize_weight": True} | (self.options or {})
        model = RP3betaRecommender(counts.astype(np.float64), top_k=500, **options)
        model.learn()
        self.user_vectors_ = csr_array(counts, dtype=np.float64)
        self.catalogue_vectors_ = csr_array(model.W.T, dtype=np.float64)


class EASE(Competitor):
    """EASE (H. Steck, 2019): ridge regression of each song on all others, in closed form.

    With the users x songs matrix X, P = (X'X + l2 I)^-1 and d its diagonal, the scores are
    X (I - P / d). As XP = (XX' + l2 I)^-1 X and d = (1 - diag(X' (XX' + l2 I)^-1 X)) / l2, a matrix
    of users x users is inverted, which is exact and smaller than the usual one of songs x songs.
    """

    package = module = "numpy"

    def _factorise(self, counts):
        options = {"l2": 300.0} | (self.options or {})
        held = csr_array(as_ones(counts), dtype=np.float64)
        kernel = (held @ held.T).toarray()
        kernel[np.diag_indices_from(kernel)] += options["l2"]
        inverse = np.linalg.inv(kernel)
        explained = np.asarray(held.multiply(inverse @ held).sum(axis=0)).ravel()
        of_songs = csr_array(held.T) * (options["l2"] / (1.0 - explained))[:, None]
        self.user_vectors_ = csr_array(hstack([csr_array(-inverse), held]))
        self.catalogue_vectors_ = csr_array(hstack([of_songs, eye(held.shape[1])]))


class IrspackIALS(Competitor):
    """The iALS of `irspack`, with features where there are any."""

    package, module = "irspack", "irspack"
    cannot = {}
    grid = tuple(
        {"alpha0": alpha, "reg": penalty}
        for alpha in (0.03, 0.1, 0.3)
        for penalty in (0.001, 0.003, 0.01, 0.03)
    )

    def _factorise(self, counts):
        from irspack import IALSRecommender

        features = {}
        if self.user_attributes_ is not None:
            features |= {"user_features": _sparse(self.user_attributes_), "lambda_user_feature": 1}
        if self.song_attributes_ is not None:
            features |= {"item_features": _sparse(self.song_attributes_), "lambda_item_feature": 1}
        options = {"n_components": 128, "alpha0": 0.1, "reg": 0.003} | features
        options |= self.options or {}
        self._model = IALSRecommender(counts, random_seed=self.seed, **options)
        self._model.learn()
        self.user_vectors_ = self._model.get_user_embedding()
        self.catalogue_vectors_ = self._model.get_item_embedding()

    def _vectors_of_new_users(self, attributes):
        return self._model.compute_user_embedding_from_features(_sparse(attributes))

    def _vectors_of_new_songs(self, features):
        return self._model.compute_item_embedding_from_features(_sparse(features))


class RectoolsLightFM(Competitor):
    """LightFM with the WARP loss, from the maintained fork, with features where there are any."""

    package, module = "rectools-lightfm", "lightfm"
    cannot = {}

    def _factorise(self, counts):
        from lightfm import LightFM

        users, songs = (
            self._with_ids(self.user_attributes_, 0),
            self._with_ids(self.song_attributes_, 1),
        )
        options = {"no_components": 64, "epochs": 15} | (self.options or {})
        epochs = options.pop("epochs")
        self._model = LightFM(loss="warp", random_state=self.seed, **options)
        self._model.fit(
            coo_matrix(_sparse(as_ones(counts))),
            user_features=users,
            item_features=songs,
            epochs=epochs,
            num_threads=1,  # more would make the result depend on chance
        )
        self.user_vectors_ = self._user_vectors(users)
        self.catalogue_vectors_ = self._item_vectors(songs)

    def _with_ids(self, attributes, axis):
        ids = eye(self.counts_.shape[axis], format="csr", dtype=np.float32)
        return _sparse(ids if attributes is None else hstack([ids, csr_array(attributes)]))

    def _without_ids(self, attributes, axis):
        ids = csr_array((attributes.shape[0], self.counts_.shape[axis]), dtype=np.float32)
        return _sparse(hstack([ids, csr_array(attributes)]))

    def _user_vectors(self, features):
        _, vectors = self._model.get_user_representations(features)
        return np.hstack([vectors, np.ones((len(vectors), 1), dtype=np.float32)])

    def _item_vectors(self, features):
        biases, vectors = self._model.get_item_representations(features)
        return np.hstack([vectors, biases[:, None]])

    def _vectors_of_new_users(self, attributes):
        return self._user_vectors(self._without_ids(attributes, 0))

    def _vectors_of_new_songs(self, features):
        return self._item_vectors(self._without_ids(features, 1))


class Cmfrec(Competitor):
    """Collective matrix factorisation of `cmfrec`, with features where there are any."""

    package, module = "cmfrec", "cmfrec"
    cannot = {}

    def _factorise(self, counts):
        from cmfrec import CMF_implicit

        options = {"k": 64} | (self.options or {})
        self._model = CMF_implicit(random_state=self.seed, verbose=False, **options)
        self._model.fit(
            coo_matrix(counts), U=_dense(self.user_attributes_), I=_dense(self.song_attributes_)
        )
        self.user_vectors_, self.catalogue_vectors_ = self._model.A_, self._model.B_

    def _vectors_of_new_users(self, attributes):
        return np.array([self._model.factors_cold(U=row) for row in _dense(attributes)])

    def _vectors_of_new_songs(self, features):
        return np.array([self._model.item_factors_cold(I=row) for row in _dense(features)])


def _sparse(matrix):
    """Return a matrix in the one form that all packages read."""
    matrix = csr_matrix(matrix, dtype=np.float32)
    matrix.indices, matrix.indptr = matrix.indices.astype("i4"), matrix.indptr.astype("i4")
    return matrix


def _dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
