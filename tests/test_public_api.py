"""Public names, the direction of imports, and the time an import takes."""

import ast
import importlib
import pathlib
import pkgutil
import subprocess
import sys
from collections import Counter

import pytest

import skmtc

ROOT = pathlib.Path(skmtc.__file__).parent
MODULES = ["skmtc"] + [
    f"skmtc.{m.name}" for m in pkgutil.iter_modules(skmtc.__path__) if not m.name.startswith("_")
]

# Modules that only commands import.
SKIPPED = ("skmtc", "skmtc.cli", "skmtc.rankers")

# What each part may import of the package, in the order that data flows.
ALLOWED = {
    "_version": set(),
    "_typing": set(),
    "_kernels": set(),
    "_utils": {"_kernels", "_version"},
    "_table": set(),
    "datasets": {"_table", "_utils"},
    "features": {"_table", "_utils"},
    "optimize": {"_kernels", "_utils"},
    "metrics": {"_utils"},
    "model_selection": {"_table"},
    "rankers": {
        "_kernels",
        "_table",
        "_utils",
        "features",
        "metrics",
        "model_selection",
        "optimize",
    },
    "inspection": {"_table", "_utils", "metrics", "rankers"},
    "_evaluate": {"_utils", "metrics"},
    "_make_ranker": {"_table", "features", "rankers"},
    "_paired": {"_evaluate", "metrics"},
    "_compare": {"_evaluate", "_paired", "_table", "_utils", "metrics"},
    "persistence": {"_utils", "features", "rankers"},
    "cli": {
        "",
        "_compare",
        "_evaluate",
        "_paired",
        "_utils",
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


def _imported_modules(path):
    """Return the dotted names of the package that a file imports, without "skmtc."."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "skmtc":
                yield name.removeprefix("skmtc").removeprefix(".")


def _imported_parts(path):
    top = {name.split(".")[0] for name in _imported_modules(path)}
    return {name for name in top if name == "" or _file(name) or (ROOT / name).is_dir()}


def _file(module):
    """Return the file of a module of the package; None if the name is no file."""
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if module and path.is_file() else None


def _part(path):
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    part = _part(path)
    if part in ("__init__", "__main__"):
        return
    foreign = _imported_parts(path) - {part}
    assert foreign <= ALLOWED[part] | {"_typing"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_private_files_are_imported_in_their_folder_only(path):
    files = {file for file in map(_file, _imported_modules(path)) if file}
    private = {file for file in files if file.name.startswith("_") and file.parent != ROOT}
    # A folder below may use the files of the folders above it.
    assert all(file.parent in path.parents for file in private)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_other_packages_are_imported_from_public_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, *parts = name.split(".")
            assert package in ("skmtc", "__future__") or not any(p.startswith("_") for p in parts)


# Methods of named tuples, of scikit-learn's callbacks, and of `os`, which have no public name.
FOREIGN = {"_replace", "_asdict", "_fields", "_init_callback_context", "_exit"}


def _own_private_names(tree):
    """Return the private names that a file defines, as functions, attributes or slots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _inherited_names(path):
    """Yield the names of the classes that the classes of a file extend: of one family."""
    if path.name == "__init__.py" or "_kernels" in path.parts:
        return
    module = importlib.import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for base in value.__mro__[1:]:
                yield from vars(base)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_private_names_of_other_objects_are_left_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    allowed = FOREIGN | set(_own_private_names(tree)) | set(_inherited_names(path))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr.startswith("__"):
            continue
        of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        of_parent = isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"
        is_private = node.attr.startswith("_") and not of_self and not of_parent
        assert not is_private or node.attr in allowed, f"line {node.lineno}: {ast.unparse(node)}"


def test_folders_are_small_and_file_names_unique():
    files = [path for path in ROOT.rglob("*.py") if path.name != "__init__.py"]
    folders = Counter(path.parent for path in files)
    names = Counter(path.name for path in files)
    assert max(folders.values()) <= 19
    assert [name for name, count in names.items() if count > 1] == []


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
    ours = min(_import_seconds("skmtc") for _ in range(2))
    needed = min(_import_seconds("pandas, sklearn.base") for _ in range(2))
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
