"""The 30Music playlists."""

import gzip

import pytest
from damage import (
    damaged,
    idomaar_playlist,
    idomaar_track,
    load_damaged,
    msd_row,
    write_metadata,
)
from hypothesis import given

from skmtc.datasets import load_30music

PLAYLISTS = "\n".join(
    [
        idomaar_playlist(10, 7, [1, 2, 3]),
        idomaar_playlist(11, 8, [2, 2, 4]),
        idomaar_playlist(12, 7, [5]),
    ]
)
TRACKS = "\n".join(
    [
        idomaar_track(1, "Sigur+R%C3%B3s/_/Hopp%C3%ADpolla"),
        idomaar_track(2, "Pulp/_/Babies"),
        idomaar_track(3, "Just a title", artist=9),
        idomaar_track(99, "Never/_/Used"),
    ]
)
PERSONS = 'person\t9\t-1\t{"MBID":null,"name":"Some+One"}\t{}'
USERS = "\n".join(
    [
        'user\t7\t1116715959\t{"gender":"f","age":31,"country":"AU"}\t{}',
        'user\t8\t1116715959\t{"gender":"","age":,"country":"PL"}\t{}',
    ]
)
FILES = {"playlist": PLAYLISTS, "tracks": TRACKS, "persons": PERSONS, "users": USERS}


def _folder(tmp_path, pack=bytes, suffix="", **changes):
    for name, text in (FILES | changes).items():
        if text is not None:
            (tmp_path / f"{name}.idomaar{suffix}").write_bytes(pack(text.encode()))
    return tmp_path


