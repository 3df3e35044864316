// Ask: questions, their answers as they are written, and beside them what they rest on.

import { get, post, stream } from "./api.js";
import { Evidence } from "./evidence.js";
import { dotted, inline, shortPath } from "./text.js";
import {
  Empty, go, html, keepAddress, Problem, useEffect, useKeys, useLayoutEffect, useListener, useRef, useState,
} from "./ui.js";

const MAX_QUESTION = 4000; // characters, as in the chat

/** The session that is on the page; it stays while other pages are looked at. */
const session = {
  id: null,
  title: "",
  turns: [],
  chosen: null,
  stop: null,
  problem: null,
};

const changed = () => document.dispatchEvent(new Event("palimpsest:session"));

function useSession() {
  const [, redraw] = useState({});
  useListener(["palimpsest:session"], () => redraw({}));
  return session;
}

/** Asks, and shows the page with the answer. A question that is running is stopped. */
export async function ask(question) {
  stop();
  const turn = { question, lines: [], citations: [], stages: {}, text: "", state: "running" };
  const abort = new AbortController();
  session.stop = abort;
  session.turns.push(turn);
  session.chosen = session.problem = null;
  go("ask", ...(session.id === null ? [] : [session.id]));
  changed();
  try {
    if (session.id === null) {
      session.id = (await post("/conversations", { title: question }, { signal: abort.signal })).id;
      keepAddress("ask", session.id);
    }
    const body = { question, conversation: session.id, own_words: true };
    for await (const event of stream("/ask", body, abort.signal)) {
      take(turn, event);
      changed();
    }
    if (turn.state === "running") turn.state = "broken";
  } catch (problem) {
    turn.state = abort.signal.aborted ? "stopped" : "failed";
    turn.problem = problem;
  }
  if (session.stop === abort) session.stop = null;
  changed();
}

function stop() {
  session.stop?.abort();
  session.stop = null;
}

function take(turn, event) {
  switch (event.type) {
    case "Step":
      if (event.phrase) turn.stages[event.name] = event.phrase;
      break;
    case "SavedStatement":
      turn.told = event;
      break;
    case "Preview":
      turn.preview = event;
      break;
    case "Citation":
      turn.citations.push(event);
      turn.preview = null;
      break;
    case "Token":
      turn.text += event.text;
      turn.preview = null;
      turn.lines = turn.text.split("\n").map((text) => ({ text, kind: "text", citations: [] })); // until it is whole
      break;
    case "Answered":
      Object.assign(turn, { ...event, question: turn.question, stages: turn.stages, preview: null, state: "done" });
      if (session.chosen === null && turn.citations.length) session.chosen = { turn, n: turn.citations[0].n };
  }
}

function begin(id = null) {
  stop();
  Object.assign(session, { id, title: "", turns: [], chosen: null, problem: null });
  changed();
}

/** Takes up a session of another day. */
async function resume(id) {
  begin(id);
  try {
    const { conversation, messages } = await get(`/conversations/${id}`);
    if (session.id !== id) return;
    session.title = conversation.title;
    for (const one of messages) {
      if (one.role === "user")
        session.turns.push({ question: one.text, lines: [], citations: [], stages: {}, state: "stopped" });
      else if (session.turns.length) {
        Object.assign(session.turns.at(-1), {
          ...one,
          missing: [],
          state: one.state === "complete" ? "done" : "stopped",
          asOf: one.as_of ? new Date(one.as_of).toLocaleDateString("sv") : "", // as it was typed: 2026-03-09
        });
      }
    }
  } catch (problem) {
    if (!Object.is(session.id, id)) return;
    session.problem = problem;
    if (problem.code !== "gone") session.id = null; // what is asked here begins another one
  }
  changed();
}

