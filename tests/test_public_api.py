"""Public names, the direction of imports, and the time an import takes."""

import ast
import importlib
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import skmtc

ROOT = pathlib.Path(skmtc.__file__).parent
MODULES = ["skmtc"] + [
    f"skmtc.{m.name}" for m in pkgutil.iter_modules(skmtc.__path__) if not m.name.startswith("_")
]

# Modules that only commands import.
SKIPPED = ("skmtc", "skmtc.cli", "skmtc.rankers")

# What each part may import of the package; data flows from the left to the right of the list.
ALLOWED = {
    "_checks": set(),
    "_version": set(),
    "_fitted_state": set(),
    "_state": {"_fitted_state", "_version"},
    "_files": set(),
    "_memory": set(),
    "_progress": set(),
    "_table": set(),
    "_typing": set(),
    "_workers": set(),
    "optimize": {"_checks", "_memory", "_workers"},
    "metrics": {"_checks", "_memory"},
    "datasets": {"_files", "_progress"},
    "features": {"_checks", "_fitted_state", "_memory", "_state", "_table"},
    "rankers": {
        "_checks",
        "_files",
        "_fitted_state",
        "_memory",
        "_state",
        "_table",
        "_version",
        "_workers",
        "metrics",
        "model_selection",
        "optimize",
    },
    "model_selection": {"_table"},
    "inspection": {"_checks", "_memory", "_table", "metrics", "rankers"},
    "_evaluate": {"_checks", "_workers", "metrics"},
    "_make_ranker": {"_table", "features", "rankers"},
    "_paired": {"_evaluate"},
    "_compare": {"_evaluate", "_paired", "_progress", "_table", "metrics"},
    "persistence": {"_files", "_fitted_state", "_state", "features", "rankers"},
    "cli": {
        "",
        "_compare",
        "_evaluate",
        "_paired",
        "_files",
        "datasets",
        "features",
        "inspection",
        "metrics",
        "model_selection",
        "persistence",
        "rankers",
    },
}


@pytest.mark.parametrize("name", MODULES)
def test_all_lists_what_is_there_sorted(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert sorted(module.__all__) == sorted(set(module.__all__))
    assert all(hasattr(module, public) for public in module.__all__)


def _imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "skmtc":
                yield ".".join(name.split(".")[1:2])


def _part(path):
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = _part(path)
    if part in ("__init__", "__main__"):
        return
    foreign = set(_imported_parts(path)) - {part}
    assert foreign <= ALLOWED[part] | {"_typing"}


def _run(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def _import_seconds(modules):
    code = (
        f"import time; start = time.process_time(); import {modules}; "
        "print(time.process_time() - start)"
    )
    return float(_run(code))


def test_import_is_quick():
    # Under 1.5 s; where other processes slow the machine down, little more than what it needs.
    ours = min(_import_seconds("skmtc") for _ in range(4))
    needed = min(_import_seconds("pandas, sklearn.base") for _ in range(4))
    assert ours < max(1.5, 1.5 * needed)


def test_import_leaves_heavy_packages_alone():
    heavy = "('gensim', 'matplotlib', 'implicit', 'dask', 'distributed', 'skops', 'skmtc.cli')"
    assert _run(f"import sys, skmtc; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_submodules_are_there_after_importing_the_package():
    public = sorted(name.removeprefix("skmtc.") for name in MODULES if name not in SKIPPED)
    code = f"import skmtc; print(all(hasattr(skmtc, name) for name in {public})); skmtc.nothing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "True"
    assert "module 'skmtc' has no attribute 'nothing'" in done.stderr
    assert set(public) <= set(dir(skmtc))
