"""Ids and names of columns that attack who reads them: in pages, terminals, spreadsheets."""

import csv
import html
import io
import json
import re
import unicodedata
from html.parser import HTMLParser

import pandas as pd
import pytest

from skmtc.cli import main
from skmtc.cli._safe_text import csv_text, json_text, printable
from skmtc.datasets import make_playlists, read_table, write_table

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "&lt;b&gt; &#x3c;i>",
    '=HYPERLINK("http://example.org","click")',
    "=1+1",
    "+1+cmd|'/c calc'!A0",
    "-2+3+cmd",
    "@SUM(1,1)",
    "\t=1+1",
    "\x1b[2J\x1b[31mred",
    "\x9b31m",
    "bell\x07 null\x01 del\x7f",
    "two\nlines\r\nand more",
    "\u202eevil\u202c",
    "\u2066isolate\u2069\u200b",
    "x" * 10_000,
    "ünïcödé 🎧\u200d 東京",
    "%s %d {0} {x.__class__} $HOME `id` $(id)",
    "../../../etc/passwd",
    "'; DROP TABLE songs; --",
    "nan",
    " ",
]
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def _hostile_table():
    """Make a table whose ids, artists and column names are hostile."""
    X = make_playlists(12, 40, len(HOSTILE), 12, n_features=2, random_state=0).drop(columns="year")
    spelling = dict(zip(sorted(X["song"].unique()), HOSTILE, strict=False))
    X["song"] = X["song"].map(lambda song: spelling.get(song, song))
    X["user"] = X["user"].map(dict(zip(sorted(X["user"].unique()), HOSTILE[::-1], strict=False)))
    X["artist"] = X["artist"].map(dict(zip(sorted(X["artist"].unique()), HOSTILE, strict=False)))
    # A title for each song, and one for each playlist, that are shown in examples.
    X["track_name"] = X["song"].map(
        dict(zip(sorted(X["song"].unique()), HOSTILE[::-1], strict=False))
    )
    titles = {p: HOSTILE[i % len(HOSTILE)] for i, p in enumerate(sorted(X["playlist"].unique()))}
    X["playlist_title"] = X["playlist"].map(titles)
    return X.rename(columns={"x0": "<b>x0</b>\x1b[31m", "x1": "=x1\u202e"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    write_table(_hostile_table(), folder / "<b>t\x1b.parquet")
    arguments = ["fit", str(folder / "<b>t\x1b.parquet"), "--out", str(folder / "model.skops")]
    assert main([*arguments, "--ranker", "popularity", "--quiet"]) == 0
    return folder


def _is_plain(text):
    """Check that no character moves the cursor, rings a bell or turns the text around."""
    allowed = ("\n", "\u200c", "\u200d")
    return all(c in allowed or unicodedata.category(c)[0] != "C" for c in text)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_recommended_songs_are_printed_plainly(folder, capsys, form):
    songs = set(_hostile_table()["song"])
    command = ["recommend", str(folder / "model.skops"), "--new-user", "", "-n", str(len(songs))]
    assert main([*command, "--format", form]) == 0
    text = capsys.readouterr().out
    assert _is_plain(text)
    if form == "json":  # the ids themselves, whatever they are
        assert {row["song"] for row in json.loads(text)} == songs
    elif form == "csv":
        cells = [row["song"] for row in csv.DictReader(io.StringIO(text))]
        assert len(cells) == len(songs)
        assert not [cell for cell in cells if cell.startswith(FORMULAS)]
    else:
        assert max(map(len, text.splitlines())) < 200  # an id and four names, all cut
        assert len(text.splitlines()) == len(songs) + 1


def test_errors_and_notes_are_printed_plainly(folder, capsys):
    for user in HOSTILE:
        code = main(["recommend", str(folder / "model.skops"), "--user", f"no {user}"])
        reported = capsys.readouterr()
        assert code == 1
        assert reported.out == ""
        (line,) = reported.err.rstrip("\n").split("\n")
        assert _is_plain(line)
        assert len(line) < 2100


def test_a_fit_tells_hostile_names_plainly(folder, capsys):
    path = folder / "<b>t\x1b.parquet"
    assert (
        main(["fit", str(path), "--out", str(folder / "other\x1b.skops"), "--ranker", "ridge"]) == 0
    )
    reported = capsys.readouterr()
    assert _is_plain(reported.out)
    assert _is_plain(reported.err)
    assert "x0" in reported.err


class _Tags(HTMLParser):
    """Collect the tags and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found |= {tag, *(f"{tag} {name}" for name, _ in attrs)}


def _report(folder, name, out):
    """Compare two rankers, one of which may fail; return the folder of the report."""
    arguments = ["compare", str(folder / name), "--out", str(out), "--quiet"]
    arguments += ["--rankers", "popularity", "ridge", "--setting", "cold-users"]
    assert main(arguments) == 0
    return out


def test_a_report_has_no_markup_of_the_table(folder, tmp_path, capsys):
    hostile = _report(folder, "<b>t\x1b.parquet", tmp_path / "hostile")
    X = make_playlists(12, 40, 22, 12, n_features=2, random_state=0).drop(columns="year")
    X = X.assign(track_name=X["song"], playlist_title=X["playlist"])
    write_table(X, folder / "tame.parquet")
    tame = _report(folder, "tame.parquet", tmp_path / "tame")
    capsys.readouterr()
    pages, tags = {}, {}
    for name, out in (("hostile", hostile), ("tame", tame)):
        pages[name] = (out / "report.html").read_text()
        parser = _Tags()
        parser.feed(pages[name])
        tags[name] = parser.found
    assert tags["hostile"] == tags["tame"]
    assert _is_plain(pages["hostile"])
    assert "&lt;b&gt;t" in pages["hostile"]
    examples = pages["hostile"].split("What it recommends")[1]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in examples  # a title, an artist or an id
    assert "x" * 100 not in examples  # long ones are cut
    (code,) = re.findall(r"<pre>(from skmtc.*?)</pre>", pages["hostile"], flags=re.DOTALL)
    assert "&lt;b&gt;t\\x1b.parquet" in code  # as Python writes it
    compile(html.unescape(code), "code", "exec")
    for name in ("comparison.csv", "curves.csv"):
        table = pd.read_csv(hostile / name)
        texts = table.select_dtypes(exclude="number").stack().astype(str)
        assert not texts.str.startswith(FORMULAS).any()


def test_safe_cells_one_by_one():
    table = pd.DataFrame({"song": HOSTILE, "score": [-1.5] * len(HOSTILE)})
    rows = list(csv.reader(io.StringIO(csv_text(table))))[1:]
    assert len(rows) == len(HOSTILE)
    for cell, score in rows:
        assert not cell.lstrip().startswith(FORMULAS)
        assert score == "-1.5"  # a number is no formula
    assert json.loads(json_text(HOSTILE)) == HOSTILE
    assert printable("a\x1b[0m\u202e é 🎧") == "a\\x1b[0m\\u202e é 🎧"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_tables_keep_hostile_ids_as_they_are(tmp_path, name):
    # A blank id and one that ends in a carriage return are other ids after CSV.
    ids = [i for i in HOSTILE if i.strip() and "\r" not in i]
    X = pd.DataFrame({"user": ids, "playlist": ids, "song": ids})
    write_table(X, tmp_path / name)
    assert read_table(tmp_path / name)["song"].tolist() == ids
