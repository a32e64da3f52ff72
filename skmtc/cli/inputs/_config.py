"""Options of a comparison from a TOML file."""

import tomllib
from argparse import ArgumentTypeError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skmtc.cli._errors import CommandError, check_name
from skmtc.cli.inputs._values import metric_name, ranker_name, setting_name

LISTS = {"setting": setting_name, "rankers": ranker_name, "metrics": metric_name}
TABLES = ("columns", "parameters", "splits")
COLUMNS = ("user", "playlist", "song")


@dataclass
class Config:
    """Options of a config file; None or empty if not given.

    Attributes
    ----------
    setting, rankers, metrics : list of str or None
        As the options of the same names.

    columns : dict
        Names of id columns by role.

    parameters, splits : dict of dicts
        Parameters by ranker, and options of splitters by setting.
    """

    setting: list[str] | None = None
    rankers: list[str] | None = None
    metrics: list[str] | None = None
    columns: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    splits: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_config(path):
    """Read and check a config file; return an empty `Config` without a file."""
    if path is None:
        return Config()
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(
            f"The config {str(path)!r} must be TOML in UTF-8; got {error}."
        ) from None
    for key in found:
        check_name("option in the config", key, [*LISTS, *TABLES], CommandError)
    for key, read in LISTS.items():
        if key in found:
            found[key] = _names(key, found[key], read)
    for key in TABLES:
        _check_table(key, found.get(key, {}))
    for role in found.get("columns", {}):
        check_name("id column in the config", role, COLUMNS, CommandError)
    for key, read in (("parameters", ranker_name), ("splits", setting_name)):
        found[key] = _by_name(key, found.get(key, {}), read)
    return Config(**found)


def _names(key, values, read):
    values = [values] if isinstance(values, str) else values
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise CommandError(f"{key!r} in the config must be a list of names; got {values!r}.")
    return [_read(read, value) for value in values]


def _by_name(key, tables, read):
    for name, table in tables.items():
        _check_table(f"{key}.{name}", table)
    return {_read(read, name): table for name, table in tables.items()}


def _read(read, value):
    try:
        return read(value)
    except ArgumentTypeError as error:
        raise CommandError(str(error)) from None


def _check_table(key, value):
    if not isinstance(value, dict):
        raise CommandError(f"{key!r} in the config must be a table, [{key}]; got {value!r}.")
