"""End the command soon after Ctrl-C, also where the interrupt is lost or the work goes on.

Python discards an interrupt that arrives in a callback of the garbage collector or of C code, and
on exit it waits for threads, which may compute for long.
"""

import os
import signal
import time
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread

INTERRUPTED = 130
# Seconds for work to stop and to remove temporary files. Models and reports are replaced
# atomically, so that none is torn.
PATIENCE = 1.5


@contextmanager
def interrupts_end_the_process():
    """Return a context in which Ctrl-C ends this process, at the latest after `PATIENCE`.

    The interrupt is raised as a `KeyboardInterrupt`, as always. It does nothing where interrupts
    are ignored or handled by others.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if current_thread() is not main_thread() or not is_default:
        yield
        return
    arrived, caught = Event(), Event()

    def end():
        time.sleep(PATIENCE)
        if not caught.is_set():
            os.write(2, b"skmtc: interrupted\n")  # `print` waits for a lock that work may hold
        os._exit(INTERRUPTED)

    def interrupt(*_):
        if not arrived.is_set():
            arrived.set()
            Thread(target=end, daemon=True).start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
        if arrived.is_set():  # the work has ended although it was interrupted
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        caught.set()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
