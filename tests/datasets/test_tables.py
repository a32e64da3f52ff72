"""Membership tables as files."""

import bz2
import gzip
import lzma
import sys
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from attacks import damaged_copies
from damage import damaged, load_damaged
from hypothesis import given
from pyarrow import parquet

from skmtc.datasets import make_playlists, read_table, write_table
from skmtc.datasets._tables import column_names

CSV = b"user,playlist,song,year\nana,gym,s17,2009\nana,gym,s18,\nbo,run,s17,2009\n"


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.parquet", "TABLE.CSV"])
def test_what_is_written_is_read(tmp_path, name):
    X = make_playlists(preset="tiny", missing_rate=0.2, random_state=0)
    write_table(X, tmp_path / name)
    found = read_table(tmp_path / name)
    assert (found.dtypes == X.dtypes).all()
    # Old versions of pandas tell missing text of two kinds apart.
    found, expected = (t.astype(object).where(t.notna(), "missing") for t in (found, X))
    pd.testing.assert_frame_equal(found, expected)


def test_ids_of_a_csv_file_are_text(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("user,playlist,song,year\nNA,007,1,2009\nnull,1e5,2,NA\n")
    X = read_table(path)
    assert X["user"].tolist() == ["NA", "null"]
    assert X["playlist"].tolist() == ["007", "1e5"]
    assert X["song"].tolist() == ["1", "2"]
    assert np.isnan(X["year"].iloc[1])


def test_an_empty_id_is_missing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("user,playlist,song\nana,,s1\n")
    assert read_table(path)["playlist"].isna().tolist() == [True]


def test_whole_numbers_stay_so_in_parquet(tmp_path):
    X = pd.DataFrame({"user": [1, 1], "playlist": [2, 2], "song": [3, 4]})
    write_table(X, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table.parquet"), X)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    X = make_playlists(preset="tiny", random_state=0)
    write_table(X, tmp_path / "one.csv.gz")
    write_table(X, tmp_path / "two.csv.gz")
    one, two = ((tmp_path / name).read_bytes() for name in ("one.csv.gz", "two.csv.gz"))
    assert gzip.decompress(one) == gzip.decompress(two)
    assert one[4:8] == two[4:8] == bytes(4)  # no time stamp


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got the empty file"),
        (b"\n\n", "must be a comma separated file"),
        (b"user,name\na,b\n", r"must have the columns playlist and song; .*\['user', 'name'\]"),
        (b"playlist,song\na,b,c,d\ne,f\n1,2,3,4,5,6,7\n", "must be a comma separated file"),
        ("playlist,song\nRós,b\n".encode("latin-1"), "in UTF-8; got .* from "),
        (b"PAR1 but not really", "must be a whole Parquet file"),
        (gzip.compress(CSV, mtime=0)[:-10], "must be a whole gzip or zip file"),
    ],
)
def test_bad_files_are_clear_errors(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(path)


def test_files_beyond_the_limit_are_refused(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(CSV * 1000))
    with pytest.raises(ValueError, match="max_bytes=1000"):
        read_table(path, max_bytes=1000)
    X = pd.DataFrame({"playlist": ["a"] * 10_000, "song": ["b"] * 10_000})
    write_table(X, tmp_path / "table.parquet")
    assert (tmp_path / "table.parquet").stat().st_size < 10_000
    with pytest.raises(ValueError, match="more than max_bytes=10000"):
        read_table(tmp_path / "table.parquet", max_bytes=10_000)


def test_only_known_names_are_written(tmp_path):
    X = make_playlists(preset="tiny", random_state=0)
    with pytest.raises(ValueError, match=r"must end in one of \.csv.*; got 'table\.xlsx'"):
        write_table(X, tmp_path / "table.xlsx")
    with pytest.raises(ValueError, match=r"Rename or add \['song'\]"):
        write_table(X.drop(columns="song"), tmp_path / "table.csv")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    X = make_playlists(preset="tiny", random_state=0)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        write_table(X, tmp_path / "table.parquet")


@given(damaged(CSV))
def test_any_bytes_give_a_table_or_a_clear_error(content):
    X = load_damaged(lambda folder: read_table(folder / "file"), {"file": content})
    if X is not None:
        assert {"playlist", "song"} <= set(X.columns)


def test_any_parquet_gives_a_table_or_a_clear_error(tmp_path):
    write_table(make_playlists(preset="tiny", random_state=0), tmp_path / "table.parquet")
    whole = (tmp_path / "table.parquet").read_bytes()

    @given(damaged(whole))
    def check(content):
        X = load_damaged(lambda folder: read_table(folder / "file"), {"file": content})
        if X is not None:
            assert {"playlist", "song"} <= set(X.columns)

    check()


def test_id_columns_may_have_other_names(tmp_path):
    path = tmp_path / "tracks.csv"
    path.write_text("owner,pid,track,year\n1,007,NA,2009\n")
    X = read_table(path, user="owner", playlist="pid", song="track")
    assert X.iloc[0].tolist() == ["1", "007", "NA", 2009]
    assert read_table(path, playlist=None, song="track")["pid"].tolist() == [7]
    with pytest.raises(ValueError, match=r"must have the columns list and track; .*add \['list'\]"):
        read_table(path, playlist="list", song="track")


LINE = b"u,p,s" + b"x" * 95 + b"\n"
PACKERS = {
    "t.csv.xz": lzma.compress,
    "t.csv.bz2": bz2.compress,
    "empty.csv.bz2": lambda _: bz2.compress(b""),
    "t.csv": lzma.compress,  # whatever it is called
}


@pytest.mark.parametrize("name", PACKERS)
def test_other_compressed_files_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(PACKERS[name](b"user,playlist,song\n" + LINE * 1000))
    with pytest.raises(ValueError, match=r"must be a gzip or zip file; got (xz|bzip2) data"):
        read_table(tmp_path / name, max_bytes=10_000)


def test_zstandard_files_are_refused(tmp_path):
    (tmp_path / "t.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"0" * 50)
    with pytest.raises(ValueError, match="must be a gzip or zip file; got zstandard data"):
        read_table(tmp_path / "t.csv.zst")


def _zip(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_file_of_one_table_is_read(tmp_path, method):
    X = pd.DataFrame({"user": ["u"], "playlist": ["p"], "song": ["s"], "year": [2009]})
    X.to_parquet(tmp_path / "t.parquet")
    content = {"csv": CSV, "parquet": (tmp_path / "t.parquet").read_bytes()}
    path = _zip(tmp_path / "t.zip", method, **{"data/": b"", "data/t.csv": content["csv"]})
    assert read_table(path).equals(read_table(_plain(tmp_path, CSV)))
    assert column_names(path) == read_table(path).columns.tolist()
    mac = {"t.parquet": content["parquet"], "__MACOSX/._t.parquet": b"x"}
    path = _zip(tmp_path / "mac.zip", method, **mac)
    assert read_table(path).equals(X)
    assert column_names(path) == X.columns.tolist()


def _plain(folder, content):
    path = folder / "plain.csv"
    path.write_bytes(content)
    return path


def test_zip_files_that_are_no_table_are_refused(tmp_path):
    for members in ({}, {"a.csv": CSV, "b.csv": CSV}):
        path = _zip(tmp_path / "t.zip", **members)
        with pytest.raises(ValueError, match=f"must hold one file; got {len(members)}"):
            read_table(path)
    path = _zip(tmp_path / "lzma.zip", zipfile.ZIP_LZMA, **{"t.csv": CSV})
    with pytest.raises(ValueError, match="must be packed by the method deflate"):
        read_table(path)
    path = _zip(tmp_path / "locked.zip", **{"t.csv": CSV})
    content = bytearray(path.read_bytes())
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + place] |= 1  # the flag of a password
    path.write_bytes(content)
    with pytest.raises(ValueError, match="without a password"):
        read_table(path)


def test_a_zip_bomb_is_refused_by_what_it_unpacks_to(tmp_path):
    content = b"user,playlist,song\n" + LINE * 100_000
    path = _zip(tmp_path / "t.zip", **{"t.csv": content})
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match="larger than max_bytes=1000000"):
        read_table(path, max_bytes=1_000_000)
    lying = path.read_bytes().replace(
        len(content).to_bytes(4, "little"), (100).to_bytes(4, "little")
    )
    (tmp_path / "lying.zip").write_bytes(lying)
    with pytest.raises(ValueError, match=r"larger than max_bytes|whole gzip or zip"):
        read_table(tmp_path / "lying.zip", max_bytes=1_000_000)


def test_damaged_zip_files_are_reported(tmp_path, attack):
    content = _zip(
        tmp_path / "t.zip", **{"t.csv": b"user,playlist,song\n" + LINE * 50}
    ).read_bytes()
    whole = read_table(tmp_path / "t.zip")
    for copy in damaged_copies(content, attack.times(60, 3000), seed=0):
        (tmp_path / "t.zip").write_bytes(copy)
        with suppress(ValueError):
            assert read_table(tmp_path / "t.zip").equals(whole)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.xz", "t.zip", "t.csv.zst", "t.txt"])
def test_the_first_bytes_say_whether_a_file_is_compressed_not_its_name(tmp_path, name):
    content = b"user,playlist,song\n" + LINE
    (tmp_path / name).write_bytes(content)
    assert read_table(tmp_path / name)["user"].tolist() == ["u"]
    (tmp_path / name).write_bytes(gzip.compress(content))
    assert read_table(tmp_path / name)["user"].tolist() == ["u"]


def _write_parquet(path, **columns):
    parquet.write_table(pa.table(columns), path, compression="zstd")


def test_a_text_that_a_parquet_file_repeats_counts_for_each_row(tmp_path):
    n_rows, path = 500, tmp_path / "t.parquet"
    ids = pa.array(["p"] * n_rows)
    _write_parquet(path, playlist=ids, song=ids, title=pa.array(["x" * 20_000] * n_rows))
    assert path.stat().st_size < 100_000
    assert len(read_table(path, max_bytes=11_000_000)) == n_rows
    with pytest.raises(ValueError, match=r"got \d+ bytes, more than max_bytes=1000000"):
        read_table(path, max_bytes=1_000_000)


@pytest.mark.parametrize("entry", [[0.5] * 20_000, ["x" * 20_000] * 10])
def test_a_list_that_a_parquet_file_repeats_counts_for_each_row(tmp_path, entry):
    n_rows, path = 100, tmp_path / "t.parquet"
    ids = pa.array(["p"] * n_rows)
    _write_parquet(path, playlist=ids, song=ids, tags=pa.array([entry] * n_rows))
    assert path.stat().st_size < 200_000
    assert len(read_table(path)) == n_rows
    with pytest.raises(ValueError, match="more than max_bytes=1000000"):
        read_table(path, max_bytes=1_000_000)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_full_disk_leaves_the_table_that_was_there(tmp_path, monkeypatch, name):
    X = make_playlists(preset="tiny", random_state=0)
    write_table(X, tmp_path / name)
    before = (tmp_path / name).read_bytes()

    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        write_table(X.head(3), tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_cells_may_be_separated_by_other_signs(tmp_path, separator):
    rows = [["user", "playlist", "song", "title"], ["ana", "gym", "007", "a b"]]
    path = tmp_path / "table.tsv"
    path.write_text("\n".join(separator.join(row) for row in rows))
    assert read_table(path).to_numpy().tolist() == rows[1:]
    path.write_text("\ufeff" + "\n".join(separator.join(row[1:3]) for row in rows))
    assert read_table(path).columns.tolist() == ["playlist", "song"]
