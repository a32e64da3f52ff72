"""JSON that may be broken: repaired, or read record by record past the broken ones."""

import json
import re

try:
    import orjson
except ImportError:  # the standard library returns the same, more slowly
    orjson = None  # type: ignore[assignment]

WINDOW = 2**20  # characters to read at a time
LONGEST_RECORD = 2**25  # characters
LONGEST_MARK = 256  # characters of the start of a list or record
CLOSES_STRING = {"", ",", ":", ";", "}", "]"}
EMPTY_VALUE = {",", ";", "}"}
_MARK = re.compile(r'\\.|["\;:]', re.DOTALL)
_NEXT = re.compile(r"\s*(.?)", re.DOTALL)
_FIRST_KEY = re.compile(r'\{\s*"\w+"')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)  # control characters in titles do no harm


def loads(text):
    """Parse JSON; None where it is broken."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):  # broken, or nested beyond reason
        return None


def repair_json(text):
    r"""Repair JSON with empty values, semicolons for commas, and stray quotes in texts.

    A quote closes a text only if something that may follow a text comes next.

    Examples
    --------
    >>> repair_json('{"a":,"b":"x "y" z";"c":1}')
    '{"a":null,"b":"x \\"y\\" z","c":1}'
    """
    mended, in_string, end = [], False, 0
    for mark in _MARK.finditer(text):
        mended.append(text[end : mark.start()])
        end = mark.end()
        what, following = mark.group(), _NEXT.match(text, end).group(1)
        if what == '"' and in_string and following not in CLOSES_STRING:
            mended.append('\\"')
        elif what == '"':
            in_string = not in_string
            mended.append('"')
        elif in_string or what[0] == "\\":
            mended.append(what)
        else:
            mended.append("," if what == ";" else what)
            if what == ":" and following in EMPTY_VALUE:
                mended.append("null")
    return "".join(mended) + text[end:]


def iterate_records(pieces, list_start, record_start, load_report):
    """Yield the records (JSON objects) of a list inside a JSON text.

    Parameters
    ----------
    pieces : iterable of str
        The text.

    list_start, record_start : re.Pattern
        Where the list starts (up to its first record), and what every record starts with, by
        which reading finds its way after a broken record.

    load_report : LoadReport
        Broken records are counted here.
    """
    text = _Window(pieces)
    found = text.search(list_start, 0)
    if not found:
        load_report.drop("files without records")
        return
    position = found.end()
    while position is not None:
        position = text.next_value(position)
        if text.startswith(position, "]"):
            return
        if text.is_end(position):
            break
        record, end = text.decode(position)
        if end is None:
            load_report.drop("malformed records")
            found = text.search(record_start, position + 1)
            position = found.start() if found else None
            continue
        if isinstance(record, dict):
            yield record
        else:
            load_report.drop("malformed records")
        position = end
    load_report.drop("lists of records that do not end")


class _Window:
    """A part of a text that grows at its end as pieces arrive and is cut at its start."""

    def __init__(self, pieces):
        self._pieces = iter(pieces)
        self._text = ""
        self._ended = False

    def _grow(self):
        # Twice as much each time, so that long records are not parsed again and again.
        wanted = max(WINDOW, len(self._text))
        parts, size = [self._text], 0
        while size < wanted and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            parts.append(piece or "")
            size += len(parts[-1])
        self._text = "".join(parts)
        return size > 0

    def search(self, pattern, position):
        """Find a pattern from a position on; forget what lies before it."""
        while True:
            found = pattern.search(self._text, position)
            if found:
                return found
            # A match may begin in the last few characters; nothing else is needed any more.
            self._text = self._text[max(position, len(self._text) - LONGEST_MARK) :]
            position = 0
            if not self._grow():
                return None

    def next_value(self, position):
        """Return the position of the next value; forget what lies before it once that is worth it.

        Most values then lie whole in the window: to fail at its edge would mean to parse twice.
        """
        if len(self._text) - position < WINDOW // 4 and not self._ended:
            self._text, position = self._text[position:], 0
            self._grow()
        while True:
            position = _BETWEEN.match(self._text, position).end()
            if position < len(self._text) or not self._grow():
                return position

    def startswith(self, position, character):
        return self._text.startswith(character, position)

    def is_end(self, position):
        return position >= len(self._text)

    def decode(self, position):
        """Parse the value at a position; its end is None where it is broken."""
        quick = self._decode_quickly(position) if orjson else None
        if quick:
            return quick
        while True:
            try:
                return _DECODER.raw_decode(self._text, position)
            except (ValueError, RecursionError):
                too_long = len(self._text) - position > LONGEST_RECORD
                if too_long or not self._grow():
                    return None, None

    def _decode_quickly(self, position):
        """Parse up to where the next record seems to start; None where that is not one value.

        Records mostly start alike. If what lies between two starts is whole JSON, then it is the
        record; JSON that orjson rejects is parsed by the standard library. They differ
        only in integers beyond 64 bits, which come as floats here.
        """
        start = _FIRST_KEY.match(self._text, position)
        following = self._text.find(start.group(), start.end()) if start else -1
        if following < 0:
            return None
        end = self._text.rfind("}", position, following) + 1
        try:
            return orjson.loads(self._text[position:end]), end
        except ValueError:
            return None
