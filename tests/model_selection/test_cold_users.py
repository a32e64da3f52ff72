"""New users."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import dense_table, split_or_skip, tables

from skmtc.model_selection import ColdUserKFold, ColdUserSplit


@given(tables(), st.sampled_from([0.1, 0.3, 0.6, 0.9]), st.integers(0, 3))
def test_the_requirements_of_the_paper_hold_row_by_row(X, size, seed):
    cv = ColdUserSplit(user_size=size, rare_songs="skip", random_state=seed)
    ((train, test),) = split_or_skip(cv, X)
    known_songs, known_users = set(X["song"].iloc[train]), set(X["user"].iloc[train])
    for row in test:
        assert X["song"].iloc[row] in known_songs
        assert X["user"].iloc[row] not in known_users
    # All rows are used: all playlists of a held-out user are.
    assert sorted([*train, *test]) == list(range(len(X)))
    assert X["user"].iloc[test].nunique() <= max(1, round(size * X["user"].nunique()))


def hold_out_one_by_one(X, turn, n_wanted):
    """Go through users in turn, as the paper says it."""
    held, passed_over = set(), 0
    for user in np.unique(X["user"])[np.argsort(turn)]:
        if len(held) == n_wanted:
            break
        training = X[~X["user"].isin(held | {user})]
        if set(X["song"]) == set(training["song"]):
            held.add(user)
        else:
            passed_over += 1
    return held, passed_over


@given(tables(), st.sampled_from([0.1, 0.3, 0.6, 0.9]), st.integers(0, 99))
def test_rounds_do_what_going_one_by_one_does(X, size, seed):
    cv = ColdUserSplit(user_size=size, rare_songs="skip", random_state=seed)
    ((_, test),) = split_or_skip(cv, X)
    n_users = X["user"].nunique()
    turn = np.random.RandomState(seed).permutation(n_users)
    held, passed_over = hold_out_one_by_one(X, turn, max(1, round(size * n_users)))
    assert set(X["user"].iloc[test]) == held
    counts = cv.describe()["passed_over_users: a song would leave training"]
    assert counts.tolist() == [passed_over]


def test_the_share_of_users_is_reached():
    # Every song is also user 0's, who alone has song 99 and so is always passed over.
    X = dense_table(n_users=50)
    everything = pd.DataFrame({"user": 0, "playlist": 0, "song": [*range(15), 99], "year": 2000})
    X = pd.concat([X[X["user"] > 0], everything], ignore_index=True)
    for seed in range(5):
        ((train, test),) = ColdUserSplit(user_size=0.3, random_state=seed).split(X)
        assert X["user"].iloc[test].nunique() == 15
        assert 0 in set(X["user"].iloc[train])


def test_passed_over_users_are_counted():
    # Each user has a song of her own, but for one.
    X = pd.DataFrame(
        {"user": [0, 0, 1, 1, 2], "playlist": [0, 0, 1, 1, 2], "song": [1, 2, 1, 3, 1]}
    )
    for seed in range(5):
        cv = ColdUserSplit(user_size=0.6, rare_songs="skip", random_state=seed)
        ((_, test),) = cv.split(X)
        assert test.tolist() == [4]
        assert cv.describe()["passed_over_users: a song would leave training"].iloc[0] == 2


@given(tables(), st.sampled_from([0.1, 0.3, 0.6, 0.9]), st.integers(0, 3))
def test_rows_of_rare_songs_can_be_left_out(X, size, seed):
    cv = ColdUserSplit(user_size=size, rare_songs="leave out", random_state=seed)
    ((train, test),) = split_or_skip(cv, X)
    cold = set(X["user"]) - set(X["user"].iloc[train])
    assert len(cold) == max(1, round(size * X["user"].nunique()))
    expected = X["user"].isin(cold) & X["song"].isin(X["song"].iloc[train])
    assert test.tolist() == np.flatnonzero(expected).tolist()
    assert cv.describe()["left_out_rows"].iloc[0] == len(X) - len(train) - len(test)


def test_no_user_is_skipped_if_nearly_all_have_a_song_of_their_own():
    X = dense_table(n_users=20)
    own = pd.DataFrame({"user": range(1, 20), "playlist": range(1001, 1020), "year": 2000})
    X = pd.concat([X, own.assign(song=own["user"] + 1000)], ignore_index=True)
    ((_, skipped),) = ColdUserSplit(rare_songs="skip", random_state=0).split(X)
    assert X["user"].iloc[skipped].nunique() == 1
    cv = ColdUserSplit(random_state=0)
    ((train, test),) = cv.split(X)
    assert X["user"].iloc[test].nunique() == 6
    assert X["song"].iloc[test].isin(X["song"].iloc[train]).all()
    counts = cv.describe().iloc[0]
    assert counts["left_out_rows: song not in training"] in (5, 6)
    assert counts["passed_over_users: a song would leave training"] == 0


def test_wrong_rare_songs():
    with pytest.raises(ValueError, match=r"`rare_songs` must be .*got 'drop'"):
        next(ColdUserSplit(rare_songs="drop").split(dense_table()))


def test_unknown_owners():
    X = dense_table(n_users=20).drop(columns="user")
    ((_, test),) = ColdUserSplit(user=None, random_state=0).split(X)
    assert X["playlist"].iloc[test].nunique() == round(0.3 * X["playlist"].nunique())


@given(tables(), st.booleans(), st.integers(2, 4))
def test_every_user_is_cold_once(X, shuffle, n_splits):
    cv = ColdUserKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None)
    splits = split_or_skip(cv, X)
    cold = [set(X["user"]) - set(X["user"].iloc[train]) for train, _ in splits]
    assert sorted(u for fold in cold for u in fold) == sorted(set(X["user"]))
    assert max(map(len, cold)) - min(map(len, cold)) <= 1
    for fold, (train, test) in zip(cold, splits, strict=True):
        known = set(X["song"].iloc[train])
        expected = X["user"].isin(fold) & X["song"].isin(known)
        assert test.tolist() == np.flatnonzero(expected).tolist()
