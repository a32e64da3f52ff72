"""The table contract."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skmtc import PopularityRanker, compare
from skmtc._table import (
    Ids,
    column_label,
    describing_columns,
    find_id_columns,
    is_table,
    read_ids,
    read_memberships,
    to_frame,
)

COLUMNS = {"user": "user", "playlist": "playlist", "song": "song"}


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "user": ["bob", "bob", "ana", "ana", "ana"],
            "playlist": ["run", "run", "gym", "gym", "gym"],
            "song": ["s9", "s1", "s2", "s1", "s7"],
            "tempo": [120.0, 90.0, 100.0, 90.0, 80.0],
            "age": [40, 40, 31, 31, 31],
        }
    )


def test_reads_ids_positions_and_owners(frame):
    table = read_memberships(frame, **COLUMNS)
    assert table.songs.values.tolist() == ["s1", "s2", "s7", "s9"]
    assert table.playlists.values.tolist() == ["gym", "run"]
    assert table.users.values.tolist() == ["ana", "bob"]
    assert table.user_of_playlist.tolist() == [0, 1]
    # gym: s2, s1, s7 in this order; run: s9, s1.
    np.testing.assert_array_equal(table.membership.toarray(), [[2, 1, 3, 0], [2, 0, 0, 1]])
    assert table.song_rows["tempo"].tolist() == [90.0, 100.0, 80.0, 120.0]
    assert table.user_rows["age"].tolist() == [31, 40]
    assert table.left_out == {"repeated rows": 0, "playlists with every song": 0}


def test_codes_do_not_depend_on_row_order_across_playlists(frame):
    table = read_memberships(frame, **COLUMNS)
    turned = read_memberships(pd.concat([frame[2:], frame[:2]]), **COLUMNS)
    np.testing.assert_array_equal(table.membership.toarray(), turned.membership.toarray())
    np.testing.assert_array_equal(table.user_of_playlist, turned.user_of_playlist)


def test_unknown_owners_make_each_playlist_its_own_user(frame):
    table = read_memberships(frame, user=None, playlist="playlist", song="song")
    assert table.users.values.tolist() == ["gym", "run"]
    assert table.user_of_playlist.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_string_ids_of_any_dtype_are_the_same(frame, dtype):
    table = read_memberships(frame.astype(dict.fromkeys(COLUMNS, dtype)), **COLUMNS)
    expected = read_memberships(frame, **COLUMNS)
    assert table.songs.values.tolist() == expected.songs.values.tolist()
    np.testing.assert_array_equal(table.membership.toarray(), expected.membership.toarray())


def test_unused_categories_are_no_songs(frame):
    song = pd.Categorical(frame["song"], categories=["s0", "s9", "s7", "s2", "s1"])
    assert read_memberships(frame.assign(song=song), **COLUMNS).songs.values.tolist() == [
        "s1",
        "s2",
        "s7",
        "s9",
    ]


def test_nullable_integer_ids(frame):
    ids = pd.array([9, 1, 2, 1, 7], dtype="Int64")
    assert read_memberships(frame.assign(song=ids), **COLUMNS).songs.values.tolist() == [1, 2, 7, 9]


def test_arrays_and_polars_are_read_too(frame):
    array = read_memberships(to_frame(frame.to_numpy(dtype=object)), user=0, playlist=1, song=2)
    other = read_memberships(to_frame(pl.from_pandas(frame)), **COLUMNS)
    for table in (array, other):
        np.testing.assert_array_equal(table.membership.toarray(), [[2, 1, 3, 0], [2, 0, 0, 1]])
    assert array.song_rows.dtypes[3] == np.float64


def test_a_song_twice_in_a_playlist_counts_once(frame):
    table = read_memberships(pd.concat([frame, frame.iloc[[0, 0, 3]]]), **COLUMNS)
    np.testing.assert_array_equal(table.membership.toarray(), [[2, 1, 3, 0], [2, 0, 0, 1]])
    assert table.left_out["repeated rows"] == 3


def test_a_full_playlist_is_left_out_but_its_songs_stay(frame):
    full = pd.DataFrame({"user": "eve", "playlist": "all", "song": ["s1", "s2", "s7", "s9"]})
    table = read_memberships(pd.concat([frame, full]), **COLUMNS)
    assert table.playlists.values.tolist() == ["gym", "run"]
    assert table.users.values.tolist() == ["ana", "bob"]
    assert table.user_rows["user"].tolist() == ["ana", "bob"]
    assert len(table.songs) == 4
    assert table.left_out["playlists with every song"] == 1


def test_columns_are_found_by_name_or_position(frame):
    assert column_label(frame, "song") == "song"
    assert column_label(frame, 2) == "song"
    assert column_label(frame, -1) == "age"
    assert column_label(frame, 5) is None
    assert column_label(frame, True) is None
    columns = find_id_columns(frame, user="user", playlist=1, song="song")
    assert columns.labels == ("user", "playlist", "song")
    assert "playlist" in columns
    assert "tempo" not in columns


def test_columns_that_describe_songs_and_users(frame):
    columns = find_id_columns(frame, **COLUMNS)
    frame["genres"] = [["rock"], ["pop"], ["pop"], ["pop"], None]
    nothing = {"playlist": [], "row": []}
    expected = {"song": ["tempo", "genres"], "user": ["age"]} | nothing
    assert describing_columns(frame, columns) == expected
    frame["one"] = 1
    assert "one" in describing_columns(frame, columns)["song"]


def test_columns_that_describe_playlists_and_rows():
    frame = pd.DataFrame(
        {
            "user": ["ana", "ana", "ana", "bob"],
            "playlist": ["gym", "gym", "run", "sun"],
            "song": ["s1", "s2", "s1", "s1"],
            "title": ["fast", "fast", "slow", "warm"],
            "created_at": ["2011-05-03", "2011-05-03", "2012-01-30", "2012-01-30"],
            "added_at": pd.date_range("2011-05-03", periods=4),
            "played": pd.date_range("2011-05-03", periods=4, tz="Europe/Berlin"),
            "modified": pd.period_range("2011-05", periods=4, freq="M"),
            "timestamp": [1304380800, 1304380801, 1304380802, 1304380803],
            "weight": [0.5, 1.0, 2.0, 3.0],
        }
    )
    columns = find_id_columns(frame, **COLUMNS)
    assert describing_columns(frame, columns) == {
        "song": [],
        "user": [],
        "playlist": ["title", "created_at"],
        "row": ["added_at", "played", "modified", "timestamp", "weight"],
    }
    # A date of an event is not one of songs where no song is in two playlists.
    once = describing_columns(frame.assign(song=list("abcd")), columns)
    assert once["song"] == ["title", "weight"]
    assert once["playlist"] == ["created_at"]


def test_a_missing_value_is_a_value_of_its_own(frame):
    columns = find_id_columns(frame, **COLUMNS)
    frame.loc[[1, 3], "tempo"] = np.nan
    assert describing_columns(frame, columns)["song"] == ["tempo"]
    frame.loc[3, "tempo"] = 90.0
    with pytest.raises(ValueError, match="'tempo'"):
        describing_columns(frame, columns)


def test_the_first_value_of_a_song_counts_where_the_first_row_has_none(frame):
    frame["tempo"] = [np.nan, 90.0, 120.0, 95.0, np.nan]
    frame[7] = pd.array(["x", None, None, "z", "y"], dtype="string")
    before = frame.copy()
    table = read_memberships(frame, **COLUMNS)
    first = frame.dropna(subset="tempo").groupby("song")["tempo"].first()
    expected = first.reindex(table.songs.values)
    np.testing.assert_array_equal(table.song_rows["tempo"], expected)
    again = frame.groupby("song")[7].first().reindex(table.songs.values)
    assert table.song_rows[7].fillna("").tolist() == again.fillna("").tolist()
    assert table.song_rows.dtypes.tolist() == frame.dtypes.tolist()
    pd.testing.assert_frame_equal(frame, before)


def test_unknown_ids_have_code_minus_one():
    ids, codes = Ids.factorize(pd.Series(["b", "a", "b"]), "song")
    assert ids.values.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert ids.codes(pd.Series(["b", "c", "a"])).tolist() == [1, -1, 0]


def _error(exception, parts, function, *args, **kwargs):
    with pytest.raises(exception) as raised:
        function(*args, **kwargs)
    for part in parts:
        assert part in str(raised.value)


def test_missing_id_column_is_reported(frame):
    parts = ["must have a song column 'track'", "got", "'tempo'", "song="]
    _error(ValueError, parts, read_memberships, frame, user=None, playlist="playlist", song="track")
    parts = ["playlist=None", "Pass"]
    _error(ValueError, parts, read_memberships, frame, user=None, playlist=None, song="song")


def test_one_column_for_two_roles_is_reported(frame):
    parts = ["three different columns", "got", "Change"]
    _error(ValueError, parts, read_memberships, frame, user="user", playlist="song", song="song")


@pytest.mark.parametrize("missing", [np.nan, np.inf, None])
def test_missing_ids_are_reported(frame, missing):
    frame["song"] = pd.Series([1.0, 2.0, missing, 4.0, 5.0])
    parts = ["must have a song id", "NaN or inf in 1 of 5", "position 2", "Drop"]
    _error(ValueError, parts, read_memberships, frame, **COLUMNS)


def test_unhashable_and_mixed_ids_are_reported(frame):
    frame["song"] = pd.Series([{}, 1, 2, 3, 4], dtype=object)
    _error(
        TypeError,
        ["must be a string or a number", "dict", "astype"],
        read_ids,
        frame,
        "song",
        "song",
    )
    frame["song"] = pd.Series(["a", 1, 2, 3, 4], dtype=object)
    _error(TypeError, ["one type", "astype"], read_memberships, frame, **COLUMNS)


def test_another_type_of_ids_is_reported():
    ids = Ids(np.array([1, 2]), "user")
    _error(TypeError, ["same type", "strings", "numbers", "astype"], ids.codes, pd.Series(["1"]))


def test_two_owners_are_reported(frame):
    frame.loc[1, "user"] = "eve"
    parts = ["one owner", "'run'", "'bob'", "'eve'", "Make playlist ids distinct"]
    _error(ValueError, parts, read_memberships, frame, **COLUMNS)


def test_two_feature_rows_of_a_song_are_reported(frame):
    frame["added"] = range(5)
    columns = find_id_columns(frame, **COLUMNS)
    parts = ["'added'", "1 in row 1", "3 in row 3", "'s1'", "song_features"]
    _error(ValueError, parts, describing_columns, frame, columns)


def test_empty_and_ambiguous_tables_are_reported(frame):
    _error(ValueError, ["no rows", "(0, 5)", "Check"], to_frame, frame[:0])
    twice = pd.concat([frame, frame["tempo"]], axis=1)
    _error(ValueError, ["distinct", "'tempo'", "Rename"], to_frame, twice)


class Relation:
    """What is like a relation of DuckDB: a table that `df` fetches."""

    def __init__(self, frame):
        self.frame = frame

    def df(self):
        """Fetch the rows."""
        return self.frame


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame.to_dict("records"),
        lambda frame: frame.to_dict("list"),
        lambda frame: pl.from_pandas(frame).lazy(),
        Relation,
    ],
    ids=["list of dicts", "dict of lists", "lazy frame", "relation"],
)
def test_other_tables_are_read_by_every_door(frame, convert):
    frame = frame[["user", "playlist", "song"]]
    table = convert(frame)
    pd.testing.assert_frame_equal(to_frame(table), frame, check_dtype=False)
    assert is_table(table)
    ranker = PopularityRanker().fit(table)
    expected = PopularityRanker().fit(frame).predict(frame)
    np.testing.assert_array_equal(ranker.predict(table), expected)
    cv = [(np.arange(len(frame)), np.arange(len(frame)))]
    found = compare({"popularity": ranker}, table, {"all": cv}, "auc")
    assert found.shape == (1, 1)


def test_lists_of_lists_have_positions():
    rows = [["ana", "gym", "s1"], ["ana", "gym", "s2"], ["bob", "run", "s3"]]
    assert PopularityRanker(user=0, playlist=1, song=2).fit(rows).songs_.tolist() == [
        *["s1", "s2", "s3"]
    ]
    with pytest.raises(ValueError, match=r"have positions: pass them as e\.g\. user=0, playlist=1"):
        PopularityRanker().fit(rows)
    with pytest.raises(ValueError, match=r"same number of values.*got rows of \[2, 3\] values"):
        PopularityRanker(user=0, playlist=1, song=2).fit([*rows, ["bob", "run"]])


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("ana", "got 'ana'. Name the column, e.g. as pd.DataFrame({'user': ['ana']})."),
        (["ana", "bob"], "got ['ana', 'bob']. Name the column, e.g. as pd.DataFrame({'user': ['a"),
        ((3, 4.5), "got (3, 4.5). Name the column, e.g. as pd.DataFrame({'user': [3, 4.5]})."),
    ],
)
def test_ids_are_no_table(asked, shown):
    with pytest.raises(ValueError, match=re.escape(shown)):
        to_frame(asked)
    X = pd.DataFrame({"user": ["a", "b"], "playlist": ["p", "q"], "song": ["s", "t"]})
    ranker = PopularityRanker().fit(X)
    with pytest.raises(ValueError, match="A table must have rows and columns"):
        ranker.recommend(asked)


def test_playlists_as_a_dict_of_lists_are_no_table():
    with pytest.raises(ValueError, match=r"one length by name; got .* of \[2, 3\].*one row per"):
        to_frame({"gym": ["a", "b"], "bed": ["b", "c", "d"]})
    assert to_frame({"user": ["ana", "bob"], "year": 2000}).shape == (2, 2)
