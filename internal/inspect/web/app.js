"use strict";
// The page: it reads JSON from the server that served it, and puts it in place as text, never as HTML.

const $ = id => document.getElementById(id);
let session = null, chosen = "", order = [], shown = [], columns = new Map(), rows = new Map(), byLabel = new Map();

function el(name, attrs, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attrs || {})) k.startsWith("on") ? e.addEventListener(k.slice(2), v) : e.setAttribute(k, v);
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}

const usd = (n, digits) => "$" + (n || 0).toFixed(digits || (n && n < .01 ? 6 : 4));
const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(1) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(1) + " ms" : Math.round(ns / 1e3) + " µs";
const percent = (n, of) => (of ? 100 * n / of : 0).toFixed(1) + " %";
const whole = n => (n || 0).toLocaleString("en");
const plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");

async function get(path) {
  const answer = await fetch("api/" + path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

async function start() {
  session = await (await get("session")).json();
  const s = session, total = promptOf(s.usage), agents = s.agents || [];
  for (const r of [...s.requests, ...(s.side || []), ...agents.flatMap(a => a.requests)]) byLabel.set(r.label, r);
  order = s.order.map(l => byLabel.get(l));
  document.title = "Lathe: " + (s.title || s.id);
  $("title").textContent = s.title || "Session";
  $("about").textContent = [s.id, s.dir].filter(Boolean).join(" · ");
  const facts = [["Requests", s.parts.reduce((n, p) => n + (p.calls || 0), 0)], ["Cost", usd(s.cost_usd)], ["Prompt tokens", fmt(total)], ["Output tokens", fmt(s.usage.output_tokens)],
    ["Read from the cache", percent(s.usage.cache_read_input_tokens, total)], ["Missed by the cache", s.lost_tokens ? `${fmt(s.lost_tokens)} (${usd(s.lost_usd)})` : "nothing"]];
  $("totals").replaceChildren(...facts.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, String(v)))));
  money(s, agents);
  $("notes").replaceChildren(...(s.notes || []).map(n => el("li", {}, n)));
  $("withagents").hidden = !agents.length && !(s.side || []).length;
  $("miss").hidden = !order.some(r => r.miss);
  document.body.prepend(patterns());
  overview();
  const wanted = location.hash.slice(1);
  if (order.length) await choose(byLabel.has(wanted) ? wanted : s.requests.length ? s.requests[s.requests.length - 1].label : order[0].label);
  else $("one").textContent = "No request was made yet.";
}

// money shows what the cost is made of, where it is of more than the conversation.
function money(s, agents) {
  if (s.parts.length < 2) return;
  const name = p => ({ conversation: "conversation", "sub-agents": plural(agents.length, "sub-agent"), side: "beside it: " + p.purpose }[p.kind] || "answers that nothing is left of");
  const bar = svg("svg", { width: "100%", height: 14, role: "img", "aria-label": "Cost by part" });
  let at = 0;
  s.parts.forEach((p, i) => {
    const w = s.cost_usd ? 100 * p.cost_usd / s.cost_usd : 0;
    bar.append(svg("rect", { x: at + "%", width: w + "%", height: 14, class: "m" + i % 4 }, svg("title", {}, `${name(p)}: ${usd(p.cost_usd)}`)));
    at += w;
  });
  $("money").hidden = false;
  $("money").replaceChildren(bar, el("ul", {}, s.parts.map((p, i) => el("li", {}, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { width: 14, height: 14, rx: 2, class: "m" + i % 4 })),
    ` ${name(p)} `, el("strong", {}, usd(p.cost_usd)), ` ${percent(p.cost_usd, s.cost_usd)}` + (p.calls ? ` · ${plural(p.calls, "request")}` : "")))));
}

// overview draws the picture and the list, once, and anew only where the window or what is shown changes.
function overview() {
  const all = $("withagents").querySelector("input").checked;
  shown = all ? order : order.filter(r => !r.agent && !r.purpose);
  const d = draw(shown, all ? session.agents || [] : [], $("scroll").clientWidth, choose);
  columns = d.columns;
  $("axis").replaceChildren(d.axis);
  $("scroll").replaceChildren(d.all);
  const marks = ["The line is what was read from the cache."];
  if (shown.some(r => r.compacted)) marks.push("✂ the conversation was compacted.");
  if (shown.some(r => r.miss)) marks.push("▼ the cache missed.");
  if (shown.some(r => r.failure)) marks.push("✕ the request failed.");
  if (all && (session.agents || []).length) marks.push("Bands below the columns are sub-agents.");
  $("marks").textContent = marks.join(" ");
  rows = new Map();
  const headed = new Set();
  $("list").replaceChildren(...shown.flatMap(r => listed(r, headed)));
  mark(chosen);
}

