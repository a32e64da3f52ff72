"""Checks of constructor parameters: what, got, do."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any


def check_number(
    name: str,
    value: Any,
    *,
    at_least: float | None = None,
    above: float | None = None,
    whole: bool = False,
) -> None:
    """Check that a parameter is a finite number in its range."""
    kind = "an integer" if whole else "a number"
    bound = f"above {above}" if above is not None else f"of {at_least} or more"
    good = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if good:
        in_range = value > above if above is not None else value >= at_least
        good = in_range and value < float("inf")
    if not good:
        raise ValueError(f"`{name}` must be {kind} {bound}; got {value!r}. Change `{name}`.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Check that a parameter is one of a few names."""
    if value not in choices:
        raise ValueError(
            f"`{name}` must be one of {sorted(choices)}; got {value!r}. Change `{name}`."
        )
