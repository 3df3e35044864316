"""The themes of the chat: ink on dark paper, ink on parchment, and a high-contrast one.

One accent, and colours only for warnings. Textual's own themes are available, too; `ansi-dark` and `ansi-light` use the
terminal's colours.
"""

from __future__ import annotations

from textual.theme import Theme


def _make_theme(
    name: str, *, dark: bool, accent: str, bright: str, ink: str, muted: str, paper: str, raised: str, panel: str,
    cursor: str, blurred: str, scrollbar: str, selection: str, link: str, warning: str, error: str, success: str,
) -> Theme:  # fmt: skip
    """Returns a theme of one accent on paper; `bright` are headings and the row under the cursor."""
    return Theme(
        name=name, dark=dark, primary=accent, accent=accent, secondary=muted, warning=warning, error=error,
        success=success, foreground=ink, background=paper, surface=raised, panel=panel,
        variables={
            "block-cursor-background": cursor, "block-cursor-foreground": bright, "block-cursor-text-style": "none",
            "block-cursor-blurred-background": blurred, "block-cursor-blurred-foreground": ink,
            "input-selection-background": selection, "screen-selection-background": selection,
            "scrollbar": scrollbar, "scrollbar-background": paper, "scrollbar-background-hover": paper,
            "scrollbar-background-active": paper, "scrollbar-corner-color": paper,
            "link-color": accent, "link-style": "none", "link-background-hover": cursor, "link-color-hover": link,
            "link-style-hover": "underline", "border": accent,
            "markdown-h1-color": bright, "markdown-h2-color": bright, "markdown-h3-color": bright,
        },
    )  # fmt: skip


DARK = _make_theme(
    "palimpsest", dark=True, accent="#d7a65f", bright="#f0ebdd", ink="#dad5c8", muted="#8f8a7d", paper="#171614",
    raised="#1c1b18", panel="#2b2925", cursor="#2f2b24", blurred="#24221e", scrollbar="#38352f",
    selection="#d7a65f 30%", link="#f0c98a", warning="#e0a458", error="#d9776c", success="#9cb380",
)  # fmt: skip
LIGHT = _make_theme(
    "parchment", dark=False, accent="#8a4b12", bright="#1d1a14", ink="#2d2921", muted="#7b7364", paper="#f7f2e6",
    raised="#f2ecdd", panel="#e4dcc8", cursor="#e7dcc3", blurred="#ede5d2", scrollbar="#d3c9b2",
    selection="#8a4b12 25%", link="#5f3208", warning="#94600a", error="#a3312a", success="#4c6b2f",
)  # fmt: skip

CONTRAST = Theme(
    name="contrast",
    primary="#ffd75f",
    secondary="#ffffff",
    accent="#ffd75f",
    warning="#ffaf00",
    error="#ff8787",
    success="#87ff87",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#767676",
    dark=True,
    variables={
        "foreground-muted": "#e4e4e4",
        "text-muted": "#e4e4e4",
        "block-cursor-background": "#ffffff",
        "block-cursor-foreground": "#000000",
        "block-cursor-blurred-background": "#4e4e4e",
        "block-cursor-blurred-foreground": "#ffffff",
        "input-selection-background": "#ffd75f 50%",
        "screen-selection-background": "#ffd75f 50%",
        "link-color": "#ffd75f",
        "link-style": "underline",
        "border": "#ffffff",
    },
)

THEMES = (DARK, LIGHT, CONTRAST)
