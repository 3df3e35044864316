"""Every call there is, and every bad one."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.client.connection import send
from tests.daemon.conftest import answer, listening
from tests.running import RunningDaemon

NOTES = (
    "Marta moved to Porto in March. She keeps the bakery on Rua das Flores.",
    "The lighthouse at Cabo Mondego was painted white by Henrique in June.",
    "Lumen pays its people on the third Friday. Ana works there as a baker of circuits.",
)


@pytest.fixture(scope="module")
def told(running: RunningDaemon) -> Client:
    for text in NOTES:
        running.client.remember(text, title=text.split()[0])
    return running.client


def failure(call: Callable[[], object]) -> wire.Failed:
    with pytest.raises(DaemonError) as caught:
        call()
    return caught.value.failed


def raw(running: RunningDaemon, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
    """A request as somebody else's program would send it: status and the decoded reply."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(running.paths.socket))
    connection.request(method, path, body, {"Content-Type": "application/json"} | headers)
    response = connection.getresponse()
    status, data = response.status, json.loads(response.read())
    connection.close()
    return status, data


def test_half_typed_names_and_tags_are_completed(told: Client, tmp_path: Path) -> None:
    assert told.names_beginning("mart") == ("Marta",)
    assert told.names_beginning("MART", 0) == told.names_beginning(" ") == told.names_beginning("xyz") == ()
    (tmp_path / "boat.md").write_text("---\ntags: [boat, paint]\n---\nThe hull is green.\n", "utf-8")
    list(told.add([tmp_path / "boat.md"]))
    assert told.tags() == (wire.Tag("boat", 1), wire.Tag("paint", 1))
    told.forget(source=str(tmp_path / "boat.md"))
    assert told.tags() == ()


def test_a_question_is_a_stream_that_ends_with_its_answer(told: Client) -> None:
    events = list(told.ask("Who painted the lighthouse at Cabo Mondego?"))
    order = [wire.encode_event(event)["type"] for event in events]
    assert order[0] == "Step" and order[-1] == "Answered" and "Token" in order and "Citation" in order
    answered = events[-1]
    assert isinstance(answered, wire.Answered)
    assert "Henrique" in answered.text and not answered.no_answer and answered.ms > 0
    assert answered.citations[0].quote in NOTES[1]
    assert "".join(event.text for event in events if isinstance(event, wire.Token)).strip() == answered.text
    assert [event for event in events if isinstance(event, wire.Citation)] == list(answered.citations)


def test_what_is_not_known_is_not_answered(told: Client) -> None:
    answered = answer(told, "What is the boiling point of tungsten hexafluoride?")
    assert answered.no_answer and not answered.citations


def test_recall(told: Client) -> None:
    reply = told.recall("bakery in Porto", k=2)
    assert reply.hits[0].passage.text == NOTES[0] and len(reply.hits) <= 2
    assert reply.steps and reply.ms > 0
    passage = reply.hits[0].passage
    assert told.episode(passage.episode_id) == passage
    elsewhere = told.recall("bakery in Porto", within=wire.Scope(folders=("/nowhere/",)))
    assert elsewhere.hits == ()


def test_remember_twice_is_once(told: Client) -> None:
    first = told.remember("The spare key hangs behind the clock.", title="Key")
    again = told.remember("The spare key hangs behind the clock.", title="Key")
    assert (first.added, again.added, again.kept) == (1, 0, 1)
    assert first.episode_ids == again.episode_ids


def test_facts(told: Client) -> None:
    facts = told.facts("Marta")
    assert facts.facts and "Porto" in facts.facts[0].text
    assert failure(lambda: told.facts("Nobody Knows")).code == "not_found"
    assert told.facts("Marta", as_of=datetime(2001, 1, 1, tzinfo=UTC)).facts == ()


