"""Model files that are damaged or crafted: a clear error or the same model, never another one."""

import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections import Counter
from copy import copy
from functools import cache

import numpy as np
import pytest
import skops.io
from attacks import damaged_copies
from scipy.sparse import csr_array

from skmtc import MultitaskPlaylistRanker, PopularityRanker, RidgeRanker, StackingRanker
from skmtc.datasets import make_playlists
from skmtc.persistence import load, trusted_types
from skmtc.rankers.history import TERMS

X = make_playlists(8, 24, 30, 8, n_features=2, random_state=0).drop(columns="year")
MODELS = {
    "popularity": PopularityRanker(),
    "history": MultitaskPlaylistRanker(history=TERMS, tol=0.1, random_state=0),
    "stack": StackingRanker(
        [("popularity", PopularityRanker()), ("ridge", RidgeRanker())], random_state=0
    ),
}


@cache
def _stored(name):
    return skops.io.dumps(MODELS[name].fit(X))


def _attempt(content, path):
    """Return the model of a file, or the kind of the error that tells what is wrong."""
    path.write_bytes(content)
    try:
        return load(path)
    except (ValueError, TypeError) as error:
        if "must" not in str(error) or "got" not in str(error):
            raise
        return type(error).__name__


@pytest.mark.parametrize("name", MODELS)
def test_a_damaged_file_is_refused_or_the_same_model(name, tmp_path, attack):
    whole, path = _stored(name), tmp_path / "model.skops"
    expected = pickle.dumps(_attempt(whole, path))
    reported = Counter()
    for content in damaged_copies(whole, attack.times(40, 2400), seed=1):
        found = _attempt(content, path)
        reported[found if isinstance(found, str) else "same model"] += 1
        if not isinstance(found, str):  # a byte that nobody reads
            assert pickle.dumps(found) == expected
    attack.record(f"model files damaged: {name}", reported)
    assert reported["ValueError"] > reported["same model"]


