"""What of the environment a process for somebody else's code sees: no key of anything, unless it is its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

TRACE = "PALIMPSEST_TRACE_PLUGINS"
KEPT_VARIABLES = (
    f"{TRACE} PATH HOME USER LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME TZ TMPDIR SYSTEMROOT"
    " PYTHONHOME PYTHONHASHSEED PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8 VIRTUAL_ENV"
).split()
GUEST_VARIABLES = (  # where models lie, how the network is reached, what a processor can do
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME HF_HOME HF_HUB_OFFLINE OLLAMA_HOST SSL_CERT_FILE SSL_CERT_DIR"
    " HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy LD_LIBRARY_PATH OMP_NUM_THREADS"
    " CUDA_VISIBLE_DEVICES"
).split()


def is_traced() -> bool:
    """Whether a person wants to see what plug-ins do."""
    return os.environ.get(TRACE, "") not in ("", "0")


def clean_environment(names: Iterable[str] = KEPT_VARIABLES) -> dict[str, str]:
    """The variables of these names, and the same code as here, wherever that is."""
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def guest_environment(prefixes: Iterable[str] = ()) -> dict[str, str]:
    """The same for a guest, with what models of these prefixes need: those of mistral see MISTRAL_API_KEY. Each thread
    of OpenBLAS reserves 32 MB, which would count against its limit."""
    own = tuple(f"{prefix.upper()}_" for prefix in prefixes)
    keys = [name for name in os.environ if name.startswith(own)]
    return {"OPENBLAS_NUM_THREADS": "1"} | clean_environment((*KEPT_VARIABLES, *GUEST_VARIABLES, *keys))
