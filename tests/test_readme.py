"""The example of the README runs."""

import pathlib
import re

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
    assert len(named) == 6
    assert all((ROOT / (link or path)).exists() for link, path in named)
