"""The settings of the built-in models. Standard library only: every client process reads them."""

from dataclasses import dataclass

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds until the first word, with the time to load the model; between two words; and in total."""

    first_token_s: float = 300.0
    next_token_s: float = 120.0
    total_s: float = 600.0

    @property
    def limits(self) -> tuple[float, float, float]:
        """Returns the limits of `plugins.llms.Backend`."""
        return self.first_token_s, self.next_token_s, self.total_s


@dataclass(frozen=True, slots=True)
class OllamaSettings(Limits):
    """Models on this machine, through Ollama."""

    host: str = setting("", "Ollama's address; empty: OLLAMA_HOST, else 127.0.0.1:11434.")
    context: int = setting(
        8192,
        "Tokens of context; fewer if the model has fewer. More needs more memory.",
        least=256,
        most=10000000,
    )


@dataclass(frozen=True, slots=True)
class OpenAISettings(Limits):
    """Models of a server with OpenAI's protocol, like llama.cpp, LM Studio and vLLM."""

    url: str = setting("", "The server's address, such as http://127.0.0.1:8080; empty: none.")
    key_file: str = setting(
        "", "A file with the API key that only you can read, or keyring:NAME; empty: OPENAI_API_KEY, or no key."
    )
    context: int = setting(8192, "Tokens of context, if the server does not say.", least=256, most=10000000)


@dataclass(frozen=True, slots=True)
class AnthropicSettings(Limits):
    """Models of Anthropic, over the network; used only if a role names one."""

    key_file: str = setting(
        "", "A file with the API key that only you can read, or keyring:NAME; empty: ANTHROPIC_API_KEY."
    )
    url: str = setting("", "The API's address; empty: ANTHROPIC_BASE_URL, else Anthropic's own.")
    first_token_s: float = 60.0
    next_token_s: float = 60.0
    total_s: float = 120.0
