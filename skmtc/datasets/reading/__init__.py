"""Files in: bounded reading, broken records, and what was left out."""

from skmtc.datasets.reading._files import (
    MAX_BYTES,
    Source,
    check_folder,
    clean_text,
    find_file,
    inside,
    plain_file,
)
from skmtc.datasets.reading._hdf5 import read_hdf5
from skmtc.datasets.reading._load_report import LoadReport
from skmtc.datasets.reading._memberships import Join, Memberships, to_bunch
from skmtc.datasets.reading._records import iterate_records, loads, repair_json

__all__ = [
    "MAX_BYTES",
    "Join",
    "LoadReport",
    "Memberships",
    "Source",
    "check_folder",
    "clean_text",
    "find_file",
    "inside",
    "iterate_records",
    "loads",
    "plain_file",
    "read_hdf5",
    "repair_json",
    "to_bunch",
]
