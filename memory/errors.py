"""What can go wrong, as one tree. Every message says what happened and what to do.

* PalimpsestError
  + StoreError
    - ExtensionError      no SQLite here can load sqlite-vec
    - NewerStoreError     the file was written by a newer version
    - StoreBusyError      another program holds the file
    - StoreFullError      the disk is full
    - StoreDamagedError   the file is no memory, or is broken
  + NotFoundError         nothing has that id or name
  + InvalidInputError     an argument that cannot be meant (empty text, a naive datetime, a vector with NaN)
  + NotAvailableError     this build or this configuration cannot do that; the reason is in the message
"""


class PalimpsestError(Exception):
    """Anything Palimpsest raises on purpose."""


class StoreError(PalimpsestError):
    """The memory file could not be opened, read or written."""


class ExtensionError(StoreError):
    """Neither pysqlite3 nor sqlite3 can load extensions, so sqlite-vec cannot run."""


class NewerStoreError(StoreError):
    """The memory file was written by a newer Palimpsest; this one leaves it alone."""


class StoreBusyError(StoreError):
    """Another program holds the memory file."""


class StoreFullError(StoreError):
    """The disk is full; nothing of the unit that was being written was kept."""


class StoreDamagedError(StoreError):
    """The file is not a memory, or it is damaged."""


class NotFoundError(PalimpsestError, LookupError):
    """Nothing has that id or name."""


class InvalidInputError(PalimpsestError, ValueError):
    """An argument cannot be what was meant."""


class NotAvailableError(PalimpsestError):
    """This build or configuration cannot do that; the message gives the reason."""