def test_forget(told: Client) -> None:
    remembered = told.remember("Zacharias owes me a canoe.", source="note:canoe")
    assert not answer(told, "Who owes me a canoe?").no_answer
    gone = told.forget(source="note:canoe")
    assert (gone.sources, gone.episodes) == (1, 1)
    assert "Zacharias" not in answer(told, "Who owes me a canoe?").text
    assert failure(lambda: told.episode(remembered.episode_ids[0])).code == "not_found"
    assert failure(lambda: told.forget(source="note:canoe")).code == "not_found"
    assert failure(lambda: told.forget()).code == "bad_input"
    assert failure(lambda: told.forget(source="x", episode=1)).code == "bad_input"


def test_status_sources_and_check(told: Client, running: RunningDaemon) -> None:
    status = told.status()
    assert status.stats.episodes >= len(NOTES) and status.stats.path == str(running.paths.memory)
    listed = told.sources("Lumen", 10)
    assert [row.title for row in listed.sources] == ["Lumen"] and listed.total == 1
    assert told.sources(limit=1).total > len(told.sources(limit=1).sources) == 1
    assert told.check().problems == ()


def test_backup(told: Client, running: RunningDaemon, tmp_path: Path) -> None:
    backed_up = told.backup()
    assert Path(backed_up.path).parent == running.paths.backups
    assert Path(backed_up.path).stat().st_size == backed_up.bytes > 0
    assert Path(told.backup(tmp_path / "copy.db").path).exists()
    assert failure(lambda: told.backup(tmp_path / "copy.db")).code == "bad_input"
    assert failure(lambda: told.backup(tmp_path / "no" / "copy.db")).code == "not_found"


def test_a_chat_session_is_kept(told: Client) -> None:
    chat = told.new_conversation("About Lumen")
    *_, answered = told.ask("When does Lumen pay its people?", conversation=chat.id)
    assert isinstance(answered, wire.Answered) and answered.conversation == chat.id
    kept = told.conversation(chat.id)
    question, reply = kept.messages
    assert (question.role, question.text) == ("user", "When does Lumen pay its people?")
    assert (reply.role, reply.text, reply.state) == ("memory", answered.text, "complete")
    assert reply.citations == answered.citations and reply.trace_id == answered.trace_id
    assert told.conversations()[0].id == chat.id and kept.conversation.messages == 2

    assert [one.conversation.id for one in told.search_conversations("LUMEN people")][:1] == [chat.id]
    assert told.rename_conversation(chat.id, "Pay day").title == "Pay day"
    told.delete_conversation(chat.id)
    assert chat.id not in [other.id for other in told.conversations()]
    assert failure(lambda: told.conversation(chat.id)).code == "not_found"
    assert failure(lambda: told.delete_conversation(chat.id)).code == "not_found"
    assert failure(lambda: list(told.ask("Who?", conversation=chat.id))).code == "not_found"


def send_recall(client: Client, **fields: object) -> object:
    """As another program may write it, which has no types."""
    return send(client.paths, "POST", "/recall", {"question": "x", **fields}, 30)


