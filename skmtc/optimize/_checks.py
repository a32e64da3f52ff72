"""Checks of the arguments of :class:`MultitaskObjective`."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from skmtc._utils.validation import check_choice, check_number
from skmtc.optimize._penalty import PENALTIES

if TYPE_CHECKING:
    from skmtc.optimize._objective import MultitaskObjective


def check_objective(objective: "MultitaskObjective") -> None:
    """Raise if features, memberships, owners, weights and penalties make no problem."""
    counts = np.diff(objective.membership.indptr)
    if counts.size == 0 or counts.min() == 0 or counts.max() >= objective.membership.shape[1]:
        raise ValueError(
            "Every playlist must hold at least one song and lack at least one; got "
            f"{int(np.sum(counts == 0))} empty and "
            f"{int(np.sum(counts >= objective.membership.shape[1]))} full ones of {len(counts)}. "
            "Leave these playlists out."
        )
    if objective.features.shape[0] != objective.membership.shape[1]:
        raise ValueError(
            "`features` must have one row per song; got "
            f"{objective.features.shape[0]} rows for {objective.membership.shape[1]} songs. Check "
            "both."
        )
    values = objective.features.data if issparse(objective.features) else objective.features
    if not np.isfinite(values).all():
        raise ValueError(
            f"`features` must be finite; got {int((~np.isfinite(values)).sum())} values that "
            "are NaN or inf. Fill them in."
        )
    owners = np.unique(objective.user_of_playlist)
    if not np.array_equal(owners, np.arange(len(owners))):
        raise ValueError(
            "`user_of_playlist` must use every code from 0 to the number of users - 1; got "
            f"{len(owners)} codes from {owners.min()} to {owners.max()}. Make codes with "
            "np.unique(..., return_inverse=True)."
        )
    if len(objective.user_of_playlist) != len(counts):
        raise ValueError(
            f"`user_of_playlist` must name one owner per playlist; got "
            f"{len(objective.user_of_playlist)} for {len(counts)} playlists. Check both arrays."
        )
    weight = objective.sample_weight
    if weight.shape != counts.shape or not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError(
            f"`sample_weight` must hold one positive number per playlist; got shape "
            f"{weight.shape} for {len(counts)} playlists, and "
            f"{int(np.sum(~(np.isfinite(weight) & (weight > 0))))} numbers that are not "
            "positive and finite. Leave playlists of weight 0 out."
        )
    if objective.song_weight is not None:
        _check_song_weight(objective.song_weight, objective.membership)
    for name in PENALTIES:
        check_number(name, getattr(objective, name), at_least=0)
    check_number("push", objective.push, above=0)
    check_choice("loss", objective.loss, ("classification", "ranking"))


def _check_song_weight(weight: NDArray[np.float64], membership: csr_array) -> None:
    if weight.shape != membership.shape[1:] or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(
            f"`song_weight` must hold one number per song, finite and not negative; got shape "
            f"{weight.shape} for {membership.shape[1]} songs. Check the weights."
        )
    has_weight = weight > 0
    own = np.add.reduceat(has_weight[membership.indices], membership.indptr[:-1])
    n_bare = int(np.sum(own == has_weight.sum()))
    if n_bare:
        raise ValueError(
            "Every playlist must lack at least one song whose `song_weight` is positive; got "
            f"{n_bare} playlists of {membership.shape[0]} that lack none. Sample more songs."
        )
