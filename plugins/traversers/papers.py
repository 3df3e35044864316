"""The settings with which this program does what a paper describes, as far as the same parts are in both.

What the papers let a language model do, such as finding the question's objects, is done by rule here as elsewhere.
"""

from __future__ import annotations

from plugins.traversers.contract import Preset

ALL = 1_000_000  # where a paper knows no limit

PAPERS = (
    Preset(
        "paper:personalai",
        "PersonalAI, appendix E: its beam search and water circles together, the best with large readers.",
        "beam+circles",
        {"link_weight": 0.0, "neighbour_weight": 0.0},
        {
            "walk": {"mixed_weight": 1.0, "episodes": 0, "hub_penalty": False},
            "beam": {"apart": True, "width": 10, "depth": 5, "neighbours": ALL, "paths": 10},
            "circles": {"depth": 1, "edges": ALL},
        },
    ),
    Preset(
        "paper:tgs-rag",
        "TGS-RAG, algorithm 1 and equation 2: vectors alone, a beam by the last vertex, votes are half of the score.",
        "beam+synergy",
        {
            "lexical_weight": 0.0,
            "graph_weight": 0.0,
            "chat_graph_weight": 0.0,
            "link_weight": 0.0,
            "neighbour_weight": 0.0,
        },
        {
            "walk": {"episodes": 0, "hub_penalty": False},
            "beam": {"width": 20, "depth": 3, "neighbours": 30, "rank": "last"},
            "synergy": {"weight": 0.5, "formula": "paper"},
        },
    ),
)
