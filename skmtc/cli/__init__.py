"""The command `skmtc`: compare rankers, fit one, recommend songs, tune."""

from skmtc.cli._main import main

__all__ = ["main"]
