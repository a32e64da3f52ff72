"""Run the command, and return its exit code."""

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import nullcontext

from skmtc.cli._errors import UsageError, one_line
from skmtc.cli._interrupts import INTERRUPTED, end_process, interrupts_end_the_process
from skmtc.cli._parser import make_parser
from skmtc.cli._progress_lines import warnings_as_notes

OK, FAILED, USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `skmtc`.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments; None stands for those of the process.

    Returns
    -------
    code : int
        0: success; 1: invalid data, file or id; 2: invalid
        arguments; 130: interrupted.

    Examples
    --------
    >>> from skmtc.cli import main
    >>> main(["--version"])
    skmtc ...
    0
    """
    for stream in (sys.stdout, sys.stderr):
        _accept_any_text(stream)
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as stop:  # help, version, or wrong arguments, which argparse has printed
        return int(stop.code or OK)
    # A program that passes arguments must not end by an interrupt of the command.
    interrupts = interrupts_end_the_process() if argv is None else nullcontext()
    try:
        with warnings_as_notes(), interrupts:
            args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, e.g. `head`, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("skmtc: interrupted", file=sys.stderr)
        if argv is None:
            end_process()
        return INTERRUPTED
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        print(f"skmtc: error: {one_line(error)}", file=sys.stderr)
        return USAGE if isinstance(error, UsageError) else FAILED
    return OK


def _accept_any_text(stream):
    """Make streams print ids in every script if their encoding is not UTF-8, as on Windows.

    Files and pipes get UTF-8, as tables have it; a terminal, or an encoding that the user chose,
    gets escapes for characters that it lacks.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower().replace("-", "") == "utf8" or not hasattr(stream, "reconfigure"):
        return
    if stream.isatty() or "PYTHONIOENCODING" in os.environ:
        stream.reconfigure(errors="backslashreplace")
    else:
        stream.reconfigure(encoding="utf-8")
