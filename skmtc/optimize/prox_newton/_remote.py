"""Sweeps over users whose blocks go to other processes or machines."""

from collections.abc import Iterator

from skmtc._utils.parallel import Workers
from skmtc.optimize._pass import TiledPass
from skmtc.optimize._remote_pass import TASK_BYTES, TASKS_PER_WORKER
from skmtc.optimize.prox_newton._blocks import BlockRules, Blocks, Start, SweepRules
from skmtc.optimize.prox_newton._user_step import End

# A block is swept in ten to thirty milliseconds; a round of tasks on a cluster takes fifty to a
# hundred, however small they are.
FEWEST_BLOCKS = 8


def sweep_elsewhere(
    workers: Workers, block_rules: BlockRules, sweep_rules: SweepRules, starts: list[Start]
) -> Iterator[End]:
    """Sweep blocks of users on workers that hold a pass over the same playlists.

    A task is a run of whole blocks, so results have the same bits as those of threads here. The
    state of a block travels with its task, so nothing is lost with a worker.

    Parameters
    ----------
    workers : Workers
        Whose broadcast is a :class:`TiledPass`.

    block_rules, sweep_rules
        Settings of the problem and of the sweep.

    starts : list of Start
        The blocks.

    Yields
    ------
    end : End
        Where the sweep of each block ended.
    """
    items = [(block_rules, sweep_rules, some) for some in _shards(starts, len(workers))]
    for ends in workers.map(sweep_shard, items):
        yield from ends


def sweep_shard(
    tiled: TiledPass, block_rules: BlockRules, sweep_rules: SweepRules, starts: list[Start]
) -> list[End]:
    """Sweep a few blocks, on a worker."""
    blocks = Blocks(tiled.features, tiled.membership, block_rules)
    return tiled.threads.map(lambda start: blocks.sweep(start, sweep_rules), starts)


def _shards(starts: list[Start], n_workers: int) -> list[list[Start]]:
    """Cut blocks into runs for tasks: a few for each worker, none of them large."""
    most = max(_state_bytes(start) for start in starts)
    size = min(len(starts) // (TASKS_PER_WORKER * n_workers), TASK_BYTES // most)
    size = max(1, size)
    return [starts[i : i + size] for i in range(0, len(starts), size)]


def _state_bytes(start: Start) -> int:
    arrays = (*start.expansion[:-1], *start.totals, start.damping)
    return sum(array.nbytes for array in arrays if array is not None)
