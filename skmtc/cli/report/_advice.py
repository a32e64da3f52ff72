"""Which ranker to use, and the code that makes it."""

from inspect import signature

from skmtc.cli.inputs import IMPORTED, make_ranker
from skmtc.cli.report._plain_text import best_of, has_best, words


def chosen_ranker(comparison):
    """Return the ranker to use in a setting; None if all failed.

    It is the one that is best, or tied with the best, by most metrics; of several, the one with
    the highest value of the first metric.
    """
    rows = comparison.rows[comparison.rows["error"] == ""]
    labels = _ranked_by(comparison)
    if len(rows) == 0 or not labels:
        return None
    best = best_of(comparison)
    wins = sum(best[label].reindex(rows.index).astype(int) for label in labels)
    return rows.index[wins == wins.max()][0]  # rows are sorted by the first metric


def advice(comparison):
    """Return a sentence that says which ranker to use in a setting; empty if all failed."""
    name = chosen_ranker(comparison)
    if name is None:
        return ""
    labels = _ranked_by(comparison)
    wins = sum(best_of(comparison)[label][name] for label in labels)
    sentence = f"Use {words(name)}: best, or tied with the best, by {wins} of {len(labels)} metrics"
    if len(labels) == 1:
        sentence = f"Use {words(name)}: it is best"
    seconds = comparison.rows.at[name, "fit_time"]
    time = "less than 1 s" if seconds < 1 else f"{seconds:.0f} s"
    return f"{sentence}; it is fitted in {time} here."


def ranker_code(name, table, features, *, new_songs=False, parameters=None):
    """Return the lines of Python that read a table, fit a ranker and recommend songs."""
    columns = {role: column for role, column in table.ids.items() if column != role}
    expression, names = _expression(name, table, features, new_songs, parameters)
    modules = {"skmtc": [], "skmtc.datasets": [], "skmtc.features": []}
    for module, imported in names:
        modules[module].append(imported)
    modules["skmtc.datasets"].append("load_sample" if table.path is None else "read_table")
    lines = [
        f"from {module} import {', '.join(sorted(set(found)))}"
        for module, found in modules.items()
        if found
    ]
    given = "".join(f", {role}={column!r}" for role, column in columns.items())
    X = "load_sample().X" if table.path is None else f"read_table({table.path!r}{given})"
    asks = table.playlist if table.user is None else table.user
    lines += ["", f"X = {X}", *join_code(table), f"ranker = {expression}", "ranker.fit(X)"]
    lines += [f"songs, scores = ranker.recommend(X[[{asks!r}]].head(1), n_recommendations=10)"]
    return "\n".join(lines)


def join_code(table):
    """Return the line that joins playlist ids with those of users, if the table needs it."""
    user, playlist = table.user, table.playlist
    if not table.is_joined:
        return []
    return [f"X[{playlist!r}] = X[{user!r}].astype(str) + ' / ' + X[{playlist!r}].astype(str)"]


def _ranked_by(comparison):
    """Return the metrics that have a best."""
    return [label for label in comparison.metrics if has_best(label)]


def _expression(name, table, features, new_songs, parameters):
    """Return the expression that makes a ranker, and what it imports."""
    ids = {role: repr(column) for role, column in table.ids.items() if column != role}
    if name == "recommended":
        given = {"X": None} | ids | {"n_jobs": "-1", "random_state": repr(features.seed)}
        return _call("make_ranker", given), [("skmtc", "make_ranker")]
    ranker = make_ranker(name, table, features, new_songs=new_songs, parameters=parameters)
    code = features.code(new_songs=new_songs)
    given, names = {}, [("skmtc", type(ranker).__name__)]
    for parameter, default in signature(type(ranker)).parameters.items():
        value = getattr(ranker, parameter)
        if parameter in IMPORTED and value is not None:
            given[parameter] = code[parameter]
            names += [("skmtc.features", imported) for imported in IMPORTED[parameter]]
        elif parameter == "history" and value is not None:
            given[parameter] = repr(value)
            names.append(("skmtc", type(value).__name__))
        elif repr(value) != repr(default.default):
            given[parameter] = repr(value)
    return _call(type(ranker).__name__, given), names


def _call(name, given):
    arguments = [key if code is None else f"{key}={code}" for key, code in given.items()]
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= 80:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"
