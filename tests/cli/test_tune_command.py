"""`skmtc tune`."""

import pytest
from commands import error_of, run

from skmtc.cli import main
from skmtc.cli._tune_command import GRID


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("playlists.csv", ["--setting", "cold-songs"]),
        ("ids.csv", ["--setting", "cold-users", "--metric", "hit_rate@10", "--splits", "1"]),
    ],
)
def test_the_code_that_is_printed_runs(folder, tmp_path, table, options):
    done = run("tune", folder / table, "--n-iter", "2", *options, folder=tmp_path)
    names = {}
    exec(done.stdout, names)
    assert names["ranker"].shared_coef_.any()
    assert all(f"{name}=" in done.stdout for name in GRID)
    assert ("new_songs=True" in done.stdout) == ("cold-songs" in options)
    assert done.stdout.startswith("# best of 3 for cold ")
    n_fits = 3 if "--splits" in options else 6
    assert f"[{n_fits}/{n_fits}] cold " in done.stderr


def test_other_columns_are_in_the_code(folder, tmp_path, capsys):
    columns = ["--user", "owner", "--playlist", "pid", "--song", "track"]
    arguments = ["tune", str(folder / "other.csv"), "--setting", "cold-playlists", "--quiet"]
    assert main([*arguments, "--n-iter", "1", "--splits", "1", *columns]) == 0
    reported = capsys.readouterr()
    assert reported.err == ""
    names = {}
    exec(reported.out, names)
    ranker = names["ranker"]
    assert (ranker.user, ranker.playlist, ranker.song) == ("owner", "pid", "track")


def test_bad_requests(folder, tmp_path):
    done = run("tune", folder / "ids.csv", "--setting", "cold-songs", folder=tmp_path, code=1)
    assert "New songs need columns that describe them" in error_of(done)
