"use strict";
// The picture: a column for each request, its parts by where they come from; below it what the sub-agents were, where the
// cache missed, and the cost. It is drawn once; choosing a request only marks its column.

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attrs, ...children) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attrs || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

const fmt = n => n >= 1e6 ? (n / 1e6).toFixed(1) + "M" : n >= 1e4 ? Math.round(n / 1e3) + "k" : n >= 1e3 ? (n / 1e3).toFixed(1) + "k" : String(n);

// The parts of a context from the bottom up. Each has a colour that colour-blind people tell from the others, and every
// second one a pattern, so that neighbours differ without any colour.
const parts = [
  ["system", "system prompt", ""], ["tools", "tools", "M-1 1L1-1M0 6L6 0M5 7L7 5"], ["summary", "summary", ""], ["context", "added context", "M3 1.5v3M1.5 3h3"],
  ["user", "user", ""], ["answers", "answers", "M0 3h6"], ["results", "tool results", ""],
];

function partOf(name) {
  if (name.startsWith("context: ")) return "context";
  return { "system prompt": "system", tools: "tools", summary: "summary", user: "user", answers: "answers", "tool results": "results" }[name] || "context";
}

const fill = part => `url(#p-${part})`;

function patterns() {
  return svg("svg", { width: 0, height: 0, "aria-hidden": "true", class: "defs" }, svg("defs", {}, ...parts.map(([id, , lines]) =>
    svg("pattern", { id: "p-" + id, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, svg("rect", { width: 6, height: 6, class: "f-" + id }), ...(lines ? [svg("path", { d: lines, class: "hatch" })] : [])))));
}

function swatch(part) { return svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { width: 14, height: 14, rx: 2, fill: fill(part), class: "edge" })); }

const promptOf = u => u.input_tokens + u.cache_creation_input_tokens + u.cache_read_input_tokens;

const top_ = 16, high = 190, laneHigh = 16, costHigh = 34;

// draw returns the axis, which stays in place, and the picture, which scrolls, with its columns by label.
function draw(list, agents, room, choose) {
  const wide = Math.max(6, Math.min(44, Math.floor(room / Math.max(1, list.length))));
  const width = list.length * wide, lanes = agents.length ? Math.max(...agents.map(a => a.depth)) : 0;
  const total = r => (r.shares || []).reduce((n, s) => n + s.tokens, 0);
  const most = Math.max(1, ...list.map(r => Math.max(total(r), promptOf(r.usage)))), dear = Math.max(1e-9, ...list.map(r => r.cost_usd));
  const y = n => top_ + high - n / most * high;
  const laneAt = top_ + high + 30, costAt = laneAt + lanes * laneHigh + 8, height = costAt + costHigh + 4;
  const axis = svg("svg", { width: 46, height, "aria-hidden": "true" }), all = svg("svg", { width, height, role: "group", "aria-label": "Context of each request by source" });
  for (const part of [0, .25, .5, .75, 1]) {
    axis.append(svg("text", { x: 42, y: y(most * part) + 4, "text-anchor": "end" }, fmt(Math.round(most * part))));
    all.append(svg("line", { x1: 0, x2: width, y1: y(most * part), y2: y(most * part), class: "axis" }));
  }
  if (lanes) axis.append(svg("text", { x: 42, y: laneAt + 11, "text-anchor": "end" }, "agents"));
  axis.append(svg("text", { x: 42, y: costAt + 12, "text-anchor": "end" }, "cost"), svg("text", { x: 42, y: costAt + 26, "text-anchor": "end" }, "≤ " + usd(dear, 2)));
  const columns = new Map(), every = Math.ceil(34 / wide);
  let numbered = -every;
  list.forEach((r, i) => {
    const x = i * wide, g = column(r, x, wide, y, height);
    if (r.compacted) g.append(svg("path", { class: "compacted", d: `M${x} ${top_ - 8}V${top_ + high}` }), svg("text", { x: x + 3, y: top_ - 4 }, "✂"));
    if (r.failure) g.append(svg("path", { class: "missed cross", d: `M${x + wide / 2 - 4} ${top_ + high + 3}l8 8m0-8l-8 8` }));
    else if (r.miss) g.append(svg("path", { class: "missed", d: `M${x + wide / 2 - 5} ${top_ + high + 3}h10l-5 8z` }));
    if (!r.agent && !r.purpose && i - numbered >= every) { numbered = i; g.append(svg("text", { x: x + wide / 2, y: top_ + high + 25, "text-anchor": "middle" }, r.label)); }
    const dollars = Math.max(r.cost_usd ? 1 : 0, r.cost_usd / dear * costHigh);
    g.append(svg("rect", { class: "cost", x: x + 1, y: costAt + costHigh - dollars, width: wide - 2, height: dollars }));
    g.addEventListener("click", () => choose(r.label));
    g.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(r.label); } });
    columns.set(r.label, g);
    all.append(g);
  });
  for (const lane of bands(list, agents)) {
    const x = lane.from * wide, w = (lane.to - lane.from) * wide, name = `a${lane.agent.n} ${lane.agent.type}`, fits = Math.floor((w - 6) / 6);
    all.append(svg("rect", { class: "lane", x: x + 1, y: laneAt + (lane.agent.depth - 1) * laneHigh, width: w - 2, height: laneHigh - 3, rx: 2 }, svg("title", {}, name)));
    if (fits >= 2) all.append(svg("text", { class: "name", x: x + 4, y: laneAt + (lane.agent.depth - 1) * laneHigh + 10 }, name.length > fits ? name.slice(0, fits - 1) + "…" : name));
  }
  for (const d of readLines(list, wide, y)) all.append(svg("path", { d, class: "halo" }), svg("path", { d, class: "read" }));
  return { axis, all, columns };
}

