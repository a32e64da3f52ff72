"""Results of `skmtc compare` as text and as an HTML page."""

from skmtc.cli.report._comparison import CURVES, Comparison
from skmtc.cli.report._page import DEFAULT_FOLDER, check_folder, write_partly, write_report
from skmtc.cli.report._plain_text import column_name, comparison_text, has_best, words

__all__ = [
    "CURVES",
    "DEFAULT_FOLDER",
    "Comparison",
    "check_folder",
    "column_name",
    "comparison_text",
    "has_best",
    "words",
    "write_partly",
    "write_report",
]
