"""The settings of the built-in models. Standard library only: every client process reads them."""

from dataclasses import dataclass

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class OllamaSettings:
    """Models on this machine, through Ollama."""

    host: str = setting("", "Where Ollama listens; without it OLLAMA_HOST, else 127.0.0.1:11434.")
    context: int = setting(
        8192,
        "Tokens of context asked for, or fewer if the model has fewer; more takes memory.",
        least=256,
        most=10000000,
    )
    keep_alive: str = setting("10m", "How long a model stays loaded after a question.")
    keep_alive_reading: str = setting("1m", "The same after reading in the background.")
    first_token_s: float = setting(
        300.0, "Seconds until a model must begin to write; loading it is part of them.", least=0.1, most=3600
    )
    next_token_s: float = setting(120.0, "Seconds that may pass between two words.", least=0.1, most=3600)
    total_s: float = setting(600.0, "Seconds that an answer may take in all.", least=0.1, most=86400)


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """Models of a server that speaks OpenAI's protocol, like llama.cpp, LM Studio and vLLM."""

    url: str = setting("", "Where the server listens, like http://127.0.0.1:8080; without it, it is not looked for.")
    key_file: str = setting(
        "", "A file with its API key that only you can read, or keyring:NAME; without it OPENAI_API_KEY, or none."
    )
    context: int = setting(8192, "Tokens of context, where the server does not say.", least=256, most=10000000)
    first_token_s: float = setting(
        300.0, "Seconds until a model must begin to write; loading it is part of them.", least=0.1, most=3600
    )
    next_token_s: float = setting(120.0, "Seconds that may pass between two words.", least=0.1, most=3600)
    total_s: float = setting(600.0, "Seconds that an answer may take in all.", least=0.1, most=86400)


@dataclass(frozen=True, slots=True)
class AnthropicSettings:
    """Models of Anthropic, over the network; used only where a role names one."""

    key_file: str = setting(
        "", "A file with the API key that only you can read, or keyring:NAME; without it ANTHROPIC_API_KEY."
    )
    url: str = setting("", "Where the API is; without it ANTHROPIC_BASE_URL, else Anthropic's own.")
    first_token_s: float = setting(60.0, "Seconds until a model must begin to write.", least=0.1, most=3600)
    next_token_s: float = setting(60.0, "Seconds that may pass between two words.", least=0.1, most=3600)
    total_s: float = setting(120.0, "Seconds that an answer may take in all.", least=0.1, most=86400)
