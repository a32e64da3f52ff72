"""What is held out to weigh rankers by."""

import numpy as np
import pytest

from skmtc._table import find_id_columns
from skmtc.datasets import make_playlists
from skmtc.rankers.stacking._situations import default_splitters, hold_out

X = make_playlists(60, 300, 200, 30, random_state=0)
IDS = {"user": "user", "playlist": "playlist", "song": "song"}


def held_out(X, ids=IDS, seed=0):
    columns = find_id_columns(X, **ids, required=("playlist", "song"))
    return hold_out(
        X,
        default_splitters(ids, X["playlist"].nunique(), seed),
        columns,
        np.random.RandomState(seed),
    )


def test_every_row_is_either_kept_or_held():
    rows = held_out(X)
    np.testing.assert_array_equal(np.sort([*rows.kept, *rows.held]), np.arange(len(X)))
    assert len(rows.kept) > 0.3 * len(X)


def test_every_situation_is_there():
    rows = held_out(X)
    kept, held = X.iloc[rows.kept], X.iloc[rows.held]
    known = {c: held[c].isin(set(kept[c])) for c in ("user", "playlist", "song")}
    who = np.where(known["playlist"], 0, np.where(known["user"], 1, 2))
    found = set(zip(who, known["song"], strict=True))
    assert {(0, True), (0, False), (1, True), (2, True)} <= found


def test_the_order_of_rows_changes_nothing():
    order = np.random.default_rng(0).permutation(len(X))
    one, other = held_out(X), held_out(X.iloc[order].reset_index(drop=True))
    assert set(order[other.kept]) == set(one.kept)
    np.testing.assert_array_equal(order[other.held], one.held)


def test_tables_that_are_too_small_keep_what_they_can():
    rows = held_out(X.head(3))
    assert len(rows.kept) + len(rows.held) == 3
    assert len(rows.kept)


def test_without_users():
    rows = held_out(X.drop(columns="user"), IDS | {"user": None})
    kept, held = X.iloc[rows.kept], X.iloc[rows.held]
    assert not held["playlist"].isin(set(kept["playlist"])).all()
    assert not held["song"].isin(set(kept["song"])).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_seed_decides(seed):
    np.testing.assert_array_equal(held_out(X, seed=seed).held, held_out(X, seed=seed).held)
    assert not np.array_equal(held_out(X, seed=seed).held, held_out(X, seed=seed + 7).held)
