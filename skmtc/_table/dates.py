"""Find columns of dates of songs, playlists and rows, and convert them to seconds.

A table says when a playlist was created (`created_at`), when a song was added to it (`added_at`) or
when a song was released, as dates of pandas, strings, years or unix time.
This module reads all of these; no other module guesses dates.
"""

import re
from datetime import date

import numpy as np
import pandas as pd

SECONDS_PER_DAY = 86_400.0

# Words of the names of dates of playlists and rows. A release has none of them.
EVENT_WORDS = frozenset(
    [
        "created",
        "creation",
        "added",
        "modified",
        "updated",
        "edited",
        "posted",
        "played",
        "listened",
        "timestamp",
    ]
)
OWNER_WORDS = ("user", "owner", "member", "account")
DATE_WORDS = ("date", "day", "year", "release", "released", "at")
RELEASE_WORDS = frozenset(("year", "release", "released"))
ISO_DATE = r"\d{4}(?:-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}.*)?)?)?"

FEWEST_DATES = 0.9  # share of cells that are dates
MOST_CELLS = 10_000  # distinct cells that are read in order to guess
LARGEST_YEAR = 10_000  # numbers below this are years
# Unix time in seconds, milliseconds, microseconds or nanoseconds: the first bound that is above all
# numbers determines the unit. The bound of seconds is the year 5138.
UNIX_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (np.inf, 1e9))
FIRST_UNIX = 1e8  # March 1973; smaller numbers are counts rather than dates


