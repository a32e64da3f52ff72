"""Run `python -m skmtc`, which is the command `skmtc`."""

import sys

from skmtc.cli import main

if __name__ == "__main__":
    sys.exit(main())