function listed(r, headed) {
  const out = [], agent = r.agent && !r.purpose ? session.agents[r.agent - 1] : null, key = r.agent + " " + r.by;
  const deep = agent ? Math.min(agent.depth, 4) : 0;
  if (agent && !headed.has(key)) {
    headed.add(key);
    out.push(el("li", { class: "agent d" + deep }, el("strong", {}, `a${agent.n} ${agent.type}` + (agent.name ? " " + agent.name : "")), agent.task ? ": " + agent.task : "", r.by !== agent.call ? " (goes on after a message)" : "",
      el("span", { class: "dim" }, ` ${plural(agent.requests.length, "request")} · ${usd(agent.cost_usd)} · ${(100 * agent.cache_hit).toFixed(1)} % cached`)));
  } else if (!agent && r.prompt) out.push(el("li", { class: "asked" }, r.prompt));
  const end = r.failure ? "✕ failed" : r.miss ? "▼ cache miss" : r.purpose || r.stop || "";
  const b = el("button", { "aria-pressed": "false", tabindex: -1, onclick: () => choose(r.label) },
    el("span", {}, r.label, r.compacted ? " ✂" : ""), el("span", {}, fmt(promptOf(r.usage)) + " tokens"), el("span", {}, Math.floor(100 * r.usage.cache_read_input_tokens / (promptOf(r.usage) || 1)) + " % cached"),
    el("span", {}, usd(r.cost_usd, 4)), el("span", { class: r.miss || r.failure ? "bad" : "dim" }, end));
  rows.set(r.label, b);
  out.push(el("li", { class: "d" + deep }, b));
  return out;
}

// mark shows which request is chosen, in the picture, in the list and in the legend.
function mark(label) {
  for (const [of, was] of [[columns, chosen], [rows, chosen]]) {
    const old = of.get(was), now = of.get(label);
    if (old) { old.setAttribute("aria-pressed", "false"); old.setAttribute("tabindex", -1); }
    if (now) { now.setAttribute("aria-pressed", "true"); now.setAttribute("tabindex", 0); }
  }
  const inPicture = document.activeElement && document.activeElement.closest("#scroll"), inList = document.activeElement && document.activeElement.closest("#list");
  chosen = label;
  const bar = columns.get(label), row = rows.get(label), r = byLabel.get(label);
  if (bar) {
    const x = Number(bar.querySelector(".hit").getAttribute("x")), box = $("scroll");
    if (x < box.scrollLeft + 20 || x > box.scrollLeft + box.clientWidth - 50) box.scrollLeft = x - box.clientWidth / 2;
    if (inPicture) bar.focus({ preventScroll: true });
  }
  if (row) {
    const box = $("list"), at = row.offsetTop - box.offsetTop;
    if (at < box.scrollTop + 40 || at > box.scrollTop + box.clientHeight - 50) box.scrollTop = at - box.clientHeight / 3;
    if (inList) row.focus({ preventScroll: true });
  }
  const sums = {};
  for (const s of (r && r.shares) || []) sums[partOf(s.name)] = (sums[partOf(s.name)] || 0) + s.tokens;
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  const seen = new Set(order.flatMap(q => (q.shares || []).map(s => partOf(s.name))));
  $("legend").replaceChildren(...parts.filter(([id]) => seen.has(id)).map(([id, name]) => el("li", { class: sums[id] ? "" : "dim" }, swatch(id), el("span", {}, name), el("b", {}, sums[id] ? `≈ ${fmt(sums[id])} · ${percent(sums[id], all)}` : "–"))));
}

async function choose(label) {
  mark(label);
  history.replaceState(null, "", "#" + label);
  try {
    const r = await (await get("request/" + label)).json();
    if (chosen === label) show(r);
  } catch (e) { $("one").textContent = e.message; }
}

// step chooses another of the requests that are shown.
function step(n) {
  const i = shown.findIndex(r => r.label === chosen), to = Math.max(0, Math.min(shown.length - 1, i + n));
  if (shown[to] && shown[to].label !== chosen) choose(shown[to].label);
}

function nextMiss() {
  const i = shown.findIndex(r => r.label === chosen), r = [...shown.slice(i + 1), ...shown.slice(0, i + 1)].find(r => r.miss);
  if (r) choose(r.label);
}

