"""Walk the checklist of a release.

::

    python .ci/release.py ready           is this tree one to release?
    python .ci/release.py contents dist   does the wheel hold the package, the sdist everything?
    python .ci/release.py install dist    do both work in empty environments?
    python .ci/release.py publish         what is left to do by hand

`.ci/run release` builds the two and calls all four. Each command fails at the first thing that is
wrong, and says what to do. The policies behind it are in docs/policies.rst.
"""

import argparse
import configparser
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What setuptools adds to the sdist.
GENERATED = re.compile(r"PKG-INFO|skmtc\.egg-info/.*")


def main(arguments=None):
    """Run one command of the checklist."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for function, takes_folder in ((ready, 0), (contents, 1), (install, 1), (publish, 0)):
        command = commands.add_parser(function.__name__, help=function.__doc__.splitlines()[0])
        command.set_defaults(function=function)
        if takes_folder:
            command.add_argument("folder", type=Path, help="folder with a wheel and an sdist")
    options = vars(parser.parse_args(arguments))
    options.pop("function")(**options)


def ready():
    """Check that versions agree, that changes are dated and that nothing is uncommitted."""
    version = package_version()
    cited = re.search(r"^version: (\S+)$", read("CITATION.cff"), flags=re.MULTILINE)[1]
    check(cited == version, f"CITATION.cff must have version {version}; got {cited}. Change it")
    heading = re.search(r"^(\d\S*) \((.*)\)$", read("docs/changes.rst"), flags=re.MULTILINE)
    check(
        heading[1] == version and re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]),
        f"docs/changes.rst must start with {version} and a date; got {heading[0]!r}. Write "
        f"'{version} (YYYY-MM-DD)', and start a new section after the release",
    )
    check(
        addresses(),
        "project_urls in setup.cfg must say where the project is; got none. Uncomment the line",
    )
    changed = run("git", "status", "--porcelain", stdout=subprocess.PIPE).stdout
    check(not changed, f"all changes must be committed; got\n{changed}Commit or stash them")
    print(f"{version} is ready to be built")


def contents(folder):
    """Check that the wheel holds the package only, and the sdist all that git tracks."""
    wheel, sdist = distributions(folder)
    tracked = run("git", "ls-files", stdout=subprocess.PIPE).stdout.splitlines()
    package = {name for name in tracked if name.startswith("skmtc/")}
    compare("the wheel", wheel_files(wheel), package)
    compare("the sdist", sdist_files(sdist), set(tracked))
    print(f"{wheel.name} and {sdist.name} hold what they should")


def install(folder):
    """Install the wheel in an empty environment, and run both README commands in the sdist."""
    wheel, sdist = distributions(folder)
    with tempfile.TemporaryDirectory() as scratch:
        venv = Path(scratch, "venv")
        run(sys.executable, "-m", "venv", venv)
        python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "-q", f"{wheel.resolve()}[all]", cwd=scratch)
        run(python, "-m", "skmtc", cwd=scratch)
        with tarfile.open(sdist) as archive:
            archive.extractall(scratch, filter="data")
        source = Path(scratch, sdist.name.removesuffix(".tar.gz"))
        for command in readme_commands():
            print(f"in the sdist: {command}", flush=True)
            run("bash", "-c", f"rm -rf .venv && {command}", cwd=source)
    print("wheel and sdist work in empty environments")


def publish():
    """Print what is left to do by hand."""
    version = package_version()
    print(f"git tag -s v{version} -m 'skmtc {version}' && git push origin v{version}")
    print("Publish a release of this tag: .github/workflows/publish.yml sends it to PyPI.")
    source = addresses().get("Source")
    if source:
        workflow = f"{source}/actions/workflows/tests.yml"
        print(f"Badge of the tests for README.md: [![tests]({workflow}/badge.svg)]({workflow})")


def wheel_files(path):
    """Return the names of the files in a wheel, without its metadata."""
    names = zipfile.ZipFile(path).namelist()
    return {name for name in names if ".dist-info/" not in name}


def sdist_files(path):
    """Return the names of the files in an sdist, without its folder and what setuptools adds."""
    with tarfile.open(path) as archive:
        names = {
            member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()
        }
    return {name for name in names if not GENERATED.fullmatch(name)}


def distributions(folder):
    """Return the only wheel and the only sdist in a folder."""
    found = [sorted(folder.glob(pattern)) for pattern in ("*.whl", "*.tar.gz")]
    check(
        [len(paths) for paths in found] == [1, 1],
        f"{folder} must hold one wheel and one sdist; got {found}. Run `.ci/run build`",
    )
    return found[0][0], found[1][0]


def compare(what, got, expected):
    """Check that two sets of names are equal."""
    missing, added = sorted(expected - got), sorted(got - expected)
    check(
        not missing and not added,
        f"{what} must hold what git tracks; {missing} are missing, {added} are too many. "
        "Change .ci/sdist.in or [options.package_data] in setup.cfg",
    )


def addresses():
    """Return the addresses of the project by name; empty until it is public."""
    parser = configparser.RawConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = re.split(r"[,\n]", parser.get("metadata", "project_urls", fallback=""))
    pairs = [line.partition("=") for line in lines if line.strip()]
    return {name.strip(): address.strip() for name, _, address in pairs}


def readme_commands():
    """Return the two commands of the README."""
    return re.findall(r"```\n(python3 .*?)\n```", read("README.md"))


def package_version():
    """Return the version of the package, without importing it."""
    return re.search(r'__version__ = "(.*)"', read("skmtc/_version.py"))[1]


def read(name):
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command, cwd=ROOT, **options):
    """Run a command, and stop if it fails."""
    return subprocess.run(command, cwd=cwd, check=True, text=True, **options)


def check(condition, message):
    """Stop with a message if a condition does not hold."""
    if not condition:
        sys.exit(f"not ready: {message}.")


if __name__ == "__main__":
    main()
