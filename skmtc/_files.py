"""Files that are either written whole or not at all."""

import errno
import os
import secrets
from pathlib import Path


def write_whole(path, content):
    """Write bytes to a file by way of a temporary one beside it.

    Whatever goes wrong, a file that was there before stays as it was.
    """
    path = Path(path).resolve()
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        _write_device(path, content)
        return
    # A name of its own for every call, as threads may write the same file.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)  # nobody knows the temporary name
        raise


def _write_device(path, content):
    """Write to a pipe or device, which must not be replaced by a file."""
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        error.filename = str(path)
        raise
