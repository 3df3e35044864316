// Home: what is new, what waits, what is planned, what could be asked.

import { ask } from "./ask.js";
import { count, when } from "./text.js";
import {
  address, Empty, html, moveKeys, NotYet, useAnswer, useEffect, useKept, useKeys, useRef, useState,
} from "./ui.js";

const SESSIONS = 5;
const VISIT_MS = 30 * 60_000; // two visits that lie closer are one
const WEEK_MS = 7 * 86_400_000;

/** When this page was looked at before this visit. */
function useLastVisit() {
  const [seen, setSeen] = useKept("seen", "");
  const [since] = useState(() => seen.split(" ")[0] || new Date(Date.now() - WEEK_MS).toISOString());
  useEffect(() => {
    const now = new Date();
    const [, last = ""] = seen.split(" ");
    const isNewVisit = !last || now - new Date(last) > VISIT_MS;
    setSeen(`${isNewVisit && last ? last : since} ${now.toISOString()}`);
  }, []);
  return since;
}

export function HomePage({ status }) {
  const since = useLastVisit();
  const { data: home, problem, again } = useAnswer("/home", { since });
  const { data: suggested } = useAnswer("/suggestions");
  const { data: sessions } = useAnswer("/conversations");
  const lists = useRef();
  useKeys(moveKeys(lists));
  if (status.stats?.sources === 0) return html`<${Begin} />`;
  return html`<div class="sheet home" ref=${lists}>
    <${Prompt} />
    <${NotYet} data=${home} problem=${problem} again=${again} />
    ${
      home &&
      html`<div class="columns">
      <${News} home=${home} />
      <${Planned} home=${home} />
      <${Section} title="Worth asking">${suggested?.questions.map(
        (one) => html`<${Row} href=${address("ask")} onClick=${(event) => (event.preventDefault(), ask(one))} head=${one} />`,
      )}<//>
      <${Section} title="Your last sessions">${sessions?.conversations
        .slice(0, SESSIONS)
        .map((one) => html`<${Row} href=${address("ask", one.id)} head=${one.title || "Untitled"} more=${when(one.updated)} />`)}<//>
      <${Section} title="Mentioned most">${suggested?.names.map(
        (one) => html`<${Row} href=${address("thing", one)} head=${one} />`,
      )}<//>
    </div>`
    }
  </div>`;
}

function Prompt() {
  const [question, setQuestion] = useState("");
  const submit = (event) => {
    event.preventDefault();
    const text = event.target.querySelector("input").value.trim();
    if (text) ask(text);
  };
  return html`<form class="begin" onSubmit=${submit}>
    <input data-first type="search" value=${question} placeholder="Ask your memory (/)" aria-label="Ask your memory"
      autocomplete="off" onInput=${(event) => setQuestion(event.target.value)} />
  </form>`;
}

function Begin() {
  return html`<div class="sheet"><${Empty} title="The memory is empty.">
    Read a folder once with <code>pal add ~/notes</code>, or keep it read with <code>pal watch add ~/notes</code>. To try it on
    the notes of somebody who keeps a lighthouse museum: open the chat with <code>pal</code> and choose “Try the examples”.
  <//></div>`;
}

/** A list under its title; nothing without rows. */
function Section({ title, children }) {
  const rows = [children].flat(2).filter(Boolean);
  return rows.length > 0 && html`<section><h2>${title}</h2>${rows}</section>`;
}

const Row = ({ href, onClick, head, more, warn }) => html`<a class="entry" data-item href=${href} onClick=${onClick}>
  <span class=${warn ? "warn" : ""}>${head}</span>${more && html`<small>${more}</small>`}
</a>`;

function News({ home }) {
  const review = home.review;
  const rows = [];
  if (review) {
    const waits = `${count(home.review_total, "change")} ${home.review_total === 1 ? "waits" : "wait"} for your review`;
    rows.push(
      html`<${Row} href=${address("review", review.id)} warn head=${waits} more=${(review.relation === "negates" ? review.old : review.new).statement} />`,
    );
  }
  for (const one of home.changed.filter((one) => one.id !== review?.id).slice(0, 4)) {
    const fact = one.relation === "negates" ? one.old : one.new;
    const before = one.relation === "negates" ? "no longer true" : `was: ${one.old.statement}`;
    rows.push(
      html`<${Row} href=${address("review", one.id)} head=${fact.statement} more=${`${before} · ${when(one.at)}`} />`,
    );
  }
  if (home.read.length) {
    const names = home.read.slice(0, 2).map((one) => one.title);
    const more = names.join(", ") + (home.read_total > 2 ? " and others" : "");
    rows.push(html`<${Row} href=${address("memory")} head=${`${count(home.read_total, "note")} read`} more=${more} />`);
  }
  return html`<${Section} title=${`Since ${when(home.since)}`}>
    ${rows.length ? rows : html`<p class="muted">Nothing is new.</p>`}
  <//>`;
}

function Planned({ home }) {
  return html`<${Section} title="Next days">
    ${home.planned.slice(0, 8).map(
      (one) => html`<a class="entry dated" data-item href=${address("note", one.uri, ...(one.line ? [one.line] : []))}>
        <time class=${one.is_past ? "warn" : ""} datetime=${one.day}>${one.day_name}</time>
        <span>${one.time ? `${one.time.split(" to ")[0]} ` : ""}${one.is_past ? "overdue: " : ""}${one.text}</span>
      </a>`,
    )}
    ${home.planned_total > 8 && html`<p class="muted">and ${(home.planned_total - 8).toLocaleString("en")} more</p>`}
  <//>`;
}
