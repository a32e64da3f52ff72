"""Dates of all kinds, read and recognised."""

import datetime

import numpy as np
import pandas as pd
import pytest

from skmtc._table import IdColumns
from skmtc._table.dates import (
    find_date_columns,
    guess_created,
    has_dates,
    is_event_name,
    is_release_name,
    read_date,
    read_dates,
    to_timestamps,
    words,
)

DAYS = pd.Series(pd.to_datetime(["2013-05-10", "2009-05-18", None]))
SECONDS = [1368144000.0, 1242604800.0, np.nan]
IDS = IdColumns("user", "playlist", "song")

KINDS = {
    "dates": DAYS,
    "nanoseconds": DAYS.astype("datetime64[ns]"),
    "time zone": DAYS.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "strings": pd.Series(["2013-05-10", "2009-05-18", None]),
    "times": pd.Series(["2013-05-10T00:00:00Z", "2009-05-18 02:00:00+02:00", None]),
    "periods": DAYS.dt.to_period("D"),
    "objects": DAYS.dt.date,
    "timestamps": DAYS.astype(object),
    "periods as objects": DAYS.dt.to_period("D").astype(object),
    "categories": DAYS.astype("category"),
    "arrow": DAYS.astype("timestamp[ns][pyarrow]"),
    "arrow strings": pd.Series(["2013-05-10", "2009-05-18", None], dtype="string[pyarrow]"),
    "digits": pd.Series([20130510, 20090518, None]),
    "unix": pd.Series([1368144000, 1242604800, None], dtype="Int64"),
    "milliseconds": pd.Series([1368144000000, 1242604800000, None], dtype="Int64"),
    "nanoseconds of unix time": pd.Series([1368144000, 1242604800, np.nan]) * 1e9,
    "unix as text": pd.Series(["1368144000", "1242604800", None]),
}
NO_SIGN = ("digits", "unix", "milliseconds", "nanoseconds of unix time")


@pytest.mark.parametrize("column", KINDS.values(), ids=KINDS)
def test_dates_become_seconds(column):
    np.testing.assert_allclose(read_dates(column, "when"), SECONDS, rtol=0, atol=1e-3)


@pytest.mark.parametrize(("kind", "column"), KINDS.items(), ids=KINDS)
def test_dates_are_recognised(kind, column):
    # Numbers may be anything, unless the name says what they are.
    as_text = kind == "unix as text"
    assert has_dates(column, "thing") == (kind not in NO_SIGN and not as_text)
    assert has_dates(column, "created_at") == (not as_text)


def test_years():
    years = read_dates(pd.Series([2013, 2012.5, 1970]), "year")
    expected = pd.to_datetime(["2013-01-01", "2012-07-02", "1970-01-01"])
    np.testing.assert_allclose(years, (expected - pd.Timestamp(0)).total_seconds())
    assert (np.diff(read_dates(pd.Series(np.arange(-5, 9999, 7)), "year")) > 0).all()
    assert has_dates(pd.Series([2011, 2014]), "created_year")
    assert not has_dates(pd.Series([2011, 2014]), "year")
    assert has_dates(pd.Series(["2011", "2014"]), "year")
    assert not has_dates(pd.Series(["2011", "2014"]), "code")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False]),
        pd.Series(["03/05/2011", "04/05/2011"]),
        pd.Series(pd.to_timedelta([1, 2], "D")),
        pd.Series([1j, 2j]),
        pd.Series([["2011-05-03"], ["2011-05-04"]]),
    ],
)
def test_what_is_no_date_is_reported(column):
    with pytest.raises(ValueError, match=r"Dates must be dates of pandas, .* in column 'when'"):
        read_dates(column, "when")
    assert not has_dates(column, "when")


def test_some_cells_may_be_no_dates():
    seconds = read_dates(pd.Series(["2013-05-10", "soon", "", None]), "when")
    assert seconds[0] == SECONDS[0]
    assert np.isnan(seconds[1:]).all()
    assert np.isnan(read_dates(pd.Series([np.nan, np.inf]), "when")).all()
    assert np.isnan(read_dates(pd.Series([None, None]), "when")).all()


def test_one_date():
    day = pd.Timestamp("2013-05-10")
    for date in (day, "2013-05-10", datetime.date(2013, 5, 10), 20130510, np.datetime64(day)):
        assert read_date(date, "cutoff") == SECONDS[0]
    for bad in ("soon", None, True, [1, 2]):
        with pytest.raises(ValueError, match="`cutoff` must be a date"):
            read_date(bad, "cutoff")
    assert to_timestamps(SECONDS)[0] == day
    assert pd.isna(to_timestamps(SECONDS)[2])


def test_names():
    assert words("albumID") == words("album id") == ["album", "id"]
    assert all(is_event_name(n) for n in ("created_at", "addedAt", "timestamp", "date created"))
    assert not any(is_event_name(n) for n in ("release_date", "year", "date", "creator"))
    assert all(is_release_name(n) for n in ("year", "release_date", "Released"))
    assert not any(is_release_name(n) for n in ("created_year", "yearly", "date"))


def test_whose_dates():
    days = pd.date_range("2011-01-01", periods=6)
    X = pd.DataFrame(
        {
            "user": [1, 1, 1, 2, 2, 2],
            "playlist": [1, 1, 2, 3, 3, 4],
            "song": [1, 2, 1, 2, 3, 1],
            "tempo": [1.0, 2.0, 1.0, 2.0, 3.0, 1.0],
            "heard_first": days[[0, 1, 0, 1, 2, 0]],
            "member_since": days[[0, 0, 0, 1, 1, 1]],
            "user_created_at": days[[0, 0, 0, 1, 1, 1]],
            "posted": days[[3, 3, 4, 2, 2, 1]].strftime("%Y-%m-%d"),
            "added_at": days.to_period("D"),
        }
    )
    assert find_date_columns(X, IDS) == {
        "heard_first": "song",
        "member_since": "user",
        "user_created_at": "user",
        "posted": "playlist",
        "added_at": "row",
    }
    assert guess_created(X, IDS) == "posted"
    assert guess_created(X.drop(columns="posted"), IDS) == "added_at"
    assert guess_created(X[["user", "playlist", "song", "member_since"]], IDS) is None
    without = IdColumns(None, "playlist", "song")
    assert find_date_columns(X, without)["posted"] == "playlist"
    # With one song a playlist, and one playlist a user, an event is one of playlists.
    once = X.drop_duplicates("user").assign(song=[8, 9])
    assert find_date_columns(once, IDS)["posted"] == "playlist"
