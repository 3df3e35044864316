// Where the vertices of the graph lie, worked out beside the page, which goes on drawing meanwhile.
//
//   in:  {points: [[x, y], ...], links: [[from, to], ...], heat, still}   a graph; an x of null: anywhere
//   out: Float32Array of x and y by turns, after each step; with `still` once, when it has come to rest

import "./vendor/d3.js";

const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = globalThis.d3;

const REST_STEPS = 250;

let simulation = null;
let nodes = [];

onmessage = ({ data }) => begin(data);

function begin({ points, links, heat, still }) {
  simulation?.stop();
  nodes = points.map(([x, y]) => (x === null ? {} : { x, y }));
  const joined = links.map(([source, target]) => ({ source, target }));
  const crowd = nodes.length > 500;
  simulation = forceSimulation(nodes)
    .force("link", forceLink(joined).distance(crowd ? 24 : 44))
    .force(
      "charge",
      forceManyBody()
        .strength(crowd ? -28 : -110)
        .theta(crowd ? 1.1 : 0.9)
        .distanceMax(crowd ? 400 : 700),
    )
    .force("x", forceX().strength(0.05))
    .force("y", forceY().strength(0.07))
    .alpha(heat)
    .alphaDecay(0.025)
    .stop();
  if (!crowd) simulation.force("collide", forceCollide(9));
  if (still) {
    simulation.tick(REST_STEPS);
    send();
  } else {
    simulation.on("tick", send).restart();
  }
}

function send() {
  const places = new Float32Array(2 * nodes.length);
  nodes.forEach((node, index) => {
    places[2 * index] = node.x;
    places[2 * index + 1] = node.y;
  });
  postMessage(places, [places.buffer]);
}