export function AskPage({ parts: [id], status }) {
  const { turns, chosen, problem } = useSession();
  const end = useRef();
  const [open, setOpen] = useState(false); // the evidence, where there is no room beside the answer
  useEffect(() => {
    if (id !== undefined && Number(id) !== session.id) resume(Number(id));
  }, [id]);
  useEffect(
    () => end.current?.scrollIntoView({ block: "end" }),
    [turns.length, turns.at(-1)?.lines.length, turns.at(-1)?.state],
  );
  useKeys({
    "]": () => step(1),
    "[": () => step(-1),
    Escape: () => (open ? setOpen(false) : stop()),
  });
  const choose = (turn, n) => {
    session.chosen = { turn, n };
    setOpen(true);
    changed();
  };
  return html`<div class="ask ${chosen ? "with-evidence" : ""}">
    <div class="conversation">
      <div class="turns" aria-live="polite">
        <${Problem} problem=${problem} />
        ${!turns.length && !problem && html`<${Empty} title="Ask in your own words.">
          Every line of an answer has the number of its source; the passage is next to it.
        <//>`}
        ${turns.map((turn) => html`<${Turn} turn=${turn}
          chosen=${chosen?.turn === turn ? chosen.n : null} choose=${(n) => choose(turn, n)} />`)}
        <div ref=${end}></div>
      </div>
      <${Prompt} />
    </div>
    ${
      chosen &&
      html`<${Evidence} key=${chosen.turn.trace_id} turn=${chosen.turn} n=${chosen.n} choose=${(n) => choose(chosen.turn, n)}
      open=${open} close=${() => setOpen(false)} folders=${status.files.folders} />`
    }
  </div>`;
}

function step(by) {
  const turn = session.chosen?.turn ?? session.turns.at(-1);
  if (!turn?.citations.length) return;
  const at = turn.citations.findIndex((one) => one.n === session.chosen?.n);
  const next = turn.citations[Math.min(Math.max(at + by, 0), turn.citations.length - 1)];
  session.chosen = { turn, n: next.n };
  changed();
}

function Turn({ turn, chosen, choose }) {
  const [unfolded, setUnfolded] = useState(false);
  const folded = turn.lines.filter((line) => line.kind === "folded");
  const shown = turn.preview?.lines ?? (unfolded ? turn.lines : turn.lines.filter((line) => line.kind !== "folded"));
  return html`<article class="turn ${turn.state}">
    <h2 class="question">${turn.question}</h2>
    ${turn.state === "running" && html`<p class="waiting">${Object.values(turn.stages).join(" · ") || "Looking…"}</p>`}
    ${turn.preview && html`<p class="muted">
      ${turn.preview.model} is ${turn.preview.is_loading ? "being loaded" : "asked"}. ${shown.length ? "Until it answers, the lines that answer:" : ""}
    </p>`}
    <div class="answer ${turn.preview ? "preview" : ""} ${turn.kind && turn.kind !== "answer" ? turn.kind : ""}">
      ${shown.map((line) => html`<${Line} line=${line} chosen=${chosen} choose=${choose} />`)}
    </div>
    ${
      folded.length > 0 &&
      !turn.preview &&
      html`<button class="quiet" aria-expanded=${unfolded} onClick=${() => setUnfolded(!unfolded)}>
      ${unfolded ? "▾" : "▸"} also found: ${folded.length}</button>`
    }
    ${turn.citations.filter((one) => one.verdict === "unproved").map((one) => html`<p class="muted">
      [${one.n}] “${one.quote}”</p>`)}
    ${turn.missing?.length > 0 && html`<p class="muted">Missing: ${turn.missing.join(", ")}</p>`}
    ${turn.note && html`<p class="muted">${turn.note}</p>`}
    ${turn.told && turn.state === "done" && html`<${SavedStatement} turn=${turn} />`}
    ${turn.state === "stopped" && html`<p class="muted">Stopped.</p>`}
    ${turn.state === "broken" && html`<p class="muted">The answer was interrupted.</p>`}
    ${turn.state === "failed" && html`<${Problem} problem=${turn.problem} />`}
    ${turn.state === "done" && html`<${Meta} turn=${turn} />`}
  </article>`;
}

/** What was told beside what was asked: kept, not kept, or taken back; `source` is the note that holds it. */
function SavedStatement({ turn }) {
  const { text, source, besides, changes = [] } = turn.told;
  const send = async (path, body, became) => {
    try {
      const told = await post(path, body);
      turn.told = { ...turn.told, ...became(told), problem: null };
    } catch (problem) {
      turn.told = { ...turn.told, problem };
    }
    changed();
  };
  const keep = () =>
    send("/told", { text, conversation: session.id }, (told) => ({ ...told, besides: besides || turn.question }));
  const takeBack = () => send("/told/undo", { source }, () => ({ source: "", changes: [], gone: true }));
  const said = turn.told.gone ? "Forgotten: " : source ? "Saved in your own words: " : "Not saved: ";
  return html`<div class="told">
    ${(besides || !source) && html`<p>${said}“${text}”</p>`}
    ${besides && changes.map((one) => html`<p>
      From now on: ${one.new.statement}; before: ${one.old.statement}
    </p>`)}
    ${turn.told.problem && html`<p class="problem" role="alert">${turn.told.problem.message}</p>`}
    ${
      source
        ? html`<button class="quiet" onClick=${takeBack}>Take it back</button>`
        : html`<button class="quiet" onClick=${keep}>Keep it</button>`
    }
    ${!source && !turn.told.gone && html`<span class="muted">To save what you tell me: pal config set chat.remember yes</span>`}
  </div>`;
}

function Line({ line, chosen, choose }) {
  return html`<p class="line ${line.kind}">
    ${line.kind === "earlier" && html`<span class="tag">earlier:</span> `}${inline(line.text, line.value)}
    ${line.kind !== "text" && line.citations.map((n) => html`<button class="cite" aria-pressed=${chosen === n}
      aria-label=${`source ${n}`} onClick=${() => choose(n)}>${n}</button>`)}
  </p>`;
}

/** What part of the memory a question was limited to in the chat; "" for all of it. */
function limitsOf(within) {
  if (!within) return "";
  const places = [...within.sources, ...within.folders.filter((place) => !place.endsWith("#"))];
  const limits = [...places.map((place) => shortPath(place, [])), ...within.tags.map((tag) => `#${tag}`)];
  return limits.length ? `within ${limits.join(", ")}` : "";
}

