// The graph: what stands beside what, at a time.

import { get } from "./api.js";
import { Drawing } from "./drawing.js";
import { count, day } from "./text.js";
import {
  address,
  Choices,
  Empty,
  go,
  html,
  Problem,
  useEffect,
  useKeys,
  useMemo,
  useRef,
  useState,
  Waiting,
} from "./ui.js";

const WHOM = "Center on…";
const DAY_MS = 86_400_000;
const EXPANDED = 40; // vertices around one
const SIZES = { 200: "200", 600: "600", 2000: "2,000" };
const ARROWS = { ArrowRight: 0, ArrowDown: Math.PI / 2, ArrowLeft: Math.PI, ArrowUp: -Math.PI / 2 };

/** A part of the graph that grows as it is looked into: {nodes, edges, problem, expand}. */
function useGraph(about, limit) {
  const [graph, setGraph] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    setProblem(null);
    setGraph(null);
    get("/graph", { about, limit }, { signal: abort.signal }).then(
      (found) => setGraph({ center: new Set(found.center), nodes: found.nodes, edges: found.edges }),
      (refused) => abort.signal.aborted || setProblem(refused),
    );
    return () => abort.abort();
  }, [about, limit]);
  const expand = (node) =>
    get("/graph", { about: node.uri || node.name, limit: EXPANDED }).then(
      (found) =>
        setGraph(
          (before) =>
            before && { ...before, nodes: join(before.nodes, found.nodes), edges: join(before.edges, found.edges) },
        ),
      setProblem,
    );
  return { graph, problem, expand };
}

function join(before, found) {
  const known = new Set(before.map((one) => one.id));
  return [...before, ...found.filter((one) => !known.has(one.id))];
}

/** What of a graph there was at a time (ms), of these kinds. */
export function visible({ center, nodes, edges }, at, hidden) {
  const held = (edge) =>
    (edge.since === null || Date.parse(edge.since) <= at) && (edge.until === null || Date.parse(edge.until) > at);
  const there = new Map(
    nodes
      .filter((node) => !hidden.has(node.kind) && (node.at === null || Date.parse(node.at) <= at))
      .map((node) => [node.id, node]),
  );
  const shown = edges.filter((edge) => there.has(edge.source) && there.has(edge.target) && held(edge));
  const joined = new Set([...center, ...shown.flatMap((edge) => [edge.source, edge.target])]);
  return { nodes: [...there.values()].filter((node) => joined.has(node.id)), edges: shown };
}

const nameKind = (kind) => ({ "": "things", note: "notes", email: "addresses" })[kind] ?? kind;
const pageOf = (node) => (node.uri ? ["note", node.uri] : ["thing", node.name]);

