"use strict";
// The page: it reads JSON from the server that served it, and puts it in place as text, never as HTML.

const $ = id => document.getElementById(id);
let session = null, chosen = 0;

function el(name, attrs, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attrs || {})) k.startsWith("on") ? e.addEventListener(k.slice(2), v) : e.setAttribute(k, v);
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}

const usd = n => "$" + (n || 0).toFixed(n && n < .01 ? 6 : 4);
const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(1) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(1) + " ms" : Math.round(ns / 1e3) + " µs";
const percent = (n, of) => (of ? 100 * n / of : 0).toFixed(1) + " %";
const promptOf = u => u.input_tokens + u.cache_creation_input_tokens + u.cache_read_input_tokens;

async function get(path) {
  const answer = await fetch("api/" + path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

async function start() {
  session = await (await get("session")).json();
  const s = session, total = promptOf(s.usage);
  document.title = "Lathe: " + (s.title || s.id);
  $("title").textContent = s.title || "Session";
  $("about").textContent = [s.id, s.dir].filter(Boolean).join(" · ");
  const facts = [["Requests", s.requests.length], ["Cost", usd(s.cost_usd)], ["Prompt tokens", fmt(total)], ["Output tokens", fmt(s.usage.output_tokens)],
    ["Read from the cache", percent(s.usage.cache_read_input_tokens, total)], ["Missed by the cache", s.lost_tokens ? `${fmt(s.lost_tokens)} (${usd(s.lost_usd)})` : "nothing"]];
  $("totals").replaceChildren(...facts.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, String(v)))));
  $("notes").replaceChildren(...(s.notes || []).map(n => el("li", {}, n)));
  const wanted = Number(location.hash.slice(1)) || s.requests.length;
  if (s.requests.length) await choose(Math.min(Math.max(1, wanted), s.requests.length), false);
  else $("one").textContent = "No request was made yet.";
}

function overview(focus) {
  const [picture, names] = draw(session.requests, chosen, choose);
  $("picture").replaceChildren(picture);
  $("legend").replaceChildren(...[...names].map(([n, c]) => el("li", {}, el("i", { class: c }), n)));
  $("list").replaceChildren(...session.requests.flatMap(r => [
    r.prompt ? el("li", { class: "asked" }, r.prompt) : null,
    el("li", {}, el("button", { "aria-pressed": r.n === chosen, onclick: () => choose(r.n) },
      el("span", {}, `${r.n}. ${fmt(promptOf(r.usage))} tokens`), el("span", {}, percent(r.usage.cache_read_input_tokens, promptOf(r.usage)) + " cached"),
      el("span", {}, usd(r.cost_usd)), el("span", { class: r.miss || r.failure ? "bad" : "" }, r.failure ? "failed" : r.miss ? "cache miss" : r.stop || ""))),
  ].filter(Boolean)));
  const bar = picture.querySelector(`[data-n="${chosen}"]`), row = $("list").querySelector("[aria-pressed=true]");
  if (focus) bar.focus({ preventScroll: true });
  $("picture").scrollLeft = bar.querySelector(".hit").getAttribute("x") - 200;
  $("list").scrollTop = row.offsetTop - $("list").offsetTop - 60;
}

async function choose(n, focus = true) {
  chosen = n;
  history.replaceState(null, "", "#" + n);
  overview(focus && document.activeElement && document.activeElement.closest("#picture"));
  try {
    const r = await (await get("request/" + n)).json();
    if (chosen === n) show(r);
  } catch (e) { $("one").textContent = e.message; }
}

function show(r) {
  $("chosen").textContent = "Request " + r.n;
  const u = r.usage;
  $("one").replaceChildren(
    el("p", { class: "dim" }, [new Date(r.at).toLocaleString(), r.model, r.step ? "pass " + r.step : "", r.dur_ns ? time(r.dur_ns) : "", r.stop].filter(Boolean).join(" · ")),
    r.failure ? el("p", { class: "bad" }, r.failure) : "",
    table([["Read from the cache", u.cache_read_input_tokens], ["Written to the cache", u.cache_creation_input_tokens], ["Plain input", u.input_tokens], ["Output", u.output_tokens], ["Cost", usd(r.cost_usd)]]),
    r.miss ? miss(r.miss) : "",
    el("h3", {}, "What filled the context"), table((r.shares || []).map(s => [s.name, "≈ " + fmt(s.tokens) + " tokens", fmt(s.bytes) + " bytes"])),
    ...(r.traced ? traced(r) : [el("p", {}, "This request was made without a trace: its stages and its body are not known.")]));
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
    el("h3", {}, "Stages"), ...(r.stages || []).map(stage),
    el("h3", {}, "Calls of the model"), ...(r.calls || []).map(call),
    r.tools ? el("h3", {}, "Tool calls") : "", ...(r.tools || []).map(tool),
    el("h3", {}, "What was sent"),
    r.diff ? fold("Against the request before", change(r.diff)) : "",
    lazy("The exact body, " + fmt(r.bytes) + " bytes", async () => {
      const answer = await get("body/" + r.n), text = await answer.text(), most = 200000;
      return [el("p", {}, answer.headers.get("X-Exact") === "true" ? "To the byte. " : "Not to the byte: secrets were taken out of the trace. ", el("a", { href: "api/body/" + r.n, target: "_blank", rel: "noreferrer" }, "All of it")),
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
  if (e.altKey || e.ctrlKey || e.metaKey || e.target.closest("pre, summary, a")) return;
  const to = e.key === "ArrowLeft" ? chosen - 1 : e.key === "ArrowRight" ? chosen + 1 : 0;
  if (to >= 1 && to <= session.requests.length) { e.preventDefault(); choose(to); }
});
window.addEventListener("hashchange", () => { const n = Number(location.hash.slice(1)); if (n && n !== chosen && n <= session.requests.length) choose(n); });
start().catch(e => { $("about").textContent = "The session could not be read: " + e.message; }).finally(() => document.body.setAttribute("data-ready", "yes"));
