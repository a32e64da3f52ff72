"""Every public name has a docstring in numpydoc's form, with an example that runs."""

import importlib
import inspect

import pytest
from numpydoc.validate import validate

# Rules of numpydoc that this project does not follow, and why.
IGNORED = {
    "ES01",  # an extended summary is not always needed
    "SA01",  # nor is a See Also section
    "SA04",  # nor a description of its entries
    "EX01",  # examples are asked for below, of classes and functions only
    "RT03",  # a return value may be described by a phrase that is not a sentence
    "PR08",  # parameters may start with a symbol or a value such as "macro"
    "GL08",  # inherited and trivial members of classes
    "RT02",  # named return values are how scikit-learn documents them
    "SS06",  # a summary may need two lines for the sake of a formula
}


def _public():
    from test_public_api import MODULES

    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(value, f"{name}.{public}")
    return sorted(found.values())


def _methods(path):
    """Return the documented methods; those for the package itself are marked as private."""
    module, name = path.rsplit(".", 1)
    value = getattr(importlib.import_module(module), name)
    if not inspect.isclass(value):
        return []
    return [
        f"{path}.{m}"
        for m, function in inspect.getmembers(value, inspect.isfunction)
        if not m.startswith("_")
        and function.__module__.startswith("skmtc")
        and ":meta private:" not in (inspect.getdoc(getattr(value, m)) or "")
    ]


@pytest.mark.parametrize("path", [p for name in _public() for p in (name, *_methods(name))])
def test_docstring_is_well_formed(path):
    errors = [f"{code}: {text}" for code, text in validate(path)["errors"] if code not in IGNORED]
    assert not errors


@pytest.mark.parametrize("path", _public())
def test_there_is_an_example(path):
    module, name = path.rsplit(".", 1)
    docstring = inspect.getdoc(getattr(importlib.import_module(module), name))
    _, _, examples = docstring.partition("Examples\n--------\n")
    assert ">>> " in examples
