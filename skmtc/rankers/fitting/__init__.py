"""What a fit works with: callbacks, checkpoints, appended tables, forgotten users."""

from skmtc.rankers.fitting._append import append_artists, append_rows, append_table
from skmtc.rankers.fitting._callbacks import CallbackSupportMixin, fit_callbacks
from skmtc.rankers.fitting._checkpoint import check_checkpoint, open_checkpoint
from skmtc.rankers.fitting._fitted_table import (
    plain_values,
    read_rows,
    table_attributes,
    warn_left_out,
)
from skmtc.rankers.fitting._forget import kept_positions, who_stays, without_ids
from skmtc.rankers.fitting._sample_weight import playlist_means, read_weight_column, take_weighted

__all__ = [
    "CallbackSupportMixin",
    "append_artists",
    "append_rows",
    "append_table",
    "check_checkpoint",
    "fit_callbacks",
    "kept_positions",
    "open_checkpoint",
    "plain_values",
    "playlist_means",
    "read_rows",
    "read_weight_column",
    "table_attributes",
    "take_weighted",
    "warn_left_out",
    "who_stays",
    "without_ids",
]
