"""Options from a file."""

import pytest

from skmtc.cli.inputs._config import Config, read_config


def test_no_file_says_nothing():
    assert read_config(None) == Config()


def test_names_are_read_like_those_of_the_command(tmp_path):
    path = tmp_path / "compare.toml"
    path.write_text(
        'setting = "cold users"\nrankers = ["own_songs"]\n[parameters.multitask]\npush = 2\n'
        "[splits.cold-users]\nuser_size = 0.1\n"
    )
    config = read_config(path)
    assert (config.setting, config.rankers, config.metrics) == (["cold-users"], ["own-songs"], None)
    assert config.parameters == {"multitask": {"push": 2}}
    assert config.splits == {"cold-users": {"user_size": 0.1}}


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("rankers = [", "must be TOML in UTF-8"),
        ("ranker = []", "There is no option in the config 'ranker'. Nearest: 'rankers'"),
        ("rankers = 3", "'rankers' in the config must be a list of names; got 3"),
        ('metrics = ["acc"]', "A metric must be one of"),
        ("columns = 3", r"'columns' in the config must be a table, \[columns\]; got 3"),
        ('[columns]\nsongs = "track"', "There is no id column in the config 'songs'"),
        ("[parameters]\nridge = 3", "'parameters.ridge' in the config must be a table"),
        ("[parameters.rigde]\nuser_l2 = 3", "There is no ranker 'rigde'. Nearest: 'ridge'"),
    ],
)
def test_bad_files(tmp_path, content, reported):
    path = tmp_path / "compare.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=reported):
        read_config(path)
