"""From arguments to an exit code."""

import os
import sys
import traceback

from skmtc.cli._errors import UsageError, one_line
from skmtc.cli._parser import make_parser
from skmtc.cli._progress import warnings_as_notes

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv=None):
    """Run the command `skmtc`.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments; None stands for those of the process.

    Returns
    -------
    code : int
        0: all is well; 1: the data, a file or an id is not as it must be; 2: the arguments are
        not; 130: interrupted.

    Examples
    --------
    >>> from skmtc.cli import main
    >>> main(["--version"])
    skmtc ...
    0
    """
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as stop:  # help, version, or wrong arguments, which argparse has told
        return stop.code or OK
    try:
        with warnings_as_notes():
            args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("skmtc: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        print(f"skmtc: error: {one_line(error)}", file=sys.stderr)
        return USAGE if isinstance(error, UsageError) else FAILED
    return OK
