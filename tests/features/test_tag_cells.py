"""Cells with several values."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features._tag_cells import find_separator, read_tags


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["rock|pop", "pop|jazz", "jazz|rock"], "|"),
        (["rock; pop", "pop; jazz", "jazz; rock"], ";"),
        (["rock, pop", "pop, jazz", "jazz, rock"], ","),
        (["['rock', 'pop']", "['pop', 'jazz']", "['rock', 'jazz']"], ","),
        (["rock", "pop", "rock"], None),
        (["Hello, Goodbye", "Oh, Darling", "Stop, Look, Listen"], None),  # titles
        ([["rock", "pop"], ["pop"], None], None),
        ([1.0, 2.0, np.nan], None),
        ([None, None], None),
    ],
)
def test_separator(cells, separator):
    assert find_separator(pd.Series(cells, dtype=object)) == separator


@pytest.mark.parametrize(
    ("cell", "separator", "tags"),
    [
        ("rock|pop|rock", "|", ["rock", "pop"]),
        (" rock | | pop ", "|", ["rock", "pop"]),
        ("rock|pop", None, ["rock|pop"]),
        ("['hip hop', \"r'n'b\"]", "|", ["hip hop", "r'n'b"]),
        ("[]", None, []),
        (["rock", None, "pop"], None, ["rock", "pop"]),
        (("rock|pop", "jazz"), "|", ["rock", "pop", "jazz"]),
        (np.array([3, 4, 3]), None, [3, 4]),
        (7, None, [7]),
    ],
)
def test_tags_of_a_cell(cell, separator, tags):
    assert read_tags(cell, separator, "tags") == tags


@pytest.mark.parametrize("cell", [{"rock": 1}, [["rock"]], object()])
def test_what_is_no_tag(cell):
    with pytest.raises(TypeError, match=r"A tag must be a string or a number.*column 'tags'"):
        read_tags(cell, "|", "tags")
