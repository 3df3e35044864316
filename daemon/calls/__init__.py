"""The calls of the daemon, each declared once (`daemon.calls.declaration` says how)."""

from daemon.calls.process import DaemonCalls as DaemonCalls
