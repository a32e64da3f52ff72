"""Songs in the report: what playlists had, what is recommended, and why."""

import re

import numpy as np
import pandas as pd
import pytest

from skmtc import ItemKNNRanker, PopularityRanker, RidgeRanker
from skmtc.cli import main
from skmtc.cli.inputs._feature_options import Features
from skmtc.cli.inputs._ranker_choice import make_ranker
from skmtc.cli.inputs._read_table import Table, sample_table
from skmtc.cli.inputs._settings import SETTINGS, make_splitter
from skmtc.cli.report._examples import Examples
from skmtc.cli.report._reasons import reasons
from skmtc.cli.report._song_names import SongNames
from skmtc.datasets import make_playlists


@pytest.fixture(scope="module")
def table():
    X = make_playlists(40, 160, 90, n_features=2, random_state=0)
    X["Track Name"] = "Title of " + X["song"]
    X["artist_name"] = "Name of " + X["artist"]
    X["title"] = "List " + X["playlist"]
    return Table(X, "it")


@pytest.fixture(scope="module")
def features(table):
    return Features.of(table)


def test_titles_and_artists_are_found(table):
    names = SongNames(table, "artist")
    song, playlist, artist = table.X.loc[0, ["song", "playlist", "artist"]]
    assert names.title == "Track Name"  # "title" is of playlists
    assert names.song(song) == (f"Title of {song}", f"Name of {artist}")
    assert names.playlist(playlist) == f"List {playlist}"
    assert names.song("absent") == ("absent", "")
    plain = SongNames(Table(table.X[["user", "playlist", "song", "artist"]], "it"), "artist")
    assert plain.song(song) == (song, artist)
    assert plain.playlist(playlist) == playlist


def test_missing_titles_and_numbers(table):
    X = pd.DataFrame({"playlist": [1, 1, 2], "song": [7, 8, 9], "title": ["a  b", None, "c" * 99]})
    X["artist"] = [5.0, np.nan, 6.0]
    names = SongNames(Table(X, "it", user=None))
    assert names.song(7) == ("a b", "5")
    assert names.song(8) == ("8", "")
    assert names.song(9) == ("c" * 59 + "…", "6")


@pytest.mark.parametrize("setting", SETTINGS)
def test_examples_are_test_playlists_with_their_hits(table, features, setting):
    ((train, test),) = make_splitter(setting, table, seed=0).split(table.X)
    names = SongNames(table, "artist")
    examples = Examples(table, features, names, train, test)
    ranker = make_ranker("ridge", table, features, new_songs=setting == "cold-songs")
    ranker.fit(table.X.iloc[train])
    examples.add("ridge", examples.inspect(ranker, train, test))
    assert len(examples.found) == 3
    before, after = table.X.iloc[train], table.X.iloc[test]
    for playlist, example in examples.found.items():
        wanted = set(after.loc[after["playlist"] == playlist, "Track Name"])
        assert example.n_wanted == len(wanted)
        assert {title for title, _ in example.wanted} <= wanted
        owner = after.loc[after["playlist"] == playlist, "user"].iloc[0]
        assert example.owner == owner
        if setting == "cold-songs":
            had = before.loc[before["playlist"] == playlist, "Track Name"]
            assert re.search(r"\d+ other songs? of the playlist", example.known)
        else:
            had = before.loc[before["user"] == owner, "Track Name"]
            assert re.search(r"\d+ other playlists? of the user|age \d", example.known)
        assert {title for title, _ in example.had} <= set(had)
        assert bool(example.had) == (setting != "cold-users")
        suggested = example.lists["ridge"]
        assert len(suggested) == min(10, after["song"].nunique())
        assert [s.is_hit for s in suggested] == [s.title in wanted for s in suggested]
        assert all(s.why for s in suggested)
        if setting == "cold-songs":
            assert {s.title for s in suggested} <= set(after["Track Name"])


def test_examples_of_tables_of_ids_and_numbers(table):
    X = table.X[["user", "playlist", "song"]]
    X = X.assign(**{c: X[c].factorize()[0] for c in X})
    numbers = Table(X, "it", user=None)
    features = Features.of(numbers)
    ((train, test),) = make_splitter("cold-playlists", numbers, seed=0).split(X)
    examples = Examples(numbers, features, SongNames(numbers), train, test)
    ids = {"user": None, "playlist": "playlist", "song": "song"}
    for ranker in (PopularityRanker(**ids), ItemKNNRanker(**ids)):
        found = examples.inspect(ranker.fit(X.iloc[train]), train, test)
        examples.add(type(ranker).__name__, found)
    for example in examples.found.values():
        assert example.owner == ""
        assert example.known == "known of the user: nothing"
        assert set(example.lists) == {"PopularityRanker", "ItemKNNRanker"}
        assert example.lists["PopularityRanker"][0].why.startswith("in ")


def test_reasons_are_the_largest_contributions():
    X = pd.DataFrame(
        {
            "user": ["ana", "bob"],
            "playlist": ["gym", "bed"],
            "song": ["fast", "slow"],
            "tempo": [1.0, -1.0],
            "loud": [0.5, -0.5],
        }
    )
    ranker = RidgeRanker(l2=1.0).fit(X)
    weight = {
        c: ranker.predict(X.assign(**{d: 0.0 for d in ("tempo", "loud") if d != c}))[0]
        for c in ("tempo", "loud")
    }
    assert len(weight) == 2
    why = reasons(ranker, X.assign(playlist="new"))
    assert why[0].startswith("tempo +")
    assert ", loud +" in why[0]
    assert reasons(PopularityRanker().fit(X), X) == ["", ""]


def test_a_stack_is_explained_by_the_ranker_that_counts_most():
    table = sample_table()
    table.X = table.X[table.X["user"].isin(table.X["user"].unique()[:40])]
    features = Features.of(table)
    ranker = make_ranker("recommended", table, features)
    ranker.set_params(multitask="drop")
    ranker.fit(table.X)
    why = reasons(ranker, table.X.head(3))
    assert all("+" in reported for reported in why)
    assert not any("score" in reported for reported in why)


def test_the_report_shows_songs(table, tmp_path):
    table.X.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["compare", str(tmp_path / "t.csv"), "--rankers", "popularity", "ridge", "item-knn"]
    arguments += ["--setting", "cold-playlists", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(arguments) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count('class="example"') == 3
    assert page.count('<table class="songs">') == 6  # the two best rankers
    assert "Playlist List playlist" in page
    assert "Title of song" in page
    assert "Name of artist" in page
    assert page.count("✓") == page.count('<tr class="hit">') > 0
    assert "<mark>" in page
