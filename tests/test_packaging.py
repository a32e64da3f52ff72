"""What strangers get: workflows, community files, the wheel and the sdist."""

import configparser
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from urllib.parse import urlsplit

import pytest
import yaml
from conftest import lacking

import skmtc
from skmtc import PopularityRanker, _version

ROOT = pathlib.Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FOLDERS = (".ci", ".github", "docs", "examples", "skmtc", "tests")
# Sites that files of the repository may name. All of them exist.
SITES = {
    "example.org",
    "github.com/astral-sh",
    "github.com/codespell-project",
    "github.com/python-jsonschema",
    "img.shields.io",
    "pypi.anaconda.org",
    "skops.readthedocs.io",
}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def setup_cfg():
    parser = configparser.RawConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


@pytest.fixture(scope="module")
def release():
    """Import the release checklist."""
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps_of_ci():
    """Return the steps of `.ci/run`: those of a plain run, and all."""
    text = read(".ci/run")
    plain, more = (
        re.search(rf'^{name}="(.*)"$', text, re.MULTILINE)[1] for name in ("ALL", "MORE")
    )
    return plain.split(), [*plain.split(), *more.split()]


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


# Continuous integration


def test_a_plain_run_does_everything_in_order():
    plain, every = steps_of_ci()
    assert plain == ["main-job", "tests", "lint", "docs", "doctests", "oldest"]
    functions = re.findall(r"^([\w-]+)\(\) \{", read(".ci/run"), flags=re.MULTILINE)
    assert set(every) <= set(functions)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_calls_steps_that_exist(path):
    _, every = steps_of_ci()
    commands = [
        step["run"] for job in jobs(path).values() for step in job["steps"] if "run" in step
    ]
    assert commands
    for command in commands:
        program, *steps = command.split()
        assert program == ".ci/run"
        assert steps
        assert set(steps) <= set(every)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_well_formed(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as true.
    assert set(workflow) <= {"name", True, "permissions", "concurrency", "defaults", "jobs"}
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps", "timeout-minutes"} <= set(job)
        assert job.get("needs", next(iter(workflow["jobs"]))) in workflow["jobs"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./]+", step.get("uses", "a/b@v1"))
        named = set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", str(job)))
        assert named == set(job.get("strategy", {}).get("matrix", {}))


def test_every_step_of_a_plain_run_is_hosted_too():
    text = " ".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    hosted = {step for steps in re.findall(r"run: \.ci/run (.*)", text) for step in steps.split()}
    plain, every = steps_of_ci()
    assert set(plain) <= hosted
    assert hosted | {"installed"} == set(every)  # which `release` calls


def test_classifiers_say_what_is_tested():
    classifiers = setup_cfg()["metadata"]["classifiers"]
    claimed = re.findall(r"Python :: (3\.\d+)$", classifiers, flags=re.MULTILINE)
    matrix = jobs(ROOT / ".github" / "workflows" / "tests.yml")["tests"]["strategy"]["matrix"]
    assert matrix["python"] == claimed == ["3.11", "3.12", "3.13", "3.14"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert setup_cfg()["options"]["python_requires"] == f">={claimed[0]}"


def test_oldest_versions_are_the_lower_bounds():
    options = setup_cfg()["options"]["install_requires"]
    bounds = dict(re.findall(r"^([\w-]+) >=([\d.]+)", options, flags=re.MULTILINE))
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+?)(?:\.\*|\.0)?$", read(".ci/oldest.txt"), re.M))
    assert len(bounds) == 7
    assert {name: pins[name] for name in bounds} == bounds


def test_tests_that_a_system_cannot_run_are_left_out():
    assert lacking("linux") == set()
    assert lacking("darwin") == {"linux"}
    assert lacking("win32") == {"linux", "posix"}


# What the package says of itself


def test_versions_agree():
    assert (
        re.search(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE)[1] == skmtc.__version__
    )
    assert re.search(r"^(\d\S*) \(", read("docs/changes.rst"), re.MULTILINE)[1] == skmtc.__version__
    assert f"version {skmtc.__version__}" in read("README.md")


def test_changes_are_sorted_in_each_release():
    releases = re.split(r"^\d\S* \(.*\)\n-+\n", read("docs/changes.rst"), flags=re.MULTILINE)[1:]
    kinds = ["Added", "Changed", "Fixed", "Removed"]
    for text in releases:
        found = re.findall(r"^(\w+)\n~+$", text, flags=re.MULTILINE)
        assert found == [kind for kind in kinds if kind in found]
        assert text.lstrip().startswith(found[0])


@pytest.mark.parametrize(
    "name",
    [
        "CITATION.cff",
        ".pre-commit-config.yaml",
        ".readthedocs.yaml",
        ".github/CODE_OF_CONDUCT.md",
        ".github/CONTRIBUTING.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/SECURITY.md",
        ".github/ISSUE_TEMPLATE/bug.yml",
        ".github/ISSUE_TEMPLATE/idea.yml",
        "docs/paper/paper.md",
    ],
)
def test_files_for_strangers_are_there(name):
    text = read(name)
    assert len(text) > 100
    if name.endswith((".yml", ".yaml", ".cff")):
        assert yaml.safe_load(text)
    # Files of the repository that are named in it exist.
    for path in re.findall(r"`((?:docs|examples|\.ci|\.github)/[\w./-]+\w)`", text):
        assert (ROOT / path).exists()


def test_references_of_the_paper_are_listed():
    cited = set(re.findall(r"@(\w+)", read("docs/paper/paper.md")))
    listed = re.findall(r"^@\w+\{(\w+),", read("docs/paper/paper.bib"), flags=re.MULTILINE)
    assert sorted(cited) == sorted(listed)


# Addresses


def _texts():
    built = {"_build", "generated", "auto_examples", "__pycache__", "sg_execution_times.rst"}
    folders = [folder for folder in FOLDERS if folder != "tests"]  # which link to nothing
    names = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    names += [path for path in ROOT.iterdir() if path.is_file() and path.name[0] != "."]
    for path in names + [ROOT / ".pre-commit-config.yaml", ROOT / ".readthedocs.yaml"]:
        if path.suffix not in (".gz", ".png", ".pyc", ".svg") and not built & set(path.parts):
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_no_link_leads_to_a_site_that_does_not_exist():
    for path, text in _texts():
        if path.name == "setup.cfg":  # the placeholder, which is a comment
            text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
        for address in re.findall(r"https?://[\w./-]+", text):
            site = urlsplit(address)
            owner = f"{site.netloc}/{site.path.strip('/').partition('/')[0]}"
            own = "skmtc" in address or "OWNER" in address
            assert not own, (path, address)
            assert {site.netloc, owner} & SITES, (path, address)


def test_estimators_link_to_the_pages_once_they_have_an_address(monkeypatch):
    pages = {"Documentation": "https://example.org/pages"}
    monkeypatch.setattr("skmtc._utils.doc_link.project_urls", dict)
    assert PopularityRanker()._get_doc_link() == ""
    monkeypatch.setattr("skmtc._utils.doc_link.project_urls", lambda: pages)
    assert PopularityRanker()._get_doc_link() == (
        "https://example.org/pages/generated/skmtc.PopularityRanker.html"
    )


def test_addresses_are_those_of_the_installed_package(monkeypatch):
    def raise_not_found(name):
        raise _version.PackageNotFoundError(name)

    class Metadata:
        def get_all(self, key):
            return ["Source, https://example.org/a, b"] if key == "Project-URL" else None

    monkeypatch.setattr(_version, "metadata", lambda _: Metadata())
    assert _version.project_urls() == {"Source": "https://example.org/a, b"}
    monkeypatch.setattr(_version, "metadata", raise_not_found)
    assert _version.project_urls() == {}


# Wheel and sdist


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Copy the repository without what was built in it."""
    folder = tmp_path_factory.mktemp("source") / "skmtc"
    built = (
        ".git",
        ".venv*",
        ".*_cache",
        ".hypothesis",
        "*.egg-info",
        "__pycache__",
        "build",
        "dist",
    )
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*built, "_build", "generated"))
    shutil.rmtree(folder / "docs" / "auto_examples", ignore_errors=True)
    return folder


def build(source, call):
    """Call the build backend as pip does, in a process of its own; return the last line."""
    code = f"import backend; print(backend.{call})"
    path = [str(source / ".ci"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=source,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_wheel_holds_the_package_and_nothing_else(source, release, tmp_path):
    name = build(source, f"build_wheel({str(tmp_path)!r})")
    modules = {path.relative_to(source).as_posix() for path in source.glob("skmtc/**/*.py")}
    data = {"skmtc/py.typed", "skmtc/datasets/data/sample_playlists.csv.gz"}
    assert release.wheel_files(tmp_path / name) == modules | data
    wheel = zipfile.ZipFile(tmp_path / name)
    (metadata,) = [file for file in wheel.namelist() if file.endswith("dist-info/METADATA")]
    lines = wheel.read(metadata).decode().splitlines()
    assert f"Version: {skmtc.__version__}" in lines
    assert "License-Expression: BSD-3-Clause" in lines or "License: BSD-3-Clause" in lines
    (gensim,) = [line for line in lines if line.startswith("Requires-Dist: gensim")]
    assert gensim.endswith('; python_version < "3.14"')


def test_the_sdist_holds_everything(source, release, tmp_path):
    caches = source / "skmtc" / "optimize" / "__pycache__"
    caches.mkdir(exist_ok=True)
    for suffix in ("pyc", "nbi", "nbc"):
        (caches / f"module.{suffix}").touch()
    name = build(source, f"build_sdist({str(tmp_path)!r})")
    paths = [path for folder in FOLDERS for path in (source / folder).rglob("*")]
    files = {path.relative_to(source).as_posix() for path in paths if path.is_file()}
    files -= {file for file in files if "__pycache__" in file or "sg_execution_times" in file}
    held = release.sdist_files(tmp_path / name)
    assert {file for file in held if file.startswith(FOLDERS)} == files
    assert held - files == {
        ".gitignore",
        ".pre-commit-config.yaml",
        ".readthedocs.yaml",
        "CITATION.cff",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "setup.cfg",
    }
    # Tests in the sdist read it, and its comments say what to change.
    with tarfile.open(tmp_path / name) as archive:
        (member,) = [one for one in archive.getmembers() if one.name.endswith("/setup.cfg")]
        assert archive.extractfile(member).read() == (source / "setup.cfg").read_bytes()


def test_one_line_sets_the_addresses(source, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(source, copy)
    path = copy / "setup.cfg"
    text, n_changed = re.subn(
        "^# (project_urls = .*)", r"\1", read("setup.cfg"), flags=re.MULTILINE
    )
    assert n_changed == 1
    path.write_text(text, encoding="utf-8")
    name = build(copy, f"prepare_metadata_for_build_wheel({str(tmp_path)!r})")
    lines = (tmp_path / name / "METADATA").read_text(encoding="utf-8").splitlines()
    found = [line.split(": ", 1)[1] for line in lines if line.startswith("Project-URL")]
    assert found == [
        "Source, https://github.com/OWNER/skmtc",
        "Documentation, https://skmtc.readthedocs.io/en/stable",
    ]


# The release checklist


@pytest.fixture
def tree(release, monkeypatch, tmp_path):
    """Make a small tree that is ready to be released."""
    files = {
        "skmtc/_version.py": '__version__ = "1.2.0"\n',
        "CITATION.cff": "version: 1.2.0\n",
        "docs/changes.rst": "Changes\n\n1.2.0 (2027-01-31)\n------------------\n",
        "setup.cfg": "[metadata]\nproject_urls = Source = https://example.org/a, Docs = b\n",
        "README.md": "```\npython3 one\n```\n```\npython3 two\n```\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, "commit", "-q", "-m", "all"], cwd=tmp_path, check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release.run, "__kwdefaults__", {"cwd": tmp_path})
    return tmp_path


def test_a_tree_that_is_ready(release, tree, capsys):
    release.main(["ready"])
    assert "1.2.0 is ready" in capsys.readouterr().out
    assert release.readme_commands() == ["python3 one", "python3 two"]
    release.main(["publish"])
    printed = capsys.readouterr().out
    assert "git push origin v1.2.0" in printed
    assert "https://example.org/a/actions/workflows/tests.yml/badge.svg" in printed


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("CITATION.cff", "version: 1.1.0\n", "must have version 1.2.0; got 1.1.0"),
        ("docs/changes.rst", "1.2.0 (not released)\n", r"got '1.2.0 \(not released\)'"),
        ("docs/changes.rst", "1.1.0 (2027-01-31)\n", r"got '1.1.0 \(2027-01-31\)'"),
        ("setup.cfg", "[metadata]\n", "must say where the project is; got none"),
        ("README.md", "changed", "must be committed; got\n M README.md"),
    ],
)
def test_a_tree_that_is_not_ready(release, tree, name, text, message):
    (tree / name).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        release.main(["ready"])


def test_contents_are_compared_with_what_git_tracks(release):
    release.compare("the wheel", {"a"}, {"a"})
    with pytest.raises(SystemExit, match=r"\['b'\] are missing, \['a'\] are too many"):
        release.compare("the wheel", {"a"}, {"b"})


def test_a_folder_must_hold_one_of_each(release, tmp_path):
    (tmp_path / "a.whl").touch()
    with pytest.raises(SystemExit, match="must hold one wheel and one sdist"):
        release.main(["contents", str(tmp_path)])


@pytest.mark.posix
def test_wheel_and_sdist_are_installed_as_a_stranger_would(release, tree, monkeypatch, tmp_path):
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "skmtc-1.2.0-py3-none-any.whl").touch()
    with tarfile.open(tmp_path / "dist" / "skmtc-1.2.0.tar.gz", "w:gz") as archive:
        archive.add(tree / "README.md", "skmtc-1.2.0/README.md")
    commands, run = [], release.run

    def record(*command, cwd, **options):
        if "venv" in command:  # an empty environment, without pip for speed
            run(*command, "--without-pip", cwd=cwd, **options)
        else:
            commands.append(command)
            assert pathlib.Path(cwd, "README.md").exists() == (command[0] == "bash")
            assert pathlib.Path(shutil.which(command[0])).is_file()

    monkeypatch.setattr(
        release, "run", lambda *command, cwd=tree, **o: record(*command, cwd=cwd, **o)
    )
    release.main(["install", str(tmp_path / "dist")])
    install, main_job, first, second = commands
    assert install[-1].endswith("skmtc-1.2.0-py3-none-any.whl[all]")
    assert main_job[1:] == ("-m", "skmtc")
    assert first[-1].endswith("python3 one")
    assert second[-1].endswith("python3 two")
