"""Values of arguments."""

from argparse import ArgumentTypeError

import pytest

from skmtc.cli.inputs._values import attributes, parameters, positive, ranker_name, whole_seed


def test_names_may_be_written_in_three_ways():
    names = {ranker_name(text) for text in ("own-songs", "own songs", "Own_Songs")}
    assert names == {"own-songs"}


def test_attributes():
    assert attributes("age=31, country=AU") == {"age": "31", "country": "AU"}
    assert attributes("") == {}
    assert attributes("title=run, fast,mood=a=b") == {"title": "run, fast", "mood": "a=b"}
    with pytest.raises(ArgumentTypeError, match="got '=3'"):
        attributes("=3")


def test_parameters_are_python_values_or_text():
    pairs = ["user_l2=1e-1", "n_jobs=none", "fit_intercept=False", "solver=owlqn", "a=b=c"]
    assert parameters(pairs) == {
        **{"user_l2": 0.1, "n_jobs": None, "fit_intercept": False, "solver": "owlqn"},
        "a": "b=c",
    }


@pytest.mark.parametrize("text", ["0", "-3", "2.5", "many"])
def test_numbers_of_things(text):
    assert positive("20") == 20
    with pytest.raises(ArgumentTypeError, match="positive integer"):
        positive(text)


def test_seeds():
    assert whole_seed("0") == 0
    with pytest.raises(ArgumentTypeError, match="integer from 0"):
        whole_seed(str(2**32))
