"""guess_user_roles."""

import numpy as np
import pandas as pd
import pytest

from skmtc.datasets import make_playlists
from skmtc.features import UserRoles, guess_user_roles

N = 200


@pytest.fixture
def users():
    return pd.DataFrame(
        {
            "user": ["ana", "bob", "eve"],
            "age": [31, None, 40],
            "gender": [None, "m", "f"],
            "nothing": [None, None, None],
        }
    )


def owners(**columns):
    """Return a table with one row per user."""
    return pd.DataFrame({"user": np.arange(N), **columns})


def test_roles_of_a_user_table(users):
    assert guess_user_roles(users) == UserRoles(
        numeric=["age"],
        categorical=["gender"],
        left_out={"user": "has the name of an id", "nothing": "has no values"},
    )


def test_roles_of_a_membership_table():
    X = make_playlists(random_state=0)
    roles = guess_user_roles(X)
    assert (roles.numeric, roles.categorical) == (["age"], ["gender", "country"])
    assert roles.left_out["year"] == "describes songs"
    assert sorted([*roles.used, *roles.left_out]) == sorted(X.columns)


def test_rows_of_a_user_must_agree(users):
    table = pd.concat([users, users.assign(age=[32, 40, 41])])
    assert guess_user_roles(table).left_out["age"] == "differs between rows of one user"


@pytest.mark.parametrize(
    ("label", "column", "role"),
    [
        ("age", np.arange(N) % 50, "numeric"),
        ("premium", np.arange(N) % 3 == 0, "numeric"),
        ("country", [f"c{i % 3}" for i in range(N)], "categorical"),
        ("city", [f"c{i % 90}" for i in range(N)], "categorical"),
        ("city", pd.Series([f"c{i % 90}" for i in range(N)], dtype="category"), "categorical"),
        ("city_id", np.arange(N) % 90, "categorical"),
        ("tags", [f"t{i % 7}|t{i % 5}" for i in range(N)], "categorical"),
        ("likes", [[f"t{i % 7}", f"t{i % 5}"] for i in range(N)], "categorical"),
    ],
)
def test_roles_by_content(label, column, role):
    roles = guess_user_roles(owners(**{label: column}))
    assert getattr(roles, role) == [label] == roles.used
    assert list(roles.left_out) == ["user"]


@pytest.mark.parametrize(
    ("label", "column", "reason"),
    [
        ("title", [f"mix {i % 90}" for i in range(N)], "is free text; pass categorical=['title']"),
        ("title", [f"mix{i % 9}" for i in range(N)], "is free text; pass categorical=['title']"),
        ("about", [f"I am {i}" for i in range(N)], "is free text; pass categorical=['about']"),
        ("email", [f"a{i}" for i in range(N)], "has hardly any value more than once; pass categ"),
        ("device_id", np.arange(N), "has the name of an id; pass categorical=['device_id'] to"),
        ("joined", pd.date_range("2011-01-01", periods=N), "has dates; convert them to numbers"),
        ("joined", ["2011-05-03", "2011-05"] * (N // 2), "has dates; convert them to numbers"),
        ("taste", list(np.eye(N)[:, :4]), "has vectors; spread them over columns of numbers"),
        ("plan", ["free"] * N, "has one value only"),
        ("plan", ["free", None] * (N // 2), "has one value only"),
        ("artist", [f"a{i % 5}" for i in range(N)], "has the name of an id"),
    ],
)
def test_reasons(label, column, reason):
    roles = guess_user_roles(owners(**{label: column}))
    assert roles.used == []
    assert roles.left_out[label].startswith(reason)


def test_duplicates_of_another_column():
    age = np.arange(N) % 50
    roles = guess_user_roles(owners(age_copy=age, age=age))
    assert (roles.numeric, roles.left_out["age_copy"]) == (["age"], "is the same as column 'age'")


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


def test_titles_of_playlists_are_no_attributes():
    playlist = np.repeat(np.arange(N), 5)
    table = pd.DataFrame(
        {
            "playlist": playlist,
            "song": np.arange(5 * N) * 7 % 90,
            "title": [f"{i % 80}|{i % 7}" for i in playlist],
            "created_at": pd.Timestamp("2011-01-01") + pd.to_timedelta(playlist, "D"),
            "mood": [f"m{i % 4}" for i in playlist],
        }
    )
    roles = guess_user_roles(table, user=None)
    assert roles.categorical == ["mood"]
    assert roles.left_out["title"].startswith("is free text")
    assert roles.left_out["created_at"].startswith("has dates")
    owned = guess_user_roles(table.assign(user=playlist // 4))
    assert owned.used == []
    assert owned.left_out["mood"] == owned.left_out["title"] == "describes playlists"
    renamed = table.assign(user=playlist // 4).rename(columns={"playlist": "list"})
    assert guess_user_roles(renamed, playlist="list").left_out["mood"] == "describes playlists"


def test_given_roles_stay_as_they_are(users):
    roles = guess_user_roles(users, categorical=["age", "gender"])
    assert (roles.numeric, roles.categorical) == ([], ["age", "gender"])
    roles = guess_user_roles(users, categorical=None)
    assert (roles.numeric, roles.categorical) == (["age"], [])
    assert roles.left_out["gender"] == "was not chosen; add it to categorical to use it"


def test_roles_are_shown(users):
    roles = guess_user_roles(users)
    assert str(roles).splitlines()[:3] == ["numeric: age", "categorical: gender", "left out:"]
    assert eval(repr(roles)) == roles


def test_names_alone():
    roles = guess_user_roles(["user_id", "age", "gender", "country", "title"])
    assert (roles.numeric, roles.categorical) == (["age"], ["gender", "country"])
    assert roles.left_out == {
        "user_id": "has the name of an id",
        "title": "is free text; pass categorical=['title'] to use it",
    }


def test_wrong_columns(users):
    with pytest.raises(ValueError, match="role `numeric` must be in the table; got 'height'"):
        guess_user_roles(users, numeric=["height"])
    with pytest.raises(TypeError, match="role `numeric` must have numbers; got 'gender'"):
        guess_user_roles(users, numeric=["gender"])
