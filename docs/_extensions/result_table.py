"""The directive `result-table`: rows of a CSV file of figures, with cells made by templates.

Tables of benchmarks have more columns than a page, so that `cells` says what to show, separated by
bars, in the manner of `str.format`; `where` keeps rows in which a column has a value, or one of
several::

    .. result-table:: benchmarks/study.csv
       :where: setting=cold users,ranker=MTC or popularity
       :header: ranker, AUC
       :cells: {ranker} | {auc:.3f} ({auc_low:.3f} to {auc_high:.3f})

Rows that look the same are shown once.
"""

import csv
import io
import re
from pathlib import Path

from docutils.parsers.rst import directives
from docutils.parsers.rst.directives.tables import CSVTable


class ResultTable(CSVTable):
    """A `csv-table` of chosen rows, with cells made by templates."""

    required_arguments, optional_arguments = 1, 0
    final_argument_whitespace = False
    has_content = False
    option_spec = CSVTable.option_spec | {
        "cells": directives.unchanged_required,
        "where": directives.unchanged,
    }

    def run(self):
        """Take the argument for the file, as a table here has no title."""
        self.path, self.arguments = self.arguments[0], []
        return super().run()

    def get_csv_data(self):
        """Return the cells as lines of CSV, and where they come from."""
        environment = self.state.document.settings.env
        environment.note_dependency(self.path)  # a page is made anew when its figures are
        path = Path(environment.srcdir) / self.path
        with path.open(newline="", encoding="utf-8") as file:
            rows = [_with_numbers(row) for row in csv.DictReader(file) if self._is_wanted(row)]
        if not rows:
            raise self.error(f"{path} has no row with {self.options.get('where')!r}.")
        cells = [
            [template.strip().format_map(row) for template in self.options["cells"].split(" | ")]
            for row in rows
        ]
        lines = io.StringIO()
        csv.writer(lines).writerows(dict.fromkeys(map(tuple, cells)))
        return lines.getvalue().splitlines(), str(path)

    def _is_wanted(self, row):
        conditions = read_conditions(self.options.get("where", ""))
        return all(row[name] in values for name, values in conditions.items())


def read_conditions(text):
    """Return the values that each column may have; values may have commas in them.

    >>> read_conditions("setting=cold users,ranker=MTC or irspack iALS, one-hot")
    {'setting': ['cold users'], 'ranker': ['MTC', 'irspack iALS, one-hot']}
    """
    pairs = [condition.partition("=") for condition in re.split(r",(?=[^,=]+=)", text) if condition]
    return {name.strip(): value.strip().split(" or ") for name, _, value in pairs}


def _with_numbers(row):
    """Turn what reads as a number into one, so that templates can round it."""
    return {name: _number(text) for name, text in row.items()}


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("result-table", ResultTable)
    return {"version": "1", "parallel_read_safe": True}
