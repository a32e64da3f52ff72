"""Many settings of the penalties at once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from skmtc import MultitaskPlaylistRanker, PopularityRanker, regularization_path
from skmtc.datasets import make_playlists


@pytest.fixture(scope="module")
def X():
    return make_playlists(random_state=0).drop(columns="year")


def test_a_path_equals_separate_fits(X):
    ranker = MultitaskPlaylistRanker(tol=1e-4, random_state=0)
    settings = list(ParameterGrid({"user_l2": [0.1, 3.0], "playlist_l1": [2.0, 0.2]}))
    path = regularization_path(ranker, X, settings)
    for setting, fitted in zip(settings, path, strict=True):
        alone = clone(ranker).set_params(**setting).fit(X)
        assert fitted.get_params()["user_l2"] == setting["user_l2"]
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=1e-4)
        assert fitted.lambdas_ == pytest.approx(alone.lambdas_)
        assert fitted.optimality_ <= 1e-4
        np.testing.assert_allclose(fitted.predict(X), alone.predict(X), atol=0.1)
        assert fitted.score(X) == pytest.approx(alone.score(X), abs=1e-3)
    assert not hasattr(ranker, "shared_coef_")


def test_a_path_needs_fewer_passes(X):
    settings = [{"user_l2": value} for value in np.geomspace(10, 0.1, 10)]
    ranker = MultitaskPlaylistRanker(random_state=0)
    path = regularization_path(ranker, X, settings)
    passes = sum(r.solver_history_["passes"][-1] for r in path)
    alone = sum(
        clone(ranker).set_params(**setting).fit(X).solver_history_["passes"][-1]
        for setting in settings
    )
    assert passes < 0.6 * alone


def test_bad_requests_are_reported(X):
    with pytest.raises(ValueError, match=r"got \['push'\]"):
        regularization_path(MultitaskPlaylistRanker(), X, [{"push": 2.0}])
    with pytest.raises(ValueError, match=r"`solver` among \['prox-newton'\]; got"):
        regularization_path(MultitaskPlaylistRanker(solver="owlqn"), X, [])
    with pytest.raises(ValueError, match="`user_l2` must be"):
        regularization_path(MultitaskPlaylistRanker(), X, [{"user_l2": -1.0}])
    assert regularization_path(MultitaskPlaylistRanker(), X, []) == []


def test_only_the_multitask_ranker_has_a_path(X):
    with pytest.raises(ValueError, match="MultitaskPlaylistRanker"):
        regularization_path(PopularityRanker(), X, [])
