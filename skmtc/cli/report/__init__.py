"""Results of `skmtc compare` as text and as an HTML page."""

from skmtc.cli.report._advice import join_code
from skmtc.cli.report._comparison import CURVES, Comparison
from skmtc.cli.report._examples import Examples
from skmtc.cli.report._page import DEFAULT_FOLDER, check_folder, write_partly, write_report
from skmtc.cli.report._plain_text import best_of, column_name, comparison_text, has_best, words
from skmtc.cli.report._song_names import SongNames

__all__ = [
    "CURVES",
    "DEFAULT_FOLDER",
    "Comparison",
    "Examples",
    "SongNames",
    "best_of",
    "check_folder",
    "column_name",
    "comparison_text",
    "has_best",
    "join_code",
    "words",
    "write_partly",
    "write_report",
]
