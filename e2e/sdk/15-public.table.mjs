// What the public pages of the Agent SDK promise, page by page: sessions, checkpoints, structured output, streaming, extensions, agents, tools, control.
import { execSync } from "node:child_process";
import { randomUUID } from "node:crypto";

export default (add, { assert, call, say, user, text, feed, fs, path }) => {
  const perm = (p) => ({ canUseTool: p });

  // --- sessions page
  add("sessions: resume by id after a crash of the host's loop", [say("remember 7"), say("it was 7")], async (p) => {
    const q = p.query("remember 7");
    let id;
    for await (const m of q) { id = m.session_id; if (m.type === "result") break; }
    const s = await p.all("what was it", { resume: id });
    assert.equal(s.init.session_id, id);
    assert.match(JSON.stringify((await p.last()).messages), /remember 7/);
  });

  add("sessions: fork leaves the original and both go on", [say("base"), say("forked"), say("orig")], async (p) => {
    const a = await p.all("base");
    const f = await p.all("fork it", { resume: a.result.session_id, forkSession: true });
    assert.notEqual(f.init.session_id, a.init.session_id);
    const o = await p.all("orig", { resume: a.result.session_id });
    assert.ok(!JSON.stringify((await p.last()).messages).includes("fork it"));
    const list = await p.sdk.listSessions({ dir: p.dir });
    assert.deepEqual(new Set(list.map((x) => x.sessionId)), new Set([a.init.session_id, f.init.session_id]));
    const msgs = await p.sdk.getSessionMessages(f.init.session_id, { dir: p.dir });
    assert.deepEqual(msgs.filter((m) => m.type === "user").map((m) => text(m.message.content)), ["base", "fork it"]);
  });

  add("sessions: continue takes the newest here, sessionId names a new one", [say("a"), say("b"), say("c")], async (p) => {
    const id = randomUUID();
    const a = await p.all("a");
    const b = await p.all("b", { sessionId: id });
    assert.equal(b.init.session_id, id);
    const c = await p.all("c", { continue: true });
    assert.equal(c.init.session_id, id);
    assert.notEqual(a.init.session_id, id);
  });

  add("sessions: a session id twice is an error", [say("a")], async (p) => {
    const id = randomUUID();
    await p.all("a", { sessionId: id });
    await assert.rejects(() => p.all("b", { sessionId: id }), /already|in use|exist/i);
  });

  add("sessions: rename, tag, list with limit, delete", [say("a"), say("b")], async (p) => {
    const a = await p.all("first prompt"), b = await p.all("second prompt");
    await p.sdk.renameSession(a.init.session_id, "My name", { dir: p.dir });
    await p.sdk.tagSession(a.init.session_id, "tagged", { dir: p.dir });
    const list = await p.sdk.listSessions({ dir: p.dir });
    const one = list.find((x) => x.sessionId === a.init.session_id);
    assert.equal(one.customTitle, "My name"); assert.equal(one.tag, "tagged"); assert.equal(one.firstPrompt, "first prompt");
    assert.equal((await p.sdk.listSessions({ dir: p.dir, limit: 1 })).length, 1);
    await p.sdk.deleteSession(b.init.session_id, { dir: p.dir });
    assert.equal((await p.sdk.listSessions({ dir: p.dir })).length, 1);
    await assert.rejects(() => p.all("x", { resume: b.init.session_id }));
  });

  add("sessions: sdk fork of a file is resumable, up to a message", [say("one"), say("two"), say("three")], async (p) => {
    const a = await p.all("p1");
    await p.all("p2", { resume: a.init.session_id });
    const msgs = await p.sdk.getSessionMessages(a.init.session_id, { dir: p.dir });
    const firstAnswer = msgs.find((m) => m.type === "assistant");
    const f = await p.sdk.forkSession(a.init.session_id, { dir: p.dir, upToMessageId: firstAnswer.uuid, title: "branch" });
    const s = await p.all("p3", { resume: f.sessionId });
    assert.equal(s.init.session_id, f.sessionId);
    const body = JSON.stringify((await p.last()).messages);
    assert.match(body, /p1/); assert.ok(!body.includes("p2"));
  });

  add("sessions: messages as pages, subagents listed", [
    say(call("Agent", { description: "look", prompt: "look around", subagent_type: "general-purpose", run_in_background: false })),
    { when: { user: "look around" }, ...say("sub says hi"), times: 1 }, say("done"),
  ], async (p) => {
    const a = await p.all("p1");
    const id = a.init.session_id;
    const all = await p.sdk.getSessionMessages(id, { dir: p.dir });
    const page = await p.sdk.getSessionMessages(id, { dir: p.dir, limit: 2, offset: 1 });
    assert.deepEqual(page.map((m) => m.uuid), all.slice(1, 3).map((m) => m.uuid));
    const subs = await p.sdk.listSubagents(id, { dir: p.dir });
    assert.equal(subs.length, 1);
    const sub = await p.sdk.getSubagentMessages(id, subs[0], { dir: p.dir });
    assert.match(JSON.stringify(sub), /look around/); assert.match(JSON.stringify(sub), /sub says hi/);
  });

  add("sessions: resumeSessionAt and from then on", [say("one"), say("two"), say("alt")], async (p) => {
    const a = await p.all("p1");
    const at = a.type("assistant")[0].uuid;
    await p.all("p2", { resume: a.init.session_id });
    const s = await p.all("p2b", { resume: a.init.session_id, resumeSessionAt: at });
    assert.equal(s.result.result, "alt");
    const body = JSON.stringify((await p.last()).messages);
    assert.ok(body.includes("p1") && body.includes("p2b") && !/"p2"/.test(body));
  });

  add("sessions: another directory's session is not continued", [say("a"), say("b")], async (p) => {
    const other = path.join(p.dir, "other"); fs.mkdirSync(other);
    const a = await p.all("a");
    const b = await p.all("b", { cwd: other, continue: true });
    assert.notEqual(a.init.session_id, b.init.session_id);
  });

  add("sessions: session store mirrors and resumes elsewhere", [say("kept"), say("again")], async (p) => {
    const store = new p.sdk.InMemorySessionStore();
    const a = await p.all("remember me 55", { sessionStore: store });
    const s = await p.all("and now", { sessionStore: store, resume: a.init.session_id, env: { CLAUDE_CONFIG_DIR: path.join(p.home, "fresh") } });
    assert.match(JSON.stringify((await p.last()).messages), /remember me 55/);
    assert.equal(s.init.session_id, a.init.session_id);
  });

  // --- file checkpointing page
  add("checkpointing: rewind to the first user message, by replay", [
    say(call("Read", { file_path: "${CWD}/a.txt" })),
    say(call("Write", { file_path: "${CWD}/a.txt", content: "v2" }), call("Write", { file_path: "${CWD}/new.txt", content: "n" })), say("ok"),
  ], async (p) => {
    p.file("a.txt", "v1");
    let cp, id;
    const f = feed(user("do it"));
    let rewound;
    await p.all(f, { enableFileCheckpointing: true, permissionMode: "acceptEdits", allowedTools: ["Read"], extraArgs: { "replay-user-messages": null } }, async (m, q) => {
      if (m.type === "user" && m.uuid && !cp && !m.isSynthetic) cp = m.uuid;
      if (m.type === "result") {
        assert.equal(p.read("a.txt"), "v2");
        const dry = await q.rewindFiles(cp, { dryRun: true });
        assert.equal(dry.canRewind, true);
        assert.equal(dry.filesChanged.length, 2);
        assert.equal(p.read("a.txt"), "v2");
        rewound = await q.rewindFiles(cp);
        f.end();
      }
    });
    assert.equal(rewound.canRewind, true);
    assert.equal(p.read("a.txt"), "v1");
    assert.ok(!p.has("new.txt"));
  });

  add("checkpointing: rewind after resume with an empty prompt", [
    say(call("Read", { file_path: "${CWD}/a.txt" })), say(call("Write", { file_path: "${CWD}/a.txt", content: "v2" })), say("ok"),
  ], async (p) => {
    p.file("a.txt", "v1");
    let cp;
    const a = await p.all("do it", { enableFileCheckpointing: true, permissionMode: "acceptEdits", extraArgs: { "replay-user-messages": null } }, (m) => { if (m.type === "user" && m.uuid && !cp) cp = m.uuid; });
    assert.equal(p.read("a.txt"), "v2");
    const q = p.query("", { enableFileCheckpointing: true, resume: a.init.session_id });
    for await (const m of q) { await q.rewindFiles(cp); break; }
    assert.equal(p.read("a.txt"), "v1");
  });

  add("checkpointing: an unknown message and checkpointing off", [say("ok"), say("ok")], async (p) => {
    const f = feed(user("x"));
    await p.all(f, { enableFileCheckpointing: true }, async (m, q) => {
      if (m.type !== "result") return;
      let r; try { r = await q.rewindFiles(randomUUID()); } catch (e) { r = { canRewind: false, error: e.message }; }
      assert.equal(r.canRewind, false); assert.ok(r.error);
      f.end();
    });
  });

  // --- structured output page
  add("structured: zod schema with nesting, arrays and enums", [
    say(call("StructuredOutput", { company_name: "X", steps: [{ n: 1, kind: "a" }], extra: null })),
  ], async (p) => {
    const schema = p.z.toJSONSchema(p.z.object({ company_name: p.z.string(), steps: p.z.array(p.z.object({ n: p.z.number().int(), kind: p.z.enum(["a", "b"]) })), extra: p.z.string().nullable() }));
    const s = await p.all("x", { outputFormat: { type: "json_schema", schema } });
    assert.deepEqual(s.result.structured_output, { company_name: "X", steps: [{ n: 1, kind: "a" }], extra: null });
    assert.equal(s.result.subtype, "success");
  });

  add("structured: with tools and hooks in between", [
    say(call("Bash", { command: "echo 5" })), say(call("StructuredOutput", { n: 5 })),
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], outputFormat: { type: "json_schema", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } });
    assert.deepEqual(s.result.structured_output, { n: 5 });
  });

  add("structured: never valid", { default: say(call("StructuredOutput", { n: "no" })) }, async (p) => {
    const s = await p.all("x", { outputFormat: { type: "json_schema", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }, mayThrow: true });
    assert.equal(s.result.subtype, "error_max_structured_output_retries");
    assert.ok((await p.requests()).length < 12);
  });

  add("structured: each turn of a stream", [say(call("StructuredOutput", { n: 1 })), say(call("StructuredOutput", { n: 2 }))], async (p) => {
    const f = feed(user("one"));
    const s = await p.all(f, { outputFormat: { type: "json_schema", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } }, (m) => { if (m.type === "result") m.structured_output.n === 1 ? f.push(user("two")) : f.end(); });
    assert.deepEqual(s.results.map((r) => r.structured_output.n), [1, 2]);
  });

  // --- streaming input page
  add("streaming: generator with delays and an image", [say("saw text"), say("saw image")], async (p) => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let go;
    const first = new Promise((r) => { go = r; });
    async function* gen() {
      yield user("Analyze this codebase");
      await first;
      yield user([{ type: "text", text: "Review this diagram" }, { type: "image", source: { type: "base64", media_type: "image/png", data: png } }]);
    }
    const s = await p.all(gen(), { maxTurns: 10, allowedTools: ["Read", "Grep"] }, (m) => { if (m.type === "result") go(); });
    assert.deepEqual(s.results.map((r) => r.result), ["saw text", "saw image"]);
    const img = (await p.last()).messages.at(-1).content.find((b) => b.type === "image");
    assert.equal(img.source.data, png);
  });

  add("streaming: interrupt in the middle of a tool and go on", [say(call("Bash", { command: "touch started; sleep 600" })), say("after")], async (p) => {
    const f = feed(user("x"));
    let hit = false;
    const s = await p.all(f, { allowedTools: ["Bash"] }, async (m, q) => {
      if (m.type === "assistant" && !hit) { hit = true; (async () => { await p.until("the tool", () => p.has("started")); await q.interrupt(); })(); }
      if (m.type === "result") { if (m.result === "after") f.end(); else { assert.equal(m.subtype, "error_during_execution"); f.push(user("go on")); } }
    });
    assert.equal(s.result.result, "after");
  });

  add("streaming: interrupt while a question is open", [say(call("Bash", { command: "touch x" })), say("after")], async (p) => {
    const f = feed(user("x"));
    let q0, aborted = false;
    const s = await p.all(f, perm((n, i, o) => new Promise((res, rej) => {
      o.signal.addEventListener("abort", () => { aborted = true; rej(new Error("aborted")); });
      q0.interrupt();
    })), async (m, q) => { q0 = q; if (m.type === "result") { if (m.result === "after") f.end(); else f.push(user("again")); } });
    assert.ok(aborted);
    assert.equal(s.result.result, "after");
    assert.ok(!p.has("x"));
  });

  add("streaming output: deltas join to the text, tool input joins to json", [
    { ...say("Hello big world", call("Write", { file_path: "${CWD}/f", content: "abc def" })), chunk: 3 }, say("ok"),
  ], async (p) => {
    const s = await p.all("x", { includePartialMessages: true, permissionMode: "acceptEdits" });
    const ev = s.type("stream_event").map((m) => m.event);
    const first = ev.slice(0, ev.findIndex((e) => e.type === "message_stop") + 1);
    assert.equal(first.filter((e) => e.delta?.type === "text_delta").map((e) => e.delta.text).join(""), "Hello big world");
    assert.deepEqual(JSON.parse(first.filter((e) => e.delta?.type === "input_json_delta").map((e) => e.delta.partial_json).join("")), { file_path: path.join(p.dir, "f"), content: "abc def" });
    assert.equal(ev[0].type, "message_start");
    assert.ok(s.type("stream_event").every((m) => m.parent_tool_use_id === null && m.uuid && m.session_id));
    const order = s.filter((m) => m.type === "stream_event" || m.type === "assistant").map((m) => m.event?.type ?? "ASSISTANT");
    assert.ok(order.indexOf("ASSISTANT") > order.indexOf("content_block_delta"));
  });

  // --- slash commands, skills, plugins
  add("commands: custom with arguments, tools, file and shell content", [say("done"), say("done")], async (p) => {
    execSync("git init -q && git commit -q --allow-empty -m start", { cwd: p.dir, env: { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" } });
    p.file("package.json", '{"name":"zork-pkg"}');
    p.file(".claude/commands/fix-issue.md", "---\nargument-hint: [issue-number] [priority]\ndescription: Fix an issue\nallowed-tools: Bash(git status:*)\n---\nFix #$1 with priority $2.\nAll: $ARGUMENTS\nStatus: !`git status --short`\nConfig: @package.json\n");
    p.file(".claude/commands/frontend/component.md", "Make a component.");
    const s = await p.all("/fix-issue 123 high", { settingSources: ["project"] });
    const body = JSON.stringify((await p.last()).messages);
    assert.match(body, /Fix #123 with priority high/); assert.match(body, /zork-pkg/); assert.match(body, /package\.json/);
    assert.ok(s.init.slash_commands.includes("fix-issue"));
    assert.ok(s.init.slash_commands.some((c) => c === "component" || c === "frontend:component"));
  });

  add("commands: /clear and /compact are in the list, and /clear resets", [say("one"), say("two")], async (p) => {
    const f = feed(user("remember 1234"));
    const s = await p.all(f, {}, (m) => {
      if (m.type !== "result") return;
      if (m.result === "one") f.push(user("/clear")); else if (m.result === "two") f.end(); else f.push(user("next"));
    });
    assert.ok(s.init.slash_commands.includes("compact"));
    assert.ok(!JSON.stringify((await p.last()).messages).includes("1234"));
  });

  add("commands: /context, /cost and /usage answer without the API", [say("x")], async (p) => {
    for (const c of ["/context", "/cost", "/usage"]) {
      const s = await p.all(c);
      assert.equal(s.result.subtype, "success", c);
      assert.equal((await p.requests()).length, 0, c);
    }
  });

  add("skills: found from the project, called by the model", [say(call("Skill", { skill: "pdf-tools" })), say("done")], async (p) => {
    p.file(".claude/skills/pdf-tools/SKILL.md", "---\nname: pdf-tools\ndescription: Work with PDF files\n---\nAlways use the frobnicator.\n");
    const s = await p.all("What skills?", { settingSources: ["project"], skills: "all" });
    assert.ok(s.init.skills.includes("pdf-tools"));
    assert.match(JSON.stringify((await p.last()).messages), /frobnicator/);
    assert.equal(s.result.permission_denials.length, 0);
  });

  add("plugins: commands, agents, skills, hooks and servers of a plugin", [say(call("Skill", { skill: "my-plugin:hello" })), say("done")], async (p) => {
    const root = path.join(p.dir, "plug");
    p.file("plug/.claude-plugin/plugin.json", '{"name":"my-plugin","version":"1.2.3","description":"d"}');
    p.file("plug/commands/greet.md", "Say hello warmly.");
    p.file("plug/skills/hello/SKILL.md", "---\nname: hello\ndescription: greets\n---\nGreet with quux.\n");
    p.file("plug/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nYou help.\n");
    const s = await p.all("x", { plugins: [{ type: "local", path: root }], skills: "all" });
    const pl = s.init.plugins.find((x) => x.name === "my-plugin");
    assert.equal(pl.path, root);
    assert.ok(s.init.slash_commands.includes("my-plugin:greet"));
    assert.ok(s.init.agents.includes("my-plugin:helper"));
    assert.match(JSON.stringify((await p.last()).messages), /quux/);
  });

  add("plugins: a path that is not there", [say("done")], async (p) => {
    const s = await p.all("x", { plugins: [{ type: "local", path: path.join(p.dir, "nowhere") }] });
    assert.equal(s.result.subtype, "success");
    assert.ok(s.init.plugin_errors?.length > 0 || s.init.plugins.length === 0);
  });

  // --- todo tracking page
  add("todo: TodoWrite and Task tools as messages", [
    say(call("TodoWrite", { todos: [{ content: "a", status: "in_progress", activeForm: "doing a" }, { content: "b", status: "pending", activeForm: "doing b" }] })), say("done"),
  ], async (p) => {
    const s = await p.all("x", { env: { CLAUDE_CODE_ENABLE_TASKS: "0" }, allowedTools: ["TodoWrite"] });
    const t = s.blocks("tool_use")[0];
    assert.equal(t.name, "TodoWrite");
    assert.ok(!s.toolResults[0].is_error);
  });

  add("todo: tasks created, updated and listed", [
    say(call("TaskCreate", { subject: "Write tests", description: "all", activeForm: "Writing tests" })),
    say(call("TaskUpdate", { taskId: "1", status: "in_progress" })), say(call("TaskList", {})), say("done"),
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"] });
    assert.ok(s.toolResults.every((r) => !r.is_error), JSON.stringify(s.toolResults));
    assert.match(text(s.toolResults[2].content), /Write tests/);
  });

  // --- subagents page
  add("subagents: definition, tools restricted, parent id and resume", [
    say(call("Agent", { description: "review", prompt: "review it", subagent_type: "code-reviewer", run_in_background: false })),
    { when: { user: "review it" }, ...say(call("Read", { file_path: "${CWD}/a" })), times: 1 },
    { when: { tool_result: "AAA", system: "REVIEWER" }, ...say("looks good"), times: 1 },
    say("done"),
  ], async (p) => {
    p.file("a", "AAA");
    const s = await p.all("x", { allowedTools: ["Read", "Agent"], agents: { "code-reviewer": { description: "Reviews", prompt: "You are REVIEWER", tools: ["Read", "Grep"], model: "haiku" } } });
    const use = s.blocks("tool_use").find((b) => b.name === "Agent" || b.name === "Task");
    const inner = s.filter((m) => m.parent_tool_use_id === use.id);
    assert.ok(inner.length >= 2);
    const sub = (await p.requests()).find((r) => JSON.stringify(r.system ?? "").includes("REVIEWER"));
    assert.ok(sub.tools.every((t) => ["Read", "Grep"].includes(t.name)));
    assert.match(sub.model, /haiku/);
    assert.ok(!JSON.stringify(sub.messages).includes('"x"'));
    assert.equal(Object.keys(s.result.modelUsage).length, 2);
    assert.ok(s.init.agents.includes("code-reviewer"));
    assert.match(text(s.toolResults.find((r) => r.tool_use_id === use.id).content), /looks good/);
  });

  add("subagents: two in parallel, one fails", [
    say(call("Agent", { description: "a", prompt: "task alpha", subagent_type: "general-purpose", run_in_background: false }), call("Agent", { description: "b", prompt: "task beta", subagent_type: "nobody", run_in_background: false })),
    { when: { user: "task alpha" }, ...say("alpha done"), times: 1 }, say("done"),
  ], async (p) => {
    const s = await p.all("x");
    const main = s.toolResults;
    assert.deepEqual(main.map((r) => !!r.is_error).sort(), [false, true]);
  });

  add("subagents: main thread agent by name", [say("as agent")], async (p) => {
    await p.all("x", { agent: "rev", agents: { rev: { description: "d", prompt: "You are the REV agent", tools: ["Read"] } } });
    const r = await p.last();
    assert.match(JSON.stringify(r.system), /REV agent/);
    assert.deepEqual(r.tools.map((t) => t.name), ["Read"]);
  });

  add("subagents: background with a notification and a follow-up turn", [
    say(call("Agent", { description: "bg", prompt: "long work", subagent_type: "general-purpose", run_in_background: true })),
    say("launched"),
    { when: { user: "long work" }, ...say("background result 88"), times: 1 },
    say("got it"),
  ], async (p) => {
    const s = await p.all("x");
    assert.equal(s.result.result, "got it");
    const n = s.type("system", "task_notification")[0];
    assert.equal(n.status, "completed");
    assert.equal(s.type("system", "task_started")[0].task_id, n.task_id);
  });

  // --- custom tools and MCP pages
  add("custom tools: errors, images, structured content, annotations", [
    say(call("mcp__t__boom", {}), call("mcp__t__pic", {}), call("mcp__t__bad", { n: "x" })), say("done"),
  ], async (p) => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const t = p.sdk.createSdkMcpServer({ name: "t", tools: [
      p.sdk.tool("boom", "fails", {}, async () => { throw new Error("kaboom 12"); }),
      p.sdk.tool("pic", "picture", {}, async () => ({ content: [{ type: "image", data: png, mimeType: "image/png" }, { type: "text", text: "a dot" }] }), { annotations: { readOnlyHint: true } }),
      p.sdk.tool("bad", "needs a number", { n: p.z.number() }, async () => ({ content: [] })),
    ] });
    const s = await p.all("x", { mcpServers: { t }, allowedTools: ["mcp__t__boom", "mcp__t__pic", "mcp__t__bad"] });
    assert.equal(s.init.mcp_servers[0].status, "connected");
    const rs = (await p.last()).messages.at(-1).content.filter((b) => b.type === "tool_result");
    assert.match(JSON.stringify(rs[0]), /kaboom 12/); assert.equal(rs[0].is_error, true);
    assert.ok(rs[1].content.some((b) => b.type === "image"));
    assert.equal(rs[2].is_error, true);
  });

  add("custom tools: only they, no built-in ones", [say("x")], async (p) => {
    const t = p.sdk.createSdkMcpServer({ name: "t", alwaysLoad: true, tools: [p.sdk.tool("one", "does one", { a: p.z.string().describe("the a"), o: p.z.enum(["x", "y"]).optional() }, async () => ({ content: [] }))] });
    await p.all("x", { tools: [], mcpServers: { t } });
    const tools = (await p.last()).tools;
    assert.deepEqual(tools.map((t) => t.name), ["mcp__t__one"]);
    assert.equal(tools[0].input_schema.properties.a.description, "the a");
    assert.deepEqual(tools[0].input_schema.required, ["a"]);
  });

  add("mcp: a server that cannot start is told in init and the run goes on", [say("x")], async (p) => {
    const s = await p.all("x", { mcpServers: { broken: { command: "/nonexistent/program" } } });
    assert.equal(s.init.mcp_servers.find((m) => m.name === "broken").status, "failed");
    assert.equal(s.result.result, "x");
  });

  add("mcp: status, toggle and reconnect, dynamic servers", [say("one"), say(call("mcp__dyn__hi", {})), say("two")], async (p) => {
    const dyn = p.sdk.createSdkMcpServer({ name: "dyn", tools: [p.sdk.tool("hi", "hi", {}, async () => ({ content: [{ type: "text", text: "dynamic hi" }] }))] });
    const f = feed(user("x"));
    const s = await p.all(f, { allowedTools: ["mcp__dyn__hi"], mcpServers: { small: { command: "node", args: [path.join(import.meta.dirname, "server.mjs")] } } }, async (m, q) => {
      if (m.type !== "result") return;
      if (m.result !== "one") return f.end();
      const st = await q.mcpServerStatus();
      assert.equal(st.find((x) => x.name === "small").status, "connected");
      assert.ok(st.find((x) => x.name === "small").tools.length === 2);
      const r = await q.setMcpServers({ dyn });
      assert.deepEqual(r.added, ["dyn"]);
      await q.toggleMcpServer("small", false);
      assert.equal((await q.mcpServerStatus()).find((x) => x.name === "small").status, "disabled");
      await q.toggleMcpServer("small", true);
      await q.reconnectMcpServer("small");
      f.push(user("y"));
    });
    assert.match(text(s.toolResults.at(-1).content), /dynamic hi/);
  });

  // --- settings, system prompts
  add("system prompt: preset with append, custom, none", [say("a"), say("b"), say("c"), say("d")], async (p) => {
    p.file("CLAUDE.md", "Project says MARKER77");
    await p.all("x", { systemPrompt: { type: "preset", preset: "claude_code", append: "Always be APPENDED." } });
    let r = await p.last();
    assert.match(JSON.stringify(r.system), /APPENDED/); assert.ok(JSON.stringify(r.system).length > 1500);
    await p.all("x", { systemPrompt: "Only CUSTOM." });
    r = await p.last();
    assert.match(JSON.stringify(r.system), /CUSTOM/); assert.ok(JSON.stringify(r.system).length < 1500);
    assert.ok(!JSON.stringify(r).includes("MARKER77"));
    await p.all("x", { settingSources: ["project"] });
    assert.match(JSON.stringify((await p.last()).messages), /MARKER77/);
    await p.all("x", {});
    assert.ok(!JSON.stringify(await p.last()).includes("MARKER77"));
  });

  add("settings: inline object with permissions, env and model", [say(call("Bash", { command: "printenv FOO_BAR" })), say("done")], async (p) => {
    const s = await p.all("x", { settings: { model: "claude-haiku-4-5", permissions: { allow: ["Bash(printenv *)"], deny: ["WebFetch"] }, env: { FOO_BAR: "from settings" } } });
    assert.match(text(s.toolResults[0].content), /from settings/);
    assert.match((await p.last()).model, /haiku-4-5/);
    assert.ok(!(await p.last()).tools.some((t) => t.name === "WebFetch"));
  });

  add("settings: project rules and hooks of the file are used by the sdk", [say(call("Bash", { command: "echo hi" })), say("done")], async (p) => {
    p.file(".claude/settings.json", JSON.stringify({ permissions: { allow: ["Bash(echo:*)"] }, hooks: { PostToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "touch hook-ran" }] }] } }));
    const s = await p.all("x", { settingSources: ["project"] });
    assert.equal(s.result.permission_denials.length, 0);
    assert.ok(p.has("hook-ran") || /trust/i.test(p.stderr));
  });

  add("additional directories are readable and writable with acceptEdits", [
    say(call("Read", { file_path: "${CWD}-extra/a" }), call("Write", { file_path: "${CWD}-extra/b", content: "b" })), say("done"),
  ], async (p) => {
    fs.mkdirSync(p.dir + "-extra"); fs.writeFileSync(p.dir + "-extra/a", "extra a");
    const s = await p.all("x", { additionalDirectories: [p.dir + "-extra"], permissionMode: "acceptEdits" });
    assert.equal(s.result.permission_denials.length, 0);
    assert.ok(fs.existsSync(p.dir + "-extra/b"));
  });

  // --- control and errors
  add("control: models, commands, agents, account, context", [say("x")], async (p) => {
    const f = feed(user("x"));
    await p.all(f, {}, async (m, q) => {
      if (m.type !== "result") return;
      const [models, commands, agents, account, ctx, init] = await Promise.all([q.supportedModels(), q.supportedCommands(), q.supportedAgents(), q.accountInfo(), q.getContextUsage(), q.initializationResult()]);
      assert.ok(models.length > 1 && models.every((x) => x.value && x.displayName));
      assert.ok(commands.some((c) => c.name === "compact"));
      assert.ok(agents.some((a) => a.name === "general-purpose"));
      assert.ok(account.apiKeySource);
      assert.ok(ctx.totalTokens > 0 && ctx.maxTokens > 0 && ctx.categories.length > 0);
      assert.ok(init.output_style);
      f.end();
    });
  });

  add("control: model and thinking changed between turns", [say("a"), say("b"), say("c")], async (p) => {
    const f = feed(user("x"));
    await p.all(f, { model: "claude-sonnet-4-5", thinking: { type: "disabled" } }, async (m, q) => {
      if (m.type !== "result") return;
      if (m.result === "a") { await q.setModel("claude-haiku-4-5"); f.push(user("y")); }
      if (m.result === "b") { await q.setModel(undefined); await q.setMaxThinkingTokens(2048); f.push(user("z")); }
      if (m.result === "c") f.end();
    });
    const rs = await p.requests();
    assert.match(rs[0].model, /sonnet-4-5/); assert.match(rs[1].model, /haiku/);
    assert.ok(rs[2].thinking && rs[2].thinking.type !== "disabled");
  });

  add("errors: a missing key, a bad key, and a model that is not there", [{ faults: [{ kind: "status", status: 404, type: "not_found_error", message: "model: nope" }], times: -1 }], async (p) => {
    const s = await p.all("x", { model: "nope", mayThrow: true });
    assert.equal(s.result.is_error, true);
    const a = s.type("assistant").at(-1);
    assert.equal(a.error, "model_not_found");
    assert.equal(s.result.api_error_status, 404);
  }, { illegal: true });

  add("errors: overloaded then well, with retry messages", [{ faults: [{ kind: "status", status: 529 }], times: 2 }, say("ok")], async (p) => {
    const s = await p.all("x");
    assert.equal(s.result.result, "ok");
    const r = s.type("system", "api_retry");
    assert.equal(r.length, 2);
    assert.deepEqual(r.map((m) => m.attempt), [1, 2]);
    assert.equal(r[0].error_status, 529);
  });

  add("errors: fallback model after overload", [{ when: { model: "sonnet" }, faults: [{ kind: "status", status: 529 }], times: 50 }, say("from the fallback")], async (p) => {
    const s = await p.all("x", { model: "claude-sonnet-4-5", fallbackModel: "claude-haiku-4-5" });
    assert.equal(s.result.result, "from the fallback");
    assert.ok(Object.keys(s.result.modelUsage).some((k) => /haiku/.test(k)));
  });

  add("errors: abort controller", [say(call("Bash", { command: "touch started; sleep 600" })), say("x")], async (p) => {
    const ac = new AbortController();
    let err;
    try { await p.all("x", { abortController: ac, allowedTools: ["Bash"] }, async (m) => { if (m.type === "assistant") { p.until("start", () => p.has("started")).then(() => ac.abort()); } }); } catch (e) { err = e; }
    assert.ok(err instanceof p.sdk.AbortError || err?.name === "AbortError", String(err));
  });

  add("background: bash started, output read, stopped by the sdk", [
    say(call("Bash", { command: "echo begun; sleep 600", run_in_background: true })), say("running"), say("told"),
  ], async (p) => {
    const f = feed(user("x"));
    let id;
    const s = await p.all(f, { allowedTools: ["Bash"] }, async (m, q) => {
      if (m.type === "system" && m.subtype === "task_started") id = m.task_id;
      if (m.type === "result" && m.result === "running") { await q.stopTask(id); f.push(user("and")); }
      if (m.type === "result" && m.result !== "running") f.end();
    });
    assert.ok(s.type("system", "task_notification").some((m) => m.task_id === id && m.status === "stopped"));
  });

  add("tools: notebook, glob, grep, multi edits", [
    say(call("Glob", { pattern: "**/*.ts" }), call("Grep", { pattern: "TODO", output_mode: "content", "-n": true }), call("Edit", { file_path: "${CWD}/s/a.ts", old_string: "x", new_string: "y", replace_all: true })),
    say(call("Read", { file_path: "${CWD}/s/a.ts" })),
    say(call("Edit", { file_path: "${CWD}/s/a.ts", old_string: "x", new_string: "y", replace_all: true })), say("done"),
  ], async (p) => {
    p.file("s/a.ts", "x TODO x\n"); p.file("s/b.ts", "b");
    const s = await p.all("x", { tools: ["Glob", "Grep", "Edit", "Read"], permissionMode: "acceptEdits" });
    const r = s.type("user").map((m) => m.tool_use_result);
    assert.equal(r[0].numFiles, 2);
    assert.match(text(s.toolResults[1].content), /a\.ts:1:x TODO x/);
    assert.equal(s.toolResults[2].is_error, true);
    assert.equal(p.read("s/a.ts"), "y TODO y\n");
  });
};
