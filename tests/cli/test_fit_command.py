"""`skmtc fit`."""

import errno
import pickle

import pandas as pd
import pytest
from commands import error_of, run

from skmtc.cli import main
from skmtc.persistence import load


def test_a_model_is_stored_for_python_too(folder, tmp_path):
    done = run(
        *["fit", folder / "playlists.csv", "--out", "model.skops"],
        *["--ranker", "ridge", "--params", "n_neighbors=5", "fit_intercept=true"],
        folder=tmp_path,
    )
    assert done.stdout.startswith("model.skops: RidgeRanker, fitted in ")
    assert "songs are described by artist, year, x0, x1, genre; users by age" in done.stderr
    path = tmp_path / "model.skops"
    ranker = load(path)
    assert ranker.n_neighbors == 5
    assert ranker.fit_intercept is True
    assert [p.name for p in tmp_path.iterdir()] == ["model.skops"]


def test_other_columns_and_no_owners(folder, tmp_path):
    path = tmp_path / "model.skops"
    arguments = ["fit", str(folder / "other.csv"), "--out", str(path), "--ranker", "popularity"]
    arguments += ["--playlist", "pid", "--song", "track", "--quiet"]
    for user, expected in (
        (["--user", "owner"], "owner"),
        (["--no-user"], None),
        (["--user", ""], None),
    ):
        assert main([*arguments, *user]) == 0
        ranker = load(path)
        assert (ranker.user, ranker.playlist, ranker.song) == (expected, "pid", "track")


def test_a_table_without_owners_is_reported(folder, tmp_path, capsys):
    X = pd.read_csv(folder / "other.csv").drop(columns="owner")
    X.to_csv(tmp_path / "table.csv", index=False)
    arguments = ["fit", str(tmp_path / "table.csv"), "--out", str(tmp_path / "model.skops")]
    arguments += ["--ranker", "popularity", "--playlist", "pid", "--song", "track"]
    assert main(arguments) == 0
    assert "note: there is no column 'user': each playlist counts" in capsys.readouterr().err


def test_models_for_new_songs_do_not_count_on_popularity(folder, tmp_path):
    path = tmp_path / "model.skops"
    arguments = ["fit", str(folder / "playlists.csv"), "--out", str(path), "--quiet"]
    arguments += ["--ranker", "multitask", "--new-songs"]
    assert main([*arguments, "--params", "tol=0.1"]) == 0
    ranker = load(path)
    assert not any("song_popularity" in name for name in ranker.feature_names_out_)


def test_without_skops_a_model_is_a_pickle(folder, tmp_path):
    arguments = ["fit", folder / "ids.csv", "--out", "model", "--ranker", "popularity"]
    done = run(*arguments, folder=tmp_path, without=["skops"])
    assert "note: skops is not installed, so the model is a pickle" in done.stderr
    assert pickle.loads((tmp_path / "model").read_bytes()).songs_[0] == "song0"


@pytest.mark.linux
def test_a_full_disk(folder, tmp_path, monkeypatch, capsys):
    arguments = ["fit", folder / "ids.csv", "--ranker", "popularity", "--quiet"]
    done = run(*arguments, "--out", "/dev/full", folder=tmp_path, code=1)
    assert error_of(done) == (
        "skmtc: error: No space left on device: '/dev/full'. Free some space, or write elsewhere "
        "with --out."
    )

    def no_space(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    # A model that was there before stays as it was.
    monkeypatch.setattr("os.fsync", no_space)
    for name in ("model.pkl", "model.skops"):
        path = tmp_path / name
        path.write_bytes(b"before")
        assert main([*map(str, arguments), "--out", str(path)]) == 1
        assert f"No space left on device: '{path}'" in capsys.readouterr().err
        assert path.read_bytes() == b"before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.pkl", "model.skops"]


@pytest.mark.parametrize(
    ("out", "reported"),
    [("", "--out must be a file; got the folder"), ("absent/model", "in a folder that exists")],
)
def test_places_that_cannot_be_written_are_reported_before_any_work(
    folder, tmp_path, capsys, out, reported
):
    arguments = ["fit", str(folder / "ids.csv"), "--out", str(tmp_path / out), "--quiet"]
    assert main(arguments) == 1
    assert reported in capsys.readouterr().err


def test_bad_parameters(folder, tmp_path, capsys):
    arguments = ["fit", str(folder / "ids.csv"), "--out", str(tmp_path / "m"), "--quiet"]
    assert main([*arguments, "--params", "usr_l2=1"]) == 2
    reported = capsys.readouterr().err
    assert "There is no parameter of recommended 'usr_l2'. Nearest: " in reported
    assert "'multitask__user_l2'" in reported
    assert main([*arguments, "--params", "user_l2"]) == 2
    assert "A parameter must be like user_l2=0.1; got 'user_l2'" in capsys.readouterr().err
    assert main([*arguments, "--params", "multitask__user_l2=-1"]) == 1
    assert "`user_l2` must be a number of 0 or more; got -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"", "the empty file"),
        (b"user,playlist,song\n", "The table must have rows"),
        (b"PAR1 and then nothing", "must be a whole Parquet file"),
        (b"user,playlist,song\nana,gym\n", "Rows must have ids; got none with all of"),
        (b"playlist,sng\ngym,s1\n", "Nearest: 'sng'. Say which with --song COLUMN."),
    ],
)
def test_bad_tables(tmp_path, capsys, content, reported):
    (tmp_path / "table.csv").write_bytes(content)
    arguments = ["fit", str(tmp_path / "table.csv"), "--out", str(tmp_path / "m"), "--quiet"]
    assert main(arguments) == 1
    (*_, line) = capsys.readouterr().err.splitlines()
    assert line.startswith("skmtc: error: ")
    assert reported in line
