"""Chats as Slack, Gemini, Signal and Element export them, in all that a reader looks at. The people are invented."""

from __future__ import annotations

from typing import Any

# Slack ------------------------------------------------------------------------------------------

PEOPLE = [
    {"id": "U1", "name": "ola", "real_name": "Ola Vik", "profile": {"display_name": "ola"}},
    {"id": "U2", "name": "ada", "profile": {"real_name": "Ada Lund", "display_name": ""}},
    {"id": "U3", "name": "bot-less"},
]


def post(at: float, user: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": f"{at:.6f}", **more}


BOATS = 1_772_620_000.0  # 4 March 2026, 10:26:40 UTC


def slack() -> dict[str, Any]:
    """The files in an export: a channel with a thread over two days, a direct chat, and one of three."""
    root = f"{BOATS:.6f}"
    return {
        "users.json": PEOPLE,
        "channels.json": [{"id": "C1", "name": "boats", "members": ["U1", "U2"]}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims.json": [{"id": "G1", "name": "mpdm-ola--ada--bot-1", "members": ["U1", "U2", "U3"]}],
        "boats/2026-03-04.json": [
            {**post(BOATS - 60, "U2", "<@U2> has joined the channel"), "subtype": "channel_join"},
            post(BOATS, "U1", "Where do we moor <#C1|boats> this year?", thread_ts=root, reply_count=2),
            post(BOATS + 30, "U2", "The forecast: &lt;5 m/s, see <https://yr.no/x|the table>"),
            post(BOATS + 60, "U2", "At pier 7, <@U1>.", thread_ts=root),
            post(BOATS + 90, "U2", ""),
        ],
        "boats/2026-03-05.json": [post(BOATS + 86_400, "U1", "Pier 9 it is, 7 is taken.", thread_ts=root)],
        "D1/2026-03-04.json": [post(BOATS + 500, "U2", "The key is with <mailto:ida@pier.no|ida@pier.no>")],
        "mpdm-ola--ada--bot-1/2026-03-06.json": [
            {"type": "message", "subtype": "bot_message", "username": "tide", "text": "High water 14:05", "ts": root}
        ],
        "integration_logs.json": [],
    }


# Gemini -----------------------------------------------------------------------------------------


def activity(title: str, time: str, answer: str = "", **more: Any) -> dict[str, Any]:
    answers = {"safeHtmlItem": [{"html": answer}]} if answer else {}
    return {"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"], **answers, **more}


def gemini() -> list[dict[str, Any]]:
    """The newest first: two conversations, a click, and what was asked of another product."""
    return [
        activity("Prompted And in winter?\nAttached 1 file.", "2026-03-05T19:40:00.000Z", "<p>Every month.</p>"),
        activity("Created a Canvas", "2026-03-05T19:32:00.000Z"),
        activity(
            "Prompted How often do I oil the tiller of the Kestrel?",
            "2026-03-05T19:30:00.123Z",
            "<p>Twice a <b>year</b>:</p><ul><li>spring</li><li>autumn</li></ul>",
        ),
        activity("Searched for tiller oil", "2026-03-05T19:20:00Z", header="Search", products=["Search"]),
        activity("Gestellt: Was ist eine Pinne?", "2026-03-01T08:00:00Z", "<p>Ein Hebel am Ruder.</p>"),
    ]


# Signal -----------------------------------------------------------------------------------------


def item(chat: str, author: str, at: int, text: str, outgoing: bool = False) -> dict[str, Any]:
    way = {"outgoing": {}} if outgoing else {"incoming": {"dateReceived": str(at)}}
    told = {"chatId": chat, "authorId": author, "dateSent": str(at), **way, "standardMessage": {"text": {"body": text}}}
    return {"chatItem": told}


SIGNAL = (
    {"version": "1", "backupTimeMs": "1772620000000"},
    {"account": {"givenName": "Mo"}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {"aci": "aWRh", "e164": "4712", "profileGivenName": "Ida", "nickname": {}}}},
    {"recipient": {"id": "3", "group": {"masterKey": "Z3I=", "snapshot": {"title": {"title": "Crew"}}}}},
    {"chat": {"id": "10", "recipientId": "2"}},
    {"chat": {"id": "11", "recipientId": "3"}},
    item("10", "2", 1_772_620_000_000, "The spare key hangs in the boathouse."),
    item("11", "2", 1_772_620_100_000, "Regatta moved to 9 May."),
    item("10", "1", 1_772_620_200_000, "Thanks, I take it tomorrow.", outgoing=True),
    {"chatItem": {"chatId": "10", "authorId": "2", "dateSent": "1772620300000", "updateMessage": {"x": {}}}},
)


# Matrix -----------------------------------------------------------------------------------------


def event(id: str, sender: str, minute: int, body: str, kind: str = "m.room.message", **content: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "sender": f"@{sender}:pier.org",
        "event_id": f"${id}",
        "origin_server_ts": 1_772_620_000_000 + 60_000 * minute,
        "content": {"msgtype": "m.text", "body": body, **content},
    }


MATRIX: dict[str, Any] = {
    "room_name": "Winter storage",
    "room_creator": "Ada",
    "topic": "",
    "export_date": "5 March 2026",
    "exported_by": "Ada (@ada:pier.org)",
    "messages": [
        event("m", "ole", 0, "", "m.room.member", displayname="Ole Berg", membership="join"),
        event("1", "ole", 1, "The shed costs 1,200 kroner."),
        event("2", "ada", 2, "> <@ole:pier.org> The shed costs\n\nPer month?",
              **{"m.relates_to": {"m.in_reply_to": {"event_id": "$1"}}}),
        event("3", "ole", 3, "* The shed costs 1,400 kroner.",
              **{"m.relates_to": {"rel_type": "m.replace", "event_id": "$1"},
                 "m.new_content": {"msgtype": "m.text", "body": "The shed costs 1,400 kroner."}}),
        event("4", "ada", 4, "photo.jpg", msgtype="m.image"),
        event("5", "ada", 5, "", "m.reaction"),
    ],
}  # fmt: skip
