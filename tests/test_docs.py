"""The pages and the package tell of the same things."""

import csv
import importlib
import pathlib
import re
import runpy
import subprocess
import sys
from collections import Counter

import pytest
from test_public_api import MODULES

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.rst"), *(DOCS / "user_guide").glob("*.rst")]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
ORDER = ["datasets", "features", "", "model_selection", "metrics", "inspection", "cli", "optimize"]


def _api_lists():
    """Return the names that the API page lists, by module, in its order."""
    text = (DOCS / "api.rst").read_text(encoding="utf-8")
    parts = re.split(r"\.\. currentmodule:: (\S+)\n", text)[1:]
    lists = {}
    for module, part in zip(parts[::2], parts[1::2], strict=True):
        block = part.split(":toctree: generated\n", 1)[1]
        lists[module] = re.findall(r"^   (\w+)$", block, flags=re.MULTILINE)
    return lists


def _objects(names_by_module):
    return [
        getattr(importlib.import_module(module), name)
        for module, names in names_by_module.items()
        for name in names
    ]


def test_api_page_lists_every_public_name_once():
    public = {name: importlib.import_module(name).__all__ for name in MODULES}
    listed = _objects(_api_lists())
    assert len({id(value) for value in listed}) == len(listed)
    assert {id(value) for value in listed} == {id(value) for value in _objects(public)}


@pytest.mark.parametrize("module", _api_lists())
def test_api_page_names_the_module_that_exports_them(module):
    assert set(_api_lists()[module]) == set(importlib.import_module(module).__all__)


def test_api_page_is_in_the_order_of_the_data_flow():
    modules = [name.removeprefix("skmtc").removeprefix(".") for name in _api_lists()]
    assert [name for name in modules if name in ORDER] == ORDER


GUIDE = sorted((DOCS / "user_guide").rglob("*.rst"))


@pytest.mark.parametrize("page", GUIDE, ids=lambda p: p.stem)
def test_page_is_in_the_guide(page):
    listed = (DOCS / "user_guide" / "index.rst").read_text(encoding="utf-8")
    name = page.relative_to(DOCS / "user_guide").with_suffix("").as_posix()
    assert name == "index" or re.search(rf"^   {name}$", listed, flags=re.MULTILINE)


def test_extras_of_the_installation_page_are_those_of_the_package():
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8").split("[options.extras_require]\n")[1]
    extras = re.findall(r"^(\w+) =$", text.split("\n[")[0], flags=re.MULTILINE)
    page = (DOCS / "install.rst").read_text(encoding="utf-8")
    reported = re.findall(r"``(\w+)``", page.split("Extras:")[1].split("\nPackages without")[0])
    assert sorted(reported) == sorted(extras)


@pytest.mark.parametrize("path", sorted((DOCS / "benchmarks").glob("*.csv")), ids=lambda p: p.stem)
def test_figures_come_with_machine_and_date(path):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert row["machine"]
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["date"])


def test_picture_of_the_readme_shows_the_stored_figures():
    picture = runpy.run_path(str(DOCS / "results_picture.py"))
    with picture["TABLE"].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    drawn_rows = [row for row in rows if row["setting"] in picture["TITLES"]]
    shown = [row for row in drawn_rows if row["ranker"] in picture["RANKERS"] and not row["note"]]
    stored = Counter(f"{float(row[metric]):.3f}" for row in shown for metric in picture["METRICS"])
    drawn = re.findall(r">(0\.\d\d\d)</text>", (DOCS / "_static/results.svg").read_text("utf-8"))
    assert len(shown) > len(picture["RANKERS"])
    assert Counter(drawn) == stored


def test_every_example_has_a_place_in_the_gallery():
    order = runpy.run_path(str(DOCS / "_extensions" / "gallery_order.py"))["ORDER"]
    there = [path.stem.removeprefix("plot_") for path in EXAMPLES]
    assert sorted(order) == sorted(there)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_asks_and_ends_with_what_was_learnt(path):
    title, *_, last = re.split(r"^# %%\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert title.split("\n")[2].endswith("?")
    assert last.startswith("# What we learnt\n")
    assert "print(" in last


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="guide/a.html#here"></a><a href="guide/"></a><a href="https://example.org/x"></a>'
        '<a href="guide/a.html#there"></a><a href="b.html"></a><img src="no.png">'
        '<script src="guide/a.html"></script><script src="https://example.org/m.js"></script>'
    )
    (tmp_path / "guide/a.html").write_text('<p id="here"></p><a href="../index.html"></a>')
    done = subprocess.run(
        [sys.executable, DOCS / "internal_links.py", tmp_path], capture_output=True, text=True
    )
    broken = ["b.html", "guide/", "guide/a.html#there", "https://example.org/m.js", "no.png"]
    assert done.stdout.splitlines() == [f"index.html: {link}" for link in broken]
    assert (done.returncode, done.stderr) == (1, "5 links lead nowhere\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python_of_a_page_is_run(page):
    # Blocks without prompts would not be: what is Python has prompts.
    assert not re.search(
        r"^\.\. code(-block)?:: (py|python)\b", page.read_text(encoding="utf-8"), re.MULTILINE
    )
