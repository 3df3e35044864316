// Text of notes and answers as it is shown: always as text, never as HTML.

import { clean } from "./api.js";
import { html } from "./ui.js";

const MARKUP =
  /\*\*(?<bold>[^*\n]+)\*\*|`(?<code>[^`\n]+)`|\[\[(?<note>[^[\]|\n]+)(?:\|(?<shown>[^[\]\n]+))?\]\]|\[(?<label>[^[\]\n]+)\]\((?<url>[^()\s]+)\)|\*(?<em>[^*\s][^*\n]*)\*/g;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
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
    line, if lines are what is counted. Markdown is drawn. With `around` only so many lines beside the marked ones are
    shown. */
export function Passage({ text, isMarkdown, quotes = [], first = null, around = Infinity }) {
  const spans = quotes.map((quote) => findQuote(text, quote)).filter(Boolean);
  const front = FRONTMATTER.exec(text)?.[0].length ?? 0;
  let start = 0;
  let isCode = false;
  const rows = text.split("\n").map((line, index) => {
    const lit = spans.filter(([from, to]) => from < start + line.length + 1 && to > start)[0];
    const isFence = isMarkdown && /^\s*(```|~~~)/.test(line);
    const draw = isMarkdown && start >= front && !isCode && !isFence ? drawMarkdown : drawWords;
    if (isFence) isCode = !isCode;
    const row = { line, index, lit, draw, isFront: start < front, span: lit?.map((place) => place - start) };
    start += line.length + 1;
    return row;
  });
  const marked = rows.filter((row) => row.lit).map((row) => row.index);
  const near = (row) => !marked.length || marked.some((index) => Math.abs(index - row.index) <= around);
  return html`<div class="passage ${first === null ? "" : "numbered"}">
    ${rows.filter(near).map(
      (row) => html`<div class="row ${row.lit ? "marked" : ""} ${row.isFront ? "front" : ""}">
        ${first === null ? null : html`<span class="number" aria-hidden="true">${first + row.index}</span>`}
        <span class="words">${row.draw(row.line, row.span)}</span>
      </div>`,
    )}
  </div>`;
}

/** A line whose words from one place to another are lit. */
function drawWords(line, span, draw = (text) => text) {
  const [from, to] = (span ?? [0, 0]).map((place) => Math.min(Math.max(place, 0), line.length));
  if (from === to) return draw(line || " ");
  return [draw(line.slice(0, from)), html`<mark>${draw(line.slice(from, to))}</mark>`, draw(line.slice(to))];
}

/** A line of Markdown as a heading, a row of a table, an item or a paragraph. */
function drawMarkdown(line, span) {
  const [, mark = "", rest] = /^(\s*(?:#{1,6}|[-*+]|>)\s+|\s*\|(?=.*\|\s*$))?(.*)$/.exec(line);
  if (mark.trim() === "|") {
    const cells = rest.split(/(?<!\\)\|/).slice(0, -1);
    if (cells.every((cell) => /^\s*:?-+:?\s*$/.test(cell))) return "";
    return html`<span class="cells">${cells.map((cell) => html`<span>${span ? html`<mark>${marks(cell)}</mark>` : marks(cell)}</span>`)}</span>`;
  }
  const words = drawWords(rest, span?.map((place) => place - mark.length), marks);
  if (mark.trim().startsWith("#")) return html`<strong class="heading">${words}</strong>`;
  return [mark.replace(/[-*+]/, "•"), words];
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
export const day = (at) => (at ? DAY.format(new Date(`${at.slice(0, 10)}T00:00`)) : "");

/** `3 May 2026, 14:02`. */
export const when = (at) => MOMENT.format(new Date(at));

/** Those of the words that there are, with dots between them. */
export const dotted = (...words) => words.filter(Boolean).join(" · ");

/** `1,204 passages`, `1 passage`. */
export const count = (number, noun) => `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;
