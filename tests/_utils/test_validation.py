"""Checks of constructor parameters."""

import pytest

from skmtc._utils.validation import check_choice, check_number


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", None, True])
def test_numbers_out_of_range_are_reported(value):
    with pytest.raises(
        ValueError, match=r"`tol` must be a number of 0 or more; got .*Change `tol`"
    ):
        check_number("tol", value, at_least=0)


def test_bounds():
    check_number("tol", 0, at_least=0)
    check_number("tol", 1e-9, above=0)
    with pytest.raises(ValueError, match="above 0; got 0"):
        check_number("tol", 0, above=0)
    with pytest.raises(ValueError, match=r"an integer of 1 or more; got 1\.5"):
        check_number("n", 1.5, at_least=1, whole=True)


def test_choices_are_listed():
    with pytest.raises(ValueError, match=r"one of \['a', 'b'\]; got 'c'"):
        check_choice("solver", "c", {"b", "a"})
