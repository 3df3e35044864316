// The page: which part of it is shown, what the memory is doing, and the keys that go everywhere.

import { get, hasSession, openSession, Refused } from "./api.js";
import { AskPage } from "./ask.js";
import { GraphPage } from "./graph.js";
import { HomePage } from "./home.js";
import { MemoryPage, NotePage, ThingPage } from "./memory.js";
import { ReviewPage } from "./review.js";
import { count } from "./text.js";
import { TimelinePage } from "./timeline.js";
import {
  address, go, html, isTyping, next, parts, render, useEffect, useKept, useListener, useRef, useState,
} from "./ui.js";

const POLL_MS = 5_000;
const PAGES = {
  home: ["Home", HomePage],
  ask: ["Ask", AskPage],
  memory: ["Memory", MemoryPage],
  graph: ["Graph", GraphPage],
  timeline: ["Timeline", TimelinePage],
  review: ["Review", ReviewPage],
};
const DETAILS = { thing: ThingPage, note: NotePage };
const THEMES = { system: "as the system", dark: "dark", light: "light" };

const KEYS = [
  ["1 … 6", "Go to a page."],
  ["/", "Go to the question or the search field."],
  ["j or ↓, k or ↑", "Move in a list."],
  ["Enter", "Open the selection; in the question: ask."],
  ["Esc", "Leave the field; stop the running answer; go back."],
  ["w", "On Ask: show why the passage was found."],
  ["[ , ]", "On Ask: previous citation, next citation."],
  ["a, o, b, u", "On Review: keep new, keep old, both are true; undo."],
  ["letters", "Type in the question or the search field."],
  ["?", "Show these keys."],
];

/** What the memory is doing, as it was told last; asked for while somebody looks. */
function useStatus() {
  const [status, setStatus] = useState({ files: { folders: [] } });
  const timer = useRef();
  const look = async () => {
    clearTimeout(timer.current);
    if (document.visibilityState !== "visible") return;
    await get("/status", {}, { background: true }).then(setStatus, () => {});
    timer.current = setTimeout(look, POLL_MS);
  };
  useEffect(() => {
    look();
    return () => clearTimeout(timer.current);
  }, []);
  useListener(["visibilitychange", "palimpsest:changed"], look);
  return status;
}

function useHash() {
  const [hash, setHash] = useState(location.hash);
  useListener(["hashchange", "palimpsest:route"], () => setHash(location.hash), [], window);
  return hash;
}

function App() {
  const status = useStatus();
  const [gone, setGone] = useState(null);
  const [theme, setTheme] = useKept("theme", "system");
  const help = useRef();
  const main = useRef();
  const [name = "home", ...rest] = parts(useHash());
  const isDetail = Object.hasOwn(DETAILS, name);
  const Shown = isDetail ? DETAILS[name] : Object.hasOwn(PAGES, name) ? PAGES[name][1] : null;
  const here = isDetail ? "memory" : name;

  useListener(["palimpsest:gone"], ({ detail }) => setGone(detail));
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("palimpsest:theme"));
  }, [theme]);
  useEffect(() => {
    document.title = `${PAGES[here]?.[0] ?? "No such page"} · Palimpsest`;
  }, [here]);
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
      return;
    }
    const page = Object.keys(PAGES)[Number(event.key) - 1];
    const field = main.current.querySelector("[data-first]");
    if (page) go(page);
    else if (event.key === "?") help.current.showModal();
    else if (event.key === "/" && !field) go("memory");
    else if (event.key === "/") field.focus();
    else if (/^\p{L}$/u.test(event.key)) return field?.focus(); // where the letter is then typed
    else if (event.key === "Escape" && isDetail) history.back();
    else return;
    event.preventDefault();
  };
  useListener(["keydown"], press, [name], window); // after the keys of the page, which are of the document

  if (gone?.code === "no_session") return html`<${Closed} problem=${gone} />`;
  return html`
    <nav class="rail" aria-label="Pages">
      <a class="wordmark" href=${address("home")}>Palimpsest</a>
      <ul>
        ${Object.entries(PAGES).map(
          ([page, [title]], index) => html`<li>
            <a href=${address(page)} aria-current=${page === here ? "page" : undefined}>
              <kbd aria-hidden="true">${index + 1}</kbd>${title}
              ${page === "review" && status.review > 0 && html`<span class="badge" title="wait for you">${status.review}</span>`}
            </a>
          </li>`,
        )}
      </ul>
      <div class="foot">
        <p class="state" aria-live="polite">${describe(status)}</p>
        <button class="quiet" onClick=${() => setTheme(next(Object.keys(THEMES), theme))}>Colours: ${THEMES[theme]}</button>
        <button class="quiet" onClick=${() => help.current.showModal()}>Keys (?)</button>
      </div>
    </nav>
    <main ref=${main} tabindex="-1">
      ${gone && html`<div class="gone" role="alert">${gone.message} To open it again, run in your terminal: <code>${gone.remedy}</code></div>`}
      ${
        Shown
          ? html`<${Shown} key=${name} parts=${rest} status=${status} />`
          : html`<div class="sheet"><p class="lead">There is no such page.</p><a href=${address("home")}>Go home</a></div>`
      }
    </main>
    <dialog ref=${help} class="help" aria-label="Keys" onClick=${(event) => event.target === help.current && help.current.close()}>
      <form method="dialog"><h2>Keys</h2><button class="quiet" autofocus>Close</button></form>
      <dl>${KEYS.map(([keys, does]) => html`<div><dt>${keys}</dt><dd>${does}</dd></div>`)}</dl>
    </dialog>
  `;
}

function describe(status) {
  if (status.stats === undefined) return "";
  if (status.files.safe_mode) return status.files.safe_mode;
  if (status.disk?.text) return status.disk.text;
  if (status.files.queue > 0) return `${count(status.files.queue, "note")} to read`;
  return count(status.stats.sources, "note");
}

function Closed({ problem }) {
  return html`<div class="closed">
    <p class="wordmark">Palimpsest</p>
    <p class="lead">${problem.message}</p>
    <p>A link opens the page once, in one browser. For a new link, run in your terminal:</p>
    <p><code>${problem.remedy || "pal web"}</code></p>
  </div>`;
}

/** The link's token is behind the #: it is in no request but this one, and in no history. */
async function begin() {
  const page = document.getElementById("page");
  let refused = null;
  if (location.hash && !location.hash.startsWith("#/")) {
    const token = location.hash.slice(1);
    history.replaceState(null, "", `${location.pathname}#/home`);
    await openSession(token).catch((problem) => {
      refused = problem;
    });
  } else if (!hasSession()) {
    refused = new Refused({ code: "no_session", message: "Open this page from your terminal." });
  }
  render(refused ? html`<${Closed} problem=${refused} />` : html`<${App} />`, page);
}

begin();
