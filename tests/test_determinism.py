"""The same table gives the same bits, whatever the order of rows, names, threads and processes."""

import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from digests import RANKERS, TRAIN, X, digest
from sklearn.base import clone

import skmtc
from skmtc._kernels import loading
from skmtc.persistence import load, save


@cache
def _fitted(name):
    return clone(RANKERS[name]).fit(TRAIN)


@cache
def _expected(name):
    return digest(_fitted(name))


each_ranker = pytest.mark.parametrize("name", RANKERS)


@each_ranker
def test_the_order_of_rows_changes_no_bit(name):
    shuffled = TRAIN.sample(frac=1, random_state=1)
    assert digest(clone(RANKERS[name]).fit(shuffled)) == _expected(name)


@each_ranker
def test_names_of_ids_that_sort_alike_change_no_bit(name):
    labels = ["user", "playlist", "song"]
    spelled = {i: f"id {i}" for label in labels for i in X[label].unique()}
    renamed = X.assign(**{label: X[label].map(spelled) for label in labels})
    ranker = clone(RANKERS[name]).fit(renamed.loc[TRAIN.index])
    back = {new: old for old, new in spelled.items()}
    assert digest(ranker, renamed, back) == _expected(name)


@each_ranker
def test_a_round_trip_and_a_second_fit_change_no_bit(name, tmp_path):
    ranker = _fitted(name)
    save(ranker, tmp_path / "model.skops")
    for again in (pickle.loads(pickle.dumps(ranker)), load(tmp_path / "model.skops")):
        assert digest(again) == _expected(name)
        # Nor does a round trip change what a second fit or the next users learn.
        assert digest(again.fit(TRAIN)) == _expected(name)


@each_ranker
def test_the_number_of_threads_changes_no_bit(name):
    if "n_jobs" not in RANKERS[name].get_params():
        assert name == "ridge"
        return
    for n_jobs in (1, 3):
        ranker = clone(RANKERS[name]).set_params(n_jobs=n_jobs).fit(TRAIN)
        assert digest(ranker) == _expected(name)


def test_the_seed_of_hashes_changes_no_bit():
    other = "4711" if os.environ.get("PYTHONHASHSEED") != "4711" else "42"
    paths = [str(Path(__file__).parent), str(Path(skmtc.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import digests; digests.print_digests()"],
        env=os.environ | {"PYTHONHASHSEED": other, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    reported = dict(line.split() for line in done.stdout.splitlines())
    assert reported == {name: _expected(name) for name in RANKERS}


# Compiled loops sum in another order than numpy does, so that a fit ends elsewhere within `tol`.
# Weights of history terms rest on samples that are drawn by score, which makes more of it.
@pytest.mark.parametrize(("history", "share"), [(None, 0.005), (("song",), 0.05)])
def test_scores_with_and_without_numba_agree(history, share, monkeypatch):
    found = {}
    for is_compiled in (True, False):
        worthwhile = 0 if is_compiled else 2**62
        for constant in ("EXPONENTIALS", "WEIGHTS", "ENTRIES"):
            monkeypatch.setattr(loading, f"WORTHWHILE_{constant}", worthwhile)
        ranker = clone(RANKERS["multitask"]).set_params(
            history=history, song_features=None, tol=1e-7
        )
        found[is_compiled] = ranker.fit(TRAIN.drop(columns="year"))
    compiled, plain = found[True], found[False]
    assert compiled.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    scores = compiled.predict(X.drop(columns="year")), plain.predict(X.drop(columns="year"))
    assert abs(scores[0] - scores[1]).max() <= share * np.std(scores[0])
