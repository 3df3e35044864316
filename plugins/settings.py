"""The settings of plug-ins: of the installed ones, and of the built-in models, traversers and ranker. Standard library
only: every client process reads them."""

from dataclasses import dataclass, field
from typing import Literal

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Installed plug-ins, which run in the daemon."""

    disabled: tuple[str, ...] = setting((), "Plug-ins that are not loaded; `pal plugins off NAME` adds one.")


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


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings shared by all traversers except spread."""

    episodes: int = 8  # passages from which a walk starts, with the named objects
    hub_penalty: bool = True  # whether vertices with very many edges cost more


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """BeamSearch (PersonalAI): the most relevant paths from the starts, one edge longer at a time."""

    width: int = 20  # paths kept at each depth
    depth: int = 3  # edges of a path
    neighbours: int = 30  # with which a path is extended
    paths: int = 10  # that the text may confirm (synergy)
    rank: Literal["path", "last"] = "path"  # paths are ranked by their cost, or by that of their last edge
    triples: bool = False  # whether the statement of an edge is compared with the question, instead of its vertex
    apart: bool = False  # whether each start has its own beam
    share_vertices: bool = True  # whether two paths may end in the same vertex
    share_edges: bool = True  # whether two paths may end with the same edge


@dataclass(frozen=True, slots=True)
class CirclesSettings:
    """WaterCircles (PersonalAI): rings around the starts, up to where several meet."""

    depth: int = 2  # rings around each start
    primary: int = 25  # edges chosen where circles of several starts meet
    secondary: int = 6  # other edges chosen
    texts: int = 30  # passages and theses chosen


@dataclass(frozen=True, slots=True)
class PathsSettings:
    """Paths between two starts."""

    search: Literal["shortest", "ip", "weighted", "averaged"] = "shortest"  # or A*
    length: int = 6  # edges of a path
    pops: int = 400  # vertices that a search may open


@dataclass(frozen=True, slots=True)
class TraverserSettings:
    """The traversers other than spread."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    circles: CirclesSettings = field(default_factory=CirclesSettings)
    paths: PathsSettings = field(default_factory=PathsSettings)


@dataclass(frozen=True, slots=True)
class TrainedSettings:
    """The ranker of this program: a small network that learns which edges lead to answers (ReG)."""

    questions: int = 200  # well answered, that training needs
    points: float = 1.0  # of recall, in percent, that a new ranker needs to be used
    labels: Literal["cited", "pool"] = "cited"  # needed are the edges to what was cited, or those of ReG's pool


def ranker_kind(embedder: str) -> str:
    """Returns the kind under which the store keeps the models that were trained with this embedder."""
    return f"edge scorer, {embedder}"