function column(r, x, wide, y, height) {
  const g = svg("g", { class: "bar", role: "button", tabindex: -1, "aria-pressed": "false", "data-n": r.label,
    "aria-label": `Request ${r.label}: ${promptOf(r.usage)} tokens, ${r.usage.cache_read_input_tokens} read from the cache` + (r.miss ? ", cache missed" : "") + (r.failure ? ", failed" : "") + (r.compacted ? ", after a compaction" : "") });
  g.append(svg("rect", { class: "hit", x, y: 0, width: wide, height }));
  const sums = {};
  for (const s of r.shares || []) sums[partOf(s.name)] = (sums[partOf(s.name)] || 0) + s.tokens;
  let sum = 0;
  for (const [id] of parts) {
    if (!sums[id]) continue;
    const from = y(sum), to = y(sum += sums[id]);
    g.append(svg("rect", { x: x + 1, y: to, width: wide - 2, height: Math.max(0, from - to - (from - to > 3 ? 1 : 0)), fill: fill(id) }));
  }
  if (!sum) g.append(svg("rect", { class: "unknown", x: x + 1.5, y: y(promptOf(r.usage)), width: wide - 3, height: y(0) - y(promptOf(r.usage)) })); // what it was made of is not known
  g.append(svg("title", {}, `${r.label}: ${fmt(promptOf(r.usage))} tokens, ${usd(r.cost_usd)}` + (r.purpose ? ", " + r.purpose : "")));
  return g;
}

// bands are the stretches of columns that are a sub-agent's, with what it had others do.
function bands(list, agents) {
  const out = [], open = new Map();
  list.forEach((r, i) => {
    const chain = new Set();
    for (let a = agents[r.agent - 1], n = 0; a && !r.purpose && n < 20; n++) {
      chain.add(a);
      const up = list.find(q => q.label === a.under);
      a = up && agents[up.agent - 1];
    }
    for (const [a, b] of open) if (!chain.has(a)) { b.to = i; open.delete(a); }
    for (const a of chain) if (!open.has(a)) { const b = { agent: a, from: i, to: list.length }; open.set(a, b); out.push(b); }
  });
  return out;
}

// readLines are steps at the height of what was read from the cache, joined where neighbours are of one conversation: each
// has a prefix of its own in the cache.
function readLines(list, wide, y) {
  const out = [];
  list.forEach((r, i) => {
    const before = list[i - 1], at = y(r.usage.cache_read_input_tokens);
    if (r.purpose) return;
    if (before && !before.purpose && before.agent === r.agent && out.length) out[out.length - 1] += `V${at}h${wide}`;
    else out.push(`M${i * wide} ${at}h${wide}`);
  });
  return out;
}
