"""Work for the joblib backend in use: threads of this process, other processes, or a cluster."""

import os
import traceback
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

import joblib
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

# Number of retries after workers with a broadcast were lost.
MAX_LOSSES = 3
# Broadcasts that a worker process keeps: a fit alternates between a sample of songs and all songs.
KEPT_BROADCASTS = 2

# Names a folder that the workers of a cluster can read: what is large goes there as a file.
SHARED_FOLDER = "SKMTC_SHARED_FOLDER"

_opened: "OrderedDict[str, Broadcast]" = OrderedDict()
_lock = Lock()


def local_jobs(n_jobs: int | None) -> int:
    """Return how many threads of this process to use.

    Where joblib's backend is a cluster, its `n_jobs` counts the cores of the cluster. A fit that is
    itself a task of the cluster has one core, unless it asks for more by number.
    """
    if _cluster() is None:
        return int(effective_n_jobs(n_jobs))
    if _is_task():
        return max(1, n_jobs or 1)
    with parallel_config(backend="threading", n_jobs=-1):
        return int(effective_n_jobs(n_jobs))


def uses_processes(n_jobs: int | None) -> bool:
    """Check whether work is meant for other processes: for such a backend, and not from within."""
    backend, _ = get_active_backend(prefer="threads")
    if n_jobs == 1 or getattr(backend, "supports_sharedmem", False):
        return False
    if _cluster() is not None:
        return not _is_task()
    return bool(effective_n_jobs(n_jobs) > 1)


def _cluster() -> Any:
    """Return the client of the cluster that joblib works on, or None."""
    return getattr(get_active_backend(prefer="threads")[0], "client", None)


def _is_task() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


class Broadcast:
    """Large data that every worker gets once, and the object that it makes of them.

    Parameters
    ----------
    make : callable
        Function of `data`. A worker calls it once.

    *data : object
        What is sent.
    """

    def __init__(self, make: Callable[..., Any], *data: Any) -> None:
        self.make = make
        self.data = data
        self.token = uuid4().hex
        self._making = Lock()

    @property
    def made(self) -> Any:
        """The result of `make`."""
        # From Python 3.12 on, cached_property has no lock: each thread would make its own.
        with self._making:
            return self._made

    @cached_property
    def _made(self) -> Any:
        return self.make(*self.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.token, self.make, self.data)


def _open(token: str, make: Callable[..., Any], data: tuple[Any, ...]) -> Broadcast:
    """Unpickle a broadcast, or return the cached one."""
    with _lock:
        if token not in _opened:
            broadcast = Broadcast(make, *data)
            broadcast.token = token
            _opened[token] = broadcast
        _opened.move_to_end(token)
        while len(_opened) > KEPT_BROADCASTS:
            _opened.popitem(last=False)
        return _opened[token]


def _in_file(broadcast: Broadcast, folder: str) -> Broadcast:
    """Write the data of a broadcast to a shared folder; give one that reads them there."""
    path = Path(folder) / f"skmtc-{broadcast.token}.joblib"
    joblib.dump(broadcast.data, path)
    weakref.finalize(broadcast, _remove, path)
    return Broadcast(_make_from_file, broadcast.make, str(path))


def _remove(path: Path) -> None:
    with suppress(OSError):  # Windows removes no file that a worker has mapped
        path.unlink()


def _make_from_file(make: Callable[..., Any], path: str) -> Any:
    # Arrays are mapped: processes of one machine share them, and read what they need.
    return make(*joblib.load(path, mmap_mode="r"))


class Workers:
    """Call functions of a broadcast and many small items.

    Only items and results travel: a cluster's workers hold what is large, or map files in the
    folder that the environment variable SKMTC_SHARED_FOLDER names; processes of this machine map it
    to memory, and threads have it. Functions must not change it: if workers are lost, what
    they had to do is done again by others.

    Parameters
    ----------
    n_jobs : int or None
        Number of workers, in the sense of joblib. Threads, unless joblib's configuration says
        otherwise.

    broadcast : Broadcast
        The large data.
    """

    def __init__(self, n_jobs: int | None, broadcast: Broadcast) -> None:
        self.n_jobs = n_jobs
        self.broadcast = broadcast
        self._client: Any = None
        self._future: Any = None

    def __len__(self) -> int:
        """Return the number of items that are processed at a time."""
        if uses_processes(self.n_jobs):
            return int(effective_n_jobs(self.n_jobs))
        return local_jobs(self.n_jobs)

    def map(self, function: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Return function(broadcast.made, *item) for each item, in their order."""
        items = list(items)
        if uses_processes(self.n_jobs):
            outcomes = self._outcomes(function, items)
        else:
            outcomes = Parallel(n_jobs=len(self), require="sharedmem")(
                delayed(_call)(function, self.broadcast, item) for item in items
            )
        for outcome in outcomes:
            if isinstance(outcome, _Failure):
                raise outcome.error
        return list(outcomes)

    def _outcomes(self, function: Callable[..., Any], items: list[tuple[Any, ...]]) -> list[Any]:
        """Call the function on workers; retry if workers with the broadcast are lost.

        Errors of the function are returned as results, so only errors of the backend are raised.
        """
        for losses in range(MAX_LOSSES + 1):
            try:
                client = _cluster()
                if client is not None:
                    return self._on_cluster(client, function, items)
                calls = (delayed(_call)(function, self.broadcast, item) for item in items)
                return list(Parallel(n_jobs=self.n_jobs, batch_size=1)(calls))
            except Exception:
                if losses == MAX_LOSSES:
                    raise
                self._client = None
        raise AssertionError("the loop returns or raises")

    def _on_cluster(
        self, client: Any, function: Callable[..., Any], items: list[tuple[Any, ...]]
    ) -> list[Any]:
        # joblib would run locally while a single core of the cluster is left, and
        # scatter the arrays of an item: these would be lost with the worker that holds them. In a
        # tuple they are a part of the task.
        if client is not self._client:
            folder = os.environ.get(SHARED_FOLDER)
            sent = _in_file(self.broadcast, folder) if folder else self.broadcast
            self._future = client.scatter(sent, broadcast=True, hash=False)
            self._client = client
        tasks = [client.submit(_call, function, self._future, i, pure=False) for i in items]
        return list(client.gather(tasks))


class _Failure(NamedTuple):
    """An error of a function."""

    error: Exception


def _call(function: Callable[..., Any], broadcast: Broadcast, item: tuple[Any, ...]) -> Any:
    try:
        return function(broadcast.made, *item)
    except Exception as error:
        error.add_note(f"On the worker:\n{traceback.format_exc()}")
        return _Failure(error)
