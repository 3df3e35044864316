"""One reading process for all tests that need no other."""

from __future__ import annotations

import atexit

from daemon.reading.process import Readers
from memory.settings import ChunkSettings

READERS = Readers(ChunkSettings())
atexit.register(READERS.close)
