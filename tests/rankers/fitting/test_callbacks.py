"""Watching a fit: callbacks where scikit-learn has them, lines of text everywhere."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.metrics import make_playlist_scorer
from skmtc.model_selection import ColdPlaylistKFold
from skmtc.rankers.fitting._callbacks import HAS_CALLBACKS

LINE = re.compile(r"iteration +\d+  objective \d+\.\d+  optimality \d\.\d+e[-+]\d+  \d+\.\d+ s")


@pytest.fixture(scope="module")
def X():
    return make_playlists(12, 40, 70, 9, n_features=3, random_state=0).drop(columns="year")


def _ranker(**parameters):
    return MultitaskPlaylistRanker(random_state=0, **({"tol": 1e-4} | parameters))


@pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
def test_verbose_prints_a_line_per_iteration(X, solver, capsys):
    ranker = _ranker(solver=solver, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == ranker.n_iter_
    assert all(LINE.fullmatch(line) for line in lines)
    _ranker(solver=solver).fit(X)
    assert capsys.readouterr().out == ""


class Recorder:
    """A callback that keeps what it is reported, and may stop the fit."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.rankers, self.torn_down = [], [], [], 0

    def setup(self, estimator, context):  # noqa: ARG002
        """Expect nothing yet."""
        assert not self.begun

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        """Keep the name of the task."""
        self.begun.append(context.task_name)

    def on_fit_task_end(
        self,
        estimator,  # noqa: ARG002
        context,
        *,
        X=None,
        y=None,
        fitted_estimator=None,
    ):
        """Keep the task and the ranker; stop in time."""
        self.ended.append(context.task_name)
        self.rankers.append(fitted_estimator)
        assert len(X) == len(y)
        return len(self.ended) == self.stop_after

    def teardown(self, estimator, context):  # noqa: ARG002
        """Count the ends."""
        self.torn_down += 1


if HAS_CALLBACKS:
    from sklearn.callback import ProgressBar, ScoringMonitor

    @pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
    def test_callbacks_see_every_iteration(X, solver):
        recorder = Recorder()
        ranker = _ranker(solver=solver).set_callbacks(recorder).fit(X)
        iterations = [f"iteration {i}" for i in range(1, ranker.n_iter_ + 1)]
        assert recorder.begun == ["fit", *iterations]
        assert recorder.ended == [*iterations, "fit"]
        assert recorder.torn_down == 1
        for last in recorder.rankers[-2:]:
            np.testing.assert_array_equal(last.shared_coef_, ranker.shared_coef_)
            np.testing.assert_array_equal(last.predict(X), ranker.predict(X))
        assert not np.array_equal(recorder.rankers[0].predict(X), ranker.predict(X))

    def test_rankers_that_callbacks_see_score_without_the_history_to_come(X):
        recorder = Recorder()
        ranker = _ranker(history=("song",)).set_callbacks(recorder).fit(X)
        first, last = recorder.rankers[0], recorder.rankers[-1]
        np.testing.assert_array_equal(last.predict(X), ranker.predict(X))
        assert not first.adds_to_scores()
        again = Recorder()
        ranker.set_callbacks(again).fit(X.head(60))  # with other playlists than before
        np.testing.assert_array_equal(again.rankers[0].songs_, ranker.songs_)
        assert np.isfinite(again.rankers[0].predict(X)).all()
        assert np.isfinite(again.rankers[0].score(X))

    def test_callbacks_change_nothing(X):
        watched = _ranker().set_callbacks(Recorder()).fit(X)
        np.testing.assert_array_equal(watched.predict(X), _ranker().fit(X).predict(X))

    @pytest.mark.parametrize("solver", ["prox-newton", "owlqn"])
    def test_a_callback_may_stop_the_fit_without_a_warning(X, solver):
        ranker = _ranker(solver=solver, tol=1e-9)
        stopped = clone(ranker).set_callbacks(Recorder(stop_after=2)).fit(X)
        assert stopped.n_iter_ == 2
        assert 0.5 < stopped.score(X) <= 1.0

    def test_a_fit_that_fails_is_torn_down(X):
        class Failing(Recorder):
            def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
                raise RuntimeError("enough")

        callback = Failing()
        with pytest.raises(RuntimeError, match="enough"):
            _ranker().set_callbacks(callback).fit(X)
        assert callback.torn_down == 1

    def test_progress_bar_and_scoring_monitor_on_a_grid_search(X, capsys):
        monitor = ScoringMonitor(scoring={"auc": make_playlist_scorer("auc")})
        search = GridSearchCV(
            _ranker().set_callbacks(monitor), {"user_l2": [0.1, 1.0]}, cv=ColdPlaylistKFold(2)
        )
        search.set_callbacks(ProgressBar()).fit(X)
        assert "MultitaskPlaylistRanker" in capsys.readouterr().out
        assert 0.5 < search.best_score_ <= 1.0
        log = monitor.get_logs().data_as_pandas
        iterations = log[log["task_name"].str.startswith("iteration")]
        assert iterations["parent_task_id_path"].nunique() >= 4
        assert iterations["auc"].between(0.3, 1.0).all()
        last = log[log["task_name"] == "fit"]["auc"]
        assert (last > 0.5).all()
else:

    def test_older_versions_have_no_callbacks():
        assert not hasattr(MultitaskPlaylistRanker(), "set_callbacks")
