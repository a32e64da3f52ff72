"""Counts of what is dropped and repaired."""

import warnings

import pytest

from skmtc.datasets.reading._load_report import LoadReport


def test_counts_by_reason_without_zeros():
    load_report = LoadReport("data")
    load_report.drop("lines", 2)
    load_report.drop("lines")
    load_report.drop("songs", 0)
    load_report.repair("quotes")
    assert load_report.counts() == {"dropped": {"lines": 3}, "repaired": {"quotes": 1}}
    assert load_report.listing() == "dropped 3 lines; repaired 1 quotes"


def test_tells_what_could_not_be_read():
    load_report = LoadReport("data")
    load_report.drop("broken lines", 2)
    with pytest.warns(UserWarning, match=r"Not all of data .* 2 broken lines\. .*`dropped`"):
        load_report.warn(stacklevel=2)


def test_what_was_asked_for_is_no_warning():
    load_report = LoadReport("data")
    load_report.drop("short playlists", 2, asked_for=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_report.warn(stacklevel=2)
    assert LoadReport("data").listing() == "nothing dropped"
