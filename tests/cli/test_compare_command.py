"""`skmtc compare`."""

import re

import numpy as np
import pandas as pd
import pytest
from commands import error_of, run

from skmtc.cli import _compare_command, main
from skmtc.cli.inputs._guessed_ids import guess_ids
from skmtc.cli.inputs._ranker_choice import available_rankers
from skmtc.cli.report._page import write_partly

SETTINGS = ["cold-playlists", "cold-users", "cold-songs"]


def _table(folder):
    return pd.read_csv(folder / "comparison.csv").set_index(["setting", "ranker"])


def test_rankers_and_settings_of_choice(folder, tmp_path):
    done = run(
        *["compare", folder / "playlists.csv", "--setting", "cold-users", "cold-songs"],
        *["--rankers", "popularity", "same_artists", "--metrics", "auc", "ndcg", "--out", "here"],
        folder=tmp_path,
    )
    table = _table(tmp_path / "here")
    assert [s for s, _ in table.index] == ["cold-users"] * 2 + ["cold-songs"] * 2
    metrics = ["auc", "auc_low", "auc_high", "ndcg", "ndcg_low", "ndcg_high"]
    assert table.columns.tolist() == [*metrics, "fit_time", "score_time", "error"]
    assert "cold users: " in done.stdout
    assert "AUC" in done.stdout
    assert "NDCG" in done.stdout
    assert "cold playlists" not in done.stdout
    assert "[4/4] cold-songs: same-artists" in done.stderr


