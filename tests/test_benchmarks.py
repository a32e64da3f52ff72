"""Benchmarks and studies run at tiny size, so that none of them rots."""

import argparse
import importlib
import os
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import skmtc
from skmtc import ItemKNNRanker, OwnSongsRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdUserSplit

ROOT = pathlib.Path(skmtc.__file__).parent.parent
FOLDER = ROOT / "examples" / "benchmarks"
SCRIPTS = sorted(path.name for kind in ("bench", "study") for path in FOLDER.glob(f"{kind}_*.py"))
# What each table tells of how it was made.
ORIGIN = ["machine", "date", "versions"]


def run_tiny(script, folder, *options):
    """Run a script as a user would, in a folder of its own; give the process and the table."""
    done = subprocess.run(
        [sys.executable, FOLDER / script, "--tiny", "--csv", "table.csv", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done, pd.read_csv(folder / "table.csv")


RUNS = [(script,) for script in SCRIPTS]
RUNS += [("study_30music_2017.py", option) for option in ("--ablations", "--times")]


@pytest.mark.parametrize("run", RUNS, ids=" ".join)
def test_runs_and_writes_its_figures(run, tmp_path):
    done, table = run_tiny(run[0], tmp_path, *run[1:])
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


@pytest.fixture
def study_of_two_rankers(shared):
    """Return the module of studies, and a small study on two splits."""
    study = shared("study")

    def entries(train, setting):
        grid = [{"n_neighbors": [5]}, {"n_neighbors": [50]}]
        return {
            "popularity": study.Entry(PopularityRanker()),
            "item kNN": study.Entry(ItemKNNRanker(), grid, goal="all"),
            "slow": study.Entry(OwnSongsRanker(), n_splits=1),
            "other": study.Entry("cannot: it has no answer"),
        }

    X = make_playlists(preset="tiny", random_state=0)
    whole = study.Study(
        "tiny",
        X,
        entries,
        [ColdUserSplit()],
        seeds=(3, 4),
        references=("item kNN",),
        grouped=("popularity", "item kNN"),
    )
    return study, whole


def options_of_study(folder):
    return argparse.Namespace(
        settings=["cold users"], csv=str(folder / "t.csv"), parts=str(folder / "parts")
    )


def test_a_study_fits_each_split_and_tells_who_is_absent(study_of_two_rankers, tmp_path):
    study, whole = study_of_two_rankers
    study.run_study(whole, options_of_study(tmp_path))
    fits = pd.read_csv(tmp_path / "t_fits.csv")
    seeds = fits.groupby("ranker")["split"].agg(list).to_dict()
    assert seeds == {"popularity": [3, 4], "item kNN": [3, 4], "slow": [3]}
    table = pd.read_csv(tmp_path / "t.csv").set_index("ranker")
    assert table["n_splits"].to_dict() == {"popularity": 2, "item kNN": 2, "slow": 1}
    # Each playlist counts the same, whichever split holds it out.
    mean = np.average(fits["auc"], weights=fits["n_playlists"] * (fits["ranker"] == "item kNN"))
    assert table.loc["item kNN", "auc"] == pytest.approx(mean, abs=2e-5)
    absent = pd.read_csv(tmp_path / "t_absent.csv")
    assert absent[["ranker", "reason"]].values.tolist() == [["other", "cannot: it has no answer"]]
    search = pd.read_csv(tmp_path / "t_search.csv")
    assert search["parameters"].tolist() == ['{"n_neighbors": 5}', '{"n_neighbors": 50}']
    groups = pd.read_csv(tmp_path / "t_groups.csv")
    assert set(groups["ranker"]) == {"popularity", "item kNN"}
    sizes = groups[groups["group"].str.startswith("songs per")]
    assert sizes.groupby("ranker")["n_playlists"].sum().nunique() == 1


def test_a_stopped_study_goes_on(study_of_two_rankers, tmp_path, monkeypatch):
    study, whole = study_of_two_rankers
    options, evaluate_ranker, calls = options_of_study(tmp_path), study.evaluate_ranker, []

    def counted(*arguments, **named):
        calls.append(type(arguments[0]).__name__)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return evaluate_ranker(*arguments, **named)

    monkeypatch.setattr(study, "evaluate_ranker", counted)
    with pytest.raises(KeyboardInterrupt):
        study.run_study(whole, options)
    assert pd.read_csv(tmp_path / "t_fits.csv")["ranker"].tolist() == ["popularity"]
    study.run_study(whole, options)
    # What was done is not done again.
    assert calls.count("PopularityRanker") == 2
    assert len(pd.read_csv(tmp_path / "t_fits.csv")) == 5


def test_all_metrics_count_in_a_choice(shared):
    study = shared("study")
    searched = pd.DataFrame(
        {
            "parameters": ['{"a": 1}', '{"a": 2}'],
            "auc": [0.8, 0.78],
            "hit_rate@10": [0.02, 0.03],
            "hit_rate@100": [0.1, 0.1],
        }
    )
    assert study.choose(study.Entry(None), searched) == {"a": 1}
    assert study.choose(study.Entry(None, goal="all"), searched) == {"a": 2}


def test_the_paper_is_compared_method_by_method(shared):
    paper = shared("paper")
    row = dict.fromkeys([*paper.SHOWN, "n_splits", *ORIGIN], 0.5) | {"setting": "cold users"}
    rankers = ("popularity", "WMF", "ridge")
    # A study has a row per reference.
    table = pd.DataFrame([row | {"ranker": name} for name in (*rankers, *rankers)])
    beside = paper.beside_paper(table).set_index("method")
    assert beside.index.tolist() == ["PopRank", "WMF+kNN"]
    assert beside["paper_auc"].tolist() == [0.883, 0.849]
    assert beside["auc"].tolist() == [0.5, 0.5]


def test_rare_songs_are_told_apart(shared):
    rows = [("p1", "s1"), ("p2", "s1"), *((f"p{i}", "s2") for i in range(6))]
    train = pd.DataFrame(rows, columns=["playlist", "song"])
    test = pd.DataFrame({"playlist": "q", "song": ["s1", "s2", "s3"]})
    parts = shared("groups").by_song_popularity(train, test)
    reported = {name: rows["song"].tolist() for name, rows in parts.items()}
    assert reported == {
        "playlists per song: 0": ["s3"],
        "playlists per song: 1 to 5": ["s1"],
        "playlists per song: 6 to 20": ["s2"],
    }
