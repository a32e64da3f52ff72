"""guess_user_roles."""

import pandas as pd
import pytest

from skmtc.datasets import make_playlists
from skmtc.features import UserRoles, guess_user_roles


@pytest.fixture
def users():
    return pd.DataFrame(
        {"user": ["ana", "bob"], "age": [31, None], "gender": [None, "m"], "nothing": [None, None]}
    )


def test_roles_of_a_user_table(users):
    assert guess_user_roles(users) == UserRoles(
        numeric=["age"],
        categorical=["gender"],
        left_out={"user": "has the name of an id", "nothing": "has no values"},
    )


def test_roles_of_a_membership_table():
    roles = guess_user_roles(make_playlists(random_state=0))
    assert (roles.numeric, roles.categorical) == (["age"], ["gender", "country"])
    assert roles.left_out["year"] == "describes songs"


def test_rows_of_a_user_must_agree(users):
    table = pd.concat([users, users.assign(age=[32, 40])])
    assert guess_user_roles(table).left_out["age"] == "differs between rows of one user"


def test_playlists_stand_in_for_users_and_ids_may_have_any_name():
    table = pd.DataFrame(
        {
            "listener": [1, 1, 2],
            "playlist": ["p", "q", "r"],
            "track": ["a", "b", "a"],
            "age": [9, 9, 7],
        }
    )
    assert guess_user_roles(table).numeric == ["listener", "age"]
    assert guess_user_roles(table, user="listener").numeric == ["age"]
    assert guess_user_roles(table, user=None, song=None).numeric == ["listener", "age"]


def test_given_roles_stay_as_they_are(users):
    roles = guess_user_roles(users, categorical=["age", "gender"])
    assert (roles.numeric, roles.categorical) == ([], ["age", "gender"])
    roles = guess_user_roles(users, categorical=None)
    assert (roles.numeric, roles.categorical) == (["age"], [])
    assert roles.left_out["gender"] == "was not chosen"


def test_names_alone():
    roles = guess_user_roles(["user_id", "age", "gender", "country"])
    assert (roles.numeric, roles.categorical) == (["age"], ["gender", "country"])
    assert roles.left_out == {"user_id": "has the name of an id"}


def test_wrong_columns(users):
    with pytest.raises(ValueError, match="role `numeric` must be in the table; got 'height'"):
        guess_user_roles(users, numeric=["height"])
    with pytest.raises(TypeError, match="role `numeric` must have numbers; got 'gender'"):
        guess_user_roles(users, numeric=["gender"])
