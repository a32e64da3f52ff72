"""Checks of constructor parameters; they are shared with transformers."""

from skmtc._checks import check_choice, check_number

__all__ = ["check_choice", "check_number"]
