"""End the command soon after Ctrl-C, also where the interrupt is lost or the work goes on.

Python raises an interrupt when the main thread runs Python code again, so after a long computation
in C code. It discards one that arrives in a callback of C code or of the garbage collector. On exit
it waits for threads, which may compute for long, and collects garbage for seconds.
"""

import os
import signal
import sys
import time
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread

INTERRUPTED = 130
# Seconds for work to stop and to remove temporary files. Models and reports are replaced
# atomically, so that none is torn.
PATIENCE = 1.2


@contextmanager
def interrupts_end_the_process():
    """Return a context in which Ctrl-C ends this process, at the latest after `PATIENCE`.

    The interrupt is raised as a `KeyboardInterrupt`, as always. It does nothing where interrupts
    are ignored or handled by others, and on Windows, whose pipes always block.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if os.name == "nt" or current_thread() is not main_thread() or not is_default:
        yield
        return
    arrived, caught = Event(), Event()

    def interrupt(*_):
        arrived.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    # The handler in C writes the number of a signal at once, whatever the main thread does.
    signals, write_end = os.pipe()
    os.set_blocking(write_end, False)
    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    Thread(target=_end_after_interrupt, args=[signals, caught], daemon=True).start()
    try:
        yield
        if arrived.is_set():  # the work has ended although it was interrupted
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        caught.set()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        os.close(write_end)


def end_process():
    """End this process at once, without waiting for threads and the garbage collector."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(INTERRUPTED)


def _end_after_interrupt(signals, caught):
    """Wait for an interrupt, and end the process some time later."""
    while numbers := os.read(signals, 1):  # empty when the context ends
        if numbers[0] == signal.SIGINT:
            time.sleep(PATIENCE)
            if not caught.is_set():
                # `print` waits for a lock that the work may hold.
                os.write(2, b"skmtc: interrupted\n")
            os._exit(INTERRUPTED)
    os.close(signals)
