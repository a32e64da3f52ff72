"""Blocks of whole users: their songs, their surrogates, and sweeps over them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc.optimize import _compiled
from skmtc.optimize._arrays import to_dense
from skmtc.optimize.prox_newton._padded import PaddedPositives
from skmtc.optimize.prox_newton._surrogate import BlockSurrogate, Expansion
from skmtc.optimize.prox_newton._user_step import End, Penalties, Totals, Users, sweep_users

Array = NDArray[np.floating[Any]]

# Most steps of a sweep, where a pass over the data follows anyway.
SWEEP_STEPS = 16


class Block(NamedTuple):
    """A run of whole users and of their playlists."""

    playlists: slice
    users: slice
    local: Users


class BlockRules(NamedTuple):
    """What is the same for all blocks of a problem.

    Attributes
    ----------
    n_features : int
        How many of the first columns of the features have weights.

    push, loss
        As in :class:`MultitaskObjective`.

    compiled : bool
        Whether sweeps are worth the compiled loop.
    """

    n_features: int
    push: float
    loss: str
    compiled: bool


class SweepRules(NamedTuple):
    """What is the same for all blocks of a sweep.

    Attributes
    ----------
    shared : ndarray of shape (n_features,)
        Shared weights, which are fixed.

    penalties : Penalties
        Penalties of users and playlists.

    negligible : float
        Squared length, relative to the value, of steps that are not worth going on.

    n_steps : int, default=16
        Most steps of a user.
    """

    shared: Array
    penalties: Penalties
    negligible: float
    n_steps: int = SWEEP_STEPS


class Start(NamedTuple):
    """Where the sweep of a block starts.

    Attributes
    ----------
    block : Block
        The users.

    expansion : Expansion
        Model of log Z of their playlists.

    totals : Totals
        Their weights.

    damping : ndarray of shape (n_playlists,)
        Factors of the metric.
    """

    block: Block
    expansion: Expansion
    totals: Totals
    damping: Array


class Blocks:
    """All that blocks need of the songs; a worker has the same as the caller.

    Parameters
    ----------
    features : ndarray or csr_array of shape (n_songs, n_columns)
        Song features with the constant feature.

    membership : csr_array of shape (n_playlists, n_songs)
        Songs of the playlists, those of each user side by side.

    rules : BlockRules
        Settings of the problem.

    room : int, default=0
        Bytes of songs to keep from one call to the next.

    Attributes
    ----------
    weighted : ndarray or csr_array of shape (n_songs, n_features)
        The features that have weights.
    """

    def __init__(
        self, features: Array | csr_array, membership: csr_array, rules: BlockRules, room: int = 0
    ) -> None:
        self.features = features
        self.membership = membership
        self.rules = rules
        self._room = room
        self._kept: dict[int, PaddedPositives] = {}
        is_whole = rules.n_features == features.shape[1]  # slicing would copy a sparse matrix
        self.weighted = features if is_whole else features[:, : rules.n_features]

    def surrogate(self, block: Block, expansion: Expansion) -> BlockSurrogate:
        """Return the surrogate of a block; the expansion is that of its playlists alone."""
        return BlockSurrogate(expansion, self._positives(block), self.rules.loss)

    def sweep(self, start: Start, rules: SweepRules) -> End:
        """Sweep one block of users, by the compiled loop if there is one and it pays."""
        compiled = None
        if self.rules.compiled:
            compiled = _compiled.compiled_sweep()
        if compiled is not None:
            return self._sweep_compiled(compiled, start, rules)
        return sweep_users(
            self.surrogate(start.block, start.expansion),
            start.totals,
            rules.shared,
            start.block.local,
            rules.penalties,
            start.damping,
            n_steps=rules.n_steps,
            negligible=rules.negligible,
        )

    def _sweep_compiled(self, compiled: Any, start: Start, rules: SweepRules) -> End:
        """Do what `sweep_users` does, by the compiled loop, which works in place."""
        shared, penalties, negligible, n_steps = rules
        playlists, kind = start.block.playlists, shared.dtype
        songs = [_fixed(a) for a in self._songs(playlists)]
        nothing = np.empty((0, len(shared)), dtype=kind)
        given = start.expansion
        if given.log_weight is None:
            given = given._replace(log_weight=np.zeros_like(given.scale))
        expansion = [_fixed(nothing if a is None else a) for a in given]
        end = Totals(*(np.array(a) for a in start.totals))
        damping = np.array(start.damping)
        gains, converged = compiled(
            (*songs, kind.type(self.rules.push), self.rules.loss == "ranking"),
            tuple(expansion),
            *(_fixed(a) for a in start.block.local),
            *end,
            (_fixed(shared), kind.type(penalties.user_l2), kind.type(penalties.playlist_l1)),
            damping,
            n_steps,
            negligible,
        )
        return End(end, gains, damping, converged)

    def _songs(self, playlists: slice) -> tuple[Array, NDArray[Any], NDArray[Any]]:
        """Return features, row pointers and songs; of sparse features the block's rows alone."""
        indptr = self.membership.indptr[playlists.start : playlists.stop + 1]
        if not issparse(self.features):
            return self.features, indptr, self.membership.indices
        songs, codes = np.unique(
            self.membership.indices[indptr[0] : indptr[-1]], return_inverse=True
        )
        kind = indptr.dtype
        rows = np.ascontiguousarray(to_dense(self.features[songs]))
        return rows, (indptr - indptr[0]).astype(kind), codes.astype(kind)

    def _positives(self, block: Block) -> PaddedPositives:
        """Gather the songs of a block's playlists; they are kept while there is room."""
        key = block.playlists.start
        if key in self._kept:
            return self._kept[key]
        gathered = PaddedPositives(self.weighted, self.membership[block.playlists], self.rules.push)
        if gathered.nbytes <= self._room:
            self._room -= gathered.nbytes
            self._kept[key] = gathered
        return gathered


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that may only be read, aligned, and of no other class.

    What arrives on a worker is any of these or not. Each kind would take seconds of compiling.
    """
    fixed = np.require(array, requirements=["A", "E"]).view()
    fixed.flags.writeable = False
    return fixed
