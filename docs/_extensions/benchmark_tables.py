"""The directive `benchmark-tables`: every CSV file of a folder, as a section with a table.

Columns that have one value throughout, such as machine and date, are told once above the table, and
columns without any value not at all::

    .. benchmark-tables:: benchmarks
"""

import csv
import io
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst.directives.tables import CSVTable
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

# Told above the table even if they differ from row to row.
ALWAYS_ABOVE = ("machine", "date", "versions")
LONGEST_AS_IT_IS = len("0.1234")


class BenchmarkTables(SphinxDirective):
    """One section per file."""

    required_arguments = 1

    def run(self):
        """Make the sections."""
        folder = Path(self.env.srcdir) / self.arguments[0]
        paths = sorted(folder.glob("*.csv"))
        if not paths:
            raise self.error(f"{folder} must hold CSV files; got none. Write some with --csv.")
        return [self._section(path) for path in paths]

    def _section(self, path):
        self.env.note_dependency(str(path))
        title = path.stem.replace("_", " ")
        section = nodes.section(ids=[nodes.make_id(path.stem)], names=[nodes.make_id(path.stem)])
        section += nodes.title(text=title[0].upper() + title[1:])
        with path.open(newline="", encoding="utf-8") as file:
            above, header, rows = split_columns(list(csv.DictReader(file)))
        above = [("file", f"docs/{self.arguments[0]}/{path.name}"), *above]
        section += _fields(above)
        if header:  # a single row is told above as a whole
            section += self._table(header, rows)
        return section

    def _table(self, header, rows):
        lines = io.StringIO()
        csv.writer(lines).writerows([[_escaped(cell) for cell in row] for row in (header, *rows)])
        content = StringList(lines.getvalue().splitlines(), source=self.arguments[0])
        options = {"header-rows": 1, "class": ["benchmark"]}
        table = CSVTable(
            "csv-table", [], options, content, self.lineno, 0, "", self.state, self.state_machine
        )
        box = nodes.container(classes=["pst-scrollable-table-container"])
        box += table.run()
        return box


def split_columns(rows):
    """Return what to tell above a table, the header of the others, and their cells.

    >>> rows = [
    ...     {"ranker": "a", "auc": "0.80625", "note": "", "date": "2026-01-01"},
    ...     {"ranker": "b", "auc": "0.7", "note": "", "date": "2026-01-01"},
    ... ]
    >>> above, header, cells = split_columns(rows)
    >>> above
    [('date', '2026-01-01')]
    >>> header, cells
    (['ranker', 'auc'], [['a', '0.8063'], ['b', '0.7']])
    """
    values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in rows[0]}
    is_above = {name: name in ALWAYS_ABOVE or len(values[name]) == 1 for name in values}
    above = [
        (name, "; ".join(map(_short, values[name])))
        for name in values
        if is_above[name] and any(values[name])
    ]
    header = [name for name in values if not is_above[name]]
    return above, header, [[_short(row[name]) for name in header] for row in rows]


def _escaped(text):
    """Keep names such as hit_rate@10 from being read as markup, or as an address."""
    return re.sub(r"([\\`*_|@<>])", r"\\\1", text)


def _short(text):
    """Shorten what reads as a long number to four digits."""
    if len(text) <= LONGEST_AS_IT_IS:
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:,.0f}" if number.is_integer() else f"{number:.4g}"


def _fields(pairs):
    """Return a list of names and values."""
    fields = nodes.field_list()
    for name, value in pairs:
        body = nodes.field_body("", nodes.paragraph(text=value))
        fields += nodes.field("", nodes.field_name(text=name.replace("_", " ")), body)
    return fields


def setup(app):
    """Add the directive to Sphinx."""
    app.add_directive("benchmark-tables", BenchmarkTables)
    return {"version": "1", "parallel_read_safe": True}
