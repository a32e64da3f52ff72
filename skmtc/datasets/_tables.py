"""Membership tables as CSV and Parquet files."""

from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from skmtc.datasets._files import MAX_BYTES, Source, plain_file

FORMATS = (".csv", ".csv.gz", ".parquet")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "None"]
PARQUET_MAGIC = b"PAR1"


def read_table(path, *, user="user", playlist="playlist", song="song", max_bytes=MAX_BYTES):
    r"""Read a membership table from a CSV or Parquet file.

    Parameters
    ----------
    path : path-like
        A file with one row per song in a playlist, and at least the columns playlist and song;
        see the format of tables in the user guide. CSV may be gzip-compressed.

    user : str or None, default="user"
        Column of user ids, if the table has it.

    playlist : str or None, default="playlist"
        Column of playlist ids. None: a table of songs.

    song : str or None, default="song"
        Column of song ids. None: a table of users or playlists.

    max_bytes : int, default=8 GiB
        Refuse a file that is larger than this once decompressed.

    Returns
    -------
    X : DataFrame
        The table. Id columns of a CSV file are text; cells that are empty, or NA, N/A, NaN, nan,
        null or None in other columns, are missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skmtc.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "playlists.csv")
    ...     _ = path.write_text("user,playlist,song,year\nana,gym,s17,2009\n")
    ...     read_table(path)
      user playlist song  year
    0  ana      gym  s17  2009
    """
    source = Source(path, max_bytes)
    first = next(source.chunks(), b"")
    if not first:
        raise ValueError(
            f"The table must have a header and rows; got the empty file {str(path)!r}. Check the "
            "path."
        )
    if first.startswith(PARQUET_MAGIC):
        X = _read_parquet(source.path, max_bytes)
    else:
        with plain_file(path, max_bytes) as plain:
            X = _read_csv(plain, path, (user, playlist, song))
    _check_columns(X, f"{str(path)!r}", (playlist, song))
    return X


def write_table(X, path):
    """Write a membership table to a CSV or Parquet file.

    Parameters
    ----------
    X : DataFrame
        The table.

    path : path-like
        Where to write; the name must end in .csv, .csv.gz or .parquet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from skmtc.datasets import read_table, write_table
    >>> X = pd.DataFrame({"user": ["ana"], "playlist": ["gym"], "song": ["s17"], "year": [2009]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "playlists.csv.gz")
    ...     write_table(X, path)
    ...     read_table(path).equals(X)
    True
    """
    _check_columns(X, "the table")
    name = Path(path).name.lower()
    if name.endswith(".parquet"):
        _import_parquet()
        X.to_parquet(path, index=False)
    elif name.endswith(".csv.gz"):
        # Without a time stamp, so that the same table gives the same bytes.
        X.to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})
    elif name.endswith(".csv"):
        X.to_csv(path, index=False)
    else:
        raise ValueError(
            f"The name of a table file must end in one of {', '.join(FORMATS)}; got {name!r}. "
            "Change the name."
        )


def _read_csv(plain, path, ids):
    try:
        header = pd.read_csv(plain, nrows=0, encoding="utf-8-sig").columns
        # An id may be NA or 007: it is text, and missing only where it is empty.
        missing = {name: [""] if name in ids else MISSING for name in header}
        return pd.read_csv(
            plain,
            dtype={name: str for name in header if name in ids},
            na_values=missing,
            keep_default_na=False,
            encoding="utf-8-sig",
            low_memory=False,
        )
    except (ValueError, OverflowError) as error:  # also pandas' own errors, and wrong encodings
        raise ValueError(
            f"The table must be a comma separated file with a header, in UTF-8; got {error} from "
            f"{str(path)!r}. Correct the line, or write the file again."
        ) from error


def _read_parquet(path, max_bytes):
    parquet = _import_parquet()
    try:
        with parquet.ParquetFile(path) as file:
            n_bytes = _unpacked_bytes(file.metadata)
        if n_bytes > max_bytes:
            raise ValueError(f"{n_bytes} bytes, more than max_bytes={max_bytes},")
        return pd.read_parquet(path)
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow's errors are of these
        raise ValueError(
            f"The table must be a whole Parquet file within `max_bytes`; got {error} from "
            f"{str(path)!r}. Write the file again, or raise `max_bytes` if you trust it."
        ) from error


def _unpacked_bytes(metadata):
    """Estimate the size of a Parquet table in memory, from above its share of repeated values."""
    stated = sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
    return max(stated, 8 * metadata.num_rows * metadata.num_columns)


def _import_parquet():
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Parquet tables need pyarrow, which is not installed. Install it with "
            "`pip install pyarrow`, or use CSV."
        ) from error
    return parquet


def _check_columns(X, what, required=("playlist", "song")):
    required = [name for name in required if name is not None]
    missing = [name for name in required if name not in X.columns]
    if missing:
        near = [c for name in missing for c in get_close_matches(name, map(str, X.columns), 1)]
        raise ValueError(
            f"A membership table must have the columns {' and '.join(required)}; got {what} with "
            f"columns {list(X.columns)[:12]}. Rename or add {missing}, or say which columns to use "
            f"with `playlist` and `song`{f' (nearest: {near})' if near else ''}."
        )
