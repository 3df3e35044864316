"""The calls of the daemon, each declared once (`daemon.calls.declaration` says how)."""

from daemon.calls.knowledge import KnowledgeCalls
from daemon.calls.process import ProcessCalls
from daemon.calls.questions import QuestionCalls
from daemon.calls.sources import SourceCalls


class DaemonCalls(QuestionCalls, KnowledgeCalls, SourceCalls, ProcessCalls):
    """Every call. Each may raise DaemonError and DaemonDownError."""