function show(r) {
  const agent = r.agent ? session.agents[r.agent - 1] : null;
  $("chosen").textContent = "Request " + r.label + (r.purpose ? ", beside the conversation: " + r.purpose : agent ? " of sub-agent " + agent.type : "");
  const u = r.usage;
  $("one").replaceChildren(
    el("p", { class: "dim" }, [new Date(r.at).toLocaleString(), r.model, r.step ? "pass " + r.step : "", r.dur_ns ? time(r.dur_ns) : "", r.stop].filter(Boolean).join(" · ")),
    agent && r.under ? el("p", {}, "Set to work by request ", el("a", { href: "#" + r.under }, r.under), agent.task ? ": " + agent.task : "") : "",
    below(r.label),
    r.compacted ? el("p", {}, "✂ The conversation was compacted before this request.") : "",
    r.failure ? el("p", { class: "bad" }, r.failure) : "",
    table([["Read from the cache", whole(u.cache_read_input_tokens)], ["Written to the cache", whole(u.cache_creation_input_tokens)], ["Plain input", whole(u.input_tokens)], ["Output", whole(u.output_tokens)], ["Cost", usd(r.cost_usd)]]),
    r.miss ? miss(r.miss) : "",
    r.shares ? el("h3", {}, "What filled the context (estimated" + (r.fitted ? ", fitted to what the API counted)" : ")")) : "", table((r.shares || []).map(s => [s.name, "≈ " + fmt(s.tokens) + " tokens", fmt(s.bytes) + " bytes"])),
    ...(r.traced ? traced(r) : [el("p", {}, "This request was made without a trace: its stages and its body are not known.")]));
}

// below names the sub-agents that the answer set to work.
function below(label) {
  const set = [...new Set(order.filter(q => q.under === label).map(q => q.agent))].map(n => session.agents[n - 1]);
  return set.length ? el("p", {}, "It set to work: ", set.map((a, i) => [i ? ", " : "", el("a", { href: "#" + order.find(q => q.agent === a.n && q.under === label).label }, `a${a.n} ${a.type}`), ` (${usd(a.cost_usd)})`]).flat()) : "";
}

function table(rows) {
  return el("table", {}, el("tbody", {}, rows.map(([k, ...v]) => el("tr", {}, el("th", { scope: "row" }, k), v.map(x => el("td", { class: "n" }, String(x)))))));
}

function miss(m) {
  return el("div", { class: "miss" }, el("strong", {}, `The prompt cache missed ${m.lost_tokens} of ${m.expected_tokens} tokens (${usd(m.cost_usd)})`), el("p", {}, m.text),
    m.was || m.is_now ? el("div", { class: "two" }, el("pre", { class: "del" }, m.was || ""), el("pre", { class: "add" }, m.is_now || "")) : "");
}

function traced(r) {
  return [
    r.stages ? el("h3", {}, "Stages") : "", ...(r.stages || []).map(stage),
    el("h3", {}, "Calls of the model"), ...(r.calls || []).map(call),
    r.tools ? el("h3", {}, "Tool calls") : "", ...(r.tools || []).map(tool),
    el("h3", {}, "What was sent"),
    r.diff ? fold("Against the request before", change(r.diff)) : "",
    lazy("The exact body, " + fmt(r.bytes) + " bytes", async () => {
      const answer = await get("body/" + r.label), text = await answer.text(), most = 200000;
      return [el("p", {}, answer.headers.get("X-Exact") === "true" ? "To the byte. " : "Not to the byte: secrets were taken out of the trace. ", el("a", { href: "api/body/" + r.label, target: "_blank", rel: "noreferrer" }, "All of it")),
        el("pre", { tabindex: 0 }, text.length > most ? text.slice(0, most) + "\n… cut here" : text)];
    }),
  ];
}

function stage(s) {
  const what = (s.changes || []).map(c => `${c.list} ${c.before.items} → ${c.after.items}`).join(", ");
  return fold(el("span", {}, el("strong", {}, s.name), ` ${time(s.dur_ns)} `, el("span", { class: s.err ? "bad" : "dim" }, s.err || what)),
    ...(s.changes || []).map(change),
    s.fields ? el("table", {}, el("tbody", {}, s.fields.map(f => el("tr", {}, el("th", { scope: "row" }, f.name), el("td", { class: "del" }, f.before), el("td", { class: "add" }, f.after))))) : "",
    s.notes ? el("ul", {}, s.notes.map(n => el("li", {}, "· " + n))) : "",
    !s.changes && !s.fields && !s.notes ? el("p", { class: "dim" }, "It changed nothing.") : "");
}

function change(c) {
  const size = s => `${s.items} items, ≈ ${fmt(s.tokens)} tokens`;
  return el("div", {}, el("p", {}, el("strong", {}, c.list), `: before ${size(c.before)}; after ${size(c.after)}. The first ${c.kept} stay` + (c.tail ? `, and the last ${c.tail}.` : ".")),
    el("ul", { class: "items" }, (c.removed || []).map(i => item(i, "del")), (c.added || []).map(i => item(i, "add"))), c.not_listed ? `… and ${c.not_listed} more` : "");
}

