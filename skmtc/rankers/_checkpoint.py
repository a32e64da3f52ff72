"""The state of an unfinished fit, on disk.

A checkpoint is an ordinary `.npz` file without pickles, whose archive comment is a checksum of all
the rest. Two files take turns, so that the newest good one is never touched while the next is
written; each is written beside its place and then moved there in one step.
"""

import hashlib
import json
import os
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

VERSION = 1
DIGEST_LENGTH = 64  # hexadecimal digits of SHA-256

SHORTEST_INTERVAL = 2.0  # seconds
# Saving may take this share of the time, whatever the size of the model.
LARGEST_SHARE = 0.05


class RefusedCheckpointError(ValueError):
    """A file that is no checkpoint, a damaged one, or one of another fit."""


def check_checkpoint(path):
    """Check the parameter before any work: a fit of hours must not end at its first save."""
    if path is None:
        return
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"`checkpoint` must be a path or None; got {path!r}. Pass the name of a file."
        )
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        what = "a directory" if path.is_dir() else f"no directory {str(path.parent)!r}"
        raise ValueError(
            f"`checkpoint` must be a file in a directory that exists; got {str(path)!r}, where "
            f"there is {what}. Create the directory, or pass another path."
        )


def fingerprint(objective, solver):
    """Tell fits apart: digests of memberships, features and parameters.

    Features count in single precision, so that another `tol` may go on from a checkpoint.
    """
    features = objective.features.astype(np.float32)
    parts = [features.data, features.indices, features.indptr] if issparse(features) else [features]
    membership = objective.membership
    names = ("user_l2", "playlist_l1", "shared_l1", "push", "loss", "fit_intercept")
    parameters = {name: getattr(objective, name) for name in names} | {"solver": solver}
    return {
        "memberships": _digest(
            membership.indptr.astype(np.int64),
            membership.indices.astype(np.int64),
            objective.user_of_playlist.astype(np.int64),
        ),
        "features": _digest(np.array(features.shape), *parts),
        "parameters": _digest(np.array(json.dumps(parameters, default=float))),
    }


def _digest(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class Checkpoint:
    """Saves the state of a fit now and then, and finds it again.

    Parameters
    ----------
    path : path-like
        The first of the two files; the other has the suffix ".other".

    fingerprint : dict of str to str
        What must be the same to go on.
    """

    def __init__(self, path, fingerprint):
        path = Path(path)
        self.fingerprint = fingerprint
        self.files = [path, path.with_name(path.name + ".other")]
        self._temporary = path.with_name(path.name + ".tmp")
        self._saved_at, self._cost = time.monotonic(), 0.0
        self._is_told = False

    def load(self):
        """Give coefficients and history of the newest good file, or None.

        Files that are refused are moved out of the way, and a warning says why.
        """
        good = []
        for place, file in enumerate(self.files):
            if file.exists():
                try:
                    good.append((*read(file, self.fingerprint), place))
                except RefusedCheckpointError as refusal:
                    self._put_aside(file, refusal)
        if not good:
            return None
        iteration, coef, history, place = max(good, key=lambda found: found[0])
        if place == 0:  # the next save is to replace the older one
            self.files.reverse()
        warnings.warn(
            f"This fit goes on from iteration {iteration} of an earlier one, objective "
            f"{history['objective'][-1]:.6g}, which the checkpoint {str(self.files[1])!r} holds. "
            "To start anew, remove the file first.",
            stacklevel=5,
        )
        return coef, history

    def then(self, callback):
        """Give a callback for the solver: save if it is time, then call another one."""

        def save_and_call(state):
            self.offer(state)
            return callback is not None and callback(state)

        return save_and_call

    def offer(self, state):
        """Save unless the last time is too short ago."""
        pause = max(SHORTEST_INTERVAL, self._cost * (1 / LARGEST_SHARE - 1))
        if time.monotonic() - self._saved_at >= pause:
            self._save(state["coef"](), state["history"], state["iteration"])

    def close(self, result):
        """Remove the files of a fit that converged; else save it, so that `fit` may go on."""
        if not result.converged:
            self._save(result.coef, result.history, result.n_iter)
            return
        for file in (*self.files, self._temporary):
            file.unlink(missing_ok=True)

    def _save(self, coef, history, iteration):
        """Save a state in place of the older one; a full disk must not end a long fit."""
        start = time.monotonic()
        try:
            write(self._temporary, self.files[0], coef, history, iteration, self.fingerprint)
        except OSError as error:
            if not self._is_told:
                warnings.warn(
                    f"The checkpoint {str(self.files[0])!r} could not be saved: {error}. The fit "
                    "goes on. Make room or pass another path, so that it can be resumed.",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._is_told = True
        else:
            self.files.reverse()
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - start

    def _put_aside(self, file, refusal):
        number, aside = 1, file.with_name(file.name + ".refused")
        while aside.exists():
            number += 1
            aside = file.with_name(f"{file.name}.refused-{number}")
        os.replace(file, aside)
        warnings.warn(f"{refusal} It was moved to {str(aside)!r}.", stacklevel=6)


def write(temporary, file, coef, history, iteration, fingerprint):
    """Write a checkpoint beside its place, see it safe on the disk, and move it there."""
    about = {"version": VERSION, "iteration": iteration, "fingerprint": fingerprint}
    arrays = {f"history_{name}": np.asarray(values) for name, values in history.items()}
    with open(temporary, "w+b") as stream:
        np.savez(stream, coef=coef, about=np.array(json.dumps(about)), **arrays)
        with zipfile.ZipFile(stream, "a") as archive:
            archive.comment = b"0" * DIGEST_LENGTH
        digest = _digest_of_file(stream)
        stream.seek(-DIGEST_LENGTH, os.SEEK_END)
        stream.write(digest)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, file)
    _sync_directory(file.parent)


def read(file, fingerprint):
    """Read a checkpoint of a fit: its iteration, coefficients and history."""
    with open(file, "rb") as stream:
        digest = _digest_of_file(stream)
        if digest is None or stream.read() != digest:
            raise RefusedCheckpointError(
                f"A checkpoint must be whole; got {str(file)!r}, which is damaged or no "
                "checkpoint, as its checksum tells. Nothing is read from it."
            )
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            _check_about(file, about, fingerprint)
            history = {
                name.removeprefix("history_"): arrays[name].tolist()
                for name in arrays.files
                if name.startswith("history_")
            }
            return about["iteration"], arrays["coef"], history


def _check_about(file, about, fingerprint):
    if about["version"] != VERSION:
        raise RefusedCheckpointError(
            f"A checkpoint must be of version {VERSION}; got version {about['version']} in "
            f"{str(file)!r}. Finish that fit with the version of skmtc that wrote it."
        )
    other = [part for part, digest in fingerprint.items() if about["fingerprint"][part] != digest]
    if other:
        raise RefusedCheckpointError(
            f"A checkpoint must be of the same fit; got {str(file)!r} of one with other "
            f"{', '.join(other)}. To go on with that fit, use its table and parameters, and "
            "transformers with a fixed random_state."
        )


def _digest_of_file(stream):
    """Hash a file up to its checksum, where the stream stands then; None if it is too short."""
    size = stream.seek(0, os.SEEK_END) - DIGEST_LENGTH
    if size <= 0:
        return None
    stream.seek(0)
    digest = hashlib.sha256()
    while size:
        chunk = stream.read(min(size, 2**20))
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest().encode()


def _sync_directory(directory):
    """See the new name safe on the disk, where the system knows how."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
