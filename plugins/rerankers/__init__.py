"""The built-in rerankers, by the name a person gives in the configuration. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from plugins.hookspecs import hookimpl, import_late


@hookimpl
def register_rerankers(register: Callable[..., None]) -> None:
    register("cross-encoder:", import_late("plugins.rerankers.cross_encoder", "CrossEncoder"))
