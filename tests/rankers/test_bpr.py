"""The pairwise ranker: parameters, weights, units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import StandardScaler

from skmtc import PairwiseRanker
from skmtc.datasets import make_playlists

COLUMNS = [f"x{j}" for j in range(4)]
X, TRUTH = make_playlists(8, 40, 60, 9, n_features=4, return_truth=True, random_state=0)
FEATURES = make_column_transformer(("passthrough", COLUMNS))


def _fit(X=X, **parameters):
    return PairwiseRanker(song_features=FEATURES, random_state=0, **parameters).fit(X)


def test_weights_add_up():
    ranker = _fit()
    playlist, user = X["playlist"].iloc[0], X["user"].iloc[0]
    of_user = ranker.shared_coef_ + ranker.user_coef_[ranker.users_ == user][0]
    of_playlist = of_user + ranker.playlist_coef_[ranker.playlists_ == playlist][0]
    queries = pd.DataFrame(
        {"user": [user, user, "nobody"], "playlist": [playlist, "a new one", "a new one"]}
    )
    expected = [of_playlist, of_user, ranker.shared_coef_]
    np.testing.assert_allclose(ranker.query_vectors(queries), expected)


def test_weights_lean_the_way_of_the_truth():
    ranker = _fit()
    learned = (ranker.shared_coef_ + ranker.user_coef_)[:, :-1]
    true = TRUTH.shared + TRUTH.user.loc[ranker.users_].to_numpy()
    assert np.corrcoef(learned.ravel(), true.ravel())[0, 1] > 0.6


def test_the_constant_feature_has_no_weight():
    ranker = _fit()
    assert ranker.feature_names_out_[-1] == "constant"
    for coef in (ranker.shared_coef_, ranker.user_coef_, ranker.playlist_coef_):
        assert (coef[..., -1] == 0).all()


def test_the_unit_of_a_feature_does_not_matter():
    scores = _fit().predict(X)
    in_other_units = X.assign(x0=1000 * X["x0"], x1=X["x1"] / 1000)
    np.testing.assert_allclose(_fit(in_other_units).predict(in_other_units), scores)


@pytest.mark.parametrize("block", ["user", "playlist"])
def test_a_large_penalty_leaves_no_weights(block):
    ranker = _fit(**{f"{block}_l2": 1e9, "n_epochs": 200})
    assert abs(getattr(ranker, f"{block}_coef_")).max() < 0.01
    assert abs(ranker.shared_coef_).max() > 0.1


def test_learning_improves_the_ranking():
    assert _fit(n_epochs=1).score(X) + 0.02 < _fit().score(X)


def test_features_may_be_sparse():
    scaled = make_column_transformer(
        (StandardScaler(with_mean=False), COLUMNS), sparse_threshold=1.0
    )
    ranker = PairwiseRanker(song_features=scaled, random_state=0).fit(X)
    np.testing.assert_allclose(ranker.predict(X), _fit().predict(X), rtol=1e-6)


def test_chance_is_seeded():
    np.testing.assert_array_equal(_fit().predict(X), _fit().predict(X))
    other = PairwiseRanker(song_features=FEATURES, random_state=1).fit(X)
    assert (other.predict(X) != _fit().predict(X)).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [("user_l2", -1), ("learning_rate", 0), ("n_epochs", 0), ("batch_size", 1.5)],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        _fit(**{name: value})
