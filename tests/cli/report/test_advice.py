"""Which ranker to use, and the code that makes it."""

import numpy as np
import pandas as pd
import pytest

from skmtc.cli import main
from skmtc.cli.inputs._feature_options import Features
from skmtc.cli.inputs._ranker_choice import available_rankers, make_ranker
from skmtc.cli.inputs._read_table import open_table
from skmtc.cli.report._advice import ranker_code


@pytest.mark.parametrize("new_songs", [False, True])
@pytest.mark.parametrize("name", [n for n in available_rankers() if n != "recommended"])
def test_the_code_makes_the_ranker_that_was_compared(folder, name, new_songs):
    table = open_table(folder / "other.csv", user="owner", playlist="pid", song="track")
    features = Features.of(table)
    code = ranker_code(name, table, features, new_songs=new_songs)
    found = {}
    exec(compile(code, "code", "exec"), found)
    ranker = make_ranker(name, table, features, new_songs=new_songs).fit(table.X)
    songs, scores = ranker.recommend(table.X[["owner"]].head(1), n_recommendations=10)
    np.testing.assert_array_equal(found["songs"], songs)
    np.testing.assert_array_equal(found["scores"], scores)


def test_parameters_and_the_recommended_ranker_are_in_the_code(folder):
    table = open_table(folder / "playlists.csv")
    features = Features.of(table, seed=3)
    code = ranker_code("ridge", table, features, parameters={"l2": 7.5})
    assert "l2=7.5" in code
    code = ranker_code("recommended", table, features)
    assert "ranker = make_ranker(X, n_jobs=-1, random_state=3)\n" in code
    assert "from skmtc import make_ranker\n" in code


def test_the_report_has_the_code_and_the_command(folder, tmp_path):
    arguments = ["compare", str(folder / "playlists.csv"), "--rankers", "popularity"]
    assert main([*arguments, "--setting", "cold-songs", "--out", str(tmp_path), "--quiet"]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Which ranker to use</h2>" in page
    assert "ranker = PopularityRanker()" in page
    assert "skmtc fit playlists.csv --ranker popularity --new-songs --out model.skops" in page


def test_playlists_of_the_same_name_are_told_apart_by_their_users(folder, tmp_path, capsys):
    X = pd.read_csv(folder / "playlists.csv")
    numbers = X.groupby("user")["playlist"].transform(lambda ids: ids.factorize()[0])
    X["playlist"] = "list " + numbers.astype(str)
    X.to_csv(tmp_path / "names.csv", index=False)
    table = open_table(tmp_path / "names.csv")
    reported = capsys.readouterr().err
    assert "belong to several users: each user's counts as a playlist of its own" in reported
    assert table.X["playlist"].nunique() == X.groupby(["user", "playlist"]).ngroups
    assert table.X["playlist"].iloc[0] == f"{X['user'].iloc[0]} / {X['playlist'].iloc[0]}"
    found = {}
    exec(compile(ranker_code("popularity", table, Features.of(table)), "code", "exec"), found)
    assert found["X"].equals(table.X)
    assert not open_table(folder / "playlists.csv").is_joined
