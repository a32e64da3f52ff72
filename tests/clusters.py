"""A cluster of this machine's processes, and work that kills them."""

import os
import signal
from contextlib import contextmanager
from pathlib import Path

N_WORKERS = 2


@contextmanager
def local_cluster(n_workers=N_WORKERS):
    """Start worker processes of one thread each; give the client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Deadly:
    """A function that kills the process that calls it, as often as there are files in a folder.

    Parameters
    ----------
    function : callable
        What to do otherwise.

    folder : Path
        Where the files are.

    times : int
        How many to make.
    """

    def __init__(self, function, folder, times=1):
        self.function = function
        self.folder = Path(folder)
        for number in range(times):
            (self.folder / str(number)).touch()

    def __call__(self, *args):
        """Do it, or die."""
        for bullet in self.folder.iterdir():
            try:
                bullet.unlink()
            except FileNotFoundError:  # another process was faster
                continue
            # Windows has no SIGKILL; there, SIGTERM ends a process as abruptly.
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return self.function(*args)

    @property
    def kills(self):
        """How many are still to come."""
        return len(list(self.folder.iterdir()))
