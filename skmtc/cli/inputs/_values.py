"""Values of arguments, read and checked."""

import ast
from argparse import ArgumentTypeError

from skmtc.cli._errors import UsageError, check_name
from skmtc.cli.inputs._ranker_choice import RANKERS
from skmtc.cli.inputs._settings import SETTINGS
from skmtc.metrics import parse_metric

WORDS = {"none": None, "true": True, "false": False}


def _checked(what, text, known):
    name = text.strip().lower().replace(" ", "-").replace("_", "-")
    try:
        check_name(what, name, known)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None
    return name


def ranker_name(text):
    """Read the name of a ranker, with hyphens, spaces or underscores."""
    return _checked("ranker", text, list(RANKERS))


def setting_name(text):
    """Read the name of a setting."""
    return _checked("setting", text, list(SETTINGS))


def metric_name(text):
    """Read the name of a metric."""
    try:
        parse_metric(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return text


def positive(text):
    """Read a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a positive integer; got {text!r}")
    return int(text)


def share(text):
    """Read a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"must be a number from 0 to 1; got {text!r}")
    return value


def whole_seed(text):
    """Read a seed."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise ArgumentTypeError(f"must be an integer from 0 to 2**32 - 1; got {text!r}")
    return int(text)


def attributes(text):
    """Read attributes such as age=31,country=AU; an empty text has none.

    What follows a comma without a name is part of the value, as in title=run, fast.
    """
    found, key = {}, None
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = pair.partition("=")
        if equals and name.strip():
            key = name.strip()
            found[key] = value.strip()
        elif not equals and key is not None:
            found[key] += f", {pair}"
        else:
            raise ArgumentTypeError(f"must be like age=31,country=AU; got {pair!r}")
    return found


def parameters(pairs):
    """Read parameters such as user_l2=0.1; what is no Python value is text."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"A parameter must be like user_l2=0.1; got {pair!r}.")
        found[key] = python_value(value)
    return found


def python_value(text):
    """Read a number, a list, or a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
