// Memory: what there is of some words; the page of a thing; the page of a note.

import { Lanes } from "./timeline.js";
import { count, day, dotted, Passage, place, shortPath, when } from "./text.js";
import {
  address, Choices, Empty, html, keepAddress, moveFocus, moveKeys, next, noteAddress, NotYet, useAnswer, useEffect,
  useKeys, useLayoutEffect, useRef, useSettled, useState,
} from "./ui.js";

const TYPING_MS = 120;
const ROWS = { all: 8, one: 100 };
const KINDS = { all: "All", objects: "Things", facts: "Facts", notes: "Notes" };

export function MemoryPage({ parts: [begun = ""], status }) {
  const [words, setWords] = useState(begun);
  const [kind, setKind] = useState("all");
  const list = useRef();
  const field = useRef();
  const looked = useSettled(words.trim(), TYPING_MS);
  useLayoutEffect(() => field.current.focus(), []);
  useEffect(() => keepAddress("memory", ...(looked ? [looked] : [])), [looked]);
  useKeys({ ...moveKeys(list), f: () => setKind(next(Object.keys(KINDS), kind)) });
  const press = (event) => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    moveFocus(list.current, 1);
  };
  return html`<div class="sheet memory">
    <div class="search">
      <input ref=${field} data-first type="search" value=${words} placeholder="Search names, facts, notes" aria-label="Search"
        autocomplete="off" onInput=${(event) => setWords(event.target.value)} onKeyDown=${press} />
      <${Choices} label="Kind" options=${KINDS} chosen=${kind} choose=${setKind} />
    </div>
    <div class="results" ref=${list}>
      ${SECTIONS.filter(([what]) => kind === "all" || kind === what).map(
        ([what, title, Row]) => html`<${Found} key=${what} what=${what} title=${title} words=${looked}
          limit=${kind === "all" ? ROWS.all : ROWS.one} more=${kind === "all" && setKind}
          row=${(one) => html`<${Row} one=${one} folders=${status.files.folders} />`} />`,
      )}
    </div>
  </div>`;
}

function Found({ what, title, words, limit, row, more }) {
  const { data, problem, again } = useAnswer(`/search/${what}`, { words, limit });
  if (!data || problem) return html`<${NotYet} problem=${problem} again=${again} />`;
  const rows = data[what];
  return html`<section>
    <h2>${title} <small>${data.total.toLocaleString("en")}</small></h2>
    ${what === "notes" && rows.length > ROWS.all ? groupByFolder(rows).map(([folder, of]) => html`<h3>${folder}</h3>${of.map(row)}`) : rows.map(row)}
    ${!rows.length && html`<p class="muted">${words ? `Nothing matches “${words}”.` : "There is nothing yet."}</p>`}
    ${
      rows.length < data.total &&
      (more
        ? html`<button class="quiet" onClick=${() => more(what)}>All ${data.total.toLocaleString("en")}</button>`
        : html`<p class="muted">The first ${rows.length}. Add words to narrow the list.</p>`)
    }
  </section>`;
}

/** Notes by their folders, in the order in which these come first. */
function groupByFolder(notes) {
  const folders = new Map();
  for (const one of notes) {
    const folder = one.uri.split("/").slice(-2)[0] || "/";
    folders.set(folder, [...(folders.get(folder) ?? []), one]);
  }
  return [...folders];
}

function Thing({ one }) {
  const known = [one.kind, one.facts && count(one.facts, "fact"), one.notes && `in ${count(one.notes, "note")}`];
  return html`<a class="entry" data-item href=${address("thing", one.name)}>
    <span>${one.name}</span><small>${dotted(...known)}</small>
  </a>`;
}

function FactRow({ one: fact, folders }) {
  const to = fact.predicate ? address("thing", fact.objects[0]) : noteAddress(fact);
  return html`<div class="entry fact ${fact.is_over ? "past" : ""}">
    <a data-item href=${to}>${fact.statement}</a>
    <small>${fact.period} · <a href=${noteAddress(fact)}>${place(fact, folders)}</a></small>
  </div>`;
}

function NoteRow({ one, folders }) {
  return html`<a class="entry" data-item href=${address("note", one.uri)}>
    <span>${one.title || shortPath(one.uri, folders)}</span><small>${dotted(day(one.at), shortPath(one.uri, folders))}</small>
  </a>`;
}

const SECTIONS = [
  ["objects", "People, places, things", Thing],
  ["facts", "Facts", FactRow],
  ["notes", "Notes", NoteRow],
];

