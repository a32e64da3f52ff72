"""What a fit works with: callbacks, checkpoints, appended tables, forgotten users."""

from skmtc.rankers.fitting._append import append_rows, append_table
from skmtc.rankers.fitting._callbacks import CallbackSupportMixin, FitCallbacks, with_callbacks
from skmtc.rankers.fitting._checkpoint import Checkpoint, check_checkpoint, fingerprint
from skmtc.rankers.fitting._forget import songs_that_stay, who_stays, without_ids

__all__ = [
    "CallbackSupportMixin",
    "Checkpoint",
    "FitCallbacks",
    "append_rows",
    "append_table",
    "check_checkpoint",
    "fingerprint",
    "songs_that_stay",
    "who_stays",
    "with_callbacks",
    "without_ids",
]
