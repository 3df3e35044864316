// A graph on a canvas: drawn, moved, zoomed, and chosen from.

const FULL = 2 * Math.PI;
const LABELS = 70; // at once, of those that are joined most
const REACH = 18; // pixels around a vertex in which a pointer means it
const DOT = 1.5; // pixels of a radius below which a circle looks like a square
const FIT = 0.9; // of the canvas' height is filled by the graph
const LABEL_PIXELS = 110;
const NARROW = 500; // pixels below which labels are shorter
const CROWD = 500; // vertices above which they are laid out more coarsely
const REST_STEPS = 250;
const HUES = ["--accent", "--kind-2", "--kind-3", "--kind-4", "--kind-5", "--kind-6"];

let library = null;

/** d3, which is loaded when a graph is first drawn. */
async function load() {
  library ??= import("./vendor/d3.js").then(() => globalThis.d3);
  return library;
}

export class Drawing {
  /** `choose(node)` is told what a person has chosen, null for nothing; `open(node)` what they go to. */
  constructor(canvas, { choose, open }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.nodes = [];
    this.edges = [];
    this.chosen = null;
    this.hovered = null;
    this.transform = { k: 1, x: 0, y: 0 };
    this.isFitting = true;
    this.frames = 0;
    this.told = { choose, open };
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(canvas);
    this.recolour = () => (this.readColours(), this.redraw());
    document.addEventListener("palimpsest:theme", this.recolour);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.recolour);
    canvas.drawing = this; // for who looks into it
    this.readColours();
    this.ready = load().then((d3) => this.isClosed || this.listen(d3));
  }

  close() {
    this.isClosed = true;
    this.simulation?.stop();
    this.resizing.disconnect();
    document.removeEventListener("palimpsest:theme", this.recolour);
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.recolour);
    cancelAnimationFrame(this.frame);
  }

  /** Draws these: nodes {id, name, kind, degree}, edges {source, target, relation}, by ids. What was there stays where
      it is; what is new begins beside what it is joined to. */
  show(nodes, edges) {
    const before = new Map(this.nodes.map((node) => [node.id, node]));
    const known = new Map();
    this.nodes = nodes.map((node) => {
      const { x, y } = before.get(node.id) ?? {};
      const drawn = { ...node, x, y, radius: Math.min(3 + Math.sqrt(node.degree), 13) };
      known.set(node.id, drawn);
      return drawn;
    });
    this.edges = edges.map((edge) => ({ ...edge, from: known.get(edge.source), to: known.get(edge.target) }));
    for (const { from, to } of this.edges) {
      if (from.x === undefined && to.x !== undefined) Object.assign(from, beside(to));
      else if (to.x === undefined && from.x !== undefined) Object.assign(to, beside(from));
    }
    this.kinds = [...new Set(nodes.filter((node) => node.kind !== "note").map((node) => node.kind))].sort();
    this.chosen = known.get(this.chosen?.id) ?? null;
    this.hovered = null;
    this.labelled = [...this.nodes].sort((one, other) => other.degree - one.degree).slice(0, LABELS);
    this.arrange(before.size ? 0.35 : 1);
    this.redraw();
  }

  /** Lays the vertices out, step by step; at once for who wants no motion. */
  arrange(heat) {
    if (!this.d3) return; // it is done when the library is there
    const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = this.d3;
    const crowd = this.nodes.length > CROWD;
    const links = this.edges.map(({ from, to }) => ({ source: from, target: to }));
    const charge = forceManyBody().strength(crowd ? -28 : -110).theta(crowd ? 1.1 : 0.9).distanceMax(crowd ? 400 : 700);
    this.simulation?.stop();
    this.simulation = forceSimulation(this.nodes)
      .force("link", forceLink(links).distance(crowd ? 24 : 44))
      .force("charge", charge)
      .force("x", forceX().strength(0.05))
      .force("y", forceY().strength(0.07))
      .force("collide", crowd ? null : forceCollide(9))
      .alpha(heat)
      .alphaDecay(0.025)
      .on("tick", () => this.step());
    if (this.still) {
      this.simulation.stop().tick(REST_STEPS);
      this.step();
    }
  }

  step() {
    this.tree = null;
    this.steps = (this.steps ?? 0) + 1;
    if (this.isFitting) this.fit();
    this.redraw();
  }

  choose(node) {
    this.chosen = node;
    this.told.choose(node);
    this.redraw();
  }

  /** The whole graph, in the middle. */
  fit() {
    const placed = this.nodes.filter((node) => node.x !== undefined);
    if (!placed.length || !this.d3 || !this.width) return;
    const [left, right] = this.d3.extent(placed, (node) => node.x);
    const [top, bottom] = this.d3.extent(placed, (node) => node.y);
    const named = Math.min(LABEL_PIXELS, this.width / 5); // of what stands furthest to the right
    const k = Math.min((this.width - named - 40) / (right - left + 30), (FIT * this.height) / (bottom - top + 30), 2);
    const x = (this.width - named + 20) / 2 - (k * (left + right)) / 2;
    const y = this.height / 2 - (k * (top + bottom)) / 2;
    this.isFitting = true;
    this.setTransform(this.d3.zoomIdentity.translate(x, y).scale(k));
  }

  setTransform(transform) {
    this.bySelf = true;
    this.d3.select(this.canvas).call(this.zoom.transform, transform);
    this.bySelf = false;
  }

  /** The vertex at a place on the canvas. */
  nearest(x, y, reach = REACH) {
    this.tree ??= this.d3.quadtree(
      this.nodes.filter((node) => node.x !== undefined),
      (node) => node.x,
      (node) => node.y,
    );
    const { k, x: left, y: top } = this.transform;
    return this.tree.find((x - left) / k, (y - top) / k, reach / k) ?? null;
  }

  /** Where a vertex is on the canvas. */
  placeOf(id) {
    const node = this.nodes.find((one) => one.id === id);
    const { k, x, y } = this.transform;
    return node && [k * node.x + x, k * node.y + y];
  }

  listen(d3) {
    this.d3 = d3;
    this.zoom = d3
      .zoom()
      .scaleExtent([0.05, 8])
      .clickDistance(6)
      .on("zoom", ({ transform }) => {
        this.transform = transform;
        if (!this.bySelf) this.isFitting = false;
        this.redraw();
      });
    const at = (event) => this.nearest(...d3.pointer(event, this.canvas));
    d3.select(this.canvas)
      .call(this.zoom)
      .on("dblclick.zoom", null)
      .on("click", (event) => event.defaultPrevented || this.choose(at(event)))
      .on("dblclick", (event) => at(event) && this.told.open(at(event)))
      .on("pointermove", (event) => this.hover(event.buttons ? this.hovered : at(event)))
      .on("pointerleave", () => this.hover(null));
    this.resize();
    this.arrange(1);
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.style.cursor = node ? "pointer" : "";
    this.redraw();
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    if (this.isFitting) this.fit();
    this.redraw();
  }

  readColours() {
    const probe = document.createElement("span");
    this.canvas.parentElement.append(probe);
    const read = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    this.colours = Object.fromEntries(
      ["--ink", "--muted", "--edge", "--accent", "--bg"].map((name) => [name.slice(2), read(name)]),
    );
    this.hues = HUES.map(read);
    this.font = getComputedStyle(this.canvas).fontFamily;
    probe.remove();
  }

  colourOf(kind) {
    return kind === "note" ? this.colours.muted : this.hues[Math.max(this.kinds.indexOf(kind), 0) % this.hues.length];
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.isClosed) return;
      this.draw();
    });
  }

  draw() {
    const { context, transform, ratio = 1 } = this;
    this.frames += 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.translate(transform.x, transform.y);
    context.scale(transform.k, transform.k);
    const focus = this.hovered ?? this.chosen;
    const near = new Set(focus ? [focus] : []);
    for (const { from, to } of focus ? this.edges : []) {
      if (from === focus) near.add(to);
      if (to === focus) near.add(from);
    }
    this.drawEdges(focus);
    this.drawNodes(focus, near);
    this.drawLabels(focus, near);
  }

  drawEdges(focus) {
    const { context, transform } = this;
    const strokes = [
      ["edge", this.edges.filter((edge) => !edge.relation && edge.from !== focus && edge.to !== focus), 1],
      ["muted", this.edges.filter((edge) => edge.relation && edge.from !== focus && edge.to !== focus), 1.2],
      ["accent", focus ? this.edges.filter((edge) => edge.from === focus || edge.to === focus) : [], 1.6],
    ];
    for (const [colour, edges, width] of strokes) {
      context.strokeStyle = this.colours[colour];
      context.lineWidth = width / transform.k;
      context.beginPath();
      for (const { from, to } of edges) {
        if (from.x === undefined || to.x === undefined) continue;
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
      }
      context.stroke();
    }
  }

  drawNodes(focus, near) {
    const { context } = this;
    for (const kind of ["note", ...(this.kinds ?? [])]) {
      context.fillStyle = this.colourOf(kind);
      for (const isNear of [false, true]) {
        context.globalAlpha = focus && !isNear ? 0.25 : 1;
        context.beginPath();
        for (const node of this.nodes) {
          if (node.kind !== kind || node.x === undefined || near.has(node) !== isNear) continue;
          const r = node.radius;
          if (kind === "note" || r * this.transform.k < DOT) {
            context.fillRect(node.x - 0.8 * r, node.y - 0.8 * r, 1.6 * r, 1.6 * r);
            continue;
          }
          context.moveTo(node.x + r, node.y);
          context.arc(node.x, node.y, r, 0, FULL);
        }
        context.fill();
      }
    }
    context.globalAlpha = 1;
    if (this.chosen?.x !== undefined) {
      context.strokeStyle = this.colours.ink;
      context.lineWidth = 2 / this.transform.k;
      context.beginPath();
      context.arc(this.chosen.x, this.chosen.y, this.chosen.radius + 4 / this.transform.k, 0, FULL);
      context.stroke();
    }
  }

  drawLabels(focus, near) {
    const { context, transform } = this;
    const wanted = new Set([...(focus ? [...near].slice(0, LABELS) : (this.labelled ?? []))]);
    context.font = `${12 / transform.k}px ${this.font}`;
    context.textBaseline = "middle";
    const taken = [];
    for (const node of wanted) {
      if (node.x === undefined) continue;
      const most = this.width < NARROW ? 16 : 32;
      const name = node.name.length > most ? `${node.name.slice(0, most - 1)}…` : node.name;
      const x = node.x + node.radius + (node === this.chosen ? 9 : 4) / transform.k;
      const width = context.measureText(name).width;
      const box = [x, node.y - 8 / transform.k, x + width, node.y + 8 / transform.k];
      if (
        node !== focus &&
        taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])
      )
        continue;
      taken.push(box);
      context.lineWidth = 4 / transform.k;
      context.lineJoin = "round";
      context.strokeStyle = this.colours.bg;
      context.strokeText(name, x, node.y);
      context.fillStyle =
        node === focus ? this.colours.ink : node.kind === "note" ? this.colours.muted : this.colours.ink;
      context.fillText(name, x, node.y);
    }
    for (const { from, to, relation } of focus ? this.edges : []) {
      if (!relation || (from !== focus && to !== focus) || from.x === undefined || to.x === undefined) continue;
      context.font = `italic ${11 / transform.k}px ${this.font}`;
      const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
      context.strokeText(relation, x, y);
      context.fillStyle = this.colours.accent;
      context.fillText(relation, x, y);
    }
  }
}

function beside({ x, y }) {
  const angle = FULL * Math.random();
  return { x: x + 20 * Math.cos(angle), y: y + 20 * Math.sin(angle) };
}
