"""Playlists drawn from the model."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.datasets import make_playlists
from skmtc.datasets._generator import PRESETS


def test_is_a_membership_table():
    X, truth = make_playlists(20, 60, 100, 15, return_truth=True, random_state=0)
    assert X["user"].nunique() == 20
    assert X["playlist"].nunique() == 60
    assert not X.duplicated(["playlist", "song"]).any()
    assert (X.groupby("playlist")["user"].nunique() == 1).all()
    assert (X.groupby("song").nunique()[["artist", "year", "genre", "x0"]] == 1).all(axis=None)
    assert (X.groupby("user").nunique()[["age", "gender", "country"]] == 1).all(axis=None)
    assert set(X["song"]) <= set(truth.songs.index)
    assert truth.user.shape == (20, 8)
    assert truth.playlist.shape == (60, 8)


def test_same_seed_same_table():
    pd.testing.assert_frame_equal(make_playlists(random_state=3), make_playlists(random_state=3))
    assert not make_playlists(random_state=3).equals(make_playlists(random_state=4))


def test_working_memory_does_not_change_the_table():
    with config_context(working_memory=0.001):
        little = make_playlists(random_state=3)
    pd.testing.assert_frame_equal(little, make_playlists(random_state=3))


def test_songs_of_a_playlist_score_above_others_by_its_true_weights():
    X, truth = make_playlists(return_truth=True, random_state=0)
    features = truth.songs[[f"x{j}" for j in range(8)]]
    ranks = []
    for playlist, rows in X.groupby("playlist"):
        weights = truth.shared + truth.user.loc[rows["user"].iloc[0]] + truth.playlist.loc[playlist]
        scores = features @ weights
        ranks.append(scores.rank(pct=True).loc[rows["song"]].mean())
    assert np.mean(ranks) > 0.75


def test_some_users_have_many_playlists():
    X = make_playlists(n_users=200, n_playlists=1000, n_songs=300, random_state=0)
    counts = X.groupby("user")["playlist"].nunique()
    assert counts.min() >= 1
    assert counts.max() > 5 * counts.median()


def test_nothing_is_missing_unless_asked_for():
    assert not make_playlists(random_state=0).isna().any(axis=None)


def test_missing_values_are_confined_to_genre_and_user_attributes():
    X, truth = make_playlists(500, 800, missing_rate=0.3, return_truth=True, random_state=0)
    missing = X.isna().any()
    assert set(missing.index[missing]) == {"genre", "age", "gender", "country"}
    users = X.drop_duplicates("user")
    assert users["age"].isna().mean() == pytest.approx(0.3, abs=0.08)
    assert X.drop_duplicates("song")["genre"].isna().mean() == pytest.approx(0.3, abs=0.08)
    # Where a value is given, it is the true one, and it is missing in all rows of its user.
    assert (X.groupby("user")["age"].nunique(dropna=False) == 1).all()
    given = users.dropna(subset="age").set_index("user")["age"]
    assert (truth.users["age"].loc[given.index] == given).all()
    assert not truth.songs.isna().any(axis=None)


@pytest.fixture(scope="module")
def thirty_music():
    return make_playlists(preset="30music", random_state=0)


def _share_of_top(counts, share):
    counts = np.sort(counts)[::-1]
    return counts[: int(share * len(counts))].sum() / counts.sum()


def test_30music_preset_has_the_sizes_of_the_paper(thirty_music):
    X = thirty_music
    assert X["playlist"].nunique() == 17_457
    assert X["user"].nunique() == 8_070
    assert X["song"].nunique() == pytest.approx(45_468, rel=0.1)
    assert X["artist"].nunique() == pytest.approx(9_981, rel=0.1)
    assert len(X) / X["playlist"].nunique() == pytest.approx(16.3, rel=0.05)
    # "Songs per artist" of the paper's table counts a song once for each playlist that holds it.
    assert len(X) / X["artist"].nunique() == pytest.approx(28.6, rel=0.1)
    assert X.groupby("playlist").size().min() >= 5


def test_30music_preset_has_long_tails(thirty_music):
    X = thirty_music
    playlists = X.drop_duplicates("playlist").groupby("user").size()
    assert playlists.median() == 1
    assert 20 < playlists.max() < 1000
    songs = X.groupby("song").size()
    assert songs.median() <= 3
    assert songs.max() > 300
    assert 0.1 < _share_of_top(songs, 0.01) < 0.3
    assert 0.4 < _share_of_top(songs, 0.1) < 0.7
    assert 0.4 < _share_of_top(X.groupby("artist").size(), 0.1) < 0.8


def test_aotm2011_preset_has_the_sizes_of_the_paper_on_a_tenth():
    # The same densities in a tenth of the world, which takes a hundredth of the time.
    whole = PRESETS["aotm2011"]
    X = make_playlists(
        whole.n_users // 10,
        whole.n_playlists // 10,
        whole.n_songs // 10,
        whole.n_artists // 10,
        preset="aotm2011",
        random_state=0,
    )
    assert X["song"].nunique() == pytest.approx(11_442, rel=0.1)
    assert X["artist"].nunique() == pytest.approx(1_569, rel=0.1)
    assert len(X) / X["playlist"].nunique() == pytest.approx(10.1, rel=0.05)
    playlists = X.drop_duplicates("playlist").groupby("user").size()
    # As counted on the real playlists: 45 % have one, 25 % have five or more.
    assert (playlists == 1).mean() == pytest.approx(0.45, abs=0.1)
    assert (playlists >= 5).mean() == pytest.approx(0.25, abs=0.07)
    assert playlists.quantile(0.9) == pytest.approx(12, abs=4)


def test_memory_grows_with_rows_and_songs_not_with_their_product():
    tracemalloc.start()
    make_playlists(n_users=50, n_playlists=1000, n_songs=20_000, n_artists=500, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * 20_000  # a byte per playlist and song would be more


@pytest.fixture(scope="module")
def world():
    return make_playlists(100, 500, 600, 80, random_state=0)


def test_popularity_is_strong_and_users_differ(world):
    # Cold playlists: the last one of each user with five or more.
    order = world["playlist"].str.removeprefix("playlist").astype(int)
    last = order.groupby(world["user"]).transform("max")
    many = world.groupby("user")["playlist"].transform("nunique") >= 5
    test = many & (order == last)
    world = world.drop(columns="year")  # the features are of one size
    train, test = world[~test], world[test]
    test = test[test["song"].isin(train["song"])]
    popularity = PopularityRanker().fit(train).score(test)
    multitask = MultitaskPlaylistRanker().fit(train).score(test)
    assert popularity > 0.7
    assert multitask > popularity + 0.03


def test_new_songs_need_content(world):
    late = world["year"] >= 2010
    train, test = world[~late].drop(columns="year"), world[late].drop(columns="year")
    test = test[test["playlist"].isin(train["playlist"])]
    multitask = MultitaskPlaylistRanker().fit(train).score(test)
    artists = train.groupby("artist").size()
    score = test.assign(score=test["artist"].map(artists).fillna(0))
    songs = score.drop_duplicates("song")
    areas = [
        (songs["score"].to_numpy() < own).mean() + 0.5 * (songs["score"].to_numpy() == own).mean()
        for own in score["score"]
    ]
    assert multitask > np.mean(areas) + 0.03


def test_default_ranker_fits_the_table():
    X = make_playlists(random_state=0).drop(columns="year")
    ranker = MultitaskPlaylistRanker().fit(X)
    assert set(ranker.songs_) == set(X["song"])


def test_every_user_needs_a_playlist():
    with pytest.raises(ValueError, match="got n_users=9 and n_playlists=8"):
        make_playlists(n_users=9, n_playlists=8)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("preset", "huge"),
        ("n_users", 0),
        ("n_songs", 1),
        ("n_features", 1.5),
        ("n_genres", 0),
        ("mean_length", 0),
        ("missing_rate", 1.0),
        ("missing_rate", -0.1),
    ],
)
def test_bad_parameters_are_named(parameter, value):
    with pytest.raises(ValueError, match=rf"`{parameter}` must be .*; got "):
        make_playlists(**{parameter: value})


@pytest.mark.parametrize("sizes", [(1, 1, 2, 1), (3, 5, 30, 60)])
def test_smallest_sizes(sizes):
    X = make_playlists(*sizes, n_features=1, random_state=0)
    assert X["playlist"].nunique() == sizes[1]


def test_fame_makes_popularity_count():
    shares = []
    for fame in (0.0, 1.0, 2.0):
        X, truth = make_playlists(fame=fame, return_truth=True, random_state=0)
        assert truth.shared[0] == fame
        counts = X["song"].value_counts()
        shares.append(counts.iloc[:40].sum() / len(X))
    assert shares[0] < shares[1] < shares[2]
    with pytest.raises(ValueError, match="`fame` must be a finite number; got nan"):
        make_playlists(fame=float("nan"))


def _share_of_repeats(X):
    """Return the share of songs that the user has in an earlier playlist, first playlists apart."""
    shares = []
    for _, rows in X.groupby("user"):
        had = set()
        for playlist in rows["playlist"].unique():
            songs = set(rows["song"][rows["playlist"] == playlist])
            if had:
                shares.append(len(songs & had) / len(songs))
            had |= songs
    return np.mean(shares)


def test_songs_are_repeated_at_the_rate_asked_for():
    sizes = {"n_users": 300, "n_playlists": 700, "n_songs": 20_000, "random_state": 0}
    by_chance = _share_of_repeats(make_playlists(**sizes))
    assert by_chance < 0.15
    for repeat in (0.2, 0.5):
        share = _share_of_repeats(make_playlists(**sizes, repeat=repeat))
        assert share == pytest.approx(repeat + (1 - repeat) * by_chance, abs=0.04)


def test_without_repeats_the_table_is_the_one_of_before():
    pd.testing.assert_frame_equal(
        make_playlists(random_state=3), make_playlists(random_state=3, repeat=0.0)
    )
    assert not make_playlists(random_state=3, repeat=0.3).duplicated(["playlist", "song"]).any()


@pytest.mark.parametrize("repeat", [-0.1, 1.0, "often"])
def test_repeat_is_a_share(repeat):
    with pytest.raises(ValueError, match="`repeat` must be a number of 0 or more and below 1"):
        make_playlists(repeat=repeat)