BAD = {
    "an empty question": lambda c: c.recall(""),
    "a blank question": lambda c: c.ask(" \n "),
    "a question of 100,000 characters": lambda c: c.ask("why " * 25_000),
    "no episodes": lambda c: c.recall("x", k=0),
    "too many episodes": lambda c: c.recall("x", k=10**9),
    "no time": lambda c: send_recall(c, as_of="yesterday"),
    "a time before all others": lambda c: send_recall(c, as_of="0001-01-01"),
    "no time within": lambda c: send_recall(c, within={"since": "soon"}),
    "nothing to remember": lambda c: c.remember(" "),
    "a relative path": lambda c: send(c.paths, "POST", "/add", {"paths": ["notes"]}, 30),
    "no path": lambda c: c.add([]),
    "a path with a NUL": lambda c: c.add([Path("/tmp/a\0b")]),
    "a file to watch": lambda c: c.watch(Path(__file__)),
    "the memory's own folder": lambda c: c.watch(c.paths.data),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_reported_and_refused(told: Client, name: str) -> None:
    failed = failure(lambda: BAD[name](told))
    assert failed.code == "bad_input" and failed.message
    assert told.hello()


@pytest.mark.parametrize(
    "question", ["Где живёт Марта?", "مرتا أين تعيش؟", "玛尔塔住在哪里", "🥐?", "\u202e\x1b[31mwho", "'\"*(NEAR:-^"]
)
def test_any_script_may_be_asked_in(told: Client, question: str) -> None:
    assert answer(told, question).text


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", b"", 404, "not_found"),
        ("DELETE", "/hello", b"", 405, "not_allowed"),
        ("POST", "/recall", b"", 422, "bad_input"),
        ("POST", "/recall", b"{", 422, "bad_input"),
        ("POST", "/recall", b"[]", 422, "bad_input"),
        ("POST", "/recall", b'{"k": 3}', 422, "bad_input"),
        ("POST", "/recall", b'{"question": "x", "k": "many"}', 422, "bad_input"),
        ("POST", "/recall", b'{"question": "x", "within": {"tags": 1}}', 422, "bad_input"),
        ("POST", "/recall", b"[" * 100_000, 422, "bad_input"),
        ("POST", "/recall", b'{"question": "' + b"x" * (2 << 20) + b'"}', 413, "too_large"),
        ("GET", "/episodes/one", b"", 422, "bad_input"),
        ("GET", "/episodes/99999999999999999999999999", b"", None, None),
        ("GET", "/facts", b"", 422, "bad_input"),
    ],
)
def test_a_foreign_request_gets_a_failed(
    running: RunningDaemon, method: str, path: str, body: bytes, status: int | None, code: str | None
) -> None:
    got, data = raw(running, method, path, body)
    failed = wire.decode(wire.Failed, data)
    if status is not None:
        assert (got, failed.code) == (status, code)
    assert 400 <= got < 500 and failed.message
    assert not any(word in str(data) for word in ("SELECT", "sqlite", "Traceback"))


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_taken(running: RunningDaemon, kind: str) -> None:
    headers = {"Content-Type": kind}
    status, refused = raw(running, "POST", "/recall", b'{"question": "x"}', **headers)
    assert status == 422 and "Content-Type: application/json" in refused["remedy"]
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert raw(running, "POST", "/recall", b'{"question": "x"}', **headers)[0] == 200