/** The drawing alone; `shown` or, without it, what stands around `about`. */
export function GraphView({
  about,
  limit,
  small = false,
  shown,
  chosen,
  choose = (node) => node && go(...pageOf(node)),
  handle,
}) {
  const own = useGraph(shown ? null : about, limit);
  const canvas = useRef();
  const drawing = useRef(null);
  const latest = useRef();
  latest.current = choose;
  const graph = useMemo(() => shown ?? (own.graph && visible(own.graph, Infinity, new Set())), [shown, own.graph]);
  useEffect(() => {
    drawing.current = new Drawing(canvas.current, {
      choose: (node) => latest.current(node),
      open: (node) => go(...pageOf(node)),
    });
    if (handle) handle.current = drawing.current;
    return () => drawing.current.close();
  }, []);
  useEffect(() => {
    if (graph) drawing.current.show(graph.nodes, graph.edges);
  }, [graph]);
  const press = (event) => {
    const view = drawing.current;
    if (event.key in ARROWS) view.step(ARROWS[event.key]);
    else if (event.key === "Enter" && view.chosen) go(...pageOf(view.chosen));
    else if (event.key === "+" || event.key === "=") view.zoomBy(1.4);
    else if (event.key === "-") view.zoomBy(1 / 1.4);
    else if (event.key === "0") view.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const said = graph ? `${graph.nodes.length} vertices, ${count(graph.edges.length, "edge")}` : "nothing yet";
  return html`<figure class="graph ${small ? "small" : ""}" data-nodes=${graph?.nodes.length} data-edges=${graph?.edges.length}>
    <canvas ref=${canvas} tabindex="0" role="application" onKeyDown=${press}
      aria-label=${`A drawing of ${said}. The arrows select a neighbour, Enter opens it. ${chosen ? `Selected: ${chosen.name}.` : ""}`}></canvas>
  </figure>`;
}

export function GraphPage({ parts: [about = ""] }) {
  const [limit, setLimit] = useState("200");
  const { graph, problem, expand } = useGraph(about, limit);
  const [hidden, setHidden] = useState(new Set());
  const [chosen, setChosen] = useState(null);
  const [name, setName] = useState("");
  const drawing = useRef(null);
  const [first, last] = useMemo(() => range(graph), [graph]);
  const [date, setDate] = useState(null); // days before the last; null: now
  const at = date === null ? last : Math.max(last - date * DAY_MS, first);
  const shown = useMemo(() => graph && visible(graph, at, hidden), [graph, at, hidden]);
  const kinds = useMemo(() => countKinds(graph), [graph]);
  useEffect(() => setChosen(null), [about, limit]);
  const choose = (node) => {
    setChosen(node);
    if (node) expand(node);
  };
  useKeys({
    e: () => chosen && expand(chosen),
    0: () => drawing.current?.fit(),
    "+": () => drawing.current?.zoomBy(1.4),
    "-": () => drawing.current?.zoomBy(1 / 1.4),
    ...Object.fromEntries(Object.entries(ARROWS).map(([key, angle]) => [key, () => drawing.current?.step(angle)])),
    Enter: () => chosen && go(...pageOf(chosen)),
  });
  const toggle = (kind) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  const search = (event) => {
    event.preventDefault();
    const text = event.target.querySelector("input").value.trim();
    go("graph", ...(text ? [text] : []));
  };
  const then = date === null ? "now" : day(new Date(at).toISOString());
  const span = Math.max(Math.ceil((last - first) / DAY_MS), 1);
  return html`<div class="explorer">
    <div class="bar">
      <form onSubmit=${search}>
        <input data-first type="search" list="names" value=${name} placeholder=${about ? shortName(about) : WHOM} aria-label=${WHOM}
          autocomplete="off" onInput=${(event) => setName(event.target.value)} />
        <${Names} begin=${name} />
      </form>
      ${about
        ? html`<a href=${address("graph")}>the whole memory</a>`
        : html`<${Choices} label="How many" options=${SIZES} chosen=${limit} choose=${setLimit} />`}
      <div class="kinds" role="group" aria-label="Kinds">
        ${kinds.map(([kind, number]) => html`<button aria-pressed=${!hidden.has(kind)} onClick=${() => toggle(kind)}>
          ${nameKind(kind)} <small>${number}</small>
        </button>`)}
      </div>
    </div>
    <${Problem} problem=${problem} />
    ${!graph && !problem && html`<${Waiting} />`}
    ${graph && !graph.nodes.length && html`<${Empty} title="There is nothing to draw yet.">
      Read some notes: <code>pal add ~/notes</code>
    <//>`}
    ${shown && html`<${GraphView} shown=${shown} chosen=${chosen} choose=${choose} handle=${drawing} />`}
    ${chosen && shown && html`<${Card} node=${chosen} graph=${shown} close=${() => setChosen(null)} />`}
    <div class="time">
      <label for="time">As of</label>
      <input id="time" type="range" min="0" max=${span} value=${span - (date ?? 0)} aria-valuetext=${then}
        onInput=${(event) => setDate(span - event.target.value || null)} />
      <output>${then}</output>
    </div>
  </div>`;
}

const shortName = (about) => about.split("/").at(-1);

function Names({ begin }) {
  const [names, setNames] = useState([]);
  useEffect(() => {
    if (begin.trim())
      get("/names", { begin, limit: 12 }).then(
        (found) => setNames(found.names),
        () => {},
      );
  }, [begin]);
  return html`<datalist id="names">${names.map((name) => html`<option value=${name} />`)}</datalist>`;
}

function Card({ node, graph: { nodes, edges }, close }) {
  const names = new Map(nodes.map((one) => [one.id, one.name]));
  const told = edges
    .filter((edge) => edge.relation && (edge.source === node.id || edge.target === node.id))
    .slice(0, 6);
  const kind = node.kind === "note" ? `a note ${node.at ? `of ${day(node.at)}` : ""}` : node.kind || "a thing";
  return html`<aside class="card" aria-live="polite">
    <button class="quiet close" onClick=${close} aria-label="Close">✕</button>
    <h2>${node.name}</h2>
    <p class="muted">${kind}, ${count(node.degree, "edge")}</p>
    ${told.map((edge) => html`<p class="told">
      ${edge.source === node.id
        ? html`${edge.relation} → <b>${names.get(edge.target)}</b>`
        : html`<b>${names.get(edge.source)}</b> → ${edge.relation}`}
    </p>`)}
    <p><a href=${address(...pageOf(node))}>Open its page</a> · <a href=${address("graph", node.uri || node.name)}>Center on it</a></p>
  </aside>`;
}

function countKinds(graph) {
  const found = new Map();
  for (const node of graph?.nodes ?? []) found.set(node.kind, (found.get(node.kind) ?? 0) + 1);
  return [...found].sort((one, other) => other[1] - one[1]);
}

/** The first and the last time that anything of a graph bears, in ms; the last is no earlier than now. */
function range(graph) {
  const times = [...(graph?.nodes ?? []).map((node) => node.at), ...(graph?.edges ?? []).map((edge) => edge.since)]
    .filter(Boolean)
    .map(Date.parse);
  const now = Date.now();
  return [
    times.reduce((one, other) => Math.min(one, other), now),
    times.reduce((one, other) => Math.max(one, other), now),
  ];
}
