"""`pal` as a process of its own: `python -m tests.cli.pal`."""

from daemon.cli import main

main(prog_name="pal")
