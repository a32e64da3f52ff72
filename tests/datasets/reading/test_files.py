"""Reading files within limits."""

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skmtc.datasets.reading import _files
from skmtc.datasets.reading._files import (
    Source,
    check_file,
    check_folder,
    clean_text,
    find_file,
    inside,
    plain_file,
)


def _write(folder, content, name="file"):
    path = Path(folder) / name
    path.write_bytes(content)
    return path


def _text(path, **parameters):
    return "".join(Source(path, **parameters).text())


@given(st.binary(max_size=300), st.integers(1, 3))
def test_gzip_gives_the_same_bytes_as_plain(content, n_members):
    with tempfile.TemporaryDirectory() as folder:
        packed = _write(folder, gzip.compress(content) * n_members)
        source = Source(packed)
        assert b"".join(source.chunks()) == content * n_members
        assert source.damage is None


@given(st.text())
def test_utf8_is_read_as_it_is(text):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(_write(folder, text.encode()))
        text = text.removeprefix("\ufeff")  # a byte order mark is no text
        assert "".join(source.text()) == text
        assert source.n_recoded == 0


@given(st.integers(0, 200))
def test_a_cut_gzip_file_gives_what_stands_before_the_cut(n_bytes):
    content = bytes(range(256)) * 50
    packed = gzip.compress(content)
    cut = packed[: min(2 + n_bytes, len(packed) - 1)]
    with tempfile.TemporaryDirectory() as folder:
        source = Source(_write(folder, cut))
        assert content.startswith(b"".join(source.chunks()))
        assert source.damage == "truncated gzip data"


def test_changed_gzip_data_is_damage(tmp_path):
    packed = bytearray(gzip.compress(b"abc" * 1000))
    packed[-5] ^= 255  # the check sum
    source = Source(_write(tmp_path, bytes(packed)))
    assert b"".join(source.chunks()) == b"abc" * 1000
    assert source.damage == "damaged gzip data"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_beyond_the_limit_is_refused(tmp_path, pack):
    path = _write(tmp_path, pack(b"0" * 10_000))
    assert len(_text(path, max_bytes=10_000)) == 10_000
    with pytest.raises(ValueError, match=r"larger than max_bytes=9999 .* Raise `max_bytes`"):
        _text(path, max_bytes=9_999)


def test_a_bomb_is_refused_before_it_unfolds(tmp_path):
    path = _write(tmp_path, gzip.compress(bytes(200 * 2**20)))
    assert path.stat().st_size < 2**19
    sizes = []
    chunk_sizes = map(len, Source(path, max_bytes=2**22).chunks())
    with pytest.raises(ValueError, match="max_bytes"):
        sizes.extend(chunk_sizes)
    assert max(sizes) <= _files.CHUNK_BYTES
    assert sum(sizes) <= 2**22


def test_latin1_bytes_are_repaired_and_counted(tmp_path):
    source = Source(_write(tmp_path, "Sigur Rós".encode("latin-1")))
    assert "".join(source.text()) == "Sigur Rós"
    assert source.n_recoded == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_tell_the_encoding(tmp_path, encoding):
    assert _text(_write(tmp_path, "Rós".encode(encoding))) == "Rós"


def test_lines_have_no_ends_and_are_not_empty(tmp_path):
    path = _write(tmp_path, b"one\r\n\n  \ntwo\nthree")
    assert list(Source(path).lines()) == ["one", "two", "three"]


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MAX_LINE", 100)
    with pytest.raises(ValueError, match="line must not be longer than 100"):
        list(Source(_write(tmp_path, b"x" * 101)).lines())


def test_paths_must_be_there(tmp_path):
    path = _write(tmp_path, b"")
    assert check_file(path) == path
    assert check_folder(tmp_path) == tmp_path
    with pytest.raises(FileNotFoundError, match="which is a folder"):
        check_file(tmp_path)
    with pytest.raises(FileNotFoundError, match="which is not there"):
        check_file(tmp_path / "nothing")
    with pytest.raises(NotADirectoryError, match="which is a file"):
        check_folder(path)


def test_plain_files_are_found_before_gzip(tmp_path):
    assert find_file(tmp_path, "a", "b") is None
    packed = _write(tmp_path, b"", "b.gz")
    assert find_file(tmp_path, "a", "b") == packed
    plain = _write(tmp_path, b"", "b")
    assert find_file(tmp_path, "a", "b") == plain


def test_a_path_that_leaves_its_folder_is_refused(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    secret = _write(tmp_path, b"secret", "secret")
    (folder / "link").symlink_to(secret)
    with pytest.raises(ValueError, match="must lie inside the given folder"):
        find_file(folder, "link")
    with pytest.raises(ValueError, match="must lie inside"):
        inside(folder, folder / ".." / "secret")
    (folder / "own").symlink_to(_write(folder, b"", "target"))
    assert find_file(folder, "own") == folder / "own"


def test_plain_file_unpacks_for_a_while(tmp_path):
    path = _write(tmp_path, b"abc")
    with plain_file(path) as plain:
        assert plain == path
    with plain_file(_write(tmp_path, gzip.compress(b"abc"), "packed")) as plain:
        assert plain.read_bytes() == b"abc"
    assert not plain.exists()
    cut = _write(tmp_path, gzip.compress(b"abc" * 99)[:-9], "cut")
    with pytest.raises(ValueError, match="must be a whole gzip or zip file"), plain_file(cut):
        pass


@given(st.one_of(st.none(), st.integers(), st.text(st.characters())))
def test_clean_text_can_be_encoded(value):
    clean = clean_text(value)
    if clean is None:
        assert not isinstance(value, str) or not value.strip()
    else:
        assert clean.encode()


def test_lone_surrogates_are_replaced():
    assert clean_text("a\ud800b") == "a\ufffdb"
