"""Parquet files and Arrow tables: checked before they are unpacked, and read column by column."""

from pathlib import Path

import pandas as pd

from skmtc._table import to_frame
from skmtc.datasets.reading._files import check_file, inside

PARQUET_MAGIC = b"PAR1"


def find_parts(path, formats):
    """Return the files that a path, a list of paths or a folder stands for.

    Parameters
    ----------
    path : path-like or list of path-like
        What to read.

    formats : tuple of str
        Ends of the names of files that a folder is searched for.

    Returns
    -------
    paths : list of Path
        The files; those of a folder in the order of their names.
    """
    if isinstance(path, list | tuple):
        if not path:
            raise ValueError("A list of files must name one at least; got an empty one. Add files.")
        return [check_file(one) for one in path]
    if not Path(path).is_dir():
        return [path]
    found = sorted(p for p in Path(path).iterdir() if p.name.lower().endswith(formats))
    if not found:
        raise FileNotFoundError(
            f"A folder must hold files that end in one of {', '.join(formats)}; got none in "
            f"{str(path)!r}. Check the path."
        )
    return [inside(path, part) for part in found]


def is_parquet(path):
    """Check whether a file is plain Parquet, by its first bytes."""
    with open(path, "rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


def read_parquet(plain, path, max_bytes, *, n_before=0):
    """Read a Parquet file, which may be the unpacked copy of `path`; also return its size."""
    parquet = import_parquet()
    try:
        size = n_before + check_size([plain], max_bytes, n_before)
        with parquet.ParquetFile(plain) as file:
            metadata = file.metadata
        with parquet.ParquetFile(plain, read_dictionary=_text_columns(metadata)) as file:
            size = max(size, _check_text(file, max_bytes, n_before))
        return pd.read_parquet(plain), size - n_before
    except Exception as error:  # a damaged file makes pyarrow raise anything
        _refuse_parquet(error, path, error)


def read_parquet_parts(paths, ids, max_bytes):
    """Read Parquet files with the same columns as one table.

    Each file is read to Arrow, where text is stored once per distinct value, and columns go to
    pandas one after the other: the whole is never in memory twice.
    """
    parquet = import_parquet()
    import pyarrow as pa

    parts, names, n_text = [], None, 0
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                metadata = file.metadata
            text = _text_columns(metadata)
            check_size(paths[: len(parts) + 1], max_bytes)
            of_ids = [name for name in text if name in ids]
            with parquet.ParquetFile(path, read_dictionary=text) as file:
                n_text = _check_text(file, max_bytes, n_text, without=of_ids)
            with parquet.ParquetFile(path, read_dictionary=of_ids) as file:
                parts.append(file.read())
        except Exception as error:
            _refuse_parquet(error, path, error)
        names = names or parts[0].column_names
        if parts[-1].column_names != names:
            raise ValueError(
                f"Files of one table must have the same columns; got {parts[-1].column_names[:12]} "
                f"in {str(path)!r} and {names[:12]} in {str(paths[0])!r}. Write them alike."
            )
    try:
        whole = pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise TypeError(
            f"Files of one table must have columns of the same types; got {error}. Write them "
            "alike."
        ) from error
    del parts
    return _to_pandas(whole, ids)


def read_arrow(table, ids):
    """Turn a table of another library into a DataFrame, whose id columns of text are categorical.

    Parameters
    ----------
    table : DataFrame, LazyFrame, relation, pyarrow table or dataset
        A table of any library that :func:`skmtc._table.to_frame` knows.

    ids : tuple of str or None
        Names of the id columns.

    Returns
    -------
    X : DataFrame
        The table.
    """
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # a LazyFrame of polars
        table = table.collect()
    for name in ("to_arrow_table", "to_arrow", "to_table"):  # a relation, a DataFrame, a dataset
        if callable(getattr(table, name, None)):
            table = getattr(table, name)()
            break
    if not hasattr(table, "combine_chunks"):  # not Arrow
        return to_frame(table)
    return _to_pandas(table, ids)


def _to_pandas(table, ids):
    """Turn an Arrow table into a DataFrame; give its columns free one by one."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        kind = field.type
        if field.name in ids and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            column = table.column(position).dictionary_encode()
            table = table.set_column(position, field.name, column)
    table = table.replace_schema_metadata(None)
    return table.unify_dictionaries().to_pandas(split_blocks=True, self_destruct=True)


def _refuse_parquet(found, path, error):
    raise ValueError(
        f"The table must be a whole Parquet file within `max_bytes`; got {found} from "
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


def check_size(paths, max_bytes, n_before=0):
    """Check what files say of themselves: encoded bytes, and eight for each value of a list.

    Return these bytes; `n_before` more count as well.
    """
    parquet, n_bytes = import_parquet(), 0
    for path in paths:
        with parquet.ParquetFile(path) as file:
            n_bytes += _stated_bytes(file.metadata)
    _check_bytes(n_before + n_bytes, max_bytes)
    return n_bytes


def _stated_bytes(metadata):
    stated = sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
    widths = {}
    for c in range(metadata.num_columns):
        column = metadata.schema.column(c)
        widths[column.path] = max(8, column.length)
    values = sum(c.num_values * widths.get(c.path_in_schema, 8) for c in _chunks(metadata))
    return max(stated, values, 8 * metadata.num_rows * metadata.num_columns)


def _check_text(file, max_bytes, n_before=0, without=()):
    """Check how long all texts are once each row has its own; repeated ones are stored once.

    Texts are read as codes of distinct ones, which takes no more memory than they do in the file.
    Columns `without` are not counted, as repeated texts of ids stay codes. Return the sum of
    `n_before` and the bytes.
    """
    from pyarrow import compute

    columns = [name for name in _text_columns(file.metadata) if name not in without]
    n_bytes = n_before
    for group in range(file.num_row_groups if columns else 0):
        table = file.read_row_group(group, columns=columns)
        for column in table.columns:
            for chunk in map(_leaves, column.chunks):
                lengths = compute.binary_length(chunk.dictionary)
                n_bytes += compute.sum(lengths.take(chunk.indices)).as_py() or 0
                _check_bytes(n_bytes, max_bytes)
    return n_bytes


def _leaves(array):
    """Return the values inside lists of texts."""
    while hasattr(array, "flatten") and not hasattr(array, "dictionary"):
        array = array.flatten()
    return array


def _check_bytes(n_bytes, max_bytes):
    if n_bytes > max_bytes:
        raise ValueError(f"{n_bytes} bytes, more than max_bytes={max_bytes},")


def import_parquet():
    """Import what reads Parquet, or raise an error that says what to install."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Parquet tables need pyarrow, which is not installed. Install it with "
            "`pip install pyarrow`, or use CSV."
        ) from error
    return parquet
