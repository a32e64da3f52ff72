"""Playlists written in parts."""

import numpy as np
import pytest

from skmtc.datasets import read_table, write_playlists

SMALL = {"n_songs": 3000, "n_artists": 200, "random_state": 0}


def test_rows_do_not_depend_on_the_size_of_parts(tmp_path):
    one = write_playlists(tmp_path / "one", 1500, n_users=400, part_size=1500, **SMALL)
    many = write_playlists(tmp_path / "many", 1500, n_users=400, part_size=700, **SMALL)
    assert [len(one), len(many)] == [1, 3]
    assert read_table(tmp_path / "one").equals(read_table(tmp_path / "many"))


def test_playlists_belong_to_one_user_and_hold_songs_once(tmp_path):
    write_playlists(tmp_path, 1200, n_users=300, **SMALL)
    X = read_table(tmp_path)
    assert X["playlist"].unique().tolist() == list(range(1200))
    assert X["user"].nunique() == 300
    assert X.groupby("playlist")["user"].nunique().max() == 1
    assert X.groupby("song")[["artist", "duration"]].nunique().max().max() == 1
    assert not X.duplicated(["playlist", "song"]).any()
    assert (X.dtypes[["user", "playlist", "song", "artist"]] == np.int32).all()


def test_owners_may_be_unknown(tmp_path):
    write_playlists(tmp_path, 50, **SMALL)
    assert "user" not in read_table(tmp_path)


def test_tails_are_long_and_playlists_are_about_something(tmp_path):
    """Compared with songs drawn from the whole catalogue, playlists have few artists."""
    write_playlists(
        tmp_path, 3000, n_songs=100_000, n_artists=10_000, mean_length=40, random_state=0
    )
    X = read_table(tmp_path)
    counts = X["song"].value_counts()
    assert 38 < len(X) / 3000 < 41
    assert (counts == 1).mean() > 0.3
    assert counts.iloc[: len(counts) // 100].sum() > 0.1 * len(X)
    shuffled = X.assign(artist=np.random.default_rng(0).permutation(X["artist"]))
    own, chance = (t.groupby("playlist")["artist"].nunique().mean() for t in (X, shuffled))
    assert own < 0.8 * chance


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_playlists": 0}, "`n_playlists` must be an integer of 1 or more"),
        ({"n_users": 100}, "`n_playlists` must be at least `n_users`"),
        ({"mean_length": 0.5}, "`mean_length` must be a finite number"),
        ({"part_size": 1.5}, "`part_size` must be an integer"),
    ],
)
def test_bad_sizes_are_clear_errors(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        write_playlists(tmp_path / "new", **({"n_playlists": 10} | SMALL | options))
    assert not (tmp_path / "new").exists()


def test_parts_of_two_tables_do_not_mix(tmp_path):
    write_playlists(tmp_path, 20, **SMALL)
    with pytest.raises(FileExistsError, match="`folder` must be empty"):
        write_playlists(tmp_path, 20, **SMALL)
