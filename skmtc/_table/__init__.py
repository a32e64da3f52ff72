"""The table contract: one row per song in a playlist.

A *membership table* has a user, a playlist and a song column; every other column describes the
song, the user or the playlist of its row.
"""

from skmtc._table.columns import (
    ROLES,
    IdColumns,
    check_even_rows,
    column_label,
    describing_columns,
    find_id_columns,
    first_rows,
    is_table,
    shown,
    to_frame,
)
from skmtc._table.ids import Ids, read_ids
from skmtc._table.memberships import MembershipTable, check_owners, read_memberships
from skmtc._table.near_names import check_columns_of, check_names
from skmtc._table.queries import Queries, Songs, distinct
from skmtc._table.reader import TableReader

__all__ = [
    "ROLES",
    "IdColumns",
    "Ids",
    "MembershipTable",
    "Queries",
    "Songs",
    "TableReader",
    "check_columns_of",
    "check_even_rows",
    "check_names",
    "check_owners",
    "column_label",
    "describing_columns",
    "distinct",
    "find_id_columns",
    "first_rows",
    "is_table",
    "read_ids",
    "read_memberships",
    "shown",
    "to_frame",
]