def test_metrics_of_all_queries_have_a_value_and_no_best(folder, tmp_path, capsys):
    arguments = ["compare", str(folder / "playlists.csv"), "--setting", "cold-users", "--quiet"]
    arguments += ["--rankers", "popularity", "pairwise", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--metrics", "coverage@5", "gini@5", "tail_share@5"]) == 0
    reported = capsys.readouterr().out
    assert "there is no best by Coverage@5, Gini@5 and TailShare@5" in reported
    assert "is best" not in reported
    table = _table(tmp_path / "out").loc["cold-users"]
    assert table.loc["popularity", "coverage@5"] < table.loc["pairwise", "coverage@5"]
    assert table.loc["popularity", "gini@5"] > table.loc["pairwise", "gini@5"]
    differences = pd.read_csv(tmp_path / "out" / "differences.csv").set_index(["metric", "ranker"])
    assert differences.loc[("coverage@5", "pairwise"), "verdict"] == "highest"
    assert differences.loc["coverage@5"][["low", "high", "p_value"]].isna().all(axis=None)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Coverage@K is the share of all candidates" in page
    assert "No ranker is best by Coverage@5, Gini@5 and TailShare@5" in page


def test_a_ranker_that_fails_is_reported_in_its_row(folder, tmp_path):
    done = run(
        *["compare", folder / "ids.csv", "--rankers", "same-artists", "popularity", "multitask"],
        *["--setting", "cold-playlists", "cold-users", "cold-songs", "--metrics", "auc", "--quiet"],
        folder=tmp_path,
    )
    table = _table(tmp_path / "skmtc-report")
    errors = table["error"].fillna("")
    assert "artist column" in errors["cold-users", "same-artists"]
    assert "New songs need columns" in errors["cold-songs", "multitask"]
    assert errors["cold-playlists", "multitask"] == ""
    assert table.loc[("cold-playlists", "multitask"), "auc"] > 0.5
    assert "same artists failed: " in done.stdout
    assert "artist column" in (tmp_path / "skmtc-report" / "report.html").read_text(
        encoding="utf-8"
    )


def test_what_a_table_has_no_columns_for_is_left_out_and_reported(folder, tmp_path, capsys):
    arguments = ["compare", str(folder / "ids.csv"), "--quiet", "--out", str(tmp_path)]
    assert main([*arguments, "--rankers", "popularity"]) == 0
    assert "note: left out: cold-songs, as no column describes songs" in capsys.readouterr().err
    assert set(_table(tmp_path).index) == {(s, "popularity") for s in SETTINGS[:2]}
    assert main([*arguments, "--setting", "cold-users"]) == 0
    reported = capsys.readouterr().err
    assert (
        "note: left out: same-artists and collocated-artists, as no column has artists" in reported
    )
    assert "cold-songs" not in reported  # it was not asked for
    table = _table(tmp_path)
    assert table["error"].isna().all()
    assert len(table) == len(available_rankers()) - 2


def test_a_setting_without_a_split_is_reported(tmp_path):
    rows = [f"u{p},p{p},s{p}{s}" for p in range(3) for s in range(3)]
    (tmp_path / "apart.csv").write_text("\n".join(["user,playlist,song", *rows]))
    arguments = ["compare", "apart.csv", "--rankers", "popularity", "--quiet"]
    done = run(*arguments, "--setting", "cold-users", folder=tmp_path, code=1)
    assert error_of(done).startswith("skmtc: error: No setting has a split: cold-users: ")
    done = run(*arguments, "--setting", "cold-users", "cold-songs", folder=tmp_path)
    assert "note: left out: cold-users: " in done.stderr
    assert "cold songs" in done.stdout


def test_a_config_file(folder, tmp_path):
    (tmp_path / "compare.toml").write_text(
        'setting = ["cold playlists"]\nrankers = ["multitask", "popularity"]\nmetrics = "auc"\n'
        '[columns]\nuser = "owner"\nplaylist = "pid"\nsong = "track"\n'
        "[parameters.multitask]\ntol = 0.1\n"
        "[splits.cold-playlists]\nmin_song_count = 1\n"
    )
    arguments = ["compare", folder / "other.csv", "--config", "compare.toml", "--quiet"]
    run(*arguments, folder=tmp_path)
    table = _table(tmp_path / "skmtc-report")
    assert table.index.tolist() == [
        ("cold-playlists", "multitask"),
        ("cold-playlists", "popularity"),
    ]
    run(*arguments, "--rankers", "popularity", folder=tmp_path)  # options come before the config
    assert len(_table(tmp_path / "skmtc-report")) == 1


def test_the_result_is_the_same_again_and_follows_the_seed(folder, tmp_path):
    found = {}
    for out, seed in (("one", 0), ("again", 0), ("other", 1)):
        arguments = ["compare", str(folder / "playlists.csv"), "--rankers", "pairwise"]
        arguments += ["--setting", "cold-playlists", "--metrics", "auc", "--quiet"]
        assert main([*arguments, "--out", str(tmp_path / out), "--seed", str(seed)]) == 0
        found[out] = _table(tmp_path / out)["auc"].item()
    assert found["one"] == found["again"] != found["other"]


def test_bad_requests(folder, tmp_path, capsys):
    table = str(folder / "playlists.csv")

    def reported(code, *arguments):
        assert main(["compare", table, "--out", str(tmp_path / "out"), *arguments]) == code
        return capsys.readouterr().err.splitlines()[-1]

    assert "There is no ranker 'poplarity'. Nearest: 'popularity'." in reported(
        2, "--rankers", "poplarity"
    )
    assert "There is no setting 'cold-user'. Nearest: 'cold-users'" in reported(
        2, "--setting", "cold-user"
    )
    assert "A metric must be one of" in reported(2, "--metrics", "accuracy")
    assert "`k` must be given to" in reported(2, "--metrics", "spread@3")
    assert "must have the columns list and song" in reported(1, "--playlist", "list")
    assert "(nearest: ['playlist'])" in reported(1, "--playlist", "playlists")
    assert "must have the user column 'users'" in reported(1, "--user", "users")
    assert "Nearest: 'user'." in reported(1, "--user", "users")
    assert "No such file or directory: 'absent.toml'. Check the path." in reported(
        1, "--config", "absent.toml"
    )
    config = tmp_path / "compare.toml"
    config.write_text("[parameters.multitask]\nuser_l3 = 1\n")
    rankers = ["--rankers", "multitask", "--config", str(config)]
    assert "There is no parameter of multitask 'user_l3'. Nearest: 'user_l2'" in reported(
        2, *rankers
    )
    config.write_text("[splits.cold-users]\nuser_share = 1\n")
    assert "There is no option of cold-users 'user_share'. Nearest: 'user_size'" in reported(
        2, "--config", str(config)
    )


def test_results_are_written_as_they_come_and_rows_are_sorted(folder, tmp_path, monkeypatch):
    pages = []

    def store(folder, found, *rest):
        write_partly(folder, found, *rest)
        assert len(_table(folder)) == sum(len(comparison.rows) for comparison in found)
        pages.append((folder / "report.html").read_text())

    monkeypatch.setattr(_compare_command, "write_partly", store)
    arguments = ["compare", str(folder / "playlists.csv"), "--quiet", "--out", str(tmp_path)]
    arguments += ["--setting", "cold-users", "cold-songs", "--metrics", "novelty@5", "recall@10"]
    rankers = ["same-artists", "popularity", "item-knn"]
    assert main([*arguments, "--rankers", *rankers]) == 0
    assert [f"Not finished: {i + 1} of 6 fits" in page for i, page in enumerate(pages)] == [
        True
    ] * 6
    assert "Not finished" not in (tmp_path / "report.html").read_text()
    for _, part in _table(tmp_path).groupby("setting"):
        assert part["recall@10"].is_monotonic_decreasing
    found = pd.read_csv(tmp_path / "differences.csv")
    assert set(found["ranker"]) == set(rankers)
    assert set(found["setting"]) == {"cold-users", "cold-songs"}


def test_an_interrupted_comparison_leaves_what_is_done(folder, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skmtc.PairwiseRanker._fit", stop)
    arguments = ["compare", str(folder / "playlists.csv"), "--quiet", "--out", str(tmp_path)]
    arguments += ["--setting", "cold-users", "--rankers", "popularity", "pairwise"]
    assert main(arguments) == 130
    assert _table(tmp_path).index.tolist() == [("cold-users", "popularity")]
    assert "Not finished: 1 of 2 fits are done." in (tmp_path / "report.html").read_text()


def test_history_terms_are_compared(folder, tmp_path):
    arguments = ["compare", str(folder / "playlists.csv"), "--quiet", "--out", str(tmp_path)]
    arguments += ["--rankers", "multitask", "multitask-history", "--metrics", "auc"]
    assert main([*arguments, "--setting", "cold-playlists", "cold-songs"]) == 0
    table = _table(tmp_path)
    assert table["error"].isna().all()
    auc = table.loc["cold-songs", "auc"]
    assert auc["multitask-history"] != auc["multitask"]


def test_new_songs_are_the_latest_or_are_said_to_be_random(folder, tmp_path, capsys):
    X = pd.read_csv(folder / "playlists.csv")
    arguments = ["--quiet", "--rankers", "popularity", "--setting", "cold-songs"]
    reported = {}
    # As in exports: a day of some songs, and the year only of others.
    dates = X["year"].astype(str) + np.where(X["year"] % 3 == 0, "", "-05-20")
    created = pd.Timestamp("2014-01-01") + pd.to_timedelta(pd.factorize(X["playlist"])[0], "D")
    for name, table in {
        "released": X.rename(columns={"year": "release_year"}),
        "dates": X.assign(release_date=dates).drop(columns="year"),
        "created": X.assign(created_at=created).drop(columns="year"),
        "random": X.drop(columns="year"),
        "by row": X.drop(columns="year").assign(yearly=range(len(X))),
    }.items():
        table.to_csv(tmp_path / "table.csv", index=False)
        out = ["--out", str(tmp_path / name)]
        assert main(["compare", str(tmp_path / "table.csv"), *arguments, *out]) == 0
        page = (tmp_path / name / "report.html").read_text()
        reported[name] = "Newly released songs" in page, "chosen at random" in page
        assert ("no column of release years" in capsys.readouterr().err) == reported[name][1]
        source = re.search(r"Latest by: ([a-z_ ]+)", page)
        reported[name] += (source and source[1],)
    assert reported == {
        "released": (True, False, "release_year"),
        "dates": (True, False, "release_date"),
        "created": (True, False, "created_at of the first playlist"),
        "random": (False, True, None),
        "by row": (False, True, None),
    }


def test_unusual_names_of_ids_are_guessed_and_reported(folder, tmp_path, capsys):
    X = pd.read_csv(folder / "playlists.csv")
    arguments = ["--quiet", "--rankers", "popularity", "--setting", "cold-users"]
    out = ["--out", str(tmp_path / "out"), "--metrics", "auc"]
    expected = None
    for names in (
        ["user", "playlist", "song"],
        ["owner", "playlist_id", "track_uri"],
        ["userId", "pid", "Track ID"],
    ):
        renamed = X.rename(columns=dict(zip(["user", "playlist", "song"], names, strict=True)))
        renamed.to_parquet(tmp_path / "table.parquet")
        assert main(["compare", str(tmp_path / "table.parquet"), *arguments, *out]) == 0
        reported = capsys.readouterr().err
        assert reported.count("note: taking the column") == (0 if names[0] == "user" else 3)
        assert names[0] == "user" or f"taking the column {names[2]!r} for song ids" in reported
        auc = _table(tmp_path / "out")["auc"].item()
        expected = auc if expected is None else expected
        assert auc == expected
    for names, code, expected in (
        ({"pid": "foo"}, 0, "note: taking the column 'foo' for playlist ids, by its values; "),
        ({"Track ID": "foo"}, 0, "note: taking the column 'foo' for song ids, by its values; "),
        ({"pid": "foo", "Track ID": "bar"}, 1, "must have columns of playlist and song ids; "),
    ):
        renamed.rename(columns=names).to_csv(tmp_path / "table.csv", index=False)
        assert main(["compare", str(tmp_path / "table.csv"), *arguments, *out]) == code
        reported = capsys.readouterr().err
        assert expected in reported
        assert "--playlist COLUMN" in reported
        assert "--song COLUMN" in reported


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["track_name", "track_uri", "pid", "user_name"], ["user_name", "pid", "track_uri"]),
        (["spotify_track_id", "playlist_owner", "playlistId"], None),
        (["n_tracks", "list_name", "list_key", "song"], ["user", "list_key", "song"]),
        (["DJ", "show", "Item"], ["DJ", "show", "Item"]),
    ],
)
def test_ids_come_before_names_and_counts(tmp_path, columns, expected):
    expected = expected or ["playlist_owner", "playlistId", "spotify_track_id"]
    (tmp_path / "t.csv").write_text(",".join(columns) + "\n" + ",".join("1" * len(columns)))
    found = guess_ids(tmp_path / "t.csv", dict.fromkeys(["user", "playlist", "song"]))
    assert list(found.values()) == expected


def test_rows_without_ids_are_left_out_and_counted(folder, tmp_path, capsys):
    X = pd.read_csv(folder / "playlists.csv")
    arguments = ["compare", str(tmp_path / "t.csv"), "--quiet", "--rankers", "popularity"]
    arguments += ["--setting", "cold-users", "--metrics", "auc", "--out"]
    auc = []
    for name in ("whole", "holes"):
        X.to_csv(tmp_path / "t.csv", index=False)
        assert main([*arguments, str(tmp_path / name)]) == 0
        auc.append(_table(tmp_path / name)["auc"].item())
        holes = pd.DataFrame({"user": [None, "user1"], "playlist": "new", "song": ["song1", None]})
        X = pd.concat([X, holes])
    reported = capsys.readouterr().err
    assert f"note: left out: 2 of {len(X) - 2:,} rows, which lack an id of" in reported
    assert auc[0] == auc[1]
    X.assign(song=None).to_csv(tmp_path / "t.csv", index=False)
    assert main([*arguments, str(tmp_path / "none")]) == 1
    assert "no values in ['song']. Name other columns" in capsys.readouterr().err
