"""What measures. Numpy gets one thread, as in the daemon, before anything imports it; daemons use the static table, so
that figures do not depend on which extras are installed."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("PALIMPSEST_EMBEDDER", "static")
