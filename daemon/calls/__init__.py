"""The calls of the daemon, each declared once (`daemon.calls.declaration` says how)."""

from daemon.calls.knowledge import KnowledgeCalls
from daemon.calls.process import ProcessCalls


class DaemonCalls(KnowledgeCalls, ProcessCalls):
    """Every call. Each may raise DaemonError and DaemonDownError."""
