"""What can go wrong. Every message says what happened and what to do."""


class PalimpsestError(Exception):
    """Anything Palimpsest raises on purpose."""


class StoreError(PalimpsestError):
    """The memory file could not be opened, read or written."""


class StoreBusyError(StoreError):
    """Another program holds the memory file."""


class StoreFullError(StoreError):
    """The disk is full; nothing of the unit that was being written was kept."""


class StoreDamagedError(StoreError):
    """The file is not a memory, or it is damaged."""


class StoreMovedError(StoreError):
    """While the memory file was open, it was moved, deleted or replaced by another one."""


class StoreReadOnlyError(StoreError):
    """The memory file was opened to be read only."""


class StoreNewerError(StoreError):
    """A newer version wrote the file; it was not touched."""


class NotFoundError(PalimpsestError, LookupError):
    """Nothing has that id or name."""


class InvalidInputError(PalimpsestError, ValueError):
    """An argument cannot be what was meant."""


class NotAvailableError(PalimpsestError):
    """This build or configuration cannot do that; the message gives the reason."""


class ModelError(PalimpsestError):
    """A language model did not do its task."""


class ModelUnavailableError(ModelError):
    """The model cannot be reached, is not there, or takes no requests now; the message has the remedy. `retry_after`
    are the seconds after which its server wants to be asked again, if it said so. `lasting` means that trying again
    changes nothing: somebody has to do something first."""

    def __init__(self, message: str, *, retry_after: float | None = None, lasting: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.lasting = lasting


class ModelTimeoutError(ModelError):
    """The model took too long."""


class ModelRefusedError(ModelError):
    """The model will not answer that."""


class MalformedOutputError(ModelError):
    """The model's reply is not of the requested form. `text` is the reply, for a repair or for the record. The message
    never quotes it: it may be private, and messages are logged."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class OverBudgetError(ModelError):
    """There is no room for the request: in the model's context, or in what may be spent today."""


class ModelCancelledError(ModelError):
    """Whoever asked has given up."""


class LocalOnlyError(ModelError):
    """The text may not leave this machine, and the model is elsewhere. Nothing was sent."""
