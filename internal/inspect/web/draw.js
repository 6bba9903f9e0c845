"use strict";
// The picture: one bar a request, its parts by where they come from, and a line of what was read from the cache.

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attrs, ...children) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attrs || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

const fmt = n => n >= 1e6 ? (n / 1e6).toFixed(1) + "M" : n >= 1e4 ? Math.round(n / 1e3) + "k" : n >= 1e3 ? (n / 1e3).toFixed(1) + "k" : String(n);

// colours gives each source its class, the same for all requests.
function colours(requests) {
  const names = [];
  for (const r of requests) for (const s of r.shares || []) if (!names.includes(s.name)) names.push(s.name);
  const order = ["system prompt", "tools", "user", "answers", "tool results"];
  names.sort((a, b) => (order.indexOf(a) + 9) % 9 - (order.indexOf(b) + 9) % 9 || (a < b ? -1 : 1));
  return new Map(names.map((n, i) => [n, "s" + i % 8]));
}

function draw(requests, chosen, choose) {
  const names = colours(requests), width = Math.max(14, Math.min(48, Math.floor(900 / Math.max(1, requests.length))));
  const left = 44, top = 10, height = 200, total = r => (r.shares || []).reduce((n, s) => n + s.tokens, 0);
  const prompt = r => r.usage.input_tokens + r.usage.cache_creation_input_tokens + r.usage.cache_read_input_tokens;
  const most = Math.max(1, ...requests.map(r => Math.max(total(r), prompt(r))));
  const y = n => top + height - n / most * height;
  const all = svg("svg", { width: left + requests.length * width + 10, height: height + 34, role: "group", "aria-label": "Context of each request by source" });
  for (const part of [0, .25, .5, .75, 1]) {
    all.append(svg("line", { x1: left, x2: left + requests.length * width, y1: y(most * part), y2: y(most * part), class: "axis" }));
    all.append(svg("text", { x: left - 6, y: y(most * part) + 4, "text-anchor": "end" }, fmt(Math.round(most * part))));
  }
  let line = "";
  requests.forEach((r, i) => {
    const x = left + i * width;
    const g = svg("g", { class: "bar", role: "button", tabindex: r.n === chosen ? 0 : -1, "aria-pressed": r.n === chosen, "data-n": r.n,
      "aria-label": `Request ${r.n}: ${prompt(r)} tokens, ${r.usage.cache_read_input_tokens} read from the cache` });
    g.append(svg("rect", { class: "hit", x, y: top, width, height: height + 20 }));
    let sum = 0;
    for (const s of r.shares || []) {
      const from = y(sum), to = y(sum += s.tokens);
      g.append(svg("rect", { class: names.get(s.name), x: x + 1, y: to, width: width - 2, height: Math.max(0, from - to - (from - to > 3 ? 1 : 0)) }, svg("title", {}, `${s.name}: about ${s.tokens} tokens`)));
    }
    if (r.miss) g.append(svg("path", { class: "missed", d: `M${x + width / 2 - 5} ${top + height + 4}h10l-5 8z` }, svg("title", {}, r.miss.text)));
    if (i % Math.ceil(30 / width) === 0) g.append(svg("text", { x: x + width / 2, y: top + height + 22, "text-anchor": "middle" }, String(r.n)));
    g.addEventListener("click", () => choose(r.n));
    g.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(r.n); } });
    all.append(g);
    line += (line ? "L" : "M") + (x + width / 2) + " " + y(r.usage.cache_read_input_tokens);
  });
  if (line) all.append(svg("path", { d: line, class: "read" }));
  return [all, names];
}
