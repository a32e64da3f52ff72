"""Genre annotations."""

import gzip

import pytest
from damage import damaged, load_damaged
from hypothesis import given

from skmtc.datasets import load_genres

LINES = "# MAGD\n# more\nTR1\tRock\nTR2\tJazz\tBlues\n\nTR3\tNew Age\r\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_case_worked_by_hand(tmp_path, pack):
    path = tmp_path / "genres.cls"
    path.write_bytes(pack(LINES.encode()))
    bunch = load_genres(path)
    assert bunch.genres["genre"].to_dict() == {"TR1": "Rock", "TR2": "Jazz", "TR3": "New Age"}
    assert bunch.genres["second_genre"].dropna().to_dict() == {"TR2": "Blues"}
    assert bunch.dropped == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("TR9", "malformed lines"),
        ("TR9\t", "malformed lines"),
        ("\tRock", "malformed lines"),
        ("TR9\ta\tb\tc", "malformed lines"),
        ("TR1\tPop", "tracks seen before"),
    ],
)
def test_malformed_lines_are_counted_and_reported(tmp_path, line, reason):
    path = tmp_path / "genres.cls"
    path.write_text(LINES + line)
    with pytest.warns(UserWarning, match=f"1 {reason}"):
        bunch = load_genres(path)
    assert bunch.dropped == {reason: 1}
    assert bunch.genres.loc["TR1", "genre"] == "Rock"


def test_a_space_for_a_tab_is_repaired(tmp_path):
    path = tmp_path / "genres.cls"
    path.write_text("TR1 Rock\n")
    bunch = load_genres(path)
    assert bunch.genres.loc["TR1", "genre"] == "Rock"
    assert bunch.repaired == {"lines with a space for a tab": 1}


@pytest.mark.parametrize("content", [b"", b"# only a comment", b"\x1f\x8b"])
def test_a_file_without_genres_is_an_error(tmp_path, content):
    path = tmp_path / "genres.cls"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must hold lines of a track"):
        load_genres(path)


@given(damaged(LINES.encode()))
def test_any_bytes_give_a_table_or_a_clear_error(content):
    bunch = load_damaged(lambda folder: load_genres(folder / "file"), {"file": content})
    if bunch is not None:
        assert bunch.genres.index.is_unique
        assert bunch.genres["genre"].notna().all()