def test_a_chunked_body_is_limited_too(running: RunningDaemon) -> None:
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(str(running.paths.socket))
    sock.sendall(
        b"POST /recall HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    received = b""
    try:
        for _ in range(40):
            sock.sendall(b"20000\r\n" + b"x" * 0x20000 + b"\r\n")
    except OSError:
        pass  # it was enough
    sock.settimeout(10)
    while b"}" not in received and (piece := sock.recv(65536)):
        received += piece
    assert b" 413 " in received and b"too_large" in received


def test_the_api_describes_itself(running: RunningDaemon) -> None:
    status, described = raw(running, "GET", "/openapi.json")
    assert status == 200
    assert {"/ask", "/recall", "/remember", "/add", "/folders", "/activity", "/status"} <= set(described["paths"])
    assert {"Scope", "Failed"} <= set(described["components"]["schemas"])
    asked = described["paths"]["/ask"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert asked["required"] == ["question"] and {"as_of", "within", "effort"} <= set(asked["properties"])


def test_a_field_that_no_request_has_is_named(running: RunningDaemon) -> None:
    """Of every route: who misspells a field must not believe that it counted."""
    _, described = raw(running, "GET", "/openapi.json")
    requests = [
        (method.upper(), path.replace("{id}", "1"))
        for path, methods in described["paths"].items()
        for method in methods
        if method != "get"
    ]
    assert len(requests) > 25
    for method, path in requests:
        status, data = raw(running, method, path, b'{"qestion": "x"}')
        assert status == 422 and "'qestion'" in data["message"], (method, path, data)
    status, data = raw(running, "POST", "/recall", b'{"question": "x", "within": {"folder": ["/a"]}}')
    assert status == 422 and "'folder'" in data["message"] and "folders" in data["message"]
    status, data = raw(running, "GET", "/sources?limt=5")
    assert status == 422 and "'limt'" in data["message"]


@pytest.mark.parametrize(
    "body", ['{"question": "a", "question": "b"}', '{"question": "x", "k": NaN}', '{"question": "x", "k": -Infinity}']
)
def test_what_can_be_meant_in_two_ways_is_refused(running: RunningDaemon, body: str) -> None:
    assert raw(running, "POST", "/recall", body.encode())[0] == 422


@pytest.mark.parametrize("path", ["/a\0b", "\0", "/\ud800", "relative", "", "/folders\0"])
def test_a_path_that_no_file_can_have_is_reported(running: RunningDaemon, path: str) -> None:
    for method, url, fields in (
        ("POST", "/folders", {"path": path}),
        ("POST", "/folders/remove", {"path": path}),
        ("POST", "/folders/remove", {"path": path, "forget": True}),
        ("POST", "/folders/gone", {"path": path, "keep": True}),
        ("GET", "/folders/gone?path=" + quote(path.encode("utf-8", "replace")) + "%00", {}),
        ("POST", "/add", {"paths": [path]}),
        ("POST", "/count", {"paths": [path]}),
        ("POST", "/backup", {"to": path}),
    ):
        status, data = raw(running, method, url, json.dumps(fields).encode() if fields else b"")
        assert (status, data["code"]) == (422, "bad_input") and data["message"], (url, data)


def test_the_log_holds_no_words_of_anybody(running: RunningDaemon, told: Client) -> None:
    answer(told, "Is the plover nesting in the gutter?")
    log = running.paths.log.read_text("utf-8")
    assert log and not any(word in log for word in ("plover", "lighthouse", "bakery", "Traceback"))


def test_a_replaced_fact_is_news_and_can_be_taken_back(client: Client) -> None:
    with listening(client) as listener:
        client.remember("City: Graz", title="Benedikt", source="b1", at=datetime(2024, 5, 1, tzinfo=UTC))
        client.remember("City: Linz", title="Benedikt", source="b1", at=datetime(2025, 5, 1, tzinfo=UTC))
        event = listener.until(lambda event: isinstance(event, wire.FactChanged))
        assert isinstance(event, wire.FactChanged)
        revision = event.revision
        assert (revision.old.objects, revision.new.objects) == (("Benedikt", "Graz"), ("Benedikt", "Linz"))
        assert client.status().review == client.revisions().open >= 1
        assert client.revision(revision.id) == revision == client.revisions(about="Benedikt").revisions[0]
        [timeline] = client.history("Benedikt").timelines
        assert [value.fact.objects[-1] for value in timeline.values] == ["Graz", "Linz"]
        assert [fact.text for fact in client.facts("Benedikt").facts] == ["Benedikt, city: Linz"]
        undone = client.settle(revision.id, "undo")
        assert undone.state == "undone" and listener.until(lambda event: event == wire.FactChanged(undone))
    assert [fact.text for fact in client.facts("Benedikt").facts] == ["Benedikt, city: Linz"], "b1 no longer says Graz"
    assert client.revisions(about="Benedikt").revisions == ()
    assert client.facts("Benedikt", known_on=datetime(2020, 1, 1, tzinfo=UTC)).facts == ()
    assert failure(lambda: client.facts("Benedikt", known_on="soon")).code == "bad_input"
    assert failure(lambda: client.revision(10**6)).code == "not_found"
    assert failure(lambda: client.settle(10**6, "keep")).code == "not_found"
    assert failure(lambda: client.settle(revision.id, "maybe")).code == "bad_input"
    assert failure(lambda: client.revisions("closed")).code == "bad_input"
    assert failure(lambda: client.history("Nobody Knows")).code == "not_found"
