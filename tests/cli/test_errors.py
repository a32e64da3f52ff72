"""Errors in one line."""

import errno

import pytest

from skmtc._utils.memory_errors import ToldMemoryError
from skmtc.cli._errors import UsageError, check_name, nearest, one_line


def test_an_error_is_one_line_with_advice():
    assert one_line(ValueError("must be\n  a table")) == "must be a table"
    assert one_line(OSError(errno.ENOSPC, "No space left", "m.skops")) == (
        "No space left: 'm.skops'. Free some space, or write elsewhere with --out."
    )
    assert one_line(OSError(errno.EIO, "Input/output error")) == "Input/output error"
    assert one_line(MemoryError()).startswith("There is not enough memory. Use a table with fewer")
    assert one_line(ToldMemoryError("Got 9 GiB. Drop it.")) == "Got 9 GiB. Drop it."
    assert one_line(AssertionError()) == (
        "AssertionError: AssertionError (unexpected: run with --debug and report it)"
    )


def test_nearest_names():
    assert nearest("Usr1", ["user1", "user21", "gym"]) == " Nearest: 'user1', 'user21'."
    assert nearest("12", [120, 7]) == " Nearest: '120'."
    assert nearest("?", ["user1"]) == ""


def test_a_name_that_is_like_no_other_is_reported_the_choice():
    check_name("ranker", "ridge", ["ridge"])
    with pytest.raises(UsageError, match=r"There is no ranker '\?'. Choose among ridge, own"):
        check_name("ranker", "?", ["ridge", "own"])
