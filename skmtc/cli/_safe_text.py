"""Escape untrusted text, such as ids, titles and column names, for terminals and spreadsheets."""

import json
import unicodedata

import pandas as pd

# Joiners of letters and of emoji: they are not printable for Python, but harmless.
HARMLESS = "\u200c\u200d"
# A spreadsheet runs a cell that starts with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "|", "%")
LONGEST_CELL = 60


def printable(text):
    """Replace control characters and marks that change the direction of text by their codes."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in text)


def cell_of_terminal(value, longest=LONGEST_CELL):
    """Return a text for a table on a terminal: printable, and cut if it is long."""
    text = printable(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def csv_text(table):
    """Return a table as CSV, with an apostrophe before texts that a spreadsheet would run."""
    safe = table.copy()
    for label in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[label].dtype):
            safe[label] = [_cell_of_csv(value) for value in safe[label]]
    safe.columns = [_cell_of_csv(label) for label in safe.columns]
    return safe.to_csv(index=False)


def json_text(value):
    """Return JSON with letters unescaped, and unprintable characters as their codes."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return "".join(c if c == "\n" or _is_shown(c) else json.dumps(c)[1:-1] for c in text)


def _is_shown(character):
    is_space = unicodedata.category(character) == "Zs"
    return character.isprintable() or character in HARMLESS or is_space


def _cell_of_csv(value):
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.lstrip().startswith(FORMULA_STARTS) else printable(value)
