"""Membership tables as CSV and Parquet files."""

import gzip
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pandas as pd

from skmtc._table import is_table
from skmtc._typing import StrPath
from skmtc._utils.atomic_files import whole_file
from skmtc.datasets.reading import (
    MAX_BYTES,
    PARQUET_MAGIC,
    Source,
    find_parts,
    import_parquet,
    is_parquet,
    plain_file,
    read_arrow,
    read_parquet,
    read_parquet_parts,
)

FORMATS = (".csv", ".csv.gz", ".parquet")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "None"]
# Without a guess by the name: the file is not compressed, whatever it is called.
PLAIN_CSV = {"encoding": "utf-8-sig", "compression": None}


def read_table(
    path: StrPath | Sequence[StrPath] | Any,
    *,
    user: str | None = "user",
    playlist: str | None = "playlist",
    song: str | None = "song",
    max_bytes: int = MAX_BYTES,
) -> pd.DataFrame:
    r"""Read a membership table from CSV, TSV or Parquet files, or from another library.

    Parameters
    ----------
    path : path-like, list of path-like, or table
        A file with one row per song in a playlist, and at least the columns playlist and song;
        see the format of tables in the user guide. It may be compressed by gzip, or the only file
        in a zip archive. Whether the cells of CSV are separated by commas, tabs or semicolons is
        read from the header.

        A list of files, or a folder of them, is one table; the files of a folder are read in the
        order of their names. So is a pyarrow dataset or table, a (lazy) frame of polars, or a
        relation of DuckDB. Of these, and of several Parquet files, id columns of text become
        categorical, which takes four bytes a row in place of the text.

    user : str or None, default="user"
        Column of user ids, if the table has it.

    playlist : str or None, default="playlist"
        Column of playlist ids. None: a table of songs.

    song : str or None, default="song"
        Column of song ids. None: a table of users or playlists.

    max_bytes : int, default=8 GiB
        Refuse files that are larger than this, all together, once decompressed.

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
    ids = (user, playlist, song)
    if is_table(path):
        X, where = read_arrow(path, ids), f"a {type(path).__name__}"
    else:
        paths = find_parts(path, FORMATS)
        X, where = _read_files(paths, ids, max_bytes), f"{str(path)!r}"
    _check_columns(X, where, (playlist, song))
    return X


def _read_files(paths, ids, max_bytes):
    """Read one file, or several as one table."""
    if len(paths) > 1 and all(map(is_parquet, paths)):
        return read_parquet_parts(paths, ids, max_bytes)
    tables, n_bytes = [], 0
    for path in paths:
        table, size = _read_file(path, ids, max_bytes, n_bytes)
        tables.append(table)
        n_bytes += size
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def _read_file(path, ids, max_bytes, n_before=0):
    """Read one file, whatever its format; also return its size once decompressed."""
    source = Source(path, max_bytes, n_before=n_before)
    first = next(source.chunks(), b"")
    if not first and source.damage is None:
        raise ValueError(
            f"The table must have a header and rows; got the empty file {str(path)!r}. Check the "
            "path."
        )
    with plain_file(path, max_bytes, n_before=n_before) as plain:
        if first.startswith(PARQUET_MAGIC):
            return read_parquet(plain, path, max_bytes, n_before=n_before)
        size = plain.stat().st_size
        source.check_size(n_before + size)
        return _read_csv(plain, path, ids), size


def column_names(path):
    """Return the names of the columns of a CSV or Parquet file, without its rows."""
    with plain_file(path) as plain:
        if is_parquet(plain):
            with import_parquet().ParquetFile(plain) as file:
                return list(file.schema_arrow.names)
        options = PLAIN_CSV | {"nrows": 0, "sep": _separator(plain)}
        return list(pd.read_csv(plain, **options).columns)


def write_table(X: pd.DataFrame, path: StrPath) -> None:
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
    if not name.endswith(FORMATS):
        raise ValueError(
            f"The name of a table file must end in one of {', '.join(FORMATS)}; got {name!r}. "
            "Change the name."
        )
    if name.endswith(".parquet"):
        import_parquet()
    with whole_file(path) as file:
        if name.endswith(".parquet"):
            X.to_parquet(file, index=False)
        elif name.endswith(".csv"):
            X.to_csv(file, index=False)
        else:
            # Without a name and time stamp, so that the same table gives the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                X.to_csv(packed, index=False)


def _read_csv(plain, path, ids):
    try:
        separator = _separator(plain)
        header = pd.read_csv(plain, nrows=0, sep=separator, **PLAIN_CSV).columns
        # An id may be NA or 007: it is text, and missing only where it is empty.
        missing = {name: [""] if name in ids else MISSING for name in header}
        return pd.read_csv(
            plain,
            sep=separator,
            dtype={name: str for name in header if name in ids},
            na_values=missing,
            keep_default_na=False,
            low_memory=False,
            **PLAIN_CSV,
        )
    except (ValueError, OverflowError) as error:  # also pandas' own errors, and wrong encodings
        raise ValueError(
            f"The table must be a comma separated file with a header, in UTF-8; got {error} from "
            f"{str(path)!r}. Correct the line, or write the file again."
        ) from error


def _separator(path):
    """Return what separates the cells of the header: commas unless others are more frequent."""
    with open(path, encoding="utf-8-sig") as file:
        header = file.readline(1_000_000)
    return max(",\t;", key=header.count)


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
