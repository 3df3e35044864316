"""Chats as messengers export them."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.samples.words import Words


def make_meta(words: Words) -> bytes:
    """A chat of Messenger or Instagram, whose UTF-8 is escaped byte by byte."""
    zoe, text = f"Zoë {words.show()}", f"café {words.show(2)}"
    message: dict[str, Any] = {"sender_name": zoe, "timestamp_ms": 1772359500000, "content": text}
    message["share"] = {"link": f"https://example.org/{words.show()}", "share_text": words.show(2)}
    value = {"participants": [{"name": zoe}], "messages": [message], "title": zoe, "thread_path": "inbox/a"}
    words.shown += ["Zoë", "café"]
    return _escape_bytes(json.dumps(value, ensure_ascii=False))


def _escape_bytes(text: str) -> bytes:
    return "".join(chr(byte) if byte < 128 else f"\\u{byte:04x}" for byte in text.encode()).encode()


def make_telegram(words: Words) -> bytes:
    text = ["", {"type": "bold", "text": words.show()}, f" {words.show(2)}"]
    message = {"id": 1, "type": "message", "date": "2026-03-04T10:05:00", "from": words.show(2), "text": text}
    poll = {"question": words.show(2), "answers": [{"text": words.show(), "voters": 1}]}
    asked = {"id": 3, "type": "message", "date": "2026-03-04T10:07:00", "from": words.show(), "text": "", "poll": poll}
    service = {"id": 2, "type": "service", "action": words.hide(), "date": "2026-03-04T10:06:00", "text": ""}
    return json.dumps(
        {"name": words.show(), "type": "personal_chat", "id": 9, "messages": [message, asked, service]}
    ).encode()


def make_discord(words: Words) -> bytes:
    author = {"name": words.hide(), "nickname": words.show()}
    page = {"title": words.show(2), "description": words.show(2), "url": "https://example.org"}
    message = {"id": "7", "type": "Default", "timestamp": "2026-03-04T10:05:00+00:00", "content": words.show(2)}
    joined = message | {"type": "GuildMemberJoin", "content": words.hide(), "author": author}
    names = {"guild": {"id": "1", "name": words.show()}, "channel": {"id": "2", "name": words.show()}}
    return json.dumps(names | {"messages": [message | {"author": author, "embeds": [page]}, joined]}).encode()


def make_slack(words: Words) -> bytes:
    attached = [{"text": words.show(2), "fallback": words.hide()}]
    profile = {"real_name": words.show(2)}
    message = {
        "type": "message",
        "ts": "1772614800.000100",
        "user": "U1",
        "text": words.show(2),
        "user_profile": profile,
    }
    joined = message | {"ts": "1772614900.000100", "subtype": "channel_join", "text": words.hide()}
    return json.dumps([message | {"attachments": attached}, joined]).encode()


def make_whatsapp(words: Words) -> bytes:
    lines = [f"04/03/2026, 10:0{n} - {words.show()}: {words.show(3)}\n{words.show()}" for n in range(3)]
    lines.append("04/03/2026, 10:09 - Ana: <Media omitted>")
    return "\n".join(lines).encode()
