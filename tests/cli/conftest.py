"""Tables and models that the tests of the command share."""

import pytest

from skmtc.cli import main
from skmtc.datasets import make_playlists, write_table


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Write small tables to a folder; tests write elsewhere."""
    folder = tmp_path_factory.mktemp("tables")
    X = make_playlists(30, 120, 80, n_features=2, random_state=0)
    write_table(X, folder / "playlists.csv")
    write_table(X[["user", "playlist", "song"]], folder / "ids.csv")
    numbered = X.assign(**{c: X[c].factorize()[0] for c in ("user", "playlist", "song")})
    write_table(numbered, folder / "numbers.parquet")
    names = {"user": "owner", "playlist": "pid", "song": "track"}
    X.rename(columns=names).to_csv(folder / "other.csv", index=False)
    songs = X.drop(columns=["user", "playlist", "age", "gender", "country"])
    songs = songs.drop_duplicates("song").head(6)
    songs.assign(song=[f"new{i}" for i in range(6)]).to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def model(folder):
    """Fit and store a multitask ranker."""
    path = folder / "model.skops"
    arguments = ["fit", str(folder / "playlists.csv"), "--out", str(path), "--quiet"]
    assert main([*arguments, "--ranker", "multitask"]) == 0
    return path
