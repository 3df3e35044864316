"""Reading in a process of its own: what a file, or a reader of somebody else's, does there takes nothing else with it.

frames.py   what both sides say to each other
child.py    the program of the process: `python -m daemon.reading.child`
process.py  the daemon's end: starts, asks, limits and ends it
"""
