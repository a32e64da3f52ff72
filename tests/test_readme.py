"""The example of the README runs."""

import pathlib
import re

import pytest

import skmtc.model_selection
from skmtc import MultitaskPlaylistRanker

ROOT = pathlib.Path(__file__).parent.parent


def test_the_example_recommends_songs_to_new_users():
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert len(code.splitlines()) <= 15
    names = {}
    exec(code, names)
    assert names["songs"].shape == (2, 5)
    assert 0.5 < names["search"].best_score_ <= 1


def test_the_commands_are_those_that_are_checked():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```\n(python3 .*?)\n```", readme)
    checked = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("install -q ", "install ")
    assert len(commands) == 2
    assert all(command in checked for command in commands)


def test_pictures_and_files_that_it_names_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\((docs/[^)]+)\)|`(docs/[^`]+)`", readme)
    assert len(named) == 7
    assert all((ROOT / (link or path)).exists() for link, path in named)


@pytest.fixture
def cells():
    """Return the cells of the table of packages, by row and column."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = readme.split("## Beside other packages\n\n")[1].split("\n\n")[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize("setting", ["cold users", "cold songs"])
def test_table_and_benchmarks_agree_on_who_has_no_answer(cells, setting, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / "benchmarks")
    import competitors

    row = cells[f"score a new {setting.removeprefix('cold ').rstrip('s')} from attributes"]
    models = {
        "implicit": competitors.ImplicitALS,
        "LightFM": competitors.RectoolsLightFM,
        "irspack": competitors.IrspackIALS,
    }
    reported = {name: row[name] == "no" for name in models}
    assert reported == {name: setting in model.cannot for name, model in models.items()}


def test_own_column_of_the_table_is_true(cells):
    method = cells["learn new users without a refit"]["skmtc"].strip("`")
    assert callable(getattr(MultitaskPlaylistRanker, method))
    who = cells["splitters by who is cold"]["skmtc"].split(", ")
    named = [f"Cold{name.title().rstrip('s')}Split" for name in who]
    assert all(name in skmtc.model_selection.__all__ for name in named)
