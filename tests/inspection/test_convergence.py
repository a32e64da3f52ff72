"""Curves are the histories of solvers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cold_rows import NUMBERS, X_TRAIN
from sklearn.pipeline import make_pipeline

from skmtc import MultitaskPlaylistRanker, RidgeRanker
from skmtc.inspection import ConvergenceDisplay

FITTED = {
    solver: MultitaskPlaylistRanker(solver=solver, tol=1e-6, song_features=NUMBERS).fit(X_TRAIN)
    for solver in ("prox-newton", "owlqn")
}
HISTORIES = {solver: ranker.solver_history_ for solver, ranker in FITTED.items()}


def test_suboptimality_is_the_distance_from_the_best_objective():
    display = ConvergenceDisplay.from_histories(HISTORIES)
    best = min(min(h["objective"]) for h in HISTORIES.values())
    assert len(display.lines_) == 2
    for line, (name, history) in zip(display.lines_, HISTORIES.items(), strict=True):
        above = (np.array(history["objective"]) - best) / best
        np.testing.assert_allclose(line.get_ydata(), above[above > 0])
        np.testing.assert_allclose(line.get_xdata(), np.array(history["seconds"])[above > 0])
        assert line.get_label() == name
    assert display.ax_.get_yscale() == "log"


def test_a_known_minimum_is_used():
    display = ConvergenceDisplay.from_estimator(FITTED["prox-newton"], minimum=0.5)
    objective = np.array(HISTORIES["prox-newton"]["objective"])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), (objective - 0.5) / 0.5)
    assert display.lines_[0].get_label() == "prox-newton"


@pytest.mark.parametrize("x", ["seconds", "passes", "iterations"])
@pytest.mark.parametrize("y", ["optimality", "objective"])
def test_what_is_recorded_is_drawn(x, y):
    display = ConvergenceDisplay.from_estimator(FITTED["prox-newton"], x=x, y=y)
    history = HISTORIES["prox-newton"]
    shown = np.isfinite(history[y])  # the first point has no optimality yet
    across = np.arange(len(shown)) if x == "iterations" else np.array(history[x])
    np.testing.assert_allclose(display.lines_[0].get_xdata(), across[shown])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), np.array(history[y])[shown])


def test_pipelines_names_and_axes():
    _, ax = plt.subplots()
    pipeline = make_pipeline("passthrough", FITTED["owlqn"])
    display = ConvergenceDisplay.from_estimator(pipeline, name="the paper's", ax=ax)
    assert display.ax_ is ax
    assert display.lines_[0].get_label() == "the paper's"
    assert display.plot(x="iterations", name=["again"]).lines_[0].get_label() == "again"


def test_what_is_not_recorded_is_reported():
    with pytest.raises(ValueError, match="Every history must have 'passes'; got one with"):
        ConvergenceDisplay.from_histories(HISTORIES, x="passes")
    with pytest.raises(ValueError, match="`x` must be one of"):
        ConvergenceDisplay.from_histories(HISTORIES, x="years")
    with pytest.raises(ValueError, match="`y` must be one of"):
        ConvergenceDisplay.from_histories(HISTORIES, y="beauty")


def test_rankers_without_a_history_are_refused():
    with pytest.raises(TypeError, match="history of its solver"):
        ConvergenceDisplay.from_estimator(RidgeRanker(song_features=NUMBERS).fit(X_TRAIN))
    with pytest.raises(TypeError, match="dict of histories by name"):
        ConvergenceDisplay(HISTORIES["owlqn"]["objective"])
