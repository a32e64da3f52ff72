"""Counts of what is dropped and repaired."""

import warnings

import pytest

from skmtc.datasets.reading._load_report import LoadReport


def test_counts_by_reason_without_zeros():
    ledger = LoadReport("data")
    ledger.drop("lines", 2)
    ledger.drop("lines")
    ledger.drop("songs", 0)
    ledger.repair("quotes")
    assert ledger.counts() == {"dropped": {"lines": 3}, "repaired": {"quotes": 1}}
    assert ledger.listing() == "dropped 3 lines; repaired 1 quotes"


def test_tells_what_could_not_be_read():
    ledger = LoadReport("data")
    ledger.drop("broken lines", 2)
    with pytest.warns(UserWarning, match=r"Not all of data .* 2 broken lines\. .*`dropped`"):
        ledger.tell(stacklevel=2)


def test_what_was_asked_for_is_no_warning():
    ledger = LoadReport("data")
    ledger.drop("short playlists", 2, asked_for=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.tell(stacklevel=2)
    assert LoadReport("data").listing() == "nothing dropped"
