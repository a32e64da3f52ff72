"""What guesses about songs and users share."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features.roles._column_content import Group, cell_codes
from skmtc.features.roles._column_names import find_name, looks_like_id
from skmtc.features.roles._role_names import as_list, check_labels, check_numbers, given_label


def test_usual_names_are_found_in_order_and_any_case():
    assert find_name(["Track_ID", "Song"], ("song", "track_id")) == "Song"
    assert find_name(["Track_ID", "title"], ("song", "track_id")) == "Track_ID"
    assert find_name(["title"], ("song",)) is None


def test_names_of_ids():
    assert all(
        map(
            looks_like_id,
            ["user", "Owner", "PID", "playlist_name", "album_id", "album_uri", "song"],
        )
    )
    assert not any(map(looks_like_id, ["year", "humid", "acid"]))


@pytest.mark.parametrize(
    ("values", "agree"),
    [
        ([1, 2, 1], True),
        ([1, 2, 3], False),
        ([np.nan, 2, np.nan], True),
        ([1, 2, np.nan], False),
        ([["rock"], ["pop"], ["rock"]], True),
        ([["rock"], ["pop"], ["pop"]], False),
    ],
)
def test_one_value_per_id(values, agree):
    frame = pd.DataFrame({"song": ["a", "b", "a"], "value": values}, index=[0, 0, 0])
    n_differing = Group(frame["song"]).count_differing(cell_codes(frame["value"])[0])
    assert (n_differing == 0) is agree


def test_lists_of_names():
    assert as_list(None) == []
    assert as_list("year") == as_list(["year"]) == as_list(("year",)) == ["year"]
    assert as_list(3) == [3]


def test_positions_become_labels():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    assert given_label(frame, 1, "song") == "b"
    with pytest.raises(
        ValueError, match=r"role `song` must be in the table; got 'c'.*\['a', 'b'\]"
    ):
        given_label(frame, "c", "song")


def test_labels_must_be_strings():
    with pytest.raises(TypeError, match=r"named by strings .* got 0"):
        check_labels([0, "a"])


def test_numbers_must_be_numbers():
    frame = pd.DataFrame({"text": ["a"], "empty": [None], "year": [1]})
    check_numbers(frame, ["year", "empty"], "numeric")
    with pytest.raises(TypeError, match="role `numeric` must have numbers; got 'text'"):
        check_numbers(frame, ["year", "text"], "numeric")
