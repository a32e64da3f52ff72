"""Songs of the Million Song Dataset."""

import gzip
import sqlite3

import numpy as np
import pytest
from damage import damaged, load_damaged, msd_row, write_metadata
from hypothesis import given

from skmtc.datasets import load_msd_songs

LINES = "TR1<SEP>SO1<SEP>Pulp<SEP>Babies\nTR2<SEP>SO2<SEP>Blur<SEP>A<SEP>B\n"


def _metadata(tmp_path, *rows):
    return write_metadata(tmp_path / "track_metadata.db", rows)


def _packed(path):
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


@pytest.mark.parametrize("pack", [lambda path: path, _packed])
def test_metadata_worked_by_hand(tmp_path, pack):
    path = pack(_metadata(tmp_path, msd_row(1), msd_row(2, year=0), msd_row(3, song_id="SO1")))
    bunch = load_msd_songs(path)
    assert list(bunch.songs.index) == ["SO1", "SO2"]
    assert bunch.songs.loc["SO1"].to_dict() == {
        "track": "TR1",
        "title": "title of SO1",
        "artist": "AR1",
        "artist_name": "artist of SO1",
        "duration": 200.5,
        "year": 1991,
        "artist_familiarity": 0.5,
        "artist_hotttnesss": 0.25,
    }
    assert np.isnan(bunch.songs.loc["SO2", "year"])  # 0 stands for unknown
    assert bunch.tracks.to_dict() == {"TR1": "SO1", "TR2": "SO2", "TR3": "SO1"}
    assert bunch.dropped == {}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_unique_tracks_worked_by_hand(tmp_path, pack):
    path = tmp_path / "unique_tracks.txt"
    path.write_bytes(pack(LINES.encode()))
    songs = load_msd_songs(path).songs
    assert songs["artist_name"].tolist() == ["Pulp", "Blur"]
    assert songs["title"].tolist() == ["Babies", "A<SEP>B"]


def test_files_of_a_folder_are_joined_by_track(tmp_path):
    _metadata(tmp_path, msd_row(2), msd_row(1))
    (tmp_path / "unique_tracks.txt").write_text(LINES)
    songs = load_msd_songs(tmp_path).songs
    assert list(songs.index) == ["SO2", "SO1"]
    assert songs["title"].tolist() == ["title of SO2", "title of SO1"]  # the first file counts


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (msd_row(2, song_id=None), "rows without a track or song id"),
        (msd_row(2, track_id=" "), "rows without a track or song id"),
        (msd_row(2, track_id="TR1"), "tracks seen before"),
        (msd_row(2, year="long ago"), "values that are not numbers"),
    ],
)
def test_malformed_rows_are_counted_and_reported(tmp_path, row, reason):
    path = _metadata(tmp_path, msd_row(1), row)
    with pytest.warns(UserWarning, match=f"1 {reason}"):
        bunch = load_msd_songs(path)
    assert bunch.dropped == {reason: 1}
    assert bunch.songs.loc["SO1", "track"] == "TR1"


def test_malformed_lines_are_counted_and_reported(tmp_path):
    path = tmp_path / "unique_tracks.txt"
    path.write_text(LINES + "TR3<SEP>SO3\n")
    with pytest.warns(UserWarning, match="1 malformed lines"):
        assert load_msd_songs(path).dropped == {"malformed lines": 1}


def test_text_in_another_encoding_is_read(tmp_path):
    name = "Rós".encode("latin-1")
    path = tmp_path / "track_metadata.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (track_id, song_id, artist_name TEXT)")
        connection.execute("INSERT INTO songs VALUES ('TR1', 'SO1', CAST(? AS TEXT))", [name])
    connection.close()
    assert load_msd_songs(path).songs["artist_name"].tolist() == ["Rós"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (track_id, song_id)",
        "CREATE TABLE songs (track_id, title)",
        "CREATE VIEW songs AS SELECT 'TR1' AS track_id, 'SO1' AS song_id",
    ],
)
def test_another_database_is_refused(tmp_path, statement):
    path = tmp_path / "track_metadata.db"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(ValueError, match=r"must be the SQLite database .* got no "):
        load_msd_songs(path)


def test_the_database_is_not_written_to(tmp_path):
    path = _metadata(tmp_path, msd_row(1))
    before = path.read_bytes()
    path.chmod(0o400)
    load_msd_songs(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_file_without_songs_is_an_error(tmp_path):
    path = write_metadata(tmp_path / "empty.db", [], columns=["track_id", "song_id"])
    with pytest.raises(ValueError, match="must list at least one song"):
        load_msd_songs(path)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError, match="must list at least one song"):
        load_msd_songs(tmp_path / "empty.txt")


def test_the_folder_must_hold_a_known_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold one of track_metadata\.db"):
        load_msd_songs(tmp_path)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    rows = [msd_row(i) for i in range(5)]
    return write_metadata(tmp_path_factory.mktemp("msd") / "songs.db", rows).read_bytes()


def test_any_database_gives_a_table_or_a_clear_error(database):
    @given(damaged(database))
    def check(content):
        bunch = load_damaged(lambda folder: load_msd_songs(folder / "file"), {"file": content})
        if bunch is not None:
            assert bunch.songs.index.is_unique

    check()


@given(damaged(LINES.encode()))
def test_any_bytes_give_a_table_or_a_clear_error(content):
    bunch = load_damaged(lambda folder: load_msd_songs(folder / "file"), {"file": content})
    if bunch is not None:
        assert bunch.songs.index.is_unique
        assert bunch.tracks.notna().all()


def test_a_long_default_of_a_column_counts_for_each_row(tmp_path):
    path = tmp_path / "track_metadata.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (track_id, song_id)")
        rows = ((str(i), f"S{i}") for i in range(500))
        connection.executemany("INSERT INTO songs VALUES (?, ?)", rows)
        connection.execute(f"ALTER TABLE songs ADD COLUMN title TEXT DEFAULT '{'x' * 20_000}'")
    connection.close()
    assert path.stat().st_size < 200_000
    assert len(load_msd_songs(path, max_bytes=11_000_000).songs) == 500
    with pytest.raises(ValueError, match="beyond max_bytes=1000000"):
        load_msd_songs(path, max_bytes=1_000_000)