function Meta({ turn }) {
  const said = [
    turn.asOf ? `as of ${turn.asOf}` : "",
    limitsOf(turn.within),
    turn.model ? `written by ${turn.model}` : "",
  ];
  const judge = async (verdict) => {
    const next = turn.verdict === verdict ? "none" : verdict;
    try {
      await post(`/traces/${turn.trace_id}/feedback`, { verdict: next });
      turn.verdict = next === "none" ? null : next;
    } catch (problem) {
      Object.assign(turn, { state: "failed", problem });
    }
    changed();
  };
  return html`<div class="meta">
    ${
      turn.trace_id != null &&
      html`<span class="verdicts">
      ${turn.citations.length > 0 && html`<span>why this? <kbd>w</kbd> ·</span>`}
      <button class="quiet" aria-pressed=${turn.verdict === "good"} onClick=${() => judge("good")}>right</button>·
      <button class="quiet" aria-pressed=${turn.verdict === "bad"} onClick=${() => judge("bad")}>not right?</button>
    </span>`
    }
    <span>${dotted(...said)}</span>
  </div>`;
}

function Prompt() {
  const { stop: running, turns } = useSession();
  const [question, setQuestion] = useState("");
  const field = useRef();
  useLayoutEffect(() => field.current.focus(), []);
  useEffect(() => {
    field.current.style.height = "auto";
    field.current.style.height = `${Math.min(field.current.scrollHeight + 2, 200)}px`;
  }, [question]);
  const submit = (event) => {
    event?.preventDefault();
    const text = field.current.value.trim(); // which is ahead of what was drawn when keys come at once
    if (!text || text.length > MAX_QUESTION) return;
    setQuestion("");
    ask(text);
  };
  const press = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    else if (event.key === "ArrowUp" && !event.target.value && turns.length) setQuestion(turns.at(-1).question);
    else if (event.key === "Escape" && running) {
      event.preventDefault();
      event.stopPropagation();
      setQuestion(turns.at(-1).question);
      stop();
    }
  };
  return html`<form class="prompt" onSubmit=${submit}>
    <textarea data-first ref=${field} rows="1" value=${question} placeholder="Ask your memory" aria-label="Ask your memory"
      onInput=${(event) => setQuestion(event.target.value)} onKeyDown=${press}></textarea>
    <div class="controls">
      ${question.length > MAX_QUESTION && html`<span class="warn">${question.length - MAX_QUESTION} characters too many</span>`}
      ${turns.length > 0 && html`<button type="button" class="quiet"
        onClick=${() => (begin(), go("ask"), field.current.focus())}>New session</button>`}
      ${running ? html`<button type="button" onClick=${stop}>Stop</button>` : html`<button disabled=${!question.trim()}>Ask</button>`}
    </div>
  </form>`;
}
