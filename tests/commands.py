"""Running the command as a user would."""

import os
import pathlib
import subprocess
import sys

import skmtc

# The tests' own copy of the package, whatever folder the command runs in.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(pathlib.Path(skmtc.__file__).parent.parent)}


def run(*arguments, folder, code=0, without=()):
    """Run `skmtc` in a folder and check its exit code; packages in `without` cannot be imported."""
    command = [sys.executable, "-m", "skmtc", *map(str, arguments)]
    if without:
        start = f"import sys; sys.modules.update(dict.fromkeys({list(without)!r}))\n"
        # With None in the place of a module, Python behaves as if it were not installed.
        start += "import importlib.util as u; find = u.find_spec\n"
        start += f"u.find_spec = lambda name: None if name in {list(without)!r} else find(name)\n"
        start += "from skmtc.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", start, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=ENVIRONMENT)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def error_of(done):
    """Return the only line that tells an error."""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("skmtc")]
    return line
