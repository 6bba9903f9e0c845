// What the reference of the Agent SDK promises beside its guides: single options, messages and methods.
import { randomUUID } from "node:crypto";

export default (add, { assert, call, say, user, text, feed, fs, path }) => {
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  add("read: an image, a notebook, a range, a missing file, a directory", [
    say(call("Read", { file_path: "${CWD}/p.png" }), call("Read", { file_path: "${CWD}/n.ipynb" }), call("Read", { file_path: "${CWD}/t", offset: 2, limit: 1 }), call("Read", { file_path: "${CWD}/none" }), call("Read", { file_path: "${CWD}" })), say("done"),
  ], async (p) => {
    fs.writeFileSync(path.join(p.dir, "p.png"), Buffer.from(png, "base64"));
    p.file("n.ipynb", JSON.stringify({ cells: [{ cell_type: "code", id: "c1", source: ["print(1)"], metadata: {}, outputs: [], execution_count: null }], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    p.file("t", "one\ntwo\nthree\n");
    const s = await p.all("x");
    const r = s.type("user").map((m) => m.tool_use_result);
    assert.equal(r[0].type, "image"); assert.equal(r[0].file.type, "image/png");
    assert.equal(r[1].type, "notebook");
    assert.deepEqual([r[2].type, r[2].file.startLine, r[2].file.numLines, r[2].file.content.trimEnd()], ["text", 2, 1, "two"]);
    assert.deepEqual(s.toolResults.map((x) => !!x.is_error), [false, false, false, true, true]);
    const img = (await p.last()).messages.at(-1).content.find((b) => b.type === "tool_result").content;
    assert.ok(img.some((b) => b.type === "image"));
  });

  add("write: result has the kind, the patch and the original", [
    say(call("Write", { file_path: "${CWD}/a", content: "1\n" })), say(call("Write", { file_path: "${CWD}/a", content: "2\n" })), say(call("Edit", { file_path: "${CWD}/a", old_string: "2", new_string: "3" })), say("done"),
  ], async (p) => {
    const s = await p.all("x", { permissionMode: "acceptEdits" });
    const [w, o, e] = s.type("user").map((m) => m.tool_use_result);
    assert.equal(w.type, "create"); assert.equal(w.originalFile, null);
    assert.equal(o.type, "update"); assert.equal(o.originalFile, "1\n"); assert.ok(o.structuredPatch.length);
    assert.equal(e.oldString, "2"); assert.equal(e.newString, "3"); assert.equal(e.filePath, path.join(p.dir, "a"));
  });

  add("bash: output, exit code, timeout, working directory lasts", [
    say(call("Bash", { command: "mkdir d && cd d && pwd" })), say(call("Bash", { command: "pwd; echo err >&2; exit 2" })), say(call("Bash", { command: "sleep 600", timeout: 100 })), say("done"),
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"] });
    assert.match(text(s.toolResults[1].content), /\/d\n?/); assert.match(text(s.toolResults[1].content), /err/);
    assert.equal(s.toolResults[1].is_error, true);
    assert.match(text(s.toolResults[2].content), /timed? ?out/i);
  });

  add("notebook edit: replace, insert and delete", [
    say(call("Read", { file_path: "${CWD}/n.ipynb" })),
    say(call("NotebookEdit", { notebook_path: "${CWD}/n.ipynb", cell_id: "c1", new_source: "print(2)" })),
    say(call("NotebookEdit", { notebook_path: "${CWD}/n.ipynb", cell_id: "c1", new_source: "# hi", cell_type: "markdown", edit_mode: "insert" })),
    say(call("NotebookEdit", { notebook_path: "${CWD}/n.ipynb", cell_id: "c1", new_source: "", edit_mode: "delete" })), say("done"),
  ], async (p) => {
    p.file("n.ipynb", JSON.stringify({ cells: [{ cell_type: "code", id: "c1", source: ["print(1)"], metadata: {}, outputs: [], execution_count: null }], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const s = await p.all("x", { permissionMode: "acceptEdits", tools: { type: "preset", preset: "claude_code" } });
    assert.deepEqual(s.toolResults.map((r) => !!r.is_error), [false, false, false, false], JSON.stringify(s.toolResults));
    const nb = JSON.parse(p.read("n.ipynb"));
    assert.equal(nb.cells.length, 1); assert.equal(nb.cells[0].cell_type, "markdown");
  });

  add("images in a prompt, with text, as a string prompt cannot", [say("seen")], async (p) => {
    async function* one() { yield user([{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }, { type: "text", text: "what is it" }]); }
    const s = await p.all(one());
    const c = (await p.last()).messages.at(-1).content;
    assert.ok(c.some((b) => b.type === "image") && c.some((b) => b.text === "what is it"));
    assert.equal(s.result.result, "seen");
  });

  add("documents in a prompt", [say("seen")], async (p) => {
    async function* one() { yield user([{ type: "document", source: { type: "text", media_type: "text/plain", data: "the plain document" }, title: "t" }, { type: "text", text: "read it" }]); }
    await p.all(one());
    assert.match(JSON.stringify((await p.last()).messages), /the plain document/);
  });

  add("several messages sent at once are all answered or folded", [say("a"), say("b"), say("c")], async (p) => {
    async function* three() { yield user("msg-one"); yield user("msg-two"); yield user("msg-three"); }
    const s = await p.all(three());
    const all = JSON.stringify((await p.last()).messages);
    for (const w of ["msg-one", "msg-two", "msg-three"]) assert.ok(all.includes(w), w);
    assert.ok(s.results.length >= 1 && s.results.every((r) => r.subtype === "success"));
  });

  add("a message during a tool reaches the model at the next step", [
    say(call("Bash", { command: "touch started; until [ -e go ]; do sleep 0.02; done" })), say("answered both"), say("later"),
  ], async (p) => {
    const f = feed(user("start"));
    const s = await p.all(f, { allowedTools: ["Bash"] }, async (m) => {
      if (m.type === "assistant" && m.message.content[0].type === "tool_use") p.until("the tool", () => p.has("started")).then(() => { f.push(user("meanwhile-77")); setTimeout(() => p.file("go", ""), 50); });
      if (m.type === "result" && JSON.stringify((await p.requests()).map((r) => r.messages)).includes("meanwhile-77")) f.end();
    });
    assert.ok(s.results.length <= 2);
  });

  add("partial messages: thinking deltas and signatures", [{ blocks: [{ thinking: "let me think it over" }, { text: "answer" }] }], async (p) => {
    const s = await p.all("x", { includePartialMessages: true, model: "claude-sonnet-4-5", thinking: { type: "enabled", budgetTokens: 2000 } });
    const ev = s.type("stream_event").map((m) => m.event);
    assert.match(ev.filter((e) => e.delta?.type === "thinking_delta").map((e) => e.delta.thinking).join(""), /think it over/);
    assert.ok(ev.some((e) => e.delta?.type === "signature_delta"));
    assert.ok(s.blocks("thinking").length === 1);
    assert.equal((await p.last()).thinking.budget_tokens, 2000);
    assert.ok(s.type("stream_event").find((m) => m.event.type === "message_start").ttft_ms >= 0);
  });

  add("without partial messages there are no stream events", [say("x")], async (p) => {
    assert.equal((await p.all("x")).type("stream_event").length, 0);
  });

  add("permission request hook answers in place of the callback", [say(call("Bash", { command: "touch a" }), call("Bash", { command: "touch b" })), say("ok")], async (p) => {
    let asked = 0;
    await p.all("x", {
      hooks: { PermissionRequest: [{ hooks: [async (i) => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: i.tool_input.command.endsWith("a") ? { behavior: "allow", updatedInput: { command: "touch c" } } : { behavior: "deny", message: "no b" } } })] }] },
      canUseTool: (n, i, { signal }) => new Promise((res) => { asked++; signal.addEventListener("abort", () => res({ behavior: "deny", message: "late" })); }),
    });
    assert.ok(p.has("c") && !p.has("a") && !p.has("b"));
    assert.match(JSON.stringify((await p.last()).messages), /no b/);
  });

  add("deny with interrupt ends the turn", [say(call("Bash", { command: "touch a" })), say("never")], async (p) => {
    const s = await p.all("x", { canUseTool: async () => ({ behavior: "deny", message: "stop it", interrupt: true }), mayThrow: true });
    assert.equal(s.result.subtype, "error_during_execution");
    assert.equal((await p.requests()).length, 1);
  });

  add("the callback throws or answers null: nothing runs", [say(call("Bash", { command: "touch a" })), say(call("Bash", { command: "touch b" })), say("ok")], async (p) => {
    let n = 0;
    const s = await p.all("x", { canUseTool: async () => { if (n++ === 0) throw new Error("my fault"); return {}; } });
    assert.ok(!p.has("a") && !p.has("b"));
    assert.equal(s.result.permission_denials.length, 2);
  });

  add("rules are remembered in the local settings file and hold in the next query", [say(call("Bash", { command: "touch a1" })), say("ok"), say(call("Bash", { command: "touch a2" })), say("ok")], async (p) => {
    const rule = [{ type: "addRules", behavior: "allow", destination: "localSettings", rules: [{ toolName: "Bash", ruleContent: "touch:*" }] }];
    await p.all("x", { canUseTool: async (n, i) => ({ behavior: "allow", updatedInput: i, updatedPermissions: rule }) });
    assert.deepEqual(JSON.parse(p.read(".claude/settings.local.json")).permissions.allow, ["Bash(touch:*)"]);
    let asked = 0;
    await p.all("x", { settingSources: ["local"], canUseTool: async (n, i) => { asked++; return { behavior: "allow", updatedInput: i }; } });
    assert.equal(asked, 0); assert.ok(p.has("a2"));
  });

  add("setMode of the answer accepts the edits that follow", [say(call("Write", { file_path: "${CWD}/a", content: "1" })), say(call("Write", { file_path: "${CWD}/b", content: "1" })), say("ok")], async (p) => {
    let asked = 0;
    const s = await p.all("x", { canUseTool: async (n, i) => { asked++; return { behavior: "allow", updatedInput: i, updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }] }; } });
    assert.equal(asked, 1); assert.ok(p.has("b"));
    assert.ok(s.type("system", "status").some((m) => m.permissionMode === "acceptEdits"));
  });

  add("a read outside the directories asks with the path", [say(call("Read", { file_path: "${CWD}-x/secret" })), say("ok")], async (p) => {
    fs.mkdirSync(p.dir + "-x"); fs.writeFileSync(p.dir + "-x/secret", "s");
    let o;
    await p.all("x", { canUseTool: async (n, i, opts) => { o = opts; return { behavior: "allow", updatedInput: i }; } });
    assert.ok(o.blockedPath?.endsWith("secret") || o.suggestions?.length, JSON.stringify(o));
  });

  add("hook events in the output", [say(call("Bash", { command: "echo hi" })), say("ok")], async (p) => {
    p.file(".claude/settings.json", JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "echo from hook" }] }] } }));
    const s = await p.all("x", { settingSources: ["project"], includeHookEvents: true, allowedTools: ["Bash"] });
    const started = s.type("system", "hook_started").filter((m) => m.hook_event === "PreToolUse"), done = s.type("system", "hook_response").filter((m) => m.hook_event === "PreToolUse");
    assert.equal(started.length, 1); assert.equal(done[0].hook_id, started[0].hook_id);
    assert.match(done[0].stdout, /from hook/); assert.equal(done[0].outcome, "success");
  });

  add("session hooks of settings: start adds context, end runs", [say("ok")], async (p) => {
    p.file(".claude/settings.json", JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: "command", command: "echo context-from-start" }] }], SessionEnd: [{ hooks: [{ type: "command", command: "touch ended" }] }] } }));
    await p.all("x", { settingSources: ["project"] });
    assert.match(JSON.stringify((await p.last()).messages), /context-from-start/);
    assert.ok(p.has("ended"));
  });

  add("a prompt blocked by a hook makes no request", [say("never")], async (p) => {
    const s = await p.all("bad words", { hooks: { UserPromptSubmit: [{ hooks: [async () => ({ decision: "block", reason: "not allowed here" })] }] } });
    assert.equal((await p.requests()).length, 0);
    assert.equal(s.result.num_turns, 0);
    assert.ok(s.some((m) => JSON.stringify(m).includes("not allowed here")));
  });

  add("a hook with ask forces the question for an allowed tool", [say(call("Bash", { command: "touch a" })), say("ok")], async (p) => {
    let asked = 0;
    await p.all("x", { allowedTools: ["Bash"], hooks: { PreToolUse: [{ hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask", permissionDecisionReason: "look at it" } })] }] }, canUseTool: async (n, i) => { asked++; return { behavior: "allow", updatedInput: i }; } });
    assert.equal(asked, 1); assert.ok(p.has("a"));
  });

  add("a hook that takes too long", [say(call("Bash", { command: "touch a" })), say("ok")], async (p) => {
    let aborted = false;
    const s = await p.all("x", { allowedTools: ["Bash"], hooks: { PreToolUse: [{ timeout: 0.2, hooks: [(i, id, { signal }) => new Promise((res) => { signal.addEventListener("abort", () => { aborted = true; res({}); }); })] }] } });
    await p.until("the signal", () => aborted);
    assert.equal(s.result.subtype, "success");
  });

  add("PostToolBatch sees all calls of a step", [say(call("Bash", { command: "echo 1" }), call("Bash", { command: "echo 2" })), say("ok")], async (p) => {
    let got;
    await p.all("x", { allowedTools: ["Bash"], hooks: { PostToolBatch: [{ hooks: [async (i) => { got = i.tool_calls; return { hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext: "after-batch-5" } }; }] }] } });
    assert.equal(got.length, 2);
    assert.match(JSON.stringify((await p.last()).messages), /after-batch-5/);
  });

  add("mcp over http, with a header, and its tool by rule", [say(call("mcp__web__add", { a: 2, b: 3 })), say("ok")], async (p) => {
    const { spawn } = await import("node:child_process");
    const child = spawn("node", [path.join(import.meta.dirname, "server.mjs"), "0"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      const port = await new Promise((res) => child.stderr.on("data", (d) => { const m = /port (\d+)/.exec(d); if (m) res(m[1]); }));
      const s = await p.all("x", { mcpServers: { web: { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: { "X-Key": "k" } } }, allowedTools: ["mcp__web"] });
      assert.match(text(s.toolResults[0].content), /sum: 5/);
      assert.equal(s.init.mcp_servers[0].status, "connected");
    } finally { child.kill(); }
  });

  add("mcp: a tool outside the rules asks with the server's name", [say(call("mcp__s__t", {})), say("ok")], async (p) => {
    let o;
    const s1 = p.sdk.createSdkMcpServer({ name: "s", tools: [p.sdk.tool("t", "t", {}, async () => ({ content: [{ type: "text", text: "ran" }] }))] });
    await p.all("x", { mcpServers: { s: s1 }, canUseTool: async (n, i, opts) => { o = { n, ...opts }; return { behavior: "allow", updatedInput: i }; } });
    assert.equal(o.n, "mcp__s__t"); assert.deepEqual(o.mcpServer, { name: "s", source: "sdk" });
    assert.match(JSON.stringify((await p.last()).messages), /ran/);
  });

  add("mcp: .mcp.json of the project with strictMcpConfig and without", [say("ok"), say("ok")], async (p) => {
    p.file(".mcp.json", JSON.stringify({ mcpServers: { small: { command: "node", args: [path.join(import.meta.dirname, "server.mjs")] } } }));
    const a = await p.all("x", { settingSources: ["project"] });
    assert.equal(a.init.mcp_servers.find((m) => m.name === "small")?.status, "connected");
    const b = await p.all("x", { settingSources: ["project"], strictMcpConfig: true });
    assert.equal(b.init.mcp_servers.length, 0);
  });

  add("mcp: elicitation is answered by the host", [say(call("mcp__e__ask", {})), say("ok")], async (p) => {
    p.file("e.mjs", `import readline from "node:readline";
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n"); let open;
for await (const l of readline.createInterface({ input: process.stdin })) { const { id, method, params, result } = JSON.parse(l);
 if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "e", version: "1" } } });
 else if (method === "tools/list") send({ id, result: { tools: [{ name: "ask", inputSchema: { type: "object" } }] } });
 else if (method === "tools/call") { open = id; send({ id: 900, method: "elicitation/create", params: { message: "your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } } }); }
 else if (id === 900) send({ id: open, result: { content: [{ type: "text", text: "got " + JSON.stringify(result) }] } });
 else if (id !== undefined && method) send({ id, error: { code: -32601, message: "no" } }); }`);
    let req;
    const s = await p.all("x", { mcpServers: { e: { command: "node", args: [path.join(p.dir, "e.mjs")] } }, allowedTools: ["mcp__e__ask"], onElicitation: async (r) => { req = r; return { action: "accept", content: { name: "Ada" } }; } });
    assert.equal(req.message, "your name?"); assert.equal(req.serverName, "e");
    assert.match(text(s.toolResults[0].content), /Ada/);
  });

  add("agents: forwarded text, own model, disallowed tools, turn limit", [
    say(call("Agent", { description: "d", prompt: "sub task 1", subagent_type: "w", run_in_background: false })),
    { when: { user: "sub task 1" }, ...say("I begin", call("Bash", { command: "echo in sub" })), times: 1 },
    { when: { tool_result: "in sub" }, ...say("sub end"), times: 1 }, say("done"),
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], forwardSubagentText: true, agents: { w: { description: "d", prompt: "WORKER", disallowedTools: ["Write"], maxTurns: 4 } } });
    const id = s.blocks("tool_use")[0].id;
    const inner = s.filter((m) => m.type === "assistant" && m.parent_tool_use_id === id);
    assert.ok(inner.some((m) => m.message.content.some((b) => b.text === "I begin")));
    const sub = (await p.requests()).find((r) => JSON.stringify(r.system ?? "").includes("WORKER"));
    assert.ok(!sub.tools.some((t) => t.name === "Write"));
    assert.equal(s.result.result, "done");
  });

  add("agents: questions of a sub-agent come with its id", [
    say(call("Agent", { description: "d", prompt: "sub task 2", run_in_background: false })),
    { when: { user: "sub task 2" }, ...say(call("Bash", { command: "touch sub" })), times: 1 },
    say("sub end"), say("done"),
  ], async (p) => {
    let o;
    await p.all("x", { canUseTool: async (n, i, opts) => { o = opts; return { behavior: "allow", updatedInput: i }; } });
    assert.ok(o.agentID); assert.ok(p.has("sub"));
  });

  const works = (mode) => [
    say(call("Agent", { description: "d", prompt: "sub task 3", subagent_type: "w", run_in_background: false })),
    { when: { user: "sub task 3" }, ...say(call("Write", { file_path: "${CWD}/sub", content: "s" }), call("Bash", { command: "touch cmd" })), times: 1 },
    say("sub end"), say(call("Write", { file_path: "${CWD}/own", content: "o" })), say("done " + mode),
  ];
  for (const [mode, asked, files] of [["plan", ["own"], ["own"]], ["dontAsk", ["own"], ["own"]], ["acceptEdits", ["sub", "touch cmd", "own"], ["sub", "cmd", "own"]], ["bypassPermissions", ["sub", "touch cmd", "own"], ["sub", "cmd", "own"]], [undefined, ["sub", "touch cmd", "own"], ["sub", "cmd", "own"]]]) {
    add(`agents: a definition's mode ${mode} below a session in default`, works(mode), async (p) => {
      const got = [];
      const s = await p.all("x", {
        agents: { w: { description: "d", prompt: "WORKER", permissionMode: mode } },
        canUseTool: async (n, i, o) => { got.push([i.command ?? path.basename(i.file_path), !!o.agentID]); return { behavior: "allow", updatedInput: i }; },
      });
      assert.deepEqual(got.map((g) => g[0]).filter((g) => mode !== "plan" || g !== "touch cmd"), asked);
      assert.ok(got.every(([what, inside]) => inside === (what !== "own")));
      for (const f of ["sub", "own"]) assert.equal(p.has(f), files.includes(f), f);
      assert.equal(s.type("system", "informational").some((m) => /no more rights/.test(m.content)), mode === "acceptEdits" || mode === "bypassPermissions");
    });
  }
  add("agents: a session in acceptEdits keeps it for its agents", works("acceptEdits"), async (p) => {
    const s = await p.all("x", { permissionMode: "acceptEdits", agents: { w: { description: "d", prompt: "WORKER", permissionMode: "plan" } } });
    assert.ok(p.has("sub") && p.has("cmd") && p.has("own"));
    assert.equal(s.result.permission_denials.length, 0);
  });

  add("background command ends and starts a turn of its own", [
    say(call("Bash", { command: "until [ -e go ]; do sleep 0.02; done; echo finished-22", run_in_background: true })), say("waiting"), say("it ended"),
  ], async (p) => {
    const f = feed(user("x"));
    const s = await p.all(f, { allowedTools: ["Bash"] }, async (m) => {
      if (m.type === "result" && m.result === "waiting") p.file("go", "");
      if (m.type === "result" && m.result === "it ended") f.end();
    });
    assert.equal(s.results.at(-1).origin.kind, "task-notification");
    assert.equal(s.type("system", "task_notification")[0].status, "completed");
    assert.ok(fs.readFileSync(s.type("system", "task_notification")[0].output_file, "utf8").includes("finished-22"));
  });

  add("backgroundTasks sends a running command to the background", [
    say(call("Bash", { command: "touch started; until [ -e go ]; do sleep 0.02; done" })), say("moved"), say("ended"),
  ], async (p) => {
    const f = feed(user("x"));
    const s = await p.all(f, { allowedTools: ["Bash"] }, async (m, q) => {
      if (m.type === "assistant" && m.message.content[0].type === "tool_use") p.until("it", () => p.has("started")).then(() => q.backgroundTasks());
      if (m.type === "result") { p.file("go", ""); if (m.result === "ended") f.end(); }
    });
    assert.equal(s.results[0].result, "moved");
  });

  add("settings: user, project and local rank, and flag settings above", [say("a"), say("b"), say("c")], async (p) => {
    const dir = p.ownConfig();
    p.file(path.join(dir, "settings.json"), JSON.stringify({ model: "claude-haiku-4-5" }));
    p.file(".claude/settings.json", JSON.stringify({ model: "claude-sonnet-4-5" }));
    await p.all("x", { settingSources: ["user"] });
    assert.match((await p.last()).model, /haiku/);
    await p.all("x", { settingSources: ["user", "project"] });
    assert.match((await p.last()).model, /sonnet/);
    await p.all("x", { settingSources: ["user", "project"], settings: { model: "claude-opus-4-5" } });
    assert.match((await p.last()).model, /opus/);
  });

  add("output style of the settings", [say("a")], async (p) => {
    p.file(".claude/output-styles/pirate.md", "---\nname: pirate\ndescription: d\n---\nTalk like a PIRATE99.\n");
    const s = await p.all("x", { settingSources: ["project"], settings: { outputStyle: "pirate" }, systemPrompt: { type: "preset", preset: "claude_code" } });
    assert.equal(s.init.output_style, "pirate");
    assert.match(JSON.stringify(await p.last()), /PIRATE99/);
  });

  add("title and effort", [say("a")], async (p) => {
    const s = await p.all("x", { title: "Given title", effort: "low", model: "claude-opus-4-6" });
    const info = await p.sdk.getSessionInfo(s.init.session_id, { dir: p.dir });
    assert.equal(info.customTitle ?? info.summary, "Given title");
    assert.equal((await p.last()).output_config?.effort, "low");
  });

  add("persistSession false writes nothing", [say("a")], async (p) => {
    const dir = p.ownConfig();
    const s = await p.all("x", { persistSession: false });
    const files = fs.existsSync(dir) ? fs.readdirSync(dir, { recursive: true }).filter((f) => f.includes(s.init.session_id)) : [];
    assert.deepEqual(files, []);
  });

  add("resume of an unknown session", [say("a")], async (p) => {
    const id = randomUUID();
    await assert.rejects(() => p.all("x", { resume: id }), new RegExp("No conversation found"));
  });

  add("verbatim prompts neither mention nor command", [say("a")], async (p) => {
    p.file("a.txt", "content-of-a");
    await p.all("/clear look at @a.txt", { verbatimPrompts: true });
    const body = JSON.stringify((await p.last()).messages);
    assert.match(body, /\/clear look at @a\.txt/); assert.ok(!body.includes("content-of-a"));
  });

  add("mentions attach the file", [say("a")], async (p) => {
    p.file("a.txt", "content-of-a");
    await p.all("look at @a.txt please");
    assert.match(JSON.stringify((await p.last()).messages), /content-of-a/);
  });

  add("tool aliases", [say(call("Bash", { command: "x" })), say("ok")], async (p) => {
    const w = p.sdk.createSdkMcpServer({ name: "w", tools: [p.sdk.tool("bash", "b", { command: p.z.string() }, async ({ command }) => ({ content: [{ type: "text", text: "remote " + command }] }))] });
    const s = await p.all("x", { mcpServers: { w }, toolAliases: { Bash: "mcp__w__bash" }, allowedTools: ["mcp__w__bash"], disallowedTools: [] });
    assert.match(text(s.toolResults[0].content), /remote x/);
  });

  add("close in the middle", [say(call("Bash", { command: "touch started; echo $$ > pid; sleep 600" })), say("x")], async (p) => {
    const q = p.query("x", { allowedTools: ["Bash"] });
    (async () => { await p.until("it", () => p.has("pid") && p.read("pid").trim()); q.close(); })();
    const seen = [];
    try { for await (const m of q) seen.push(m); } catch { /* either is fine */ }
    assert.ok(p.has("pid"));
    const pid = Number(p.read("pid"));
    await p.until("the end of the command", () => { try { process.kill(pid, 0); return false; } catch { return true; } });
    assert.ok(!seen.some((m) => m.type === "result" && m.subtype === "success"));
  });

  add("abort before the first message", [say("x")], async (p) => {
    const ac = new AbortController(); ac.abort();
    await assert.rejects(() => p.all("x", { abortController: ac }));
  });

  add("ten sessions side by side are not mixed", { default: { text: "you said ${last_user}" } }, async (p) => {
    const all = await Promise.all(Array.from({ length: 10 }, (_, i) => p.all(`word-${i}-end`)));
    all.forEach((s, i) => assert.match(s.result.result, new RegExp(`word-${i}-end`)));
    assert.equal(new Set(all.map((s) => s.init.session_id)).size, 10);
  });

  add("a long answer, unicode and control characters arrive as they are", [say("é漢字🙂\u0000\u001b[31m\u2028" + "x".repeat(200000))], async (p) => {
    const s = await p.all("x");
    assert.ok(s.result.result.startsWith("é漢字🙂")); assert.ok(s.result.result.endsWith("xxx")); assert.ok(s.result.result.length > 200000);
  });

  add("errors: refusal, max tokens, bad key, billing", { turns: [{ when: { user: "refuse" }, text: "I", stop_reason: "refusal" }, { when: { user: "key" }, faults: [{ kind: "status", status: 401 }], times: -1 }] }, async (p) => {
    const r = await p.all("refuse", { mayThrow: true });
    assert.equal(r.results.length, 1); assert.equal(r.result.stop_reason, "refusal");
    const k = await p.all("key", { mayThrow: true, env: { CLAUDE_CODE_MAX_RETRIES: "1" } });
    assert.equal(k.result.is_error, true); assert.equal(k.type("assistant").at(-1).error, "authentication_failed");
  }, { illegal: true });

  add("supported commands have hints and the init lists the same", [say("x")], async (p) => {
    p.file(".claude/commands/hello.md", "---\ndescription: Greets\nargument-hint: <name>\n---\nHello $1");
    const f = feed(user("x"));
    let cs;
    const s = await p.all(f, { settingSources: ["project"] }, async (m, q) => { if (m.type === "result") { cs = await q.supportedCommands(); f.end(); } });
    const h = cs.find((c) => c.name === "hello");
    assert.match(h.description, /Greets/); assert.equal(h.argumentHint, "<name>");
    assert.ok(s.init.slash_commands.includes("hello"));
  });

  add("older names of tools, and names that are not offered, in tools and rules", { default: say("x") }, async (p) => {
    const s = await p.all("x", { tools: ["Bash", "KillShell", "BashOutput", "MultiEdit", "LS", "AskUserQuestion", "NotThere"], allowedTools: ["Bash", "KillShell", "MultiEdit", "LS"] });
    assert.deepEqual((await p.requests())[0].tools.map((t) => t.name).toSorted(), ["Bash", "Edit", "TaskOutput", "TaskStop"]);
    assert.match(p.stderr, /LS is not offered here/); assert.match(p.stderr, /NotThere is not offered here/);
    assert.ok(s.results.every((r) => r.subtype === "success"));
    await p.all("x", { disallowedTools: ["BashOutput", "KillShell"], settings: {} });
    assert.ok(!(await p.last()).tools.some((t) => t.name === "TaskOutput" || t.name === "TaskStop"));
  });

  add("disableAllHooks switches the hooks of settings off, not the host's callbacks", [say(call("Bash", { command: "touch a" })), say("x")], async (p) => {
    p.file(".claude/settings.json", JSON.stringify({ disableAllHooks: true, hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "touch by-settings" }] }] } }));
    let called = 0;
    await p.all("x", { settingSources: ["project"], allowedTools: ["Bash"], hooks: { PreToolUse: [{ hooks: [async () => { called++; return {}; }] }] } });
    assert.equal(called, 1); assert.ok(p.has("a") && !p.has("by-settings"));
  });

  add("startup: warm process, then the query", [say("warm")], async (p) => {
    if (!p.sdk.startup) return;
    const w = await p.sdk.startup({ options: p.options() });
    const seen = [];
    for await (const m of w.query("x")) seen.push(m);
    assert.equal(seen.at(-1).result, "warm");
  });

  add("applyFlagSettings changes rules in the middle", [say(call("Bash", { command: "touch a" })), say("one"), say(call("Bash", { command: "touch b" })), say("two")], async (p) => {
    const f = feed(user("x"));
    await p.all(f, {}, async (m, q) => {
      if (m.type !== "result") return;
      if (m.result === "one") { await q.applyFlagSettings({ permissions: { allow: ["Bash(touch *)"] } }); f.push(user("y")); } else f.end();
    });
    assert.ok(!p.has("a") && p.has("b"));
  });

  add("managed settings of the host only restrict", [say(call("Bash", { command: "touch a" })), say("ok")], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], managedSettings: { permissions: { deny: ["Bash(touch *)"] } } });
    assert.ok(!p.has("a")); assert.equal(s.result.permission_denials.length, 1);
  });
};
