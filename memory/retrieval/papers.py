"""The settings with which this program does what a paper describes, as far as the same parts are in both (SPEC 7.8).

For whoever wants to compare: `Memory.open(path, embedder=..., settings=MemorySettings(recall=PAPERS["tgs-rag"]))`.
What the papers let a language model do, such as finding the question's objects, is done by rule here as elsewhere.
"""

from __future__ import annotations

from memory.settings import RecallSettings

ALL = 1_000_000  # where a paper knows no limit

# PersonalAI, appendix E. `beam+circles` was best with readers of 14 B and more; take strategy="beam", "circles" or
# "paths" for its BeamSearch, WaterCircles and A*. Circles have depth 1 as in its code; their caps are in `circles`.
PERSONALAI = RecallSettings(
    strategy="beam+circles",
    mixed_weight=1.0,
    link_weight=0.0,
    walk_episodes=0,
    walk_embedded=1000,
    hub_penalty=False,
    beam_apart=True,
    beam_width=10,
    beam_depth=5,
    beam_neighbours=ALL,
    beam_paths=10,
    beam_rank="sum",
    beam_order="mixed",
    share_nodes=False,
    share_edges=False,
    circles_depth=1,
    circles_edges=ALL,
    path_search="ip",
    path_step=1.0,
    path_length=10,
    path_pops=150,
    neighbour_weight=0.0,
)

# TGS-RAG, algorithm 1 and equation 2: the beam keeps paths by their last vertex alone; text is vectors alone, and half
# of an episode's score are votes. k_o, gamma and epsilon are the constants of `synergy`.
TGS_RAG = RecallSettings(
    strategy="beam",
    lexical_weight=0.0,
    graph_weight=0.0,
    chat_graph_weight=0.0,
    link_weight=0.0,
    walk_episodes=0,
    walk_embedded=1000,
    hub_penalty=False,
    beam_width=20,
    beam_depth=3,
    beam_neighbours=30,
    beam_rank="last",
    synergy_weight=0.5,
    synergy_formula="paper",
    neighbour_weight=0.0,
)

PAPERS = {"personalai": PERSONALAI, "tgs-rag": TGS_RAG}

# ReG orders up to 500 triples into chains of two: `chains(triples[:REG_FACTS], roots, REG_LENGTH)`.
REG_FACTS, REG_LENGTH = 500, 2