def words(label):
    """Return the words of a name in lower case, as in "albumID", "Album ID" and "album_id"."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(label))
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]


def is_event_name(label):
    """Check whether a column is named like the dates of playlists or rows."""
    return not EVENT_WORDS.isdisjoint(words(label))


def is_release_name(label):
    """Check whether a column is named like the releases of songs."""
    return not RELEASE_WORDS.isdisjoint(words(label)) and not is_event_name(label)


def read_dates(column, label):
    """Return dates as seconds since 1970 in UTC; NaN for what is missing or no date.

    Parameters
    ----------
    column : Series
        Dates, periods (whose start counts), strings in ISO form, years, numbers such as 20130510,
        or unix time in seconds or finer units.

    label : object
        Name of the column, for messages.
    """
    column = _plain(column)
    is_type = pd.api.types
    dtype = column.dtype
    if is_type.is_bool_dtype(dtype) or is_type.is_timedelta64_dtype(dtype):
        _refuse(column, label)
    if is_type.is_numeric_dtype(dtype):
        if is_type.is_complex_dtype(dtype):
            _refuse(column, label)
        return _numbers_to_seconds(column.to_numpy(dtype=np.float64, na_value=np.nan))
    seconds = _to_seconds(column)
    if not np.isfinite(seconds).any() and column.notna().any():
        _refuse(column, label)
    return seconds


def read_date(value, name):
    """Return one date as seconds since 1970 in UTC; raise if it is none."""
    try:
        seconds = read_dates(pd.Series([value]), name)[0]
    except (TypeError, ValueError):
        seconds = np.nan
    if not np.isfinite(seconds):
        raise ValueError(
            f"`{name}` must be a date, such as '2014-01-01', a year or unix time in seconds; got "
            f"{value!r}. Change `{name}`."
        )
    return seconds


def to_timestamps(seconds):
    """Return seconds since 1970 as timestamps of pandas, without a time zone."""
    seconds = np.asarray(seconds, dtype=np.float64)
    there = np.isfinite(seconds)
    stamps = np.full(seconds.shape, np.datetime64("NaT", "us"), dtype="datetime64[us]")
    stamps[there] = np.round(seconds[there] * 1e6).astype(np.int64).astype("datetime64[us]")
    return pd.to_datetime(stamps)


def has_dates(column, label):
    """Check whether the cells of a column are dates.

    Numbers are dates only if the column is named like the dates of playlists or rows.
    """
    column = _plain(column)
    dtype = column.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return True
    if pd.api.types.is_numeric_dtype(dtype):
        return _has_number_dates(column, label)
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred in ("date", "datetime", "datetime64", "period"):
        return True
    return inferred == "string" and has_date_strings(pd.unique(column.dropna()), label)


def has_date_strings(cells, label):
    """Check whether strings are dates such as "2011-05-03", "2011-05" or, among these, "2011"."""
    cells = pd.Series(list(cells[:MOST_CELLS]), dtype=object).str.strip()
    text = cells[cells.str.fullmatch(ISO_DATE)]
    if len(cells) == 0 or len(text) < FEWEST_DATES * len(cells):
        return False
    named = set(words(label)) & set(DATE_WORDS) or is_event_name(label)
    if not (text.str.len() > 4).any() and not named:
        return False
    dates = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
    return bool(dates.notna().sum() >= FEWEST_DATES * len(cells))


def find_date_columns(frame, columns):
    """Return what each column of dates tells the time of: "song", "user", "playlist" or "row".

    Parameters
    ----------
    frame : DataFrame
        Membership table.

    columns : IdColumns
        Labels of the id columns.

    Returns
    -------
    subjects : dict
        Subject by label, in the order of the columns.
    """
    found = {}
    for label in frame.columns:
        if label not in columns and has_dates(frame[label], label):
            found[label] = find_date_subject(frame, label, columns)
    return found


def find_date_subject(frame, label, columns):
    """Return what a column of dates tells the time of, by the rows that agree on it.

    A date of an event, such as `created_at`, is never one of songs or users, even where no song is
    in two playlists and no user has two.
    """
    values = pd.factorize(frame[label])[0]

    def agree(own):
        codes = pd.factorize(frame[own])[0]
        first = np.full(codes.max() + 1, -1)
        first[codes[::-1]] = values[::-1]  # the last write, so the first row, wins
        return bool((first[codes] == values).all())

    is_event = is_event_name(label) and words(label)[0] not in OWNER_WORDS
    if not is_event and agree(columns.song):
        return "song"
    if not agree(columns.playlist):
        return "row"
    of_user = not is_event and columns.user is not None and agree(columns.user)
    return "user" if of_user else "playlist"


def guess_created(frame, columns):
    """Return the column that tells when playlists were created, or songs added to them; or None.

    Dates of playlists come before dates of rows, names of creation before others.
    """
    found = {c: s for c, s in find_date_columns(frame, columns).items() if s in ("playlist", "row")}
    order = sorted(
        found,
        key=lambda label: (
            found[label] == "row",
            {"created", "creation"}.isdisjoint(words(label)),
            not is_event_name(label),
        ),
    )
    return next(iter(order), None)


def _plain(column):
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    return column.infer_objects()


def _to_seconds(column):
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    elif not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _objects_to_seconds(column)
    if column.dt.tz is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = column.to_numpy(dtype="datetime64[ns]", na_value=np.datetime64("NaT", "ns"))
    seconds = stamps.astype("datetime64[us]").astype(np.int64) / 1e6
    seconds[np.isnat(stamps)] = np.nan
    return seconds


def _objects_to_seconds(column):
    cells = column.astype(object).where(column.notna(), None)
    if pd.api.types.infer_dtype(cells, skipna=True) == "period":
        cells = cells.map(lambda cell: None if cell is None else cell.to_timestamp())
    is_text = cells.map(lambda cell: isinstance(cell, str))
    other = ~is_text & ~cells.map(
        lambda cell: cell is None or isinstance(cell, date | np.datetime64)
    )
    # Numbers among strings would be read as nanoseconds.
    dates = pd.to_datetime(cells.where(~other, None), format="ISO8601", errors="coerce", utc=True)
    seconds = _to_seconds(dates)
    numbers = pd.to_numeric(cells[is_text & np.isnan(seconds)], errors="coerce")
    if numbers.notna().any():  # unix time as text
        places = np.flatnonzero(is_text & np.isnan(seconds))
        seconds[places] = _numbers_to_seconds(numbers.to_numpy(dtype=np.float64))
    return seconds


def _numbers_to_seconds(values):
    values = np.where(np.isfinite(values), values, np.nan)
    there = ~np.isnan(values)
    if not there.any():
        return values
    largest = np.abs(values[there]).max()
    if largest < LARGEST_YEAR:
        return _years_to_seconds(values)
    days = _read_digits(values, there)
    if days is not None:
        return days
    unit = next(unit for bound, unit in UNIX_UNITS if largest < bound)
    return values / unit


def _years_to_seconds(years):
    """Return the time of years with a fraction, where 2013.5 is the middle of 2013."""
    seconds = np.full(years.shape, np.nan)
    there = ~np.isnan(years)
    whole = np.floor(years[there]).astype(np.int64)
    start, end = (
        (year - 1970).astype("datetime64[Y]").astype("datetime64[s]").astype(np.int64)
        for year in (whole, whole + 1)
    )
    seconds[there] = start + (years[there] - whole) * (end - start)
    return seconds


def _read_digits(values, there):
    """Return the time of numbers such as 20130510; None if they are not all of this kind."""
    numbers = values[there]
    if (numbers % 1 != 0).any() or numbers.min() < 1_000_00_00 or numbers.max() > 2999_12_31:
        return None
    text = pd.Series(numbers.astype(np.int64).astype(str))
    dates = pd.to_datetime(text, format="%Y%m%d", errors="coerce")
    if dates.isna().any():
        return None
    seconds = np.full(values.shape, np.nan)
    seconds[there] = _to_seconds(dates)
    return seconds


def _has_number_dates(column, label):
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = values[np.isfinite(values)]
    if len(values) == 0 or not is_event_name(label):
        return False
    is_year = values.min() >= 1900 and values.max() < 2200
    return bool(is_year or values.min() >= FIRST_UNIX or 1e7 <= values.min() < 3e7)


def _refuse(column, label):
    given = column.dropna()
    example = f", such as {str(given.iloc[0])!r}" if len(given) else ""
    raise ValueError(
        f"Dates must be dates of pandas, strings such as '2011-05-03', years or unix time in "
        f"seconds; got {column.dtype} in column {label!r}{example}. Convert the column, e.g. with "
        "`pd.to_datetime`."
    )
