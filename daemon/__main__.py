"""`python -m daemon run` starts the daemon in the background, without the command line's imports."""

from __future__ import annotations

import logging
import os
import sys

from daemon.process import run

if __name__ == "__main__":
    if sys.argv[1:] != ["run"]:
        sys.exit("Use: python -m daemon run")
    code = run()
    logging.shutdown()
    # Everything is closed. Taking the interpreter apart takes another 0.3 s, and waits for a check or backup that runs.
    os._exit(code)
