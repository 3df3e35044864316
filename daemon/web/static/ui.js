// What all pages are made of.

import { get } from "./api.js";

const YEAR_S = 365 * 86_400;

export const { h, render } = globalThis.preact;
export const { useEffect, useLayoutEffect, useMemo, useRef, useState } = globalThis.preactHooks;
export const html = globalThis.htm.bind(h);

/** Listens while the page is shown; to the listener of the first drawing, or of the last where `inputs` changed. */
export function useListener(names, listener, inputs = [], target = document) {
  useEffect(() => {
    for (const name of names) target.addEventListener(name, listener);
    return () => names.forEach((name) => target.removeEventListener(name, listener));
  }, inputs);
}

/** What the daemon answers: {data, problem}, neither while it works. Asked again when path or query differ, when
    `again` is called, and when the daemon is back. What was there stays until then. */
export function useAnswer(path, query = {}) {
  const [state, setState] = useState({});
  const [turn, setTurn] = useState(0);
  const key = path && `${path}?${JSON.stringify(query)}`;
  useEffect(() => {
    if (!path) return undefined;
    const abort = new AbortController();
    get(path, query, { signal: abort.signal }).then(
      (data) => setState({ data, key }),
      (problem) => abort.signal.aborted || setState({ problem, key }),
    );
    return () => abort.abort();
  }, [key, turn]);
  const ask = () => setTurn(turn + 1);
  useListener(["palimpsest:gone"], ({ detail }) => !detail && state.problem?.code === "gone" && ask(), [state, turn]);
  return { ...state, isCurrent: state.key === key, again: ask };
}

/** A value that is kept in this browser; `fallback` while there is none. In a cookie, which is not lost when the page has
    another port the next time: nothing that others may not know. */
export function useKept(name, fallback) {
  const [value, setValue] = useState(() => {
    const kept = document.cookie.split("; ").find((one) => one.startsWith(`palimpsest.${name}=`));
    return kept ? decode(kept.slice(kept.indexOf("=") + 1)) : fallback;
  });
  const keep = (next) => {
    document.cookie = `palimpsest.${name}=${encodeURIComponent(next)}; path=/; samesite=strict; max-age=${YEAR_S}`;
    setValue(next);
  };
  return [value, keep];
}

/** The value as it was when it had not changed for so many milliseconds. */
export function useSettled(value, ms) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Keys of a page: {key: what it does}, where nothing is typed and no dialog is open. */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useListener(["keydown"], (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    const act = latest.current[event.key];
    if (!act || (event.key === "Enter" && event.target.closest("a, button, summary"))) return;
    event.preventDefault();
    act(event);
  });
}

export const isTyping = (target) => Boolean(target.closest?.("input, textarea, select, [contenteditable], dialog[open]"));

/** Moves through the elements of a list that take the focus: `step` of 1 or -1. */
export function moveFocus(list, step) {
  const items = [...(list?.querySelectorAll("[data-item]") ?? [])];
  if (!items.length) return;
  const at = items.indexOf(document.activeElement.closest("[data-item]"));
  const next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + step, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** The one after `value`, and after the last the first. */
export const next = (values, value) => values[(values.indexOf(value) + 1) % values.length];

/** The keys that move in a list. */
export function moveKeys(list) {
  const step = (by) => () => moveFocus(list.current, by);
  return { j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1) };
}

// Addresses within the page. What is named in them is encoded, so that a name is never read as a part of one.
export const address = (...parts) => `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
/** The page of a note, at the line of what stands there. */
export const noteAddress = ({ uri, line = null }) => address("note", uri, ...(line === null ? [] : [line]));
export const parts = (hash) => hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decode);
/** Goes to a page at once, so that what is typed next is typed there. */
export const go = (...to) => {
  location.hash = address(...to);
  dispatchEvent(new Event("palimpsest:route"));
};

/** Makes the address say what the page shows, unless somebody has gone to another page meanwhile. */
export function keepAddress(page, ...more) {
  if (parts(location.hash)[0] === page) history.replaceState(null, "", address(page, ...more));
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="lead">${title}</p><p>${children}</p></div>`;
}

/** What went wrong, with the command that helps. */
export function Problem({ problem, again }) {
  if (!problem || problem.code === "gone" || problem.code === "no_session") return null; // said above all pages
  return html`<div class="problem" role="alert">
    <p>${problem.message} ${problem.remedy}</p>
    ${again && html`<button class="quiet" onClick=${again}>Try again</button>`}
  </div>`;
}

export function Waiting({ children = "Looking…" }) {
  return html`<p class="waiting" aria-live="polite">${children}</p>`;
}

/** What is shown in place of an answer that is not there: that it is looked for, or why it cannot be. */
export const NotYet = ({ data, problem, again }) =>
  problem ? html`<${Problem} problem=${problem} again=${again} />` : !data && html`<${Waiting} />`;

/** A few choices of which one holds. */
export function Choices({ label, options, chosen, choose }) {
  return html`<div class="choices" role="group" aria-label=${label}>
    ${Object.entries(options).map(
      ([name, text]) =>
        html`<button type="button" aria-pressed=${chosen === name} onClick=${() => choose(name)}>${text}</button>`,
    )}
  </div>`;
}
