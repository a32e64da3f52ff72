"""The session of the guide's page runs as it stands."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from commands import ENVIRONMENT

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "user_guide" / "command_line.rst"


@pytest.mark.posix
def test_the_session_runs(tmp_path):
    blocks = re.findall(
        r"\.\. code-block:: shell\n\n((?:   .*\n)+)", PAGE.read_text(encoding="utf-8")
    )
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    assert len(lines) == 8
    # The commands of this very Python, whether or not they are installed.
    start = f'python() {{ {sys.executable} "$@"; }}; skmtc() {{ python -m skmtc "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-e"],
        input=start + "\n".join(lines),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["best.py", "model.skops", "playlists.csv", "report"]
    assert "cold songs: " in done.stdout
    assert "rank,song,score" in done.stdout
