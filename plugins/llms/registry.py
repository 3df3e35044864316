"""All language models by name, `prefix:model`: the only way to open one, and always with its guard."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from memory.errors import NotFoundError
from plugins.hookspecs import hookimpl, import_late
from plugins.llms import Family, ModelList
from plugins.llms.guard import Guarded, Meter

log = logging.getLogger(__name__)


class Models:
    """The models of these families. `settings`: their sections of config.toml by prefix."""

    def __init__(
        self, families: Mapping[str, Family], settings: Mapping[str, Any] | None = None, meter: Meter | None = None
    ) -> None:
        self._families = dict(families)
        self._settings = dict(settings or {})
        self._meter = meter
        self._opened: dict[str, Guarded] = {}
        self._lock = threading.Lock()

    def open(self, name: str) -> Guarded:
        """Returns the model of that name, always the same object, without contacting a server. NotFoundError lists the
        known prefixes."""
        prefix, _, model = name.partition(":")
        family = self._families.get(prefix)
        if family is None or not model.strip():
            known = ", ".join(f"{family_prefix}:MODEL" for family_prefix in sorted(self._families))
            raise NotFoundError(f"There is no model called {name!r}. A name is like {known}; see: pal models")
        with self._lock:
            if name not in self._opened:
                backend = family.open(model, self._settings.get(prefix))
                self._opened[name] = Guarded(name, backend, self._meter)
            return self._opened[name]

    def configure(self, settings: Mapping[str, Any]) -> set[str]:
        """Replaces the sections of config.toml by prefix; returns the changed ones. Closes models opened with the old
        ones."""
        with self._lock:
            changed = {prefix for prefix, section in settings.items() if self._settings.get(prefix) != section}
            self._settings |= settings
            stale = [name for name in self._opened if name.partition(":")[0] in changed]
            closed = [self._opened.pop(name) for name in stale]
        for model in closed:
            model.close()
        return changed

    def list_models(self, prefixes: Iterable[str] | None = None) -> dict[str, ModelList]:
        """Lists the models of all or these families, by prefix, in parallel and within seconds."""
        names = [*(self._families if prefixes is None else prefixes)]

        def list_family(prefix: str) -> ModelList:
            try:
                return self._families[prefix].list_models(self._settings.get(prefix))
            except (Exception, SystemExit) as error:  # a third-party plugin
                log.warning("the plug-in for %s: %s", prefix, type(error).__name__)
                return ModelList(
                    problem=f"The plug-in for {prefix}: models is broken. Do without it: pal plugins off NAME"
                )

        with ThreadPoolExecutor(max(1, len(names))) as pool:
            return dict(zip(names, pool.map(list_family, names), strict=True))

    def close(self) -> None:
        """Interrupts running calls."""
        with self._lock:
            opened = list(self._opened.values())
        for model in opened:
            model.close()


@hookimpl
def register_llms(register: Callable[[Family], None]) -> None:
    def import_family(prefix: str, model: str, local: bool = True) -> Family:
        module = f"plugins.llms.{prefix}"
        return Family(prefix, import_late(module, model), import_late(module, "list_models"), local)

    register(import_family("ollama", "OllamaModel"))
    register(import_family("openai", "OpenAIModel"))
    register(import_family("anthropic", "AnthropicModel", local=False))
