"""The table that ships with the package."""

from importlib.resources import files

import numpy as np
import pandas as pd

from skmtc import PopularityRanker
from skmtc.datasets import load_sample, make_playlists
from skmtc.datasets._sample import SAMPLE_FILE

# Parameters that the file was made with.
SAMPLE_PARAMETERS = {
    "n_users": 200,
    "n_playlists": 800,
    "n_songs": 1500,
    "n_artists": 200,
    "n_features": 8,
    "n_genres": 8,
    "missing_rate": 0.1,
    "random_state": 2011,
}


def _make_sample():
    """Make the table of `load_sample` again."""
    X = make_playlists(**SAMPLE_PARAMETERS)
    numbers = X.select_dtypes("float").columns
    return X.assign(**{c: X[c].round(4) for c in numbers}).reset_index(drop=True)


def test_is_what_its_documented_seed_gives():
    X, again = load_sample().X, _make_sample()
    assert list(X) == list(again)
    # The last digit of a feature may depend on the machine, and one draw in thousands with it.
    same = (X["song"].to_numpy() == again["song"].to_numpy()).mean()
    assert len(X) == len(again)
    assert same > 0.99
    songs, songs_again = (t.drop_duplicates("song").set_index("song")["x1"] for t in (X, again))
    both = songs.index.intersection(songs_again.index)
    np.testing.assert_allclose(songs.loc[both], songs_again.loc[both], atol=2e-4)


def test_is_small():
    assert (files("skmtc.datasets") / "data" / SAMPLE_FILE).stat().st_size < 2_000_000


def test_is_a_membership_table_with_some_missing_values():
    bunch = load_sample()
    X = bunch.X
    assert not X[["user", "playlist", "song", "artist", "x0", "year"]].isna().any(axis=None)
    assert X[["genre", "age", "gender", "country"]].isna().any().all()
    assert len(PopularityRanker().fit(X).songs_) == len(bunch.songs)
    assert bunch.users.index.is_unique
    pd.testing.assert_series_equal(
        X["x0"], bunch.songs["x0"].loc[X["song"]].reset_index(drop=True), check_names=False
    )
