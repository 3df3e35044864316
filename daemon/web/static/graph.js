// The graph: what is related to what.

import { get } from "./api.js";
import { Drawing } from "./drawing.js";
import { count, day } from "./text.js";
import { address, Empty, go, html, NotYet, useAnswer, useEffect, useMemo, useRef, useState } from "./ui.js";

const WHOM = "Center on…";
const LIMIT = 600; // vertices of the whole memory
const EXPANDED = 40; // vertices around one

/** A part of the graph that grows as it is looked into: {graph, problem, expand}. */
function useGraph(about) {
  const { data: found, problem, isCurrent } = useAnswer("/graph", { about, limit: LIMIT });
  const [more, setMore] = useState([]);
  const [failed, setFailed] = useState(null);
  useEffect(() => setMore([]), [about]);
  const graph = useMemo(() => {
    if (!found || !isCurrent) return null;
    const joined = new Set([...found.center, ...found.edges.flatMap((edge) => [edge.source, edge.target])]);
    const parts = [{ nodes: found.nodes.filter((node) => joined.has(node.id)), edges: found.edges }, ...more];
    return { nodes: unite(parts.flatMap(({ nodes }) => nodes)), edges: unite(parts.flatMap(({ edges }) => edges)) };
  }, [found, isCurrent, more]);
  const expand = (node) =>
    get("/graph", { about: node.uri || node.name, limit: EXPANDED }).then(
      (part) => setMore((before) => [...before, part]),
      setFailed,
    );
  return { graph, problem: problem ?? failed, expand };
}

const unite = (rows) => [...new Map(rows.map((one) => [one.id, one])).values()];

const pageOf = (node) => (node.uri ? ["note", node.uri] : ["thing", node.name]);

/** The drawing of a graph; `choose(node)` is called with the chosen vertex. */
function GraphView({ graph, choose }) {
  const canvas = useRef();
  const drawing = useRef(null);
  const latest = useRef();
  latest.current = choose;
  useEffect(() => {
    drawing.current = new Drawing(canvas.current, {
      choose: (node) => latest.current(node),
      open: (node) => go(...pageOf(node)),
    });
    return () => drawing.current.close();
  }, []);
  useEffect(() => drawing.current.show(graph.nodes, graph.edges), [graph]);
  const size = `${graph.nodes.length} vertices, ${count(graph.edges.length, "edge")}`;
  return html`<figure class="graph" data-nodes=${graph.nodes.length} data-edges=${graph.edges.length}>
    <canvas ref=${canvas} role="img" aria-label=${`A drawing of ${size}. Memory lists the same as text.`}></canvas>
  </figure>`;
}

export function GraphPage({ parts: [about = ""] }) {
  const { graph, problem, expand } = useGraph(about);
  const [chosen, setChosen] = useState(null);
  const [name, setName] = useState("");
  useEffect(() => setChosen(null), [about]);
  const choose = (node) => {
    setChosen(node);
    if (node) expand(node);
  };
  const search = (event) => {
    event.preventDefault();
    const text = event.target.querySelector("input").value.trim();
    go("graph", ...(text ? [text] : []));
  };
  return html`<div class="explorer">
    <div class="bar">
      <form onSubmit=${search}>
        <input data-first type="search" list="names" value=${name} placeholder=${about.split("/").at(-1) || WHOM} aria-label=${WHOM}
          autocomplete="off" onInput=${(event) => setName(event.target.value)} />
        <${Names} begin=${name} />
      </form>
      ${about && html`<a href=${address("graph")}>the whole memory</a>`}
    </div>
    <${NotYet} data=${graph} problem=${problem} />
    ${graph && !graph.nodes.length && html`<${Empty} title="There is nothing to draw yet.">
      Read some notes: <code>pal add ~/notes</code>
    <//>`}
    ${graph && html`<${GraphView} graph=${graph} choose=${choose} />`}
    ${chosen && graph && html`<${Card} node=${chosen} graph=${graph} close=${() => setChosen(null)} />`}
  </div>`;
}

function Names({ begin }) {
  const { data } = useAnswer(begin.trim() && "/names", { begin, limit: 12 });
  return html`<datalist id="names">${data?.names.map((name) => html`<option value=${name} />`)}</datalist>`;
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
