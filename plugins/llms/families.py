"""The built-in language models. What a family needs is imported when one of its models is looked for or opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.hookspecs import hookimpl
from plugins.llms.contract import Backend, Family, Look


def _open_ollama(model: str, settings: Any) -> Backend:
    from plugins.llms.ollama import OllamaModel

    return OllamaModel(model, settings)


def _look_ollama(settings: Any) -> Look:
    from plugins.llms.ollama import look

    return look(settings)


def _open_anthropic(model: str, settings: Any) -> Backend:
    from plugins.llms.anthropic import AnthropicModel

    return AnthropicModel(model, settings)


def _look_anthropic(settings: Any) -> Look:
    from plugins.llms.anthropic import look

    return look(settings)


@hookimpl
def register_llms(register: Callable[[Family], None]) -> None:
    register(Family("ollama", _open_ollama, _look_ollama))
    register(Family("anthropic", _open_anthropic, _look_anthropic, local=False))
