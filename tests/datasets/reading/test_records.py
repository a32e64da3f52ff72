"""JSON that may be broken."""

import json
import re
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skmtc.datasets.reading import _records
from skmtc.datasets.reading._load_report import LoadReport
from skmtc.datasets.reading._records import iterate_records, loads, repair_json

LIST, RECORD = re.compile(r"\["), re.compile(r'\{\s*"id"')
VALUES = st.recursive(
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def _records_of(text, piece=7):
    """Read with and without orjson, which must agree."""
    with mock.patch.object(_records, "orjson", None):
        plain = _read(text, piece)
    assert _read(text, piece) == plain
    return plain


def _read(text, piece):
    load_report = LoadReport("test")
    pieces = [text[i : i + piece] for i in range(0, len(text), piece)]
    with mock.patch.object(_records, "WINDOW", piece):  # so that records cross its edges
        records = list(iterate_records(pieces, LIST, RECORD, load_report))
    return records, dict(load_report.dropped)


@given(st.lists(st.dictionaries(st.text(max_size=3), VALUES), max_size=5), st.integers(1, 50))
def test_reads_what_json_reads(records, piece):
    assert _records_of(json.dumps(records), piece) == (records, {})
    assert _records_of(json.dumps(records, indent=2), piece) == (records, {})


@pytest.mark.parametrize("broken", ['{"id": 2, "a": }', '{"id": 2, "a": "x}', '{"id": 2,, }'])
def test_goes_on_after_a_broken_record(broken):
    text = f'[{{"id": 1}}, {broken}, {{"id": 3}}, {{"id": 4}}]'
    records, dropped = _records_of(text)
    assert [r["id"] for r in records] == [1, 3, 4]
    assert dropped == {"malformed records": 1}


def test_a_cut_list_is_counted():
    assert _records_of('[{"id": 1}, ') == ([{"id": 1}], {"lists of records that do not end": 1})
    assert _records_of('[{"id": 1}, {"i') == (
        [{"id": 1}],
        {"malformed records": 1, "lists of records that do not end": 1},
    )


@given(
    st.lists(st.dictionaries(st.text(max_size=2), VALUES), min_size=2, max_size=5),
    st.data(),
)
def test_a_quick_parser_does_not_change_what_is_read(records, data):
    # Records that start alike are what it looks for; damage must not mislead it.
    text = json.dumps([{"id": i} | record for i, record in enumerate(records)])
    place = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(["", "}", "{", '"', '{"id"', "NaN", "\\ud800"]))
    _records_of(text[:place] + piece + text[place:], piece=50)


def test_other_values_are_no_records():
    records, dropped = _records_of('[1, {"id": 2}, "x"]')
    assert records == [{"id": 2}]
    assert dropped == {"malformed records": 2}


def test_no_list():
    assert _records_of("nothing here") == ([], {"files without records": 1})
    assert _records_of("") == ([], {"files without records": 1})


def test_a_record_beyond_the_limit_is_passed_over(monkeypatch):
    monkeypatch.setattr(_records, "LONGEST_RECORD", 100)
    monkeypatch.setattr(_records, "LONGEST_MARK", 10)
    text = json.dumps([{"id": 1}, {"id": 2, "a": "x" * 3_000_000}, {"id": 3}])
    records, dropped = _records_of(text, piece=1000)
    assert [r["id"] for r in records] == [1, 3]
    assert dropped == {"malformed records": 1}


def test_nesting_beyond_reason_is_broken_not_fatal():
    assert loads("[" * 100_000) is None
    records, dropped = _records_of('[{"id": ' + "[" * 100_000 + ', {"id": 2}]', piece=1000)
    assert records == [{"id": 2}]
    assert dropped == {"malformed records": 1}


@given(st.dictionaries(st.text(), VALUES))
def test_repair_leaves_good_json_alone(value):
    # Text with an escaped quote before a comma is good JSON as well.
    text = json.dumps(value)
    assert loads(repair_json(text)) == value


@pytest.mark.parametrize(
    ("broken", "value"),
    [
        ('{"a":,"b":1}', {"a": None, "b": 1}),
        ('{"a": , "b": }', {"a": None, "b": None}),
        ('{"a":1;"b":[1;2]}', {"a": 1, "b": [1, 2]}),
        ('{"a":;"b":1}', {"a": None, "b": 1}),
        ('{"a":"x "y" z"}', {"a": 'x "y" z'}),
        ('{"a":"12" mix","b":";:,"}', {"a": '12" mix', "b": ";:,"}),
        (r'{"a":"\"","b":,"c":"\\"}', {"a": '"', "b": None, "c": "\\"}),
    ],
)
def test_repairs(broken, value):
    assert loads(broken) is None
    assert loads(repair_json(broken)) == value


@given(st.text(alphabet='{}[]":;,\\ ab1\n'))
def test_repair_of_anything_ends(text):
    assert isinstance(repair_json(text), str)
