"""Benchmarks and studies run at tiny size, so that none of them rots."""

import importlib
import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import skmtc

ROOT = pathlib.Path(skmtc.__file__).parent.parent
FOLDER = ROOT / "examples" / "benchmarks"
SCRIPTS = sorted(path.name for kind in ("bench", "study") for path in FOLDER.glob(f"{kind}_*.py"))
# What each table tells of how it was made.
ORIGIN = ["machine", "date", "versions"]


def run_tiny(script, folder):
    """Run a script as a user would, in a folder of its own; give the process and the table."""
    done = subprocess.run(
        [sys.executable, FOLDER / script, "--tiny", "--csv", "table.csv"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done, pd.read_csv(folder / "table.csv")


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_and_writes_its_figures(script, tmp_path):
    done, table = run_tiny(script, tmp_path)
    assert done.stdout
    assert len(table) > 0
    assert table[ORIGIN].notna().all(axis=None)
    assert table["versions"].str.contains(f"skmtc {skmtc.__version__}", regex=False).all()
    assert table.drop(columns=ORIGIN).select_dtypes("number").notna().any(axis=None)


def test_all_are_found():
    # Modules that are shared have other names; whatever has a command line is run above, or by one
    # of these in a process of its own.
    commands = {
        path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
    }
    assert sorted(commands - {"trace_solver.py"}) == SCRIPTS


@pytest.fixture
def shared(monkeypatch):
    """Import modules that benchmarks share."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_solvers_do_without_the_other_package(shared, monkeypatch, capsys):
    module = shared("bench_solvers")
    solvers = ["prox-newton", "pylbfgs owl-qn", "owl-qn, user loop"]
    assert module.available(solvers[:1]) == solvers[:1]
    monkeypatch.setattr(module, "version", lambda _: None)
    assert module.available(solvers) == solvers[:1]
    assert "PyLBFGS is absent" in capsys.readouterr().out


def test_embeddings_do_without_gensim(shared, monkeypatch, capsys):
    module = shared("bench_embeddings")
    monkeypatch.setattr(module, "version", lambda _: None)
    assert module.available(["svd", "word2vec"]) == ["svd"]
    assert "gensim is absent" in capsys.readouterr().out


def test_lead_is_paired(shared):
    values = pd.DataFrame({"user": [1, 1, 2, 3], "playlist": [1, 2, 3, 4], "setting": "cold users"})
    auc = np.array([0.9, 0.7, 0.6, 0.8])
    parts = [values.assign(ranker="ours", auc=auc), values.assign(ranker="other", auc=auc - 0.1)]
    make = shared("intervals").with_intervals
    table = make(pd.concat(parts, ignore_index=True), ["auc"], reference="ours")
    ours, other = table.set_index("ranker").loc[["ours", "other"]].to_dict("records")
    # However playlists differ from one another, the distance is the same on each of them.
    ends = ["auc_lead", "auc_lead_low", "auc_lead_high"]
    np.testing.assert_allclose([other[end] for end in ends], 0.1)
    assert [ours[end] for end in ends] == [0, 0, 0]
    assert ours["auc"] == pytest.approx(0.75)
    assert ours["auc_low"] < ours["auc"] < ours["auc_high"]
    assert (ours["n_users"], ours["n_playlists"]) == (3, 4)


def test_rows_of_other_settings_stay(shared, tmp_path):
    update, path = shared("study").update_csv, tmp_path / "table.csv"
    rows = pd.DataFrame({"data": "small", "setting": ["cold users", "cold songs"], "auc": 0.5})
    update(rows, path)
    update(rows[:1].assign(auc=0.9), path)
    auc = pd.read_csv(path).set_index("setting")["auc"].to_dict()
    assert auc == {"cold songs": 0.5, "cold users": 0.9}
