"""What a fit works with: callbacks, checkpoints, appended tables, forgotten users."""

from skmtc.rankers.fitting._append import append_rows, append_table
from skmtc.rankers.fitting._callbacks import CallbackSupportMixin, FitCallbacks, with_callbacks
from skmtc.rankers.fitting._checkpoint import Checkpoint, check_checkpoint, fingerprint
from skmtc.rankers.fitting._forget import songs_that_stay, who_stays, without_ids
from skmtc.rankers.fitting._sample_weight import playlist_means, read_weight_column, take_weighted

__all__ = [
    "CallbackSupportMixin",
    "Checkpoint",
    "FitCallbacks",
    "append_rows",
    "append_table",
    "check_checkpoint",
    "fingerprint",
    "playlist_means",
    "read_weight_column",
    "songs_that_stay",
    "take_weighted",
    "who_stays",
    "with_callbacks",
    "without_ids",
]
