"""Plug-ins of others at work: each in a process of its own, a guest, so that whatever one does costs the call that it
was made for. What stands for it in this process is in `stand_ins`; `process` is this end of it, `child` its program."""
