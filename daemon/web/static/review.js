// Review: what was replaced or ended, and where two notes disagree; and what a person says of it.

import { post } from "./api.js";
import { Passage, place, when } from "./text.js";
import {
  Choices, Empty, html, next, noteAddress, NotYet, useAnswer, useEffect, useKeys, useRef, useState,
} from "./ui.js";

const AROUND = 3; // lines on either side
const MOST = 500;
const FILTERS = { open: "Waiting", decided: "Decided", all: "All" };
const VERDICTS = { keep: "The new one is right", old: "The old one is right", both: "Both are true" };
const NOTHING = {
  open: [
    "There is nothing to review.",
    "When a note gives a new address or date, the memory uses the newer one and lists both here with their lines. " +
      "You say which is right. Only a language model notices that a sentence changed a fact (pal models).",
  ],
  decided: ["Nothing has been decided yet.", "Your decisions are listed here, and can be changed."],
  all: ["Nothing has changed yet.", "Facts that an edit replaced, and notes that disagree, are listed here."],
};

export function ReviewPage({ parts: [wanted], status }) {
  const [filter, setFilter] = useState("open");
  const { data, problem, again } = useAnswer("/revisions", { state: filter === "open" ? "open" : "all", limit: MOST });
  const { data: named } = useAnswer(wanted && `/revisions/${wanted}`);
  const [chosen, setChosen] = useState(null);
  const [done, setDone] = useState([]); // what was decided here, the last one last: [id, verdict before]
  const [said, setSaid] = useState("");
  const [failed, setFailed] = useState(null);
  const [busy, setBusy] = useState(false);
  const list = useRef();

  useEffect(() => {
    if (!named) return;
    if (named.state !== "open") setFilter("all");
    setChosen(named.id);
  }, [named]);
  useEffect(() => {
    again();
  }, [status.review]);

  const rows = (data?.revisions ?? []).filter((one) => filter !== "decided" || one.state !== "open");
  const at = Math.max(
    rows.findIndex((one) => one.id === chosen),
    0,
  );
  const one = rows[at];

  const settle = async (id, verdict) => {
    setBusy(true);
    setFailed(null);
    try {
      return await post(`/revisions/${id}`, { verdict });
    } catch (refused) {
      setFailed(refused);
      return null;
    } finally {
      setBusy(false);
      document.dispatchEvent(new CustomEvent("palimpsest:changed"));
    }
  };
  const decide = async (verdict) => {
    if (!one || busy) return;
    setChosen((rows[at + 1] ?? rows[at - 1])?.id ?? null);
    if (await settle(one.id, verdict)) {
      setDone([...done, [one.id, one.verdict]]);
      setSaid(`${VERDICTS[verdict]}: ${(verdict === "old" ? one.old : one.new).statement}`);
      again();
    }
  };
  const undo = async () => {
    const last = done.at(-1);
    if (!last || busy) return;
    if (await settle(...last)) {
      setDone(done.slice(0, -1));
      setSaid("Taken back.");
      setChosen(last[0]);
      again();
    }
  };
  const move = (step) => {
    const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
    if (!next) return;
    setChosen(next.id);
    list.current?.querySelector(`[data-id="${next.id}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    n: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    a: () => decide("keep"),
    o: () => decide("old"),
    b: () => decide("both"),
    u: undo,
    f: () => setFilter(next(Object.keys(FILTERS), filter)),
  });

  return html`<div class="review">
    <div class="bar">
      <${Choices} label="Which changes" options=${{ ...FILTERS, open: data ? `Waiting ${data.open}` : "Waiting" }} chosen=${filter} choose=${setFilter} />
      <p class="said" aria-live="polite">${said}</p>
      ${done.length > 0 && html`<button class="quiet" onClick=${undo} disabled=${busy}><kbd>u</kbd> Undo</button>`}
    </div>
    <${NotYet} data=${data} problem=${problem ?? failed} again=${again} />
    ${data && !rows.length && html`<${Empty} title=${NOTHING[filter][0]}>${NOTHING[filter][1]}<//>`}
    ${
      rows.length > 0 &&
      html`<div class="pair">
      <ol class="changes" ref=${list}>${rows.map(
        (row) => html`<li>
        <button data-id=${row.id} aria-current=${row === one ? "true" : undefined} onClick=${() => setChosen(row.id)}>
          <span>${(row.relation === "negates" ? row.old : row.new).statement}</span>
          <small>${row.title} · ${when(row.at)}${row.state === "open" ? "" : ` · ${row.outcome}`}</small>
        </button>
      </li>`,
      )}</ol>
      <${Change} key=${one.id} one=${one} decide=${decide} busy=${busy} folders=${status.files.folders} />
    </div>`
    }
  </div>`;
}

function Change({ one, decide, busy, folders }) {
  return html`<article class="change">
    <h2>${one.title}</h2>
    <p class="muted">${one.explanation}</p>
    <div class="sides">
      <${Side} title=${one.sides[0]} fact=${one.old} folders=${folders} isOver=${one.relation !== "contradicts"} />
      <${Side} title=${one.sides[1]} fact=${one.new} folders=${folders} />
    </div>
    <div class="verdicts">
      <button disabled=${busy} onClick=${() => decide("keep")}><kbd>a</kbd> ${VERDICTS.keep}</button>
      <button disabled=${busy} onClick=${() => decide("old")}><kbd>o</kbd> ${VERDICTS.old}</button>
      <button disabled=${busy} onClick=${() => decide("both")}><kbd>b</kbd> ${VERDICTS.both}</button>
    </div>
  </article>`;
}

/** The words of a passage that say so; of what is read out of fields, the line with the value. */
function quoteOf(fact, text) {
  return fact.quote || (text.split("\n").find((line) => fact.predicate && line.includes(fact.objects.at(-1))) ?? "");
}

function Side({ title, fact, folders, isOver = false }) {
  const { data: passage } = useAnswer(`/episodes/${fact.episode_id}`);
  return html`<section class="side ${isOver ? "old" : ""}">
    <h3>${title}</h3>
    <p class="says">${fact.statement}</p>
    <p class="where"><span>${fact.period}</span> <a href=${noteAddress(fact)}>${place(fact, folders)}</a></p>
    ${
      passage
        ? html`<${Passage} text=${passage.text} isMarkdown=${passage.is_markdown} quotes=${[quoteOf(fact, passage.text)]}
          first=${passage.first_line} around=${AROUND} />`
        : html`<${Passage} text=${fact.quote} />`
    }
  </section>`;
}
