"""Membership tables as CSV and Parquet files."""

import gzip
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from skmtc._typing import StrPath
from skmtc._utils.atomic_files import whole_file
from skmtc.datasets.reading import MAX_BYTES, Source, plain_file

FORMATS = (".csv", ".csv.gz", ".parquet")
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "None"]
PARQUET_MAGIC = b"PAR1"
# Without a guess by the name: the file is not compressed, whatever it is called.
PLAIN_CSV = {"encoding": "utf-8-sig", "compression": None}


def read_table(
    path: StrPath,
    *,
    user: str | None = "user",
    playlist: str | None = "playlist",
    song: str | None = "song",
    max_bytes: int = MAX_BYTES,
) -> pd.DataFrame:
    r"""Read a membership table from a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : path-like
        A file with one row per song in a playlist, and at least the columns playlist and song;
        see the format of tables in the user guide. It may be compressed by gzip, or the only file
        in a zip archive. Whether the cells of CSV are separated by commas, tabs or semicolons is
        read from the header.

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
    if not first and source.damage is None:
        raise ValueError(
            f"The table must have a header and rows; got the empty file {str(path)!r}. Check the "
            "path."
        )
    with plain_file(path, max_bytes) as plain:
        if first.startswith(PARQUET_MAGIC):
            X = _read_parquet(plain, path, max_bytes)
        else:
            X = _read_csv(plain, path, (user, playlist, song))
    _check_columns(X, f"{str(path)!r}", (playlist, song))
    return X


def column_names(path):
    """Return the names of the columns of a CSV or Parquet file, without its rows."""
    with plain_file(path) as plain:
        with open(plain, "rb") as file:
            is_parquet = file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
        if is_parquet:
            with _import_parquet().ParquetFile(plain) as file:
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
        _import_parquet()
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


def _read_parquet(plain, path, max_bytes):
    parquet = _import_parquet()
    try:
        with parquet.ParquetFile(plain) as file:
            _check_unpacked(file.metadata, max_bytes)
        with parquet.ParquetFile(plain, read_dictionary=_text_columns(file.metadata)) as file:
            _check_text(file, max_bytes)
        return pd.read_parquet(plain)
    except Exception as error:  # a damaged file makes pyarrow raise anything
        raise ValueError(
            f"The table must be a whole Parquet file within `max_bytes`; got {error} from "
            f"{str(path)!r}. Write the file again, or raise `max_bytes` if you trust it."
        ) from error


def _chunks(metadata):
    """Yield the parts of columns that a Parquet file stores."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        yield from (row_group.column(c) for c in range(row_group.num_columns))


def _text_columns(metadata):
    """Name the columns of values of any length."""
    found = {c.path_in_schema for c in _chunks(metadata) if c.physical_type == "BYTE_ARRAY"}
    return sorted(found)


def _check_unpacked(metadata, max_bytes):
    """Check what the file says of itself: encoded bytes, and eight for each value of a list."""
    stated = sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
    widths = {}
    for c in range(metadata.num_columns):
        column = metadata.schema.column(c)
        widths[column.path] = max(8, column.length)
    values = sum(c.num_values * widths.get(c.path_in_schema, 8) for c in _chunks(metadata))
    _check_bytes(max(stated, values, 8 * metadata.num_rows * metadata.num_columns), max_bytes)


def _check_text(file, max_bytes):
    """Check how long all texts are once each row has its own; repeated ones are stored once.

    Texts are read as codes of distinct ones, which takes no more memory than they do in the file.
    """
    from pyarrow import compute

    n_bytes, columns = 0, _text_columns(file.metadata)
    for group in range(file.num_row_groups if columns else 0):
        table = file.read_row_group(group, columns=columns)
        for column in table.columns:
            for chunk in map(_leaves, column.chunks):
                lengths = compute.binary_length(chunk.dictionary)
                n_bytes += compute.sum(lengths.take(chunk.indices)).as_py() or 0
                _check_bytes(n_bytes, max_bytes)


def _leaves(array):
    """Return the values inside lists of texts."""
    while hasattr(array, "flatten") and not hasattr(array, "dictionary"):
        array = array.flatten()
    return array


def _check_bytes(n_bytes, max_bytes):
    if n_bytes > max_bytes:
        raise ValueError(f"{n_bytes} bytes, more than max_bytes={max_bytes},")


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
