"""Exit codes and one-line errors of the command."""

import io
import signal
import subprocess
import sys

import pytest
from commands import ENVIRONMENT, error_of, run

import skmtc
from skmtc.cli import _main, main


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"skmtc {skmtc.__version__}"
    assert main(["--help"]) == 0
    assert "skmtc recommend model.skops --user ana" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compare", "fit", "recommend", "tune"])
def test_every_command_teaches_by_example(command, capsys):
    assert main([command, "--help"]) == 0
    reported = capsys.readouterr().out
    assert reported.count(f"\n  skmtc {command} ") >= 3
    assert max(map(len, reported.splitlines())) <= 100


def test_wrong_arguments(tmp_path):
    done = run("fit", "table.csv", folder=tmp_path, code=2)
    assert "the following arguments are required: --out" in done.stderr


def test_an_error_is_one_line_and_debug_shows_the_traceback(tmp_path, capsys):
    done = run("compare", "absent.csv", folder=tmp_path, code=1)
    assert "'absent.csv', which is not there" in error_of(done)
    assert main(["compare", str(tmp_path / "absent.csv"), "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_of_the_package_is_reported_as_such(monkeypatch, capsys):
    def fail(_):
        raise KeyError("gone")

    parser = _main.make_parser()
    parser.set_defaults(run=fail)
    monkeypatch.setattr(_main, "make_parser", lambda: parser)
    assert main([]) == 1
    assert "KeyError: 'gone' (unexpected: run with --debug" in capsys.readouterr().err


def _heed_interrupts():
    """Undo what a shell does to jobs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.posix
def test_interruption(folder, tmp_path):
    command = [sys.executable, "-m", "skmtc", "compare", str(folder / "playlists.csv")]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=ENVIRONMENT,
        text=True,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_interrupts,
    ) as process:
        while not process.stderr.readline().startswith("[1/"):
            pass
        process.send_signal(signal.SIGINT)
        reported = process.stderr.read()
        assert process.wait() == 130
    assert reported.endswith("skmtc: interrupted\n")
    assert "Traceback" not in reported


DEAF = """
def work(args):
    print("working", file=sys.stderr, flush=True)
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""
SLOW_THREAD = """
def work(args):
    print("working", file=sys.stderr, flush=True)
    threading.Thread(target=time.sleep, args=[60]).start()
    time.sleep(60)
"""
LOSES_IT = """
def work(args):
    print("working", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.posix
@pytest.mark.parametrize("work", [DEAF, SLOW_THREAD, LOSES_IT])
def test_an_interrupt_ends_work_that_does_not_stop(work):
    program = f"""
import sys, threading, time
from skmtc.cli import _parser, main
{work}
_parser.run_fit = work
sys.argv = ["skmtc", "fit", "table.csv", "--out", "model.skops"]
sys.exit(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        text=True,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_interrupts,
    ) as process:
        assert process.stderr.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "skmtc: interrupted\n"
        assert process.wait(timeout=10) == 130


@pytest.mark.posix
def test_a_reader_that_has_seen_enough_is_no_error(model, tmp_path):
    command = [sys.executable, "-m", "skmtc", "recommend", str(model), "--user", "user1"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        reported = process.stderr.read()
        assert process.wait() == 0
    assert reported == b""


def test_options_may_stand_before_the_command(folder, tmp_path, capsys):
    out = str(tmp_path / "here")
    arguments = ["--quiet", "--out", out, "compare", str(folder / "playlists.csv")]
    arguments += ["--rankers", "popularity", "--setting", "cold-users"]
    assert main(arguments) == 0
    reported = capsys.readouterr()
    assert reported.err == ""
    assert out in reported.out


def _stream(encoding, *, is_terminal=False):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    stream.isatty = lambda: is_terminal
    return stream


@pytest.mark.parametrize(
    ("is_terminal", "chosen", "written"),
    [
        (False, None, "曲".encode()),  # a file or a pipe
        (True, None, rb"\u66f2"),
        (False, "cp1252", rb"\u66f2"),
    ],
)
def test_ids_in_any_script_are_printed_in_any_locale(monkeypatch, is_terminal, chosen, written):
    stream = _stream("cp1252", is_terminal=is_terminal)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if chosen:
        monkeypatch.setenv("PYTHONIOENCODING", chosen)
    assert main(["--version"]) == 0
    print("曲", end="")
    assert stream.buffer.getvalue().endswith(written)


def test_a_stream_of_utf_8_stays_as_it_is(monkeypatch):
    stream = _stream("utf-8", is_terminal=True)
    monkeypatch.setattr("sys.stdout", stream)
    main(["--version"])
    assert (stream.encoding, stream.errors) == ("utf-8", "strict")
