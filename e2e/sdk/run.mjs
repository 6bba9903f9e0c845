// Drives the program with the published TypeScript SDK through the scenarios of the tables beside this file, several at
// a time in one process: node run.mjs <folder of node_modules> <program> <control url> <how many at once> [name…].
// Each scenario's outcome is one JSON line on standard output. See sdk_test.go for the other side.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, program, control, atOnce, ...only] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(modules, "node_modules", name)).href);
const sdk = await load("@anthropic-ai/claude-agent-sdk/sdk.mjs");
const { z } = await load("zod/index.js");

const limit = 30_000; // a scenario that takes longer has failed

// Place is what a scenario works with: a directory, a home, and a fake API that answers by its script.
class Place {
  constructor(made) {
    Object.assign(this, made); // dir, home, url, key
    this.sdk = sdk;
    this.z = z;
    this.program = program;
    this.modules = modules;
    this.stderr = "";
    this.env = {};
    for (const [k, v] of Object.entries(process.env)) if (!/^(ANTHROPIC|CLAUDE|LATHE)_/.test(k)) this.env[k] = v;
    Object.assign(this.env, {
      HOME: this.home, ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: this.url, IS_SANDBOX: "1", LATHE_RETRY_BASE_DELAY_MS: "1",
      CLAUDE_CODE_OVERLOADED_RETRY_BASE_DELAY_MS: "1", CLAUDE_CONFIG_DIR: process.env.CLAUDE_CONFIG_DIR, GORACE: "atexit_sleep_ms=0",
    });
  }

  // ownConfig gives the scenario a configuration directory of its own; the others share one, where the SDK's session
  // functions look.
  ownConfig() { return (this.env.CLAUDE_CONFIG_DIR = path.join(this.home, ".claude")); }
  file(name, text) {
    const p = path.isAbsolute(name) ? name : path.join(this.dir, name);
    fs.mkdirSync(path.dirname(p), { recursive: true });
    fs.writeFileSync(p, text);
    return p;
  }
  has(name) { return fs.existsSync(path.join(this.dir, name)); }
  read(name) { return fs.readFileSync(path.join(this.dir, name), "utf8"); }

  options(o = {}) {
    return {
      pathToClaudeCodeExecutable: program, cwd: this.dir, settingSources: [], stderr: (s) => { this.stderr += s; },
      ...o, env: { ...this.env, ...o.env },
    };
  }
  query(prompt, o) { return sdk.query({ prompt, options: this.options(o) }); }

  // all runs a query to its end.
  async all(prompt, o, each) {
    const q = this.query(prompt, o);
    const messages = [];
    try {
      for await (const m of q) {
        messages.push(m);
        await each?.(m, q);
      }
    } catch (e) {
      this.thrown = e;
      if (!o?.mayThrow) throw e;
    }
    return new Seen(messages);
  }

  async requests() { return (await fetch(`${this.api}/_fake/bodies?key=${this.key}`)).json(); }
  async last() { return (await this.requests()).at(-1); }
  async until(what, cond) {
    for (let i = 0; i < 1000; i++) {
      const v = await cond();
      if (v) return v;
      await new Promise((r) => setTimeout(r, 10));
    }
    assert.fail(`waited too long for ${what}`);
  }
}

// Seen is the messages of a query.
class Seen extends Array {
  constructor(list) { super(); if (Array.isArray(list)) this.push(...list); }
  static get [Symbol.species]() { return Array; }
  type(t, sub) { return this.filter((m) => m.type === t && (!sub || m.subtype === sub)); }
  get results() { return this.type("result"); }
  get result() { return this.results.at(-1); }
  get init() { return this.type("system", "init")[0]; }
  blocks(kind, from = "assistant") {
    return this.type(from).flatMap((m) => (Array.isArray(m.message.content) ? m.message.content : []).filter((b) => b.type === kind));
  }
  get toolResults() { return this.blocks("tool_result", "user"); }
}

// Helpers that the tables use.
const call = (tool, input, more) => ({ tool, input, ...more });
const say = (...blocks) => ({ blocks: blocks.map((b) => (typeof b === "string" ? { text: b } : b)) });
const user = (content, more) => ({ type: "user", session_id: "", message: { role: "user", content }, parent_tool_use_id: null, ...more });
const text = (content) => (typeof content === "string" ? content : (content ?? []).map((b) => b.text ?? "").join(""));

// feed is an iterable prompt that is written to while the query runs.
function feed(...first) {
  const waiting = [...first];
  let wake, ended = false;
  return {
    push(m) { waiting.push(m); wake?.(); },
    end() { ended = true; wake?.(); },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (waiting.length) yield waiting.shift();
        if (ended) return;
        await new Promise((r) => { wake = r; });
      }
    },
  };
}

const scenarios = [];
const table = (part) => (name, script, run, more) => scenarios.push({ name: `${part}/${name}`, script, run, ...more });
for (const file of fs.readdirSync(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname)).sort()) {
  if (!file.endsWith(".table.mjs")) continue;
  const { default: fill } = await import(new URL(file, import.meta.url));
  fill(table(file.replace(".table.mjs", "")), { assert, call, say, user, text, feed, fs, path });
}

async function one(s) {
  const began = Date.now();
  let place, error;
  try {
    const made = await fetch(control, { method: "POST", body: JSON.stringify({ name: s.name, script: typeof s.script === "function" ? undefined : s.script }) });
    const answer = await made.json();
    if (answer.error) throw new Error(answer.error);
    place = new Place(answer);
    let timer;
    const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error(`not finished after ${limit} ms`)), limit); });
    await Promise.race([s.run(place), late]);
    clearTimeout(timer);
  } catch (e) {
    error = `${e?.stack ?? e}\nstandard error: ${place?.stderr ?? ""}`;
  }
  const line = { name: s.name, ok: !error, error, key: place?.key, illegal: s.illegal, ms: Date.now() - began };
  fs.writeSync(1, JSON.stringify(line) + "\n");
}

const todo = scenarios.filter((s) => only.length === 0 || only.some((o) => s.name.includes(o)));
await Promise.all(Array.from({ length: Number(atOnce) }, async () => {
  for (let s; (s = todo.shift()); ) await one(s);
}));
process.exit(0); // what a failed scenario left running does not keep the process
