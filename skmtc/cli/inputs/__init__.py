"""Options and files of the commands: the table, features, rankers and settings."""

from skmtc.cli.inputs._config import Config, read_config
from skmtc.cli.inputs._feature_options import IMPORTED, Features
from skmtc.cli.inputs._ranker_choice import (
    ARTIST_RANKERS,
    RANKERS,
    available_rankers,
    fit_seconds,
    make_ranker,
)
from skmtc.cli.inputs._read_table import Table, open_table, sample_table
from skmtc.cli.inputs._sampled_rows import MAX_ROWS, MAX_SONGS, sample_rows
from skmtc.cli.inputs._settings import SETTINGS, make_splitter, meaning
from skmtc.cli.inputs._values import (
    attributes,
    metric_name,
    parameters,
    positive,
    ranker_name,
    setting_name,
    share,
    whole_seed,
)

__all__ = [
    "ARTIST_RANKERS",
    "IMPORTED",
    "MAX_ROWS",
    "MAX_SONGS",
    "RANKERS",
    "SETTINGS",
    "Config",
    "Features",
    "Table",
    "attributes",
    "available_rankers",
    "fit_seconds",
    "make_ranker",
    "make_splitter",
    "meaning",
    "metric_name",
    "open_table",
    "parameters",
    "positive",
    "ranker_name",
    "read_config",
    "sample_rows",
    "sample_table",
    "setting_name",
    "share",
    "whole_seed",
]
