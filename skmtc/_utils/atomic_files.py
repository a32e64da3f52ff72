"""Atomic writing of files."""

import errno
import os
import secrets
from contextlib import contextmanager
from pathlib import Path


def write_whole(path, content):
    """Write bytes to a file atomically, by a temporary file in the same folder.

    If writing fails, an existing file stays as it was.
    """
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path):
    """Open a file for writing bytes, which replaces one of this name when all is written.

    The bytes are flushed to disk before the rename. If the body raises, or the disk is full, an
    existing file stays as it was. Pipes and devices are written to directly.
    """
    path = Path(path).resolve()
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        with _named_errors(path), open(path, "wb") as file:
            yield file
        return
    # A name of its own for every call, as threads may write the same file.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _named_errors(path):
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


@contextmanager
def _named_errors(path):
    """Replace the temporary name by that of the file in system errors."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None
        raise


def _sync_folder(folder):
    """Flush the new name to the disk, if the system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows, or a folder that may be written to but not read
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
