"""The command that the README starts with."""

import re
import subprocess
import sys


def test_compares_all_rankers_in_all_settings(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "skmtc"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert not run.stderr
    blocks = re.split(r"\n(cold \w+)\n", run.stdout)
    auc = {}
    for setting, block in zip(blocks[1::2], blocks[2::2], strict=True):
        for ranker, value in re.findall(r"^(\w[\w ]*?) +(\d\.\d+) +\d", block, flags=re.MULTILINE):
            auc[setting, ranker] = float(value)
    assert len(auc) == 3 * 8
    for setting in ("cold playlists", "cold songs"):
        assert auc[setting, "multitask"] > auc[setting, "popularity"] + 0.05
    assert "user0: song" in run.stdout
