"""Files written whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from skmtc._utils.atomic_files import write_whole


def test_a_file_is_replaced_and_links_are_followed(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"one")
    link = tmp_path / "link"
    link.symlink_to(path)
    write_whole(link, b"two")
    assert link.is_symlink()
    assert path.read_bytes() == b"two"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link"]


def test_permissions_are_the_usual_ones(tmp_path):
    mask = os.umask(0)
    os.umask(mask)
    write_whole(tmp_path / "file", b"")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


@pytest.mark.linux
def test_devices_are_written_to_not_replaced():
    write_whole(os.devnull, b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_whole("/dev/full", b"one")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.posix
def test_threads_may_write_one_file(tmp_path):
    contents = [bytes([i]) * 100_000 for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_whole(tmp_path / "file", content), contents))
    assert (tmp_path / "file").read_bytes() in contents
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        write_whole(tmp_path, b"")