@pytest.mark.parametrize(("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
def test_case_worked_by_hand(tmp_path, pack, suffix):
    bunch = load_30music(_folder(tmp_path, pack, suffix), min_songs=2)
    X = bunch.X
    assert X[["user", "playlist", "song"]].to_numpy().tolist() == [
        [7, 10, 1],
        [7, 10, 2],
        [7, 10, 3],
        [8, 11, 2],
        [8, 11, 4],
    ]
    assert X["artist"].tolist()[:4] == ["Sigur Rós", "Pulp", "Some One", "Pulp"]
    assert X["artist"].isna().tolist() == [False] * 4 + [True]
    assert X["duration"].tolist()[:3] == [200.0] * 3
    assert X["age"].tolist()[:3] == [31] * 3
    assert X["age"].isna().tolist() == [False] * 3 + [True] * 2
    assert X["gender"].isna().tolist() == [False] * 3 + [True] * 2
    assert X["country"].tolist() == ["AU"] * 3 + ["PL"] * 2
    assert bunch.dropped == {
        "songs that stand twice in a playlist": 1,
        "playlists with fewer than 2 songs": 1,
        "rows of these playlists": 1,
    }
    assert bunch.repaired == {"lines with broken JSON": 1}
    assert bunch.songs["title"].tolist()[:3] == ["Hoppípolla", "Babies", "Just a title"]
    assert bunch.playlists["title"].to_dict() == {10: "mix", 11: "mix"}


def test_playlists_alone_are_enough(tmp_path):
    folder = _folder(tmp_path, tracks=None, persons=None, users=None)
    bunch = load_30music(folder, min_songs=2)
    assert len(bunch.X) == 5
    assert bunch.X[["artist", "age"]].isna().all(axis=None)


def test_the_real_layout_has_an_entities_folder(tmp_path):
    (tmp_path / "entities").mkdir()
    _folder(tmp_path / "entities")
    assert len(load_30music(tmp_path, min_songs=2).X) == 5


def test_tracks_are_matched_to_the_msd_by_name(tmp_path):
    rows = [
        msd_row(1, artist_name="SIGUR ROS", title="hoppipolla"),
        msd_row(2, artist_name="Pulp", title="Babies"),
    ]
    msd = write_metadata(tmp_path / "track_metadata.db", rows)
    genres = tmp_path / "genres.cls"
    genres.write_text("TR2\tRock\n")
    bunch = load_30music(_folder(tmp_path), msd=msd, genres=genres, min_songs=1)
    assert bunch.X["song"].tolist() == ["SO1", "SO2", "SO2"]
    assert bunch.X["genre"].isna().tolist() == [True, False, False]
    assert bunch.X["age"].tolist()[:2] == [31, 31]
    assert bunch.dropped["rows with songs that are not in the MSD"] == 3
    assert bunch.dropped["songs that stand twice in a playlist"] == 1


@pytest.mark.parametrize(
    ("properties", "title"),
    [
        ('{"ID":1,"numtracks":,"Title":"mix"}', "mix"),
        ('{"ID":1;"Title":"mix"}', "mix"),
        ('{"ID":1,"Title":"the "best" mix"}', 'the "best" mix'),
        ('{"ID":1,"Title":"a\ttab"}', "a\ttab"),
        ('{"ID":1,"Title":}', None),
    ],
)
def test_broken_json_is_repaired_where_that_is_safe(tmp_path, properties, title):
    line = idomaar_playlist(13, 7, [1, 2], properties)
    bunch = load_30music(_folder(tmp_path, playlist=f"{PLAYLISTS}\n{line}"), min_songs=2)
    assert bunch.playlists["title"].loc[13] == title
    assert bunch.X.loc[bunch.X["playlist"] == 13, "song"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("playlist\t13\t-1", "malformed playlist lines"),
        ("playlist\tx\t-1\t{}\t{}", "malformed playlist lines"),
        ("track\t13\t-1\t{}\t{}", "malformed playlist lines"),
        ('playlist\t13\t-1\t{"ID"\t{}', "malformed playlist lines"),
        ("playlist\t13\t-1\t{}\t{}", "playlists without one user"),
        ("playlist\t13\t-1\t{}\t", "playlists without one user"),
        (idomaar_playlist(10, 7, [1]), "playlists with an id seen before"),
        (idomaar_playlist(13, 7, [1, None]), "malformed objects"),
        ('playlist\t13\t-1\t{}\t{"subjects":[{"id":7}],"objects":[[]]}', "malformed objects"),
    ],
)
def test_malformed_lines_are_counted_and_reported(tmp_path, line, reason):
    folder = _folder(tmp_path, playlist=f"{PLAYLISTS}\n{line}")
    with pytest.warns(UserWarning, match=f"1 {reason}"):
        bunch = load_30music(folder, min_songs=1)
    assert bunch.dropped[reason] == 1
    assert {10, 11, 12} <= set(bunch.X["playlist"])


def test_truncated_gzip_is_reported(tmp_path):
    lines = "\n".join(idomaar_playlist(i, 7, [i, i * i + 5000]) for i in range(3000))
    folder = _folder(tmp_path, playlist=None)
    packed = gzip.compress(lines.encode())
    (folder / "playlist.idomaar.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.warns(UserWarning, match="truncated gzip data"):
        bunch = load_30music(folder, min_songs=2)
    assert 100 < bunch.X["playlist"].nunique() < 3000


def test_the_folder_must_hold_playlists(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold playlist\.idomaar"):
        load_30music(tmp_path)


@pytest.mark.parametrize("content", ["", "\n\n", "hello"])
def test_a_file_without_playlists_is_an_error(tmp_path, content):
    with pytest.raises(ValueError, match="got no songs in playlists"):
        load_30music(_folder(tmp_path, playlist=content))


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "users.idomaar").write_text(USERS)
    _folder(folder, users=None)
    (folder / "users.idomaar").symlink_to(tmp_path / "users.idomaar")
    with pytest.raises(ValueError, match="must lie inside"):
        load_30music(folder)


@pytest.mark.parametrize("name", list(FILES))
@given(content=damaged("\n".join(FILES.values()).encode()))
def test_any_bytes_give_a_table_or_a_clear_error(name, content):
    contents = {f"{n}.idomaar": text.encode() for n, text in FILES.items()}
    bunch = load_damaged(load_30music, contents | {f"{name}.idomaar": content}, min_songs=1)
    if bunch is not None:
        assert not bunch.X[["user", "playlist", "song"]].isna().any(axis=None)
        assert not bunch.X.duplicated(["playlist", "song"]).any()


@given(content=damaged(PLAYLISTS.encode()))
def test_damaged_playlists_give_a_table_or_a_clear_error(content):
    bunch = load_damaged(load_30music, {"playlist.idomaar": content}, min_songs=1)
    if bunch is not None:
        assert (bunch.X.groupby("playlist")["user"].nunique() == 1).all()
