"""The HDF5 summary file of the Million Song Dataset."""

import gzip
import sys

import h5py
import numpy as np
import pytest
from damage import damaged, load_damaged
from hypothesis import given

from skmtc.datasets import load_msd_songs
from skmtc.datasets.reading._hdf5 import read_hdf5

METADATA = [("song_id", "S32"), ("title", "S64"), ("artist_id", "S32"), ("artist_name", "S64")]
ANALYSIS = [("track_id", "S32"), ("tempo", "f8"), ("loudness", "f8"), ("mode", "i4")]


def _write(path, n_songs=3, **tables):
    numbers = range(1, n_songs + 1)
    metadata = np.array(
        [(f"SO{i}", f"Títle {i}".encode(), f"AR{i}", f"Name {i}") for i in numbers], METADATA
    )
    analysis = np.array([(f"TR{i}", 100.0 + i, -i, 1) for i in numbers], ANALYSIS)
    years = np.array([(0 if i == 1 else 2000 + i,) for i in numbers], [("year", "i4")])
    all_tables = {"metadata": metadata, "analysis": analysis, "musicbrainz": years} | tables
    with h5py.File(path, "w") as file:
        for group, table in all_tables.items():
            file.create_group(group).create_dataset("songs", data=table, compression="gzip")
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_case_worked_by_hand(tmp_path, pack):
    path = _write(tmp_path / "msd_summary_file.h5")
    path.write_bytes(pack(path.read_bytes()))
    songs = load_msd_songs(path).songs
    assert list(songs.index) == ["SO1", "SO2", "SO3"]
    assert songs["track"].tolist() == ["TR1", "TR2", "TR3"]
    assert songs["title"].tolist() == ["Títle 1", "Títle 2", "Títle 3"]
    assert songs["tempo"].tolist() == [101, 102, 103]
    assert songs["year"].isna().tolist() == [True, False, False]
    assert songs["year"].tolist()[1:] == [2002, 2003]


def test_without_h5py_the_error_says_what_to_install(tmp_path, monkeypatch):
    path = _write(tmp_path / "msd_summary_file.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install h5py"):
        load_msd_songs(path)


def _replace_table(path, make):
    with h5py.File(path, "a") as file:
        del file["metadata/songs"]
        make(file)


def test_links_out_of_the_file_are_refused(tmp_path):
    path, other = _write(tmp_path / "summary.h5"), _write(tmp_path / "other.h5")
    link = h5py.ExternalLink(str(other), "metadata/songs")
    _replace_table(path, lambda file: file["metadata"].__setitem__("songs", link))
    with pytest.raises(ValueError, match="got a link at metadata/songs"):
        load_msd_songs(path)


def test_data_outside_of_the_file_is_refused(tmp_path):
    path, other = _write(tmp_path / "summary.h5"), tmp_path / "raw"
    other.write_bytes(bytes(1000))
    _replace_table(
        path,
        lambda file: file["metadata"].create_dataset(
            "songs", shape=(3,), dtype=METADATA, external=[(str(other), 0, 1000)]
        ),
    )
    with pytest.raises(ValueError, match="got data of metadata/songs outside of the file"):
        load_msd_songs(path)


def test_a_table_beyond_the_limit_is_refused(tmp_path):
    path = _write(tmp_path / "summary.h5", n_songs=2000)
    with pytest.raises(ValueError, match="beyond max_bytes=1000"):
        read_hdf5(path, ["song_id", "track_id"], max_bytes=1000)


@pytest.mark.parametrize(
    "tables",
    [
        {"metadata": np.arange(3)},
        {"analysis": np.array([("TR1",)], [("track_id", "S8")])},
    ],
)
def test_another_layout_is_refused(tmp_path, tables):
    with pytest.raises(ValueError, match=r"must be the HDF5 file msd_summary_file\.h5; got "):
        load_msd_songs(_write(tmp_path / "summary.h5", **tables))


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return _write(tmp_path_factory.mktemp("h5") / "summary.h5").read_bytes()


def test_any_bytes_give_a_table_or_a_clear_error(content):
    @given(damaged(content))
    def check(some):
        bunch = load_damaged(lambda folder: load_msd_songs(folder / "file"), {"file": some})
        if bunch is not None:
            assert bunch.songs.index.is_unique

    check()


def test_texts_of_variable_length_are_refused(tmp_path):
    kind = np.dtype([("song_id", "S18"), ("title", h5py.string_dtype())])
    rows = np.empty(3, kind)
    rows["song_id"], rows["title"] = ["SO1", "SO2", "SO3"], "x" * 100
    path = tmp_path / "msd_summary_file.h5"
    with h5py.File(path, "w") as file:
        file.create_group("metadata").create_dataset("songs", data=rows)
    with pytest.raises(ValueError, match="data of variable length in column 'title'"):
        load_msd_songs(path)
