// Timeline: what held from when until when. Of the whole memory by months, of one thing in lanes.

import { place } from "./text.js";
import {
  address, Empty, html, keepAddress, moveKeys, noteAddress, NotYet, useAnswer, useEffect, useKeys, useMemo, useRef,
  useSettled, useState,
} from "./ui.js";

const MOST_FACTS = 500;
const TYPING_MS = 150;
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });

export function TimelinePage({ parts: [begun = ""], status }) {
  const [words, setWords] = useState(begun);
  const looked = useSettled(words.trim(), TYPING_MS);
  const { data, problem, again } = useAnswer("/search/facts", { words: looked, limit: MOST_FACTS });
  const months = useMemo(() => byMonth(data?.facts ?? []), [data]);
  const page = useRef();
  const today = new Date().toISOString().slice(0, 7);
  useEffect(() => {
    const first = months.findIndex(([month]) => month <= today);
    if (first > 0) document.getElementById(`month-${months[first][0]}`).scrollIntoView({ block: "start" });
  }, [months]);
  useEffect(() => keepAddress("timeline", ...(looked ? [looked] : [])), [looked]);
  useKeys(moveKeys(page));
  return html`<div class="sheet timeline" ref=${page}>
    <div class="search">
      <input data-first type="search" value=${words} placeholder="Filter by name" aria-label="Filter by name" autocomplete="off"
        onInput=${(event) => setWords(event.target.value)} />
      <p class="muted">${data ? tell(data) : ""}</p>
    </div>
    <${NotYet} data=${data} problem=${problem} again=${again} />
    ${
      data &&
      !months.length &&
      html`<${Empty} title=${looked ? `No fact with a date matches “${looked}”.` : "No fact with a date has been read yet."}>
      A fact is what a note says about a person or a thing: an address, a price, a date. When it changes, both values are
      here, each with the day from which it was true.
    <//>`
    }
    ${months.map(
      ([month, facts]) => html`<section class="month" id=${`month-${month}`}>
      <h2>${MONTH.format(new Date(`${month}-01T00:00`))}</h2>
      <ol>${facts.map((fact) => html`<${Began} fact=${fact} folders=${status.files.folders} />`)}</ol>
    </section>`,
    )}
  </div>`;
}

function tell({ facts, total }) {
  return facts.length < total
    ? `The ${facts.length} newest of ${total.toLocaleString("en")}. Filter to find the others.`
    : "";
}

function Began({ fact, folders }) {
  return html`<li class=${fact.is_over || fact.until ? "past" : ""}>
    <time>${fact.since}</time>
    <div>
      <a data-item href=${fact.objects.length ? address("thing", fact.objects[0]) : address("note", fact.uri)}>${fact.statement}</a>
      <small>${fact.until ? `until ${fact.until} · ` : ""}<a href=${noteAddress(fact)}>${place(fact, folders)}</a></small>
    </div>
  </li>`;
}

/** The facts with a date by the month in which each began, the newest first; the others have no place in time. */
function byMonth(facts) {
  const months = new Map();
  const dated = facts.filter((fact) => fact.since && fact.valid_from);
  for (const fact of dated.sort((one, other) => (one.valid_from < other.valid_from ? 1 : -1))) {
    const month = fact.valid_from.slice(0, 7);
    if (!months.has(month)) months.set(month, []);
    months.get(month).push(fact);
  }
  return [...months];
}

/** What one thing had, with the values of each kind, the newest first. */
export function Lanes({ timelines, folders }) {
  return html`<div class="lanes">
    ${timelines.map(
      (timeline) => html`<div class="lane">
      <h3>${timeline.predicate || timeline.subject}</h3>
      <ol>${[...timeline.values].reverse().map(
        (value) => html`<li class=${value.ended || value.fact.is_over ? "past" : ""}>
        <span class="value">${timeline.predicate ? value.fact.objects.at(-1) : value.fact.text}</span>
        <small>
          ${value.fact.period} · <a data-item href=${noteAddress(value.fact)}>${place(value.fact, folders)}</a>
          ${value.ended ? ` · ${value.ended.reason}` : ""}
        </small>
      </li>`,
      )}</ol>
    </div>`,
    )}
  </div>`;
}