function item(i, kind) {
  const name = i.source ? `${i.source} ${i.key || ""}` : i.kind === "tool" ? "tool " + i.id : i.kind;
  const li = el("li", { class: kind });
  li.append(el("button", { "aria-expanded": "false", async onclick(e) {
    const open = li.querySelector("pre");
    this.setAttribute("aria-expanded", String(!open));
    if (open) return open.remove();
    try { li.append(el("pre", { tabindex: 0 }, readable(await (await get("blob/" + chosen + "/" + i.hash)).text()))); } catch (e) { li.append(el("pre", {}, e.message)); }
  } }, `${kind === "add" ? "+" : "−"} [${i.index}] ${name} · ≈ ${fmt(i.tokens || 0)} tokens · ${fmt(i.bytes)} bytes`));
  return li;
}

// readable shows blocks as their texts, and all else as indented JSON.
function readable(text) {
  try {
    const v = JSON.parse(text);
    const one = b => b.type === "text" ? b.text : b.type === "tool_result" && Array.isArray(b.content) ? `[result of ${b.tool_use_id}]\n` + b.content.map(one).join("\n") : JSON.stringify(b, null, 2);
    return Array.isArray(v) ? v.map(one).join("\n\n") : one(v);
  } catch { return text; }
}

function call(c) {
  return fold(el("span", {}, `Attempt ${c.attempt}: ${fmt(c.bytes)} bytes, ${time(c.dur_ns)}` + (c.ttft_ns ? `, first byte after ${time(c.ttft_ns)}` : "") + " ", el("span", { class: "bad" }, c.failure || "")),
    c.why ? el("p", {}, `After: ${c.why}` + (c.wait_ns ? `, waited ${time(c.wait_ns)}` : "")) : "",
    table([["Model", c.model], ["Stop reason", c.stop || "–"], ["Request id", c.request_id || "–"], ["SHA-256 of the body", c.body], ["Cache marks", (c.marks || []).map(m => `${m.at}[${m.index}]` + (m.hour ? " 1 h" : "")).join(", ") || "none"],
      ...Object.entries(c.headers || {})]));
}

function by(b) { return [b.kind, b.rule, b.file ? `${b.file}:${b.line}` : b.scope].filter(Boolean).join(" "); }

function tool(t) {
  const d = t.decision;
  return fold(el("span", {}, el("strong", {}, t.name), ` ${time(t.dur_ns)} `, el("span", { class: d.verdict === "allow" ? "dim" : "bad" }, `${d.verdict} by ${by(d.by)}`)),
    el("p", {}, t.summary || ""), d.reason ? el("p", {}, "Reason: " + d.reason) : "", t.err ? el("p", { class: "bad" }, t.err) : "",
    d.parts ? table(d.parts.map(p => [p.text, p.verdict, by(p.by), p.reason || ""])) : "",
    d.suggest ? el("p", {}, "Would be allowed by: " + d.suggest.join(", ")) : "",
    t.input ? el("pre", { tabindex: 0 }, JSON.stringify(t.input, null, 2)) : "",
    t.input_ref ? lazy("Input", async () => [el("pre", { tabindex: 0 }, readable(await (await get("blob/" + chosen + "/" + t.input_ref)).text()))]) : "",
    el("p", { class: "dim" }, `Result: ${fmt(t.bytes)} bytes` + (t.is_error ? ", an error" : "")));
}

function fold(title, ...content) { return el("details", {}, el("summary", {}, title), el("div", {}, ...content)); }

function lazy(title, load) {
  const box = el("div", {}), d = el("details", { async ontoggle() {
    if (!d.open || box.firstChild) return;
    box.textContent = "…";
    try { box.replaceChildren(...await load()); } catch (e) { box.textContent = e.message; }
  } }, el("summary", {}, title), box);
  return d;
}

document.addEventListener("keydown", e => {
  if (!session || e.altKey || e.ctrlKey || e.metaKey || e.target.closest("pre, input")) return;
  const keys = { ArrowLeft: () => step(-1), k: () => step(-1), ArrowRight: () => step(1), j: () => step(1), Home: () => step(-1e9), End: () => step(1e9), m: nextMiss };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
$("prev").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
$("miss").addEventListener("click", nextMiss);
$("withagents").addEventListener("change", () => { overview(); if (!columns.has(chosen) && shown.length) choose(shown[shown.length - 1].label); });
let wide = 0;
new ResizeObserver(() => { if (session && Math.abs($("scroll").clientWidth - wide) > 40) { wide = $("scroll").clientWidth; overview(); } }).observe($("scroll"));
window.addEventListener("hashchange", () => { const l = location.hash.slice(1); if (byLabel.has(l) && l !== chosen) choose(l); });
start().catch(e => { $("about").textContent = "The session could not be read: " + e.message; }).finally(() => document.body.setAttribute("data-ready", "yes"));
