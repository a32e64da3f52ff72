"""The command that the README starts with."""

import re

import pandas as pd
from commands import run


def test_compares_all_rankers_in_all_settings(tmp_path):
    done = run(folder=tmp_path)
    # On a slow machine, tables of what is done so far come before those of all rankers.
    so_far = re.compile(r"so far, \d+ rankers to come:.*?\* best of its column", re.DOTALL)
    assert len(so_far.sub("", done.stdout).split("* best of its column")) == 4
    assert "[33/33] cold-songs: recommended" in done.stderr
    assert "Report: skmtc-report/report.html" in done.stdout
    table = pd.read_csv(tmp_path / "skmtc-report" / "comparison.csv")
    assert len(table) == 3 * 11
    assert table["error"].isna().all()
    auc = table.set_index(["setting", "ranker"])["auc"]
    for setting in ("cold-playlists", "cold-songs"):
        assert auc[setting, "multitask"] > auc[setting, "popularity"] + 0.03
    pictures = {p.name for p in (tmp_path / "skmtc-report").glob("*.png")}
    settings = ("cold_playlists", "cold_users", "cold_songs")
    assert {f"hit_rate_{s}.png" for s in settings} <= pictures
