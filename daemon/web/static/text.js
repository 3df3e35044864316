// Text of notes and answers as it is shown: always as text, never as HTML.

import { clean } from "./api.js";
import { html } from "./ui.js";

const MARKUP =
  /\*\*(?<bold>[^*\n]+)\*\*|`(?<code>[^`\n]+)`|\[\[(?<note>[^[\]|\n]+)(?:\|(?<shown>[^[\]\n]+))?\]\]|\[(?<label>[^[\]\n]+)\]\((?<url>[^()\s]+)\)|\*(?<em>[^*\s][^*\n]*)\*/g;
const FRONTMATTER = /^---[ \t]*\n[^]*?\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** A line with its bold words, code and links. Only links to the web can be followed. */
export function inline(text, value = "") {
  const at = value ? text.indexOf(value) : -1;
  if (at >= 0) {
    return [...marks(text.slice(0, at)), html`<strong>${value}</strong>`, ...marks(text.slice(at + value.length))];
  }
  return marks(text);
}

function marks(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(MARKUP)) {
    const { bold, code, note, shown, label, url, em } = match.groups;
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (bold) parts.push(html`<strong>${bold}</strong>`);
    else if (code) parts.push(html`<code>${code}</code>`);
    else if (em) parts.push(html`<em>${em}</em>`);
    else if (note) parts.push(shown ?? note);
    else if (/^https?:\/\//i.test(url))
      parts.push(html`<a href=${url} target="_blank" rel="noopener noreferrer">${label}</a>`);
    else parts.push(label);
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

/** Where a quote stands in a passage, which may be wrapped in another way: [start, end], or null. */
function findQuote(passage, quote) {
  const words = quote.split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const found = new RegExp(pattern).exec(passage);
  return found && [found.index, found.index + found[0].length];
}

/** A passage, line by line, with the lines of the quotes marked and their words lit; `first` is the number of its first
    line, if lines are what is counted. With `around` only so many lines beside the marked ones are shown. */
export function Passage({ text, quotes = [], first = null, around = Infinity }) {
  const spans = quotes.map((quote) => findQuote(text, quote)).filter(Boolean);
  const front = FRONTMATTER.exec(text)?.[0].length ?? 0;
  let start = 0;
  const rows = text.split("\n").map((line, index) => {
    const row = { line, index, start, lit: spans.filter(([from, to]) => from < start + line.length + 1 && to > start) };
    start += line.length + 1;
    return row;
  });
  const marked = rows.filter((row) => row.lit.length).map((row) => row.index);
  const near = (row) => !marked.length || marked.some((index) => Math.abs(index - row.index) <= around);
  return html`<div class="passage ${first === null ? "" : "numbered"}">
    ${rows.filter(near).map(
      (row) => html`<div class="row ${row.lit.length ? "marked" : ""} ${row.start < front ? "front" : ""}">
        ${first === null ? null : html`<span class="number" aria-hidden="true">${first + row.index}</span>`}
        <span class="words">${light(row)}</span>
      </div>`,
    )}
  </div>`;
}

function light({ line, start, lit }) {
  if (!lit.length) return line || " ";
  const [from, to] = lit[0].map((place) => Math.min(Math.max(place - start, 0), line.length));
  return [line.slice(0, from), html`<mark>${line.slice(from, to)}</mark>`, line.slice(to)];
}

/** The number of a passage's first line, where lines are what is counted and run on one by one; else null. */
export function firstLine(passage) {
  if (passage.line === null || (passage.counted !== "line" && passage.counted !== "message")) return null;
  return passage.end_line - passage.line + 1 === passage.text.split("\n").length ? passage.line : null;
}

/** A path as short as it is clear: from the watched folder that holds it. */
export function shortPath(uri, folders) {
  const path = clean(uri);
  for (const { path: folder } of folders) {
    const parent = folder.replace(/\/+$/, "").replace(/[^/]+$/, "");
    if (path.startsWith(`${folder.replace(/\/+$/, "")}/`)) return path.slice(parent.length);
  }
  const parts = path.split("/");
  return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : path;
}

/** Where a fact or a citation stands, for a person: `notes/fog.md:14`. */
export function place({ uri, place, label }, folders) {
  return uri.startsWith("note:me/") || uri.startsWith("note:corrected/")
    ? "you said so"
    : shortPath(place ?? label, folders);
}

/** `3 May 2026`; nothing for none. */
export function day(at) {
  return at ? told(at.slice(0, 10)) : "";
}

export const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** `today 14:02`, `yesterday 09:10`, `3 May 2026`. */
export function when(at) {
  const moment = new Date(at);
  const midnight = new Date().setHours(0, 0, 0, 0);
  const days = Math.round((midnight - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000);
  const time = moment.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (days === 0 || days === 1) return `${days ? "yesterday" : "today"} ${time}`;
  return `${moment.getDate()} ${MONTHS[moment.getMonth()]} ${moment.getFullYear()}`;
}

/** Those of the words that there are, with dots between them. */
export const dotted = (...words) => words.filter(Boolean).join(" · ");

/** `1,204 passages`, `1 passage`. */
export const count = (number, noun) => `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;

const MODALITY = {
  past: "no longer",
  negated: "not so",
  plan: "planned",
  hypothesis: "perhaps",
  question: "a question",
};

/** What a fact says, with how it is meant where it is not simply so. */
export function statement(fact) {
  const meant = MODALITY[fact.modality === "negated" && fact.origin === "rule" ? "past" : fact.modality];
  return `${fact.text.replace(/\s+/g, " ").trim()}${meant ? ` (${meant})` : ""}`;
}

/** A day, month or year as precisely as it is named: `9 Mar 2026`, `Mar 2026`, `2026`. */
export function told(time) {
  const [year, month, date] = time.split("-").map(Number);
  return [date, MONTHS[month - 1], year].filter(Boolean).join(" ");
}

/** From when and until when a fact held, or when it was read. */
export function held(fact) {
  if (fact.since && fact.until && fact.since !== fact.until) return `${told(fact.since)} to ${told(fact.until)}`;
  if (fact.until) return `until ${told(fact.until)}`;
  return fact.since ? `since ${told(fact.since)}` : `read ${day(fact.recorded)}`;
}
