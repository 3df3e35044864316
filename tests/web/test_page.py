"""The page in a real browser: what a person does in it, and that nothing of a note, another page or another host does
anything to it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from daemon.config.settings import ModelsSettings, Settings
from memory.nouns import Scope
from plugins.settings import OllamaSettings
from tests.daemon.conftest import QUICK
from tests.daemon.enriching import HERE, QWEN
from tests.fakes import FakeOllama, Hangs
from tests.fakes.answering import answers
from tests.running import run_daemon
from tests.web.conftest import HOSTILE, WAIT_MS, Visitor, ask, change_note, go, until

expect.set_options(timeout=WAIT_MS)

PAGES = ("home", "ask", "memory", "thing/Mara%20Quill", "graph", "timeline", "review")
PHONE = "2025-01-10 Mara.md"


def test_a_question_is_answered_with_the_passage_it_rests_on(visitor: Visitor, page: Page) -> None:
    page.keyboard.press("2")
    ask(page, "Where does the ferry leave from?")
    lines = page.locator(".turn.done .line")
    expect(lines.first).to_contain_text("South Pier")
    expect(page.locator(".line.earlier")).to_contain_text("North Pier")
    expect(page.locator(".evidence mark")).to_have_text("The ferry leaves from the South Pier at 9:30 from today.")
    page.locator(".line.earlier .cite").click()
    expect(page.locator(".evidence .marked")).to_contain_text("6")  # the number of its line
    expect(page.locator(".evidence .where")).to_contain_text("2025-03-02 ferry.md:6")
    expect(page.locator(".evidence .where")).to_contain_text("2 Mar 2025")
    page.locator("h2.question").click()  # out of the field, for the keys
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(page.locator(".reason .path")).to_contain_text("passage “The ferry”")
    page.get_by_role("button", name="right", exact=True).click()
    expect(page.get_by_role("button", name="right", exact=True)).to_have_attribute("aria-pressed", "true")
    assert visitor.client.traces(1).traces[0].verdict == "good"

    ask(page, "Where does the ferry leave from?")
    expect(page.locator(".turn.done").last.locator(".line").first).to_contain_text("South Pier")
    page.reload()  # the session is kept, and is one of the chat's
    expect(page.locator("h2.question")).to_have_count(2)
    assert visitor.client.conversations()[0].title == "Where does the ferry leave from?"
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.get_by_text("Where does the ferry leave from?").first.click()
    expect(page).to_have_url(re.compile(r"#/ask/\d+$"))


CHAIN = {
    "Marta": "Marta works at Lindqvist Rope. She cycles there.",
    "Visit": "Saw the yard today. Lindqvist Rope is led by Johan Ekdal. The kettle was cold.",
    "Johan Ekdal": "Johan Ekdal was born in Visby. He sails.",
}


def test_a_chain_is_shown_step_by_step_and_as_a_way_in_the_reason(visitor: Visitor, page: Page) -> None:
    for title, text in CHAIN.items():
        visitor.client.remember(text, title=title)
    page.keyboard.press("2")
    ask(page, "Where was the person born who leads the company where Marta works?")
    lines = page.locator(".turn.done .line")
    for place, words in enumerate(("Marta works at Lindqvist Rope", "is led by Johan Ekdal", "was born in Visby")):
        expect(lines.nth(place)).to_contain_text(words)
        expect(lines.nth(place).locator(".cite")).to_have_text(str(place + 1))
    page.locator("h2.question").click()
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(page.locator(".reason .path .step")).to_have_text(
        [
            "Marta - works at -> Lindqvist Rope [1]",
            "Lindqvist Rope - is led by -> Johan Ekdal [2]",
            "Johan Ekdal - was born in -> Visby [3]",
        ]
    )


def test_a_laid_out_page_is_drawn_with_its_headings_tables_and_links(visitor: Visitor, page: Page) -> None:
    (visitor.notes / "chandler.html").write_text(
        "<h2>Chandler</h2><table><tr><th>part</th><th>price</th></tr><tr><td>mooring buoy</td><td>84</td></tr></table>"
        "<p>The chandler opens at ten.</p>", "utf-8"
    )  # fmt: skip
    (visitor.notes / "chandler.txt").write_text("## The cooper hoops a *firkin* in the shed.\n", "utf-8")
    list(visitor.client.add([visitor.notes]))
    page.keyboard.press("2")
    ask(page, "When does the chandler open?")
    passage = page.locator(".evidence .passage")
    expect(passage.locator("strong.heading")).to_have_text("Chandler")
    expect(passage.locator(".cells").nth(1).locator("> span")).to_have_text(["mooring buoy", "84"])
    expect(passage.locator(".marked mark")).to_contain_text(["opens at ten"])
    ask(page, "What does the cooper hoop?")
    expect(passage).to_contain_text("## The cooper hoops a *firkin*")


def test_what_is_stated_is_kept_where_that_is_wanted_and_taken_back(visitor: Visitor, page: Page) -> None:
    page.keyboard.press("2")
    ask(page, "I moved to Bergen.")
    expect(page.locator(".turn .told")).to_contain_text("Not saved: “I moved to Bergen.”")
    page.get_by_role("button", name="Keep it").click()
    expect(page.locator(".turn .told")).to_contain_text("Saved in your own words: “I moved to Bergen.”")
    visitor.client.set_telling("yes")
    ask(page, "I moved to Bodø. Where does the ferry leave from?")
    told = page.locator(".turn").last
    expect(told.locator(".line").first).to_contain_text("Pier")
    expect(told.locator(".told")).to_contain_text("Saved in your own words: “I moved to Bodø.”")
    page.get_by_role("button", name="Take it back").first.click()
    expect(page.locator(".turn").first.get_by_role("alert")).to_contain_text("not your last statement")
    for place in ("last", "first"):
        turn = getattr(page.locator(".turn"), place)
        turn.get_by_role("button", name="Take it back").click()
        expect(turn.locator(".told")).to_contain_text("Forgotten")
    assert [one.uri for one in visitor.client.sources().sources if one.uri.startswith("told:")] == []
    visitor.client.set_telling("no")


def test_what_is_not_there_is_said(page: Page) -> None:
    page.keyboard.press("2")
    page.locator("textarea").evaluate(  # all in one burst, as a program types
        "field => { field.value = 'Who is Zork?'; field.dispatchEvent(new Event('input', {bubbles: true}));"
        " field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true})) }"
    )
    expect(page.locator("h2.question")).to_have_text("Who is Zork?")
    page.locator(".turn.done").wait_for()
    ask(page, "What is the capital of Mongolia?")
    expect(page.locator(".answer.none").last).to_contain_text("nothing in your memory about Mongolia")
    go(page, "thing/Nobody")
    expect(page.get_by_text("Nothing is known about “Nobody”.")).to_be_visible()
    go(page, "note/%2Fnowhere.md")
    expect(page.get_by_text("This note is no longer in the memory.")).to_be_visible()
    for where in ("elsewhere", "toString"):
        go(page, where)
        expect(page.get_by_text("There is no such page.")).to_be_visible()
        go(page, "home")
    go(page, "ask/99999")
    expect(page.get_by_role("alert")).to_contain_text("99999")
    ask(page, "Who is Mara Quill?")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"#/ask/\d{1,4}$"))
    go(page, "memory/qqq")
    expect(page.get_by_text("Nothing matches “qqq”.")).to_have_count(3)


def test_a_change_is_decided_and_taken_back_by_keys(visitor: Visitor, page: Page) -> None:
    go(page, "review")
    expect(page.get_by_text("There is nothing to review.")).to_be_visible()
    change_note(visitor, PHONE, "496 07", "496 99")
    page.evaluate("document.dispatchEvent(new Event('palimpsest:changed'))")  # it looks every few seconds, too
    expect(page.locator(".badge")).to_have_text("1")
    expect(page.locator(".changes li")).to_have_count(1)
    page.keyboard.press("j")
    expect(page.locator(".side.old .says")).to_have_text("Mara Quill, phone: 0161 496 07")
    expect(page.locator(".side:not(.old) .passage")).to_contain_text("0161 496 99")
    expect(page.locator(".side .where").first).to_contain_text("2025-01-10 to")
    page.keyboard.press("o")
    expect(page.locator(".said")).to_have_text("The old one is right: Mara Quill, phone: 0161 496 07")
    assert [one.objects[-1] for one in visitor.client.facts("Mara Quill").facts if one.predicate == "phone"] == [
        "0161 496 07"
    ]
    page.keyboard.press("u")
    expect(page.locator(".said")).to_have_text("Taken back.")
    expect(page.locator(".side.old .says")).to_have_text("Mara Quill, phone: 0161 496 07")
    assert visitor.client.revisions().open == 1
    page.get_by_role("button", name="The new one is right").click()
    expect(page.locator(".said")).to_contain_text("The new one is right")
    page.get_by_role("button", name="Decided").click()
    expect(page.locator(".changes")).to_contain_text("the new one is right")
    expect(page.locator(".badge")).to_have_count(0)


def test_all_is_reached_by_keys_alone(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("section", has_text="Mentioned most").get_by_role("link", name="Mara Quill")).to_be_visible()
    page.keyboard.press("3")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("mara")
    expect(page.locator(".results section").first.locator("[data-item]")).to_have_count(1)
    expect(page.locator(".results")).to_contain_text("Mara Quill")
    page.wait_for_url("**/#/memory/mara")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Mara Quill", exact=True)).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("article.note")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Mara Quill", exact=True)).to_be_visible()
    page.keyboard.press("/")
    expect(page).to_have_url(re.compile("#/memory"))
    for key, name in enumerate(("Home", "Ask", "Memory", "Graph", "Timeline", "Review"), 1):
        page.keyboard.press("Escape")
        page.keyboard.press(str(key))
        expect(page.locator("nav a[aria-current]")).to_contain_text(name)
        reached = page.evaluate("document.querySelectorAll('main :is(a, button, input, textarea, canvas)').length")
        for _ in range(reached and 12):
            page.keyboard.press("Tab")
        assert page.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
            " || document.activeElement.matches('input, textarea, canvas, body')"
        )


def test_the_graph_is_chosen_from_and_expanded(page: Page) -> None:
    page.keyboard.press("4")
    figure = page.locator("figure.graph")
    until(page, "document.querySelector('canvas')?.drawing?.steps > 5")
    before = int(figure.get_attribute("data-nodes") or 0)
    assert before >= 8
    page.emulate_media(reduced_motion="reduce")  # so that the next one is laid out when it is drawn, and can be hit
    page.evaluate("window.whole = document.querySelector('canvas').drawing")
    go(page, "graph/Tobias%20Renn")
    until(page, "![undefined, window.whole].includes(document.querySelector('canvas')?.drawing)")
    until(page, "document.querySelector('canvas')?.drawing?.steps > 0")
    around = int(figure.get_attribute("data-nodes") or 0)
    x, y = page.evaluate(
        "(() => { const view = document.querySelector('canvas').drawing; view.fit();"
        " return view.placeOf(view.nodes.find(node => node.name === 'Mara Quill' && node.kind !== 'note').id) })()"
    )
    box = page.locator("canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + y)
    expect(page.locator(".card h2")).to_have_text("Mara Quill")
    until(page, "before => Number(document.querySelector('figure').dataset.nodes) > before", around)


def test_nothing_that_a_note_says_does_anything(visitor: Visitor, page: Page) -> None:
    page.keyboard.press("2")
    ask(page, "What is the wharf code?")
    expect(page.locator(".turn.done .line").first).to_contain_text(HOSTILE)
    expect(page.locator(".evidence .passage")).to_contain_text("<script>window.pwned=1</script>")
    uri = str(visitor.notes / "hostile.md")
    for where in ("home", "memory/wharf", f"note/{uri.replace('/', '%2F')}", "graph", "timeline"):
        go(page, where)
        page.wait_for_load_state("networkidle")
    go(page, f"thing/{HOSTILE.replace('/', '%2F')}")
    expect(page.get_by_text(f"Nothing is known about “{HOSTILE}”.")).to_be_visible()
    go(page, "memory/wharf")
    expect(page.locator(".results")).to_contain_text(f"{HOSTILE} wharf")
    assert page.locator("main :is(img, iframe, script, svg, object, embed)").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()
    thrown = page.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>' } catch (error) { return error.name } })()"
    )
    assert thrown == "TypeError"  # the policy would stop what we never do; it is noted as a violation
    assert page.evaluate("window.violations.splice(0)") == ["require-trusted-types-for"]
    assert [one for one in visitor.wrong if "TrustedHTML" not in one] == []
    visitor.wrong.clear()


def test_a_small_screen_shows_all_and_scrolls_down_only(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for where in PAGES:
        go(page, where)
        page.wait_for_load_state("networkidle")
        beyond = page.evaluate(
            "[...document.querySelectorAll('main *, nav *')]"
            ".filter(one => one.getBoundingClientRect().right > innerWidth).map(one => one.outerHTML.slice(0, 200))"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 360 and beyond == [], where
    go(page, "ask")
    ask(page, "Where does the ferry leave from?")
    expect(page.locator(".evidence")).to_be_hidden()
    page.locator(".turn.done .cite").first.click()
    expect(page.locator(".evidence mark").first).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".evidence")).to_be_hidden()


def test_letters_typed_outside_of_a_field_begin_a_question(visitor: Visitor, page: Page) -> None:
    page.keyboard.type("the fog signal")
    expect(page.locator("[data-first]")).to_have_value("the fog signal")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(page.locator("[aria-current=page]")).to_contain_text("Memory")


def test_it_is_dark_or_light_as_the_system_is_or_as_you_say(visitor: Visitor, page: Page) -> None:
    def colours() -> list[str]:
        return page.evaluate("['backgroundColor', 'color'].map(one => getComputedStyle(document.body)[one])")

    page.emulate_media(color_scheme="dark")
    dark = colours()
    page.emulate_media(color_scheme="light")
    light = colours()
    assert set(dark).isdisjoint(light)
    page.get_by_role("button", name="Colours").click()
    until(page, "document.documentElement.dataset.theme === 'dark'")
    assert colours() == dark
    before = page.url
    page.goto("about:blank")  # which asks for nothing of a page that is closed
    visitor.client.close_page()
    page.goto(visitor.client.open_page().url)  # another port, which is another page to the browser
    page.wait_for_selector("nav.rail")
    assert colours() == dark and page.url != before


def test_a_link_opens_one_browser_and_its_token_is_left_nowhere(visitor: Visitor) -> None:
    visitor.wrong.clear()
    link = visitor.client.open_page()
    url = link.url
    first = visitor.watch(visitor.browser.new_context().new_page())
    first.goto(Path(link.opener).as_uri())  # as a browser is started
    first.wait_for_selector("nav.rail")
    assert url.partition("#")[2] not in first.url and first.evaluate("history.length") <= 2
    assert visitor.wrong == []
    second = visitor.browser.new_context().new_page()
    second.goto(url)
    expect(second.get_by_text("This link was used already")).to_be_visible()
    expect(second.get_by_text("pal web")).to_be_visible()
    third = visitor.browser.new_context().new_page()
    third.goto(first.url)
    expect(third.get_by_text("Open this page from your terminal.")).to_be_visible()
    tab = first.context.new_page()  # of the same browser: no new link is needed
    tab.goto(first.url)
    tab.wait_for_selector("nav.rail")


def test_another_page_and_another_name_get_nothing(visitor: Visitor, elsewhere: str) -> None:
    page = visitor.open()
    origin = page.url.partition("/#")[0]
    other = page.context.new_page()  # it has the cookie: cookies know no ports
    other.goto(elsewhere)
    get = (
        "async url => { try { return (await fetch(url, {credentials: 'include'})).status } catch { return 'refused' } }"
    )
    post = (
        "async url => { try { return (await fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include',"
        " body: '{}'})).type } catch { return 'refused' } }"
    )
    before = len(visitor.client.conversations())
    assert other.evaluate(get, f"{origin}/api/home") == "refused"
    assert other.evaluate(get, f"{origin}/session") == "refused"
    assert other.evaluate(post, f"{origin}/api/conversations") in ("opaque", "refused")
    assert len(visitor.client.conversations()) == before
    framed = other.evaluate(
        "url => new Promise(done => { const frame = document.createElement('iframe'); frame.src = url;"
        " frame.onload = () => { try { done(frame.contentDocument?.title ?? 'refused') } catch { done('refused') } };"
        " document.body.append(frame) })",
        f"{origin}/",
    )
    assert framed in ("refused", "")
    rebound = page.context.new_page()
    reply = rebound.goto(origin.replace("127.0.0.1", "evil.example") + "/api/hello")
    assert reply is not None and reply.status == 403
    reply = rebound.goto(origin.replace("127.0.0.1", "evil.example") + "/")
    assert reply is not None and reply.status == 403
    page.context.close()


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(QWEN, answer=answers) as server:
        yield server


def test_what_a_model_writes_is_shown_as_it_comes_and_can_be_stopped(
    visitor: Visitor, ollama: FakeOllama, tmp_path: Path
) -> None:
    settings = Settings(models=ModelsSettings(extract=(), answer=(HERE,)), ollama=OllamaSettings(host=ollama.url))
    question = "What colour is the boat painted?"
    with run_daemon(tmp_path / "home", settings) as daemon:
        daemon.client.remember("The boat is painted black. Ana is its owner.", title="boat")
        page = replace(visitor, daemon=daemon).open()
        page.keyboard.press("2")
        ollama.enqueue(Hangs())
        field = page.get_by_role("textbox", name="Ask your memory")
        field.fill(question)
        page.keyboard.press("Enter")
        expect(page.locator(".answer.preview")).to_contain_text("painted black")
        expect(page.get_by_text("Until it answers, the lines that answer:")).to_be_visible()
        ollama.until(lambda server: server.chats)
        page.keyboard.press("Escape")
        expect(page.get_by_text("Stopped.")).to_be_visible()
        expect(field).to_have_value(question)
        ollama.until(lambda server: server.left == 1)  # the model is not asked any more, either
        page.keyboard.press("Enter")
        expect(page.locator(".turn.done .line")).to_contain_text("The boat is painted black")
        expect(page.locator(".turn.done .meta")).to_contain_text(f"written by {HERE}")
        expect(page.locator(".evidence mark")).to_contain_text("painted black")
        within = Scope(folders=("/n/diary/",), tags=("boat",))
        (kept,) = daemon.client.conversations()
        [*daemon.client.ask("What colour is Ana?", conversation=kept.id, within=within)]
        page.reload()
        expect(page.locator(".turn.done .meta").first).to_contain_text(f"written by {HERE}")
        expect(page.locator(".turn.done .meta").last).to_contain_text("within /n/diary/, #boat")
        page.context.close()


def test_a_page_that_is_closed_says_so(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.client.close_page()
    page.keyboard.press("3")
    expect(page.locator(".gone")).to_contain_text("does not answer")
    expect(page.locator(".gone")).to_contain_text("pal web")
    page.context.close()


def test_an_empty_memory_says_how_to_begin(visitor: Visitor, tmp_path: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        page = replace(visitor, daemon=daemon).open()
        expect(page.locator(".sheet")).to_contain_text("The memory is empty.")
        expect(page.locator(".sheet")).to_contain_text("pal watch add ~/notes")
        page.context.close()


def test_many_notes_are_grouped_by_folder_and_the_timeline_opens_at_today(visitor: Visitor, page: Page) -> None:
    for day in range(10, 20):
        note = visitor.notes / "diary" / f"2026-03-{day}.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text(f"# Entry {day}\n\nThe tide was {day} inches lower.\n", "utf-8")
    month = time.strftime("%Y-%m")
    for name, date in (("lease", "2190-05-01"), ("berth", f"{month}-01"), ("keel", "")):
        note = f"---\n{date and f'date: {date}'}\nrent of the {name}: 950\n---\n# {name.title()}\n"
        (visitor.notes / f"{name}.md").write_text(note, "utf-8")
    list(visitor.client.add([visitor.notes]))
    go(page, "memory")
    page.get_by_role("button", name="Notes", exact=True).click()
    expect(page.locator(".results h3", has_text="diary")).to_be_visible()
    go(page, "timeline")
    expect(page.locator("#month-2190-05")).not_to_be_in_viewport()
    expect(page.locator(f"#month-{month}")).to_be_in_viewport()
    expect(page.locator(".timeline")).not_to_contain_text("rent of the keel")
