"""Read files within limits, repair records, and count what is left out."""

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
from skmtc.datasets.reading._parquet import (
    PARQUET_MAGIC,
    find_parts,
    import_parquet,
    is_parquet,
    read_arrow,
    read_parquet,
    read_parquet_parts,
)
from skmtc.datasets.reading._records import iterate_records, loads, repair_json

__all__ = [
    "MAX_BYTES",
    "PARQUET_MAGIC",
    "Join",
    "LoadReport",
    "Memberships",
    "Source",
    "check_folder",
    "clean_text",
    "find_file",
    "find_parts",
    "import_parquet",
    "inside",
    "is_parquet",
    "iterate_records",
    "loads",
    "plain_file",
    "read_arrow",
    "read_hdf5",
    "read_parquet",
    "read_parquet_parts",
    "repair_json",
    "to_bunch",
]
