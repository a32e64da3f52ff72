"""The HDF5 summary file of the Million Song Dataset."""

GROUPS = ("metadata", "analysis", "musicbrainz")


def read_hdf5(path, wanted, max_bytes):
    """Read the wanted columns of the `songs` tables of an MSD summary file.

    Only tables that lie in the file itself are read: HDF5 could also lead to other files.

    Parameters
    ----------
    path : Path
        The file.

    wanted : list of str
        Names of columns; those that the file does not have are left out.

    max_bytes : int
        Refuse tables that are larger than this.

    Returns
    -------
    columns : dict of str to ndarray
        One entry per track.
    """
    h5py = _import_h5py()
    columns = {}
    try:
        with h5py.File(path, "r") as file:
            for group in GROUPS:
                table = _own_table(h5py, file, group, max_bytes)
                for name in table.dtype.names if table is not None else ():
                    if name in wanted and name not in columns:
                        columns[name] = _read_column(table, name)
    except (OSError, RuntimeError, KeyError, TypeError) as error:
        raise _not_a_summary(path, error) from error
    lengths = {len(column) for column in columns.values()}
    if not {"track_id", "song_id"} <= set(columns) or len(lengths) != 1:
        raise _not_a_summary(path, f"columns {sorted(columns)} of lengths {sorted(lengths)}")
    return {name: _as_list(column) for name, column in columns.items()}


def _import_h5py():
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            "Reading msd_summary_file.h5 needs h5py, which is not installed. Install it with "
            "`pip install h5py`, or read track_metadata.db instead."
        ) from error
    return h5py


def _own_table(h5py, file, group, max_bytes):
    """Return table `songs` of a group; None where there is none."""
    for parent, name in ((file, group), (file.get(group), "songs")):
        link = parent.get(name, getlink=True) if isinstance(parent, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise OSError(f"a link at {group}/songs, which may lead out of the file")
    table = file[group]["songs"]
    if not isinstance(table, h5py.Dataset) or table.dtype.names is None:
        return None
    if table.is_virtual or table.external:
        raise OSError(f"data of {group}/songs outside of the file")
    if table.nbytes > max_bytes:
        raise OSError(f"{table.nbytes} bytes in {group}/songs, beyond max_bytes={max_bytes}")
    return table


def _read_column(table, name):
    # Rows may share one text of any length, of which `nbytes` counts 16 bytes each. The file of
    # the Million Song Dataset has none of these.
    if table.dtype[name].kind == "O":
        raise OSError(f"data of variable length in column {name!r}")
    return table[name]


def _as_list(column):
    return column.tolist() if column.dtype.kind in "SO" else column


def _not_a_summary(path, got):
    return ValueError(
        f"The file must be the HDF5 file msd_summary_file.h5; got {got} from {str(path)!r}. Check "
        "the path, or fetch the file again."
    )
