"""Columns that describe songs: which they are, and how they are stored."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skmtc import MultitaskPlaylistRanker, PopularityRanker, StackingRanker
from skmtc._table.queries import Songs
from skmtc.datasets import make_playlists
from skmtc.persistence import load, save
from skmtc.rankers.recommend._song_columns import LONGEST_TEXT, MOST_NUMBERS, song_table

TITLES = ["Für Elise", "七つの子", None, "\ud800 half a pair", "", "x" * 500, "Ok"]


@pytest.fixture
def X():
    X = make_playlists(n_users=20, n_songs=40, random_state=0)
    number = X["song"].str.removeprefix("song").astype(int)
    X["title"] = pd.Series([TITLES[n % len(TITLES)] for n in number], X.index, dtype=object)
    X["plays"] = number * 3
    X["released"] = pd.Timestamp("2001-01-01") + pd.to_timedelta(number, unit="D")
    X["is_live"] = number % 2 == 0
    X["moods"] = [["calm", "sad"] if n % 2 else ["happy"] for n in number]
    X["vector"] = [np.arange(3.0)] * len(X)
    X["mood_code"] = pd.Categorical(np.where(number % 3, "a", "b"))
    X["rating"] = pd.array(np.where(number % 4, number, 0), dtype="Int64")
    X.loc[number % 4 == 0, "rating"] = pd.NA
    X["added_on"] = pd.date_range("2020-01-01", periods=len(X), freq="h")  # of rows
    return X


STORED = ["artist", "year", "genre", *(f"x{i}" for i in range(8)), "title", "plays", "released"]
STORED += ["is_live", "moods", "mood_code", "rating"]


def _table(ranker):
    everything = Songs(ranker.songs_, np.arange(len(ranker.songs_)))
    return song_table(ranker._song_columns, everything, np.arange(len(ranker.songs_)))


def _check_values(ranker, X):
    table = _table(ranker)
    first = X.drop_duplicates("song").set_index("song").loc[ranker.songs_]
    for label in ("artist", "genre", "mood_code"):
        assert table[label].tolist() == first[label].astype(str).tolist()
    for label in ("year", "plays", "released", "is_live", "x0"):
        assert table[label].tolist() == first[label].tolist()
        assert table[label].dtype.kind == first[label].dtype.kind
    for reported, title in zip(table["title"], first["title"], strict=True):
        if pd.isna(title):
            assert pd.isna(reported)
        elif len(title) > LONGEST_TEXT:
            assert reported == title[: LONGEST_TEXT - 1] + "…"
        else:
            assert reported == title.encode("utf-8", "replace").decode()  # half a pair is no text
    assert table["moods"].tolist() == [", ".join(cell) for cell in first["moods"]]
    missing = first["rating"].isna().to_numpy()
    assert table["rating"].isna().tolist() == missing.tolist()
    assert table["rating"][~missing].tolist() == first["rating"].to_numpy()[~missing].tolist()


def test_columns_of_songs_are_stored_and_no_others(X):
    ranker = PopularityRanker().fit(X)
    assert ranker._song_columns["labels"] == STORED
    _check_values(ranker, X)


def test_they_survive_files(X, tmp_path):
    ranker = PopularityRanker().fit(X)
    save(ranker, tmp_path / "model.skops")
    for again in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(ranker))):
        _check_values(again, X)
        pd.testing.assert_frame_equal(_table(again), _table(ranker))


def test_forget_removes_what_only_songs_that_go_have(X):
    rare = X.iloc[[0]].assign(user="eve", playlist="eve's", song="rare", title="Secret Song")
    ranker = PopularityRanker().fit(pd.concat([X, rare], ignore_index=True))
    assert b"Secret Song" in pickle.dumps(ranker)
    ranker.forget(["eve"])
    assert b"Secret Song" not in pickle.dumps(ranker)
    _check_values(ranker, X)


@pytest.mark.parametrize("stacked", [False, True])
def test_partial_fit_adds_the_columns_of_new_songs(X, stacked):
    ranker = MultitaskPlaylistRanker(song_features=["x0", "x1"], tol=0.1)
    if stacked:
        ranker = StackingRanker([("one", ranker), ("two", clone(ranker))], random_state=0)
    number = X["song"].str.removeprefix("song").astype(int)
    old, new = X[number % 5 > 0], X[number % 5 == 0].drop_duplicates("song")
    new = new.assign(user="new", playlist="new")
    ranker = ranker.fit(old).partial_fit(new)
    assert len(ranker.songs_) == X["song"].nunique()
    _check_values(ranker, X)
    if stacked:
        assert all(part._song_columns is None for part in ranker.estimators_)
    # What a new song does not tell is missing.
    more = new.iloc[[0]].assign(song="more")[["user", "playlist", "song", "x0", "x1"]]
    ranker.partial_fit(more)
    reported = _table(ranker).iloc[int(np.flatnonzero(ranker.songs_ == "more")[0])]
    assert reported[["title", "plays", "released", "year", "moods"]].isna().all()
    assert reported["x0"] == more["x0"].item()


def test_users_are_not_reported_for_songs_where_no_song_repeats():
    X = pd.DataFrame(
        {
            "user": np.repeat(["ana", "bob", "eve"], 4),
            "playlist": np.repeat(["p", "q", "r"], 4),
            "song": [f"s{i}" for i in range(12)],
            "country": np.repeat(["AU", "AT", "BR"], 4),
            "artist": np.repeat(["a", "b", "c"], 4),  # named by the ranker's parameter
            "title": [f"t{i}" for i in range(12)],
        }
    )
    assert PopularityRanker().fit(X)._song_columns["labels"] == ["artist", "title"]


def test_a_wide_vector_of_numbers_is_not_stored():
    X = make_playlists(n_users=10, n_songs=30, random_state=0)
    codes = pd.factorize(X["song"])[0]
    wide = pd.DataFrame({f"v{i}": codes * 1.0 for i in range(MOST_NUMBERS)}, index=X.index)
    assert PopularityRanker().fit(X.join(wide))._song_columns["labels"] == ["artist", "genre"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: {**text, "codes": text["codes"] + 1000}, "have codes from -1 to"),
        (lambda text: {**text, "ends": text["ends"][::-1].copy()}, "have rising ends"),
        (lambda text: {**text, "bytes": text["bytes"][:-1]}, "have rising ends"),
        (lambda text: {**text, "bytes": text["bytes"] * 0 + 255}, "have texts in UTF-8"),
        (lambda text: {**text, "codes": text["codes"][:-1]}, "have 40 songs"),
        (lambda text: {"codes": text["codes"]}, "have codes, bytes and ends"),
        (lambda text: text["codes"].astype(object), "be an array of dtype kind"),
        (lambda text: text["codes"][:, None], "be a flat array"),
    ],
)
def test_damaged_columns_are_refused(X, change, message):
    ranker = PopularityRanker().fit(X)
    place = ranker._song_columns["labels"].index("title")
    values = list(ranker._song_columns["values"])
    values[place] = change(values[place])
    ranker._song_columns = {**ranker._song_columns, "values": values}
    with pytest.raises(ValueError, match=message):
        pickle.loads(pickle.dumps(ranker))


def test_other_damage_is_refused(X):
    ranker = PopularityRanker().fit(X)
    for damaged, message in (
        ([], "be a dict of labels and values"),
        ({"labels": (), "values": []}, "hold lists"),
        ({"labels": ["a"], "values": []}, "have 1 columns"),
    ):
        ranker._song_columns = damaged
        with pytest.raises(ValueError, match=message):
            pickle.loads(pickle.dumps(ranker))


@pytest.mark.parametrize("values", [[1, 2, None], [True, False, None], ["a", "b", None]])
def test_categories_may_be_missing(values):
    categories = pd.Series(
        [*values, values[0]], dtype=pd.CategoricalDtype([v for v in values if v is not None])
    )
    X = pd.DataFrame({"user": "u", "playlist": [*"ppqq"], "song": [*"abca"]})
    ranker = PopularityRanker().fit(X.assign(label=categories))
    found = ranker.recommend(X[["user"]].head(1), n_recommendations=3, as_frame=True)
    label = found.set_index("song")["label"]
    assert pd.isna(label["c"])
    assert label["a"] == values[0]
    assert label["b"] == values[1]
