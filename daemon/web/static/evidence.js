// Beside an answer: the lines it cites, the passage of the chosen one, and why it was found.

import { day, dotted, Passage, place } from "./text.js";
import { address, html, noteAddress, NotYet, Problem, useAnswer, useKept, useKeys } from "./ui.js";

export function Evidence({ turn, n, choose, open, close, folders }) {
  const cited = turn.citations.find((one) => one.n === n) ?? turn.citations[0];
  const [why, setWhy] = useKept("why", "");
  useKeys({ w: () => setWhy(why ? "" : "1") });
  if (!cited) return null;
  return html`<aside class="evidence ${open ? "open" : ""}" aria-label="Evidence">
    <header>
      <h2>Evidence</h2>
      <button class="quiet close" onClick=${close}>Close</button>
    </header>
    <ol class="citations">
      ${turn.citations
        .filter((one) => !one.folded || one.n === n)
        .map(
          (one) => html`<li>
          <button aria-pressed=${one.n === cited.n} onClick=${() => choose(one.n)}>
            <span class="cite">${one.n}</span>
            <span>
              <b>${one.title || place(one, folders)}</b>
              <small>${dotted(day(one.at), one.message && one.speaker, one.earlier && "earlier")}</small>
            </span>
          </button>
        </li>`,
        )}
    </ol>
    <${Cited} cited=${cited} folders=${folders} />
    <div class="actions">
      ${turn.trace_id != null && html`<button class="quiet" aria-pressed=${Boolean(why)}
        onClick=${() => setWhy(why ? "" : "1")}><kbd>w</kbd> Why this passage</button>`}
    </div>
    ${why && turn.trace_id != null && html`<${Reason} trace=${turn.trace_id} n=${cited.n} />`}
  </aside>`;
}

function Cited({ cited, folders }) {
  const { data: passage, problem } = useAnswer(`/episodes/${cited.episode_id}`);
  const current = passage?.episode_id === cited.episode_id ? passage : null;
  return html`<section class="cited">
    <p class="where">
      <a href=${noteAddress(cited)}>${place(cited, folders)}</a>
      <span>${[cited.message && cited.speaker, day(cited.at)].filter(Boolean).join(", ")}</span>
    </p>
    <${Problem} problem=${problem} />
    <${Passage} text=${current?.text ?? cited.passage} isMarkdown=${cited.is_markdown} quotes=${[cited.quote]}
      first=${current && current.first_line} />
  </section>`;
}

function Reason({ trace, n }) {
  const { data, problem } = useAnswer(`/traces/${trace}/why`);
  const used = data?.used.find((one) => one.cited.n === n);
  if (!data) return html`<${NotYet} problem=${problem} />`;
  if (!used) return html`<p class="muted">The search of this passage is not stored.</p>`;
  return html`<section class="reason">
    <p class="path">${used.path.map((hop, index) => html`<${Hop} hop=${hop} isFirst=${index === 0} />`)}</p>
    ${data.chain.filter((way) => way.includes(`[${n}]`)).map((way) => html`<p class="path">
      ${way.split("; ").map((step) => html`<span class="step">${step}</span>`)}
    </p>`)}
    ${used.place !== null && html`<p class="muted">
      Place ${used.place} of ${data.shown || "those"} that were looked at, with ${Math.round(100 * (used.score ?? 0))} % of the
      best score.
    </p>`}
    ${data.reasons.map((reason) => html`<p class="muted">${reason}</p>`)}
  </section>`;
}

/** A step on the way from the question to a passage: by what, and to where. */
function Hop({ hop, isFirst }) {
  const arrow = hop.inverse && hop.relation ? "←" : "→";
  return html`
    ${!isFirst && html`<span class="edge">${hop.relation ? `${arrow} ${hop.relation} ${arrow}` : arrow}</span>`}
    ${hop.kind === "object"
      ? html`<a href=${address("thing", hop.label)}>${hop.label}</a>`
      : html`<span>passage “${hop.label}”</span>`}
  `;
}
