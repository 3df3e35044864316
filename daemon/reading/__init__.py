"""Parsing files in a separate process: a file or a plug-in reader can only crash that.

frames.py   the messages
child.py    the program of the process: `python -m daemon.reading.child`
process.py  the daemon's side: starts, asks, limits and kills it
"""
