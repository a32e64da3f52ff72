"""A pass over the data whose blocks of playlists go to other processes or machines."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skmtc._utils.parallel import Broadcast, Workers, uses_processes
from skmtc.optimize._pass import BLOCK_ROWS, FloatArray, TiledPass

# Tasks per worker and pass, so that a slow worker holds up the others for a short while only.
TASKS_PER_WORKER = 4
# Most bytes of weights in a task: they pass through the scheduler of a cluster.
TASK_BYTES = 2**22


def make_pass(
    features: FloatArray | csr_array,
    membership: csr_array,
    n_jobs: int | None = None,
    *,
    offsets: FloatArray | None = None,
) -> TiledPass:
    """Make a local or a remote pass, as joblib's configuration demands.

    Parameters
    ----------
    features, membership, n_jobs, offsets
        As for :class:`TiledPass`.

    Returns
    -------
    tiled_pass : TiledPass
        A :class:`RemotePass` for processes and clusters.
    """
    kind = RemotePass if uses_processes(n_jobs) else TiledPass
    return kind(features, membership, n_jobs, offsets=offsets)


class RemotePass(TiledPass):
    """A :class:`TiledPass` in shards of playlists, which joblib's backend works on.

    Features and memberships are sent to each worker once. For a pass, the weights of a shard
    travel one way and its sums the other. Shards consist of whole blocks, so the sums have the
    same bits as those of local threads.

    Parameters
    ----------
    features, membership, n_jobs, offsets
        As for :class:`TiledPass`.
    """

    workers: Workers

    def __init__(
        self,
        features: FloatArray | csr_array,
        membership: csr_array,
        n_jobs: int | None = None,
        *,
        offsets: FloatArray | None = None,
    ) -> None:
        super().__init__(features, membership, n_jobs, offsets=offsets)
        held = csr_array(
            (np.ones(membership.nnz, dtype=bool), membership.indices, membership.indptr),
            shape=membership.shape,
        )
        self.workers = Workers(n_jobs, Broadcast(_worker_pass, features, held, offsets))

    def _sums(self, weights: FloatArray, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
        if len(weights) <= BLOCK_ROWS:  # one block is summed faster than it is sent
            return super()._sums(weights, rows)
        if rows is None:
            rows = np.arange(len(weights))
        weights = np.ascontiguousarray(weights, dtype=self.features.dtype)
        size = self._shard_rows(len(weights))
        items = [
            (weights[start : start + size], rows[start : start + size].astype(np.int32))
            for start in range(0, len(weights), size)
        ]
        return np.concatenate(self.workers.map(shard_sums, items))

    def _shard_rows(self, n_rows: int) -> int:
        """Choose how many rows a task has: whole blocks, so that this changes no bit."""
        tasks = TASKS_PER_WORKER * len(self.workers)
        blocks = -(-n_rows // (BLOCK_ROWS * tasks))
        most = TASK_BYTES // (BLOCK_ROWS * self.n_features * self.features.dtype.itemsize)
        return int(BLOCK_ROWS * max(1, min(blocks, most)))


def _worker_pass(features: Any, membership: csr_array, offsets: Any) -> TiledPass:
    return TiledPass(features, membership, 1, offsets=offsets)


def shard_sums(
    tiled: TiledPass, weights: FloatArray, rows: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Sum over the songs outside each playlist of a shard, on a worker."""
    return tiled.negative_sums(weights, rows.astype(np.intp)).exp_features
