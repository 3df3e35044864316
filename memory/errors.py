"""The library's errors. Every message says what happened and what to do."""


class PalimpsestError(Exception):
    """The base of all errors that Palimpsest raises on purpose."""


class StoreError(PalimpsestError):
    """The memory file could not be opened, read or written."""


class StoreBusyError(StoreError):
    """Another program holds the memory file."""


class StoreFullError(StoreError):
    """The disk is full; the unit being written was rolled back."""


class StoreDamagedError(StoreError):
    """The file is not a memory, or it is damaged."""


class StoreMovedError(StoreError):
    """While the memory file was open, it was moved, deleted or replaced by another one."""


class StoreNewerError(StoreError):
    """A newer version wrote the file; it was not touched."""


class NotFoundError(PalimpsestError, LookupError):
    """The id or name is unknown."""


class InvalidInputError(PalimpsestError, ValueError):
    """An argument is invalid."""


class NotAvailableError(PalimpsestError):
    """This build or configuration cannot do that; the message gives the reason."""


class ModelError(PalimpsestError):
    """A language model failed at its task."""


class ModelUnavailableError(ModelError):
    """The model is missing, unreachable or busy; the message has the remedy. `retry_after`: the seconds until a retry,
    if its server said so. `lasting`: retrying is useless until a person acts."""

    def __init__(self, message: str, *, retry_after: float | None = None, lasting: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.lasting = lasting


class ModelTimeoutError(ModelError):
    """The model took too long."""


class ModelRefusedError(ModelError):
    """The model refuses to answer."""


class MalformedOutputError(ModelError):
    """The model's reply is not of the requested form. `text` is the reply, for a repair or for the record. The message
    never quotes it: it may be private, and messages are logged."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class OverBudgetError(ModelError):
    """The request exceeds the model's context, or today's budget."""


class ModelCancelledError(ModelError):
    """The caller cancelled the request."""


class LocalOnlyError(ModelError):
    """The text may not leave this machine, and the model is elsewhere. Nothing was sent."""
