"""The state of an unfinished fit, on disk.

A checkpoint is an ordinary `.npz` file without pickles. It is written beside its place and then
moved there in one step, so that the file is always a whole one; the archive has a checksum of
every member.
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

from skmtc._utils.atomic_files import whole_file
from skmtc._utils.fitted_state import Array, Sizes
from skmtc.optimize import PENALTIES, SolverResult

VERSION = 2

SHORTEST_INTERVAL = 2.0  # seconds
# Saving may take this share of the time, whatever the size of the model.
LARGEST_SHARE = 0.05

# Bytes that a member of the archive may have beyond the coefficients.
LARGEST_HEADER = 2**20


class RefusedCheckpointError(ValueError):
    """A file that is no checkpoint, a damaged one, or one of another fit."""


def check_checkpoint(path):
    """Raise for an invalid path before any work, not at the first save of a long fit."""
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


def open_checkpoint(path, objective, *, solver, tol):
    """Return the checkpoint of a fit; one that does nothing if `path` is None.

    Parameters
    ----------
    path : path-like or None
        The file.

    objective : MultitaskObjective
        What is minimised.

    solver : str
        Name of the solver.

    tol : float
        Its tolerance.

    Returns
    -------
    checkpoint : Checkpoint or NoCheckpoint
        The checkpoint.
    """
    if path is None:
        return NoCheckpoint()
    return Checkpoint(path, _fingerprint(objective, solver), tol)


class NoCheckpoint:
    """The checkpoint of a fit that is not saved."""

    def load(self, shape):
        """Return None: nothing was saved."""

    def then(self, callback):
        """Return the callback as it is."""
        return callback

    def save(self, result):
        """Do nothing."""

    def remove(self):
        """Do nothing."""


class Checkpoint:
    """Saves the state of a fit every few seconds, and loads it.

    A file of another fit is never overwritten nor removed, also if that fit is running now.

    Parameters
    ----------
    path : path-like
        The file.

    fingerprint : dict of str to str
        Digests that must be the same to resume.

    tol : float
        Tolerance of the fit. A result that converged to a larger one is resumed.
    """

    def __init__(self, path, fingerprint, tol):
        self.path = Path(path)
        self.fingerprint = fingerprint
        self.tol = tol
        self._saved_at, self._cost = time.monotonic(), 0.0
        self._has_warned = False

    def load(self, shape):
        """Return the result that the file holds, or None.

        Parameters
        ----------
        shape : tuple of int
            The shape of the coefficients of this fit.

        Returns
        -------
        result : SolverResult or None
            State of the fit. A file that is refused is renamed, with a warning.
        """
        if not self.path.exists():
            return None
        try:
            result = read(self.path, self.fingerprint, shape, self.tol)
        except RefusedCheckpointError as refusal:
            self._put_aside(refusal)
            return None
        warnings.warn(
            f"This fit goes on from iteration {result.n_iter} of an earlier one, objective "
            f"{result.objective:.6g}, which the checkpoint {str(self.path)!r} holds. "
            "To start anew, remove the file first.",
            stacklevel=4,
        )
        return result

    def then(self, callback):
        """Return a callback for the solver: save if it is time, then call another one."""

        def save_and_call(state):
            self.offer(state)
            return callback is not None and callback(state)

        return save_and_call

    def offer(self, state):
        """Save if the last checkpoint is old enough."""
        pause = max(SHORTEST_INTERVAL, self._cost * (1 / LARGEST_SHARE - 1))
        if time.monotonic() - self._saved_at >= pause:
            history = state["history"]
            values = (history[name][-1] for name in ("objective", "optimality"))
            iteration = state["iteration"]
            self.save(SolverResult(state["coef"](), *values, iteration, False, "", history))

    def save(self, result):
        """Save a result; warn if that fails, as a full disk must not end a long fit."""
        start = time.monotonic()
        try:
            self._check_own()
            write(self.path, result, self.fingerprint, self.tol)
        except OSError as error:
            self._warn_once("could not be saved", error, "so that the fit can be resumed")
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - start

    def remove(self):
        """Remove the file of a fit that is done; warn if that fails."""
        try:
            if self.path.exists():
                self._check_own()
                self.path.unlink(missing_ok=True)
        except OSError as error:
            self._warn_once("could not be removed", error, "or remove the file")

    def _check_own(self):
        """Raise if there is a file of another fit, which may have started after this one."""
        if self.path.exists() and _fingerprint_of(self.path) != self.fingerprint:
            raise FileExistsError("the file is of another fit")

    def _warn_once(self, what, error, why):
        if not self._has_warned:
            warnings.warn(
                f"The checkpoint {str(self.path)!r} {what}: {error}. The fit goes on. Make room or "
                f"pass another path, {why}.",
                RuntimeWarning,
                stacklevel=2,
            )
        self._has_warned = True

    def _put_aside(self, refusal):
        number, aside = 1, self.path.with_name(self.path.name + ".refused")
        while aside.exists():
            number += 1
            aside = self.path.with_name(f"{self.path.name}.refused-{number}")
        try:
            os.replace(self.path, aside)
            end = f"It was moved to {str(aside)!r}."
        except OSError as error:
            end = f"It could not be moved away ({error}), so that this fit is not saved."
        warnings.warn(f"{refusal} {end}", stacklevel=5)


def _fingerprint(objective, solver):
    """Return digests of memberships, features and parameters, which identify a fit.

    Features count in single precision, so that a fit with another `tol` can resume.
    """
    features = objective.features.astype(np.float32)
    parts = [features.data, features.indices, features.indptr] if issparse(features) else [features]
    membership = objective.membership
    names = (*PENALTIES, "push", "loss", "fit_intercept")
    parameters = {name: getattr(objective, name) for name in names} | {"solver": solver}
    return {
        "memberships": _digest(
            membership.indptr.astype(np.int64),
            membership.indices.astype(np.int64),
            objective.user_of_playlist.astype(np.int64),
            objective.sample_weight,
            *([] if objective.song_weight is None else [objective.song_weight]),
        ),
        "features": _digest(np.array(features.shape), *parts),
        "parameters": _digest(np.array(json.dumps(parameters, default=float))),
    }


def _digest(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write(path, result, fingerprint, tol):
    """Write a checkpoint."""
    about = {
        "version": VERSION,
        "fingerprint": fingerprint,
        "tol": float(tol),
        "n_iter": int(result.n_iter),
        "objective": float(result.objective),
        "optimality": float(result.optimality),
        "converged": bool(result.converged),
        "message": result.message,
    }
    arrays = {f"history_{name}": np.asarray(v) for name, v in result.history.items()}
    arrays["coef"] = result.coef
    # A damaged directory of the archive may lack members.
    about["members"] = sorted([*arrays, "about"])
    with whole_file(path) as file:
        np.savez(file, about=np.array(json.dumps(about)), **arrays)


def read(path, fingerprint, shape, tol):
    """Read the checkpoint of a fit whose coefficients have a known shape."""
    with open(path, "rb") as file:
        try:
            return _read(file, path, fingerprint, shape, tol)
        except RefusedCheckpointError:
            raise
        except Exception as error:  # zipfile, numpy and json raise anything for damaged bytes
            raise RefusedCheckpointError(
                f"A checkpoint must be whole; got {str(path)!r}, which is damaged or no "
                f"checkpoint ({type(error).__name__}: {error}). Nothing is read from it."
            ) from error


def _read(file, path, fingerprint, shape, tol):
    _check_archive(file, 8 * int(np.prod(shape)))
    with np.load(file, allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
        if sorted(arrays.files) != about["members"]:
            raise ValueError(f"the members {sorted(arrays.files)}")
        _check_about(path, about, fingerprint)
        coef = arrays["coef"]
        Array(*shape, dtype=np.float64).check("coef", coef, Sizes())
        names = [name for name in arrays.files if name.startswith("history_")]
        history = {name.removeprefix("history_"): arrays[name] for name in names}
    for name, values in history.items():
        Array("iterations", kinds="fi", finite=False).check(name, values, Sizes())
    return SolverResult(
        coef,
        about["objective"],
        about["optimality"],
        about["n_iter"],
        about["converged"] and about["tol"] <= tol,
        about["message"],
        {name: values.tolist() for name, values in history.items()},
    )


def _check_archive(file, n_bytes):
    """Check, before anything is read, that no member is larger than the coefficients can be."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            too_large = member.file_size > n_bytes + LARGEST_HEADER
            if too_large or member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{member.file_size} bytes of {member.filename!r}")
    file.seek(0)


def _fingerprint_of(path):
    """Return the fingerprint that a file has; None if it is no checkpoint."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive, archive.open("about.npy") as member:
                about = np.lib.format.read_array(member, allow_pickle=False)
            return json.loads(str(about))["fingerprint"]
        except Exception:  # as above
            return None


def _check_about(path, about, fingerprint):
    if about["version"] != VERSION:
        raise RefusedCheckpointError(
            f"A checkpoint must be of version {VERSION}; got version {about['version']} in "
            f"{str(path)!r}. Finish that fit with the version of skmtc that wrote it."
        )
    other = [part for part, digest in fingerprint.items() if about["fingerprint"][part] != digest]
    if other:
        raise RefusedCheckpointError(
            f"A checkpoint must be of the same fit; got {str(path)!r} of one with other "
            f"{', '.join(other)}. To go on with that fit, use its table and parameters, and "
            "transformers with a fixed random_state."
        )
