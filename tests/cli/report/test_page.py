"""The folder of a report."""

import re

import pandas as pd
from commands import error_of, run

from skmtc.cli import main

FILES = {
    *["report.html", "comparison.csv", "differences.csv", "curves.csv"],
    *["hit_rate_cold_users.png", "novelty_cold_users.png"],
}


def _arguments(folder, out):
    arguments = ["compare", str(folder / "playlists.csv"), "--setting", "cold-users", "--quiet"]
    return [*arguments, "--rankers", "popularity", "own-songs", "--out", str(out)]


def test_tables_page_and_figures_and_once_more(folder, tmp_path):
    out = tmp_path / "deep" / "report"
    assert main(_arguments(folder, out)) == 0
    assert {p.name for p in out.iterdir()} == FILES
    curves = pd.read_csv(out / "curves.csv")
    ends = [f"{metric}{end}" for metric in ("hit_rate", "novelty") for end in ("", "_low", "_high")]
    assert curves.columns.tolist() == ["setting", "ranker", "k", *ends]
    assert (curves["hit_rate_low"] <= curves["hit_rate"]).all()
    assert (curves["hit_rate"] <= curves["hit_rate_high"]).all()
    popularity = curves[curves["ranker"] == "popularity"]
    assert popularity["hit_rate"].is_monotonic_increasing
    table = pd.read_csv(out / "comparison.csv").set_index("ranker")
    at_10 = popularity.set_index("k").loc[10]
    assert table.loc["popularity", "hit_rate@10"] == at_10["hit_rate"]
    assert table.loc["popularity", "novelty@10"] == at_10["novelty"]
    assert table.loc["popularity", "hit_rate@10_low"] == at_10["hit_rate_low"]
    assert (table["auc_low"] < table["auc"]).all()
    assert (table["auc"] < table["auc_high"]).all()
    (out / "mine.txt").write_text("kept")
    assert main(_arguments(folder, out)) == 0  # it may overwrite its own report
    assert (out / "mine.txt").read_text(encoding="utf-8") == "kept"


def test_the_page_needs_nothing_else(folder, tmp_path):
    assert main(_arguments(folder, tmp_path)) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<img src=\"data:image/svg", page)) == 2
    assert page.count("(prefers-color-scheme: dark)") == 3
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)


def test_the_page_fits_a_phone(folder, tmp_path):
    assert main(_arguments(folder, tmp_path)) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    # Each table scrolls in a box of its own, and so does code.
    boxed = re.findall(r'<div class="scroll"><table', page)
    assert len(boxed) == page.count("<table") > 3
    assert re.search(r"\.scroll \{ overflow-x: auto", page)
    assert re.search(r"pre \{ overflow-x: auto", page)
    assert not re.findall(r"\bwidth: *\d{3,}px", page)


def test_foreign_files_are_not_overwritten(folder, tmp_path):
    (tmp_path / "comparison.csv").write_text("mine")
    done = run(*_arguments(folder, tmp_path), folder=tmp_path, code=1)
    assert "must not overwrite foreign files; got ['comparison.csv']" in error_of(done)
    assert [p.name for p in tmp_path.iterdir()] == ["comparison.csv"]


def test_places_that_cannot_be_a_folder(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(_arguments(folder, tmp_path / "file")) == 1
    assert "The report needs a folder; got the file" in capsys.readouterr().err
    assert main(_arguments(folder, tmp_path / "file" / "report")) == 1
    assert "Not a directory" in capsys.readouterr().err


def test_without_matplotlib_the_tables_are_written(folder, tmp_path):
    done = run(*_arguments(folder, "report"), folder=tmp_path, without=["matplotlib"])
    assert "note: no figures: they need matplotlib; pip install matplotlib" in done.stderr
    assert {p.name for p in (tmp_path / "report").iterdir()} == {
        *["report.html", "comparison.csv", "differences.csv", "curves.csv"]
    }
    assert "<img" not in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