/** In place of a page: that it is looked for, why it cannot be shown, or under the title that it is not there. */
function Missing({ answer: { problem, again }, title, children }) {
  const isKnown = problem?.code === "not_found";
  return html`<div class="sheet">
    ${isKnown ? html`<${Empty} title=${title}>${children}<//>` : html`<${NotYet} problem=${problem} again=${again} />`}
  </div>`;
}

export function ThingPage({ parts: [name], status }) {
  const answer = useAnswer("/object", { name });
  const thing = answer.data;
  const page = useRef();
  useKeys(moveKeys(page));
  if (!thing || !answer.isCurrent)
    return html`<${Missing} answer=${answer} title=${`Nothing is known about “${name}”.`}>
      It may have been forgotten, or be called otherwise. <a href=${address("memory", name)}>Look for it</a>
    <//>`;
  const folders = status.files.folders;
  const others = thing.names.filter((one) => one !== thing.name);
  const changed = thing.timelines.filter(
    (timeline) => timeline.values.length > 1 || timeline.values.some((value) => value.ended),
  );
  return html`<article class="sheet thing" ref=${page}>
    <p class="crumb"><a href=${address("memory")}>Memory</a></p>
    <header><h1>${thing.name}</h1>${others.length > 0 && html`<p class="muted">also called ${others.join(", ")}</p>`}</header>
    <section>
      <h2>Facts now</h2>
      ${
        thing.facts.length
          ? html`<dl class="facts">${thing.facts.map(
              (fact) => html`<div>
            <dt>${thing.names.includes(fact.objects[0]) ? fact.predicate : `${fact.objects[0]} ${fact.predicate}`}</dt>
            <dd><b>${fact.objects.at(-1)}</b><small>${fact.period} · <a data-item href=${noteAddress(fact)}>${place(fact, folders)}</a></small></dd>
          </div>`,
            )}</dl>`
          : html`<p class="muted">No facts yet, only mentions in the notes below.</p>`
      }
    </section>
    ${changed.length > 0 && html`<section><h2>History</h2><${Lanes} timelines=${changed} folders=${folders} /></section>`}
    ${
      thing.neighbours.length > 0 &&
      html`<section>
      <h2>Related <a class="aside" href=${address("graph", thing.name)}>open the graph</a></h2>
      <ul class="neighbours">${thing.neighbours.slice(0, 24).map(
        (one) => html`<li>
        ${one.relation && html`<span class="edge">${one.forward ? `${one.relation} →` : `← ${one.relation}`}</span>`}
        <a data-item href=${address("thing", one.name)}>${one.name}</a>
      </li>`,
      )}</ul>
    </section>`
    }
    ${
      thing.notes.length > 0 &&
      html`<section>
      <h2>Notes that mention it
        ${thing.notes_total > thing.notes.length && html`<small>the newest ${thing.notes.length} of ${thing.notes_total.toLocaleString("en")}</small>`}
      </h2>
      ${thing.notes.map(
        (one) => html`<a class="entry" data-item href=${noteAddress(one)}>
        <span>${one.title || shortPath(one.uri, folders)} <small>${day(one.at)}</small></span><small class="quote">${one.quote}</small>
      </a>`,
      )}
    </section>`
    }
  </article>`;
}

export function NotePage({ parts: [uri, line], status }) {
  const answer = useAnswer("/note", { uri });
  const note = answer.data;
  const page = useRef();
  const show = () => page.current?.querySelector(".marked")?.scrollIntoView({ block: "center" });
  useEffect(show, [answer.isCurrent, line]);
  if (!note || !answer.isCurrent)
    return html`<${Missing} answer=${answer} title="This note is no longer in the memory.">
      It may have been forgotten, or be gone from its folder.
    <//>`;
  const folders = status.files.folders;
  const tags = note.tags.map((tag) => `#${tag}`);
  return html`<article class="sheet note" ref=${page}>
    <p class="crumb"><a href=${address("memory")}>Memory</a></p>
    <h1>${note.source.title || shortPath(uri, folders)}</h1>
    <p class="muted">${dotted(day(note.source.at), shortPath(uri, folders), note.read && `read ${when(note.read)}`, ...tags)}
      ${" "}<a href=${address("graph", uri)}>in the graph</a></p>
    ${
      note.facts.length > 0 &&
      html`<details class="read"><summary>${count(note.facts.length, "fact")} read out of it</summary>
      ${note.facts.map((fact) => html`<${FactRow} one=${fact} folders=${folders} />`)}
    </details>`
    }
    ${note.passages.map((passage) => html`<${NotePassage} passage=${passage} line=${line === undefined ? null : Number(line)} />`)}
    ${note.source.episodes > note.passages.length && html`<p class="muted">The first ${note.passages.length} of ${count(note.source.episodes, "passage")}.</p>`}
  </article>`;
}

function NotePassage({ passage, line }) {
  const first = passage.first_line;
  const isHere =
    line !== null && passage.line !== null && passage.line <= line && line <= (passage.end_line ?? passage.line);
  const quote = isHere && first !== null ? passage.text.split("\n")[line - first] : isHere ? passage.text : "";
  const said = [passage.speaker, passage.speaker && day(passage.at)].filter(Boolean).join(", ");
  return html`<section class="of-note">
    ${said && html`<p class="speaker">${said}</p>`}
    <${Passage} text=${passage.text} isMarkdown=${passage.is_markdown} quotes=${quote?.trim() ? [quote] : []} first=${first} />
  </section>`;
}