def _rewritten(content, change, **options):
    """Return an archive with members changed; `change` gives the new members by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", **options) as archive:
        for name, data in change(members).items():
            archive.writestr(name, data)
    return made.getvalue()


def _with_schema(change):
    """Return a change of members that changes the schema."""

    def rewrite(members):
        schema = json.loads(members["schema.json"])
        change(schema)
        return members | {"schema.json": json.dumps(schema)}

    return rewrite


def _array_member(members):
    return next(name for name in members if name.endswith(".npy"))


def _without_array(members):
    return {name: data for name, data in members.items() if name != _array_member(members)}


def _huge_header(members):
    """Claim an array of a petabyte."""
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (2**47,)}
    np.lib.format.write_array_header_1_0(header, shape)
    return members | {_array_member(members): header.getvalue()}


def _object_array(members):
    """Put a pickle in the place of an array."""
    stored = io.BytesIO()
    np.save(stored, np.array([print], dtype=object), allow_pickle=True)
    return members | {_array_member(members): stored.getvalue()}


def _deep(members):
    """Nest lists beyond what recursion can follow."""
    node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 0}
    before = json.dumps(node)[:-1] + ', "content": ['
    schema = json.loads(members["schema.json"]) | {"content": "here"}
    nested = before * 3000 + "]}" * 3000
    return members | {"schema.json": json.dumps(schema).replace('"here"', nested)}


def _walk(node):
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value)


def _paths_outside(schema):
    for node in _walk(schema):
        if str(node.get("file", "")).endswith(".npy"):
            node["file"] = "../../../../etc/passwd"


def _another_class(schema):
    schema["__module__"], schema["__class__"] = "subprocess", "Popen"


def _another_loader(schema):
    schema["__loader__"] = "FunctionNode"


CRAFTED = {
    "empty": lambda _: {},
    "no schema": lambda members: {n: d for n, d in members.items() if n != "schema.json"},
    "schema is no JSON": lambda members: members | {"schema.json": b"{" * 100_000},
    "schema is a list": lambda members: members | {"schema.json": b"[]"},
    "huge shape": _huge_header,
    "object array": _object_array,
    "missing array": _without_array,
    "deep": _deep,
    "paths outside": _with_schema(_paths_outside),
    "another class": _with_schema(_another_class),
    "another loader": _with_schema(_another_loader),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_file_is_refused(kind, tmp_path):
    found = _attempt(_rewritten(_stored("popularity"), CRAFTED[kind]), tmp_path / "model.skops")
    assert found in ("ValueError", "TypeError")
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def test_a_bomb_is_not_unpacked(tmp_path):
    bomb = _rewritten(
        _stored("popularity"),
        lambda members: members | {"schema.json": b" " * 50_000_000},
        compression=zipfile.ZIP_DEFLATED,
    )
    assert len(bomb) < 1_000_000
    (tmp_path / "bomb.skops").write_bytes(bomb)
    with pytest.raises(ValueError, match="compressed members such as"):
        load(tmp_path / "bomb.skops")


def test_members_of_one_name_are_refused(tmp_path):
    made = io.BytesIO(_stored("popularity"))
    with zipfile.ZipFile(made, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("schema.json", "{}")
    (tmp_path / "twice.skops").write_bytes(made.getvalue())
    with pytest.raises(ValueError, match="members that overlap"):
        load(tmp_path / "twice.skops")


def test_links_and_paths_in_an_archive_write_nothing(tmp_path):
    made = io.BytesIO(_stored("popularity"))
    with zipfile.ZipFile(made, "a") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16  # a symbolic link
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../outside", "gone")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "model.skops").write_bytes(made.getvalue())
    model = load(folder / "model.skops")  # members that no part refers to are not read
    whole = skops.io.loads(_stored("popularity"), trusted_types())
    assert pickle.dumps(model) == pickle.dumps(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in folder.iterdir()] == ["model.skops"]


def _changed_states(ranker, rng, n_states):
    """Yield states of a ranker of which one array has another shape, index or value."""
    names = [n for n, v in vars(ranker).items() if isinstance(v, np.ndarray | csr_array)]
    for _ in range(n_states):
        name = names[int(rng.integers(len(names)))]
        value = vars(ranker)[name].copy()
        kind = int(rng.integers(4))
        target = value.indices if isinstance(value, csr_array) else value
        if kind == 0:
            value = value[: int(rng.integers(value.shape[0] + 1))]
        elif kind == 1 and target.dtype.kind in "if" and target.size:
            target.flat[int(rng.integers(target.size))] = rng.integers(-(10**6), 10**6)
        elif kind == 2 and value.ndim == 2:
            value = value[:, : int(rng.integers(value.shape[1] + 1))]
        else:
            value = value[rng.permutation(value.shape[0])]
        yield name, value


def test_arrays_that_do_not_fit_together_crash_nothing(tmp_path, attack):
    ranker = MODELS["history"].fit(X)
    queries = X[["playlist"]].drop_duplicates()
    reported = Counter()
    rng = np.random.default_rng(0)
    for name, value in _changed_states(ranker, rng, attack.times(60, 3000)):
        changed = copy(ranker)
        setattr(changed, name, value)
        try:
            changed = pickle.loads(pickle.dumps(changed))
        except ValueError as error:
            if "The fitted attribute `" not in str(error):
                raise
            reported["refused"] += 1
            continue
        try:  # such as the rows of another valid model
            assert np.isfinite(changed.recommend(queries, n_recommendations=3)[1]).all()
            reported["valid, and used"] += 1
        except ValueError:  # fewer weights than the parameter `history` names
            reported["refused in use"] += 1
    attack.record("arrays that do not fit together", reported)
    assert min(reported["refused"], reported["valid, and used"]) > 0


IN_LITTLE_MEMORY = """
import resource, sys
import skops.io
from skmtc.persistence import load
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 300 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    try:
        load(path)
        print("loaded")
    except (ValueError, TypeError, MemoryError) as error:
        print(type(error).__name__)
"""


@pytest.mark.linux
def test_crafted_files_in_little_memory(tmp_path):
    paths = []
    for kind in ("huge shape", "deep", "schema is no JSON"):
        paths.append(tmp_path / f"{len(paths)}.skops")
        paths[-1].write_bytes(_rewritten(_stored("popularity"), CRAFTED[kind]))
    paths.append(tmp_path / "good.skops")
    paths[-1].write_bytes(_stored("popularity"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IN_LITTLE_MEMORY, *map(str, paths)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["ValueError"] * 3 + ["loaded"]
