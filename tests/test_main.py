"""The command that the README starts with."""

import re
import subprocess
import sys


def test_compares_the_rankers_in_all_settings(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "skmtc"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    auc = {
        (setting, ranker): float(value)
        for setting, ranker, value in re.findall(r"(cold \w+)\s+(\w+)\s+(0\.\d+)", run.stdout)
    }
    assert len(auc) == 6
    for setting in ("cold playlists", "cold songs"):
        assert auc[setting, "multitask"] > auc[setting, "popularity"] + 0.05
    assert "user0: song" in run.stdout
