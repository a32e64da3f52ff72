"""The example of the README runs."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent


def test_the_example_recommends_songs_to_new_users():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(code.splitlines()) <= 15
    names = {}
    exec(code, names)
    assert names["songs"].shape == (3, 5)
    assert 0.5 < names["search"].best_score_ <= 1
