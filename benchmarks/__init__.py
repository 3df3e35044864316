"""What measures. Numpy gets one thread, as in the daemon, before anything imports it."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
