"use strict";
const nodes = [...document.querySelectorAll("g[data-id]")];
const lines = [...document.querySelectorAll(".line")];
const drawing = document.querySelector("figure svg");
const search = document.querySelector("input");
const size = { width: drawing.width.baseVal.value, height: drawing.height.baseVal.value };
const SMALLEST = 0.8; // that a drawing is made by itself, to fit
let zoom = 1;

function choose(node, focus = true) {
  for (const one of nodes) {
    one.classList.toggle("chosen", one === node);
    one.setAttribute("tabindex", one === node ? "0" : "-1");
  }
  for (const line of lines) line.classList.toggle("near", line.dataset.ends.split(" ").includes(node.dataset.id));
  for (const about of document.querySelectorAll("aside article")) about.hidden = about.dataset.of !== node.dataset.id;
  if (focus) node.focus();
  node.scrollIntoView(focus ? { block: "nearest", inline: "nearest" } : { block: "center", inline: "center" });
}

const place = (node) => {
  const box = node.querySelector("circle").getBoundingClientRect();
  return [box.x, box.y];
};

function step(key) {
  const here = document.querySelector(".chosen");
  const [x, y] = place(here);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null;
  for (const node of nodes) {
    if (node === here || node.classList.contains("away")) continue;
    const [a, b] = place(node);
    const along = (a - x) * dx + (b - y) * dy;
    const across = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    const cost = along + 3 * across;
    if (along > 1 && (best === null || cost < best.cost)) best = { node, cost };
  }
  if (best) choose(best.node);
}

function show(factor) {
  zoom = Math.min(4, Math.max(0.25, factor));
  drawing.setAttribute("width", size.width * zoom);
  drawing.setAttribute("height", size.height * zoom);
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

for (const node of nodes) {
  node.setAttribute("role", "button");
  node.addEventListener("click", () => choose(node));
}
search.addEventListener("input", () => {
  const words = search.value.toLowerCase();
  for (const node of nodes) node.classList.toggle("away", !node.textContent.toLowerCase().includes(words));
});
search.addEventListener("keydown", (event) => {
  const found = nodes.find((node) => !node.classList.contains("away"));
  if (event.key === "Enter" && found) choose(found);
  if (event.key === "Escape") {
    search.value = "";
    search.dispatchEvent(new Event("input"));
    choose(document.querySelector(".chosen"));
  }
});
document.querySelector("button").addEventListener("click", theme);
for (const link of document.querySelectorAll("aside [data-to]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    choose(nodes.find((node) => node.dataset.id === link.dataset.to));
  });
}
document.addEventListener("keydown", (event) => {
  if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow")) step(event.key);
  else if (event.key === "/") search.focus();
  else if (event.key === "t") theme();
  else if (event.key === "+" || event.key === "=") show(zoom * 1.25);
  else if (event.key === "-") show(zoom / 1.25);
  else if (event.key === "0") show(1);
  else if (event.key === "Home") choose(nodes.find((node) => node.classList.contains("root")) || nodes[0]);
  else return;
  event.preventDefault();
});
const room = (drawing.parentElement.clientWidth - 32) / size.width;
if (room < 1) show(Math.max(room, SMALLEST));
choose(nodes.find((node) => node.classList.contains("root")) || nodes[0], false);
