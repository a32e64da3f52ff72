"""How many functions of the package a reader passes from `fit` to the formula."""

import sys
from pathlib import Path

import pytest

import skmtc
from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.optimize import SOLVERS
from skmtc.optimize._risks import risk_terms
from skmtc.optimize.prox_newton import _solver
from skmtc.optimize.prox_newton._exact_losses import ExactLosses

ROOT = str(Path(skmtc.__file__).parent)


def _frames_to(code, call, through="fit"):
    """Return the fewest functions of the package, `through` among them, when some code runs."""
    found = []

    def look(frame, event, _):
        if event == "call" and frame.f_code is code:
            names = []
            while frame is not None:
                if frame.f_code.co_filename.startswith(ROOT):
                    names.append(frame.f_code.co_name)
                frame = frame.f_back
            if through in names:
                found.append(names[::-1])

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return min(found, key=len)


@pytest.fixture(scope="module")
def X():
    return make_playlists(random_state=0).drop(columns="year")


@pytest.mark.parametrize("solver", SOLVERS)
def test_fit_calls_the_solver_from_its_second_frame(X, solver):
    solve = SOLVERS[solver].solve
    ranker = MultitaskPlaylistRanker(solver=solver, tol=1e-2)
    names = _frames_to(solve.__code__, lambda: ranker.fit(X))
    assert names == ["fit", "_fit", solve.__name__]


def test_the_formula_is_at_most_six_frames_below_fit(X):
    ranker = MultitaskPlaylistRanker(solver="owlqn", tol=1e-2)
    names = _frames_to(risk_terms.__code__, lambda: ranker.fit(X))
    assert names == ["fit", "_fit", "solve_owlqn", "value_and_gradient", "risk_terms"]


def test_the_default_solver_evaluates_large_problems_at_most_six_frames_below_fit(X, monkeypatch):
    monkeypatch.setattr(_solver, "is_small", lambda _: False)
    fit = MultitaskPlaylistRanker(tol=1e-2).fit
    names = _frames_to(risk_terms.__code__, lambda: fit(X), through="iterate")
    assert names == ["fit", "_fit", "solve_prox_newton", "iterate", "evaluate", "risk_terms"]


def test_the_default_solver_expands_small_problems_at_most_six_frames_below_fit(X):
    fit = MultitaskPlaylistRanker(tol=1e-2).fit
    # Newton steps have losses, gradients and Hessians of their own.
    names = _frames_to(ExactLosses._losses.__code__, lambda: fit(X), through="iterate")
    assert names == ["fit", "_fit", "solve_prox_newton", "iterate", "expand", "_losses"]
