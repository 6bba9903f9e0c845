// What answers of the host lead to, where they are kept, and what is told of what was left out.
import { spawn } from "node:child_process";

export default (t, { assert, call, say, user, text, feed, fs, path }) => {
  const bash = (command) => call("Bash", { command });
  const on = (event, ...hooks) => ({ [event]: [{ hooks }] });
  const pre = (permissionDecision) => async () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason: permissionDecision } });

  t("of several hooks the strictest counts", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => assert.fail("asked"), hooks: on("PreToolUse", pre("allow"), pre("deny"), pre("ask")) });
    assert.ok(!c.has("x"));
    assert.equal(s.type("system", "permission_denied").length, 0);
    assert.equal(s.result.permission_denials.length, 1);
  });
  t("PreToolUse ends the turn", [say(bash("touch x"))], async (c) => {
    const s = await c.all("go", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, hooks: on("PreToolUse", async () => ({ continue: false, stopReason: "halt" })) });
    assert.ok(!c.has("x"));
    assert.deepEqual([s.result.subtype, s.result.terminal_reason, s.toolResults[0].is_error], ["success", "hook_stopped", true]);
  });
  t("UserPromptSubmit ends the turn", [], async (c) => {
    const s = await c.all("go", { hooks: on("UserPromptSubmit", async () => ({ continue: false, stopReason: "halt" })) });
    assert.deepEqual([s.result.terminal_reason, s.result.num_turns], ["hook_stopped", 0]);
    assert.equal((await c.requests()).length, 0);
  });
  t("SessionStart adds context, once for each start", [say("ok"), say("two")], async (c) => {
    const seen = [];
    const hooks = on("SessionStart", async (i) => { seen.push(i.source); return { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "the sky is green" } }; });
    const a = await c.all("go", { hooks });
    assert.match(JSON.stringify(await c.last()), /the sky is green/);
    await c.all("on", { hooks, resume: a.result.session_id });
    assert.deepEqual(seen, ["startup", "resume"]);
  });
  t("PermissionRequest changes the input", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { hooks: on("PermissionRequest", async () => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow", updatedInput: { command: "touch y" } } } })) });
    assert.ok(c.has("y") && !c.has("x"));
  });
  t("a changed input of an MCP tool and of Write", [say(call("mcp__calc__add", { a: 1 })), say(call("Write", { file_path: "f", content: "1" })), say("ok")], async (c) => {
    const seen = [];
    const calc = c.sdk.createSdkMcpServer({ name: "calc", tools: [c.sdk.tool("add", "Adds", { a: c.z.number() }, async (i) => { seen.push(i); return { content: [] }; })] });
    await c.all("go", { mcpServers: { calc }, canUseTool: async (n, i) => ({ behavior: "allow", updatedInput: n === "Write" ? { ...i, content: "2" } : { a: 7 } }) });
    assert.deepEqual(seen, [{ a: 7 }]);
    assert.equal(c.read("f"), "2");
    const [first] = (await c.last()).messages.filter((m) => m.role === "assistant");
    assert.deepEqual(first.content.find((b) => b.type === "tool_use").input, { a: 1 }, "the history keeps what the model asked for");
  });
  t("a local rule holds in the next query", [say(bash("touch a")), say("ok"), say(bash("touch a")), say("ok")], async (c) => {
    let asked = 0;
    const o = { settingSources: ["local"], canUseTool: async (n, updatedInput, x) => { asked++; return { behavior: "allow", updatedInput, updatedPermissions: x.suggestions }; } };
    await c.all("go", o);
    await c.all("go", o);
    assert.equal(asked, 1);
  });
  t("a rule of the session ends with the process", [say(bash("touch a")), say("ok"), say(bash("touch a")), say("ok")], async (c) => {
    let asked = 0;
    const updatedPermissions = [{ type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "session" }];
    const o = { canUseTool: async (n, updatedInput) => { asked++; return { behavior: "allow", updatedInput, updatedPermissions }; } };
    const a = await c.all("go", o);
    await c.all("go", { ...o, resume: a.result.session_id });
    assert.equal(asked, 2);
  });
  t("directories, rules and the mode are kept in the file that is named", [say(bash("touch a")), say("ok")], async (c) => {
    c.file(".claude/settings.local.json", JSON.stringify({ permissions: { allow: ["Bash(ls:*)"], additionalDirectories: ["/x"] }, cleanupPeriodDays: 9 }));
    const updatedPermissions = [
      { type: "removeRules", rules: [{ toolName: "Bash", ruleContent: "ls:*" }], behavior: "allow", destination: "localSettings" },
      { type: "addDirectories", directories: [c.home], destination: "localSettings" },
      { type: "removeDirectories", directories: ["/x"], destination: "localSettings" },
      { type: "setMode", mode: "acceptEdits", destination: "localSettings" },
    ];
    await c.all("go", { settingSources: ["local"], canUseTool: async (n, updatedInput) => ({ behavior: "allow", updatedInput, updatedPermissions }) });
    assert.deepEqual(JSON.parse(c.read(".claude/settings.local.json")), { permissions: { allow: [], additionalDirectories: [c.home], defaultMode: "acceptEdits" }, cleanupPeriodDays: 9 });
  });
  t("the budget counts from the resume, the cost from the start", [{ ...say("one"), usage: { output_tokens: 100_000 } }, say("two")], async (c) => {
    const a = await c.all("first");
    const b = await c.all("second", { resume: a.result.session_id, maxBudgetUsd: 0.5 });
    assert.equal(b.result.result, "two");
    assert.ok(b.result.total_cost_usd > a.result.total_cost_usd);
  });
  t("MAX_STRUCTURED_OUTPUT_RETRIES", [{ ...say("no"), times: -1 }], async (c) => {
    const s = await c.all("hi", { mayThrow: true, env: { MAX_STRUCTURED_OUTPUT_RETRIES: "2" }, outputFormat: { type: "json_schema", schema: { type: "object" } } });
    assert.equal(s.result.subtype, "error_max_structured_output_retries");
    assert.equal((await c.requests()).length, 3);
  });
  t("entries of servers that were skipped are told", [say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { a: { type: "telepathy", url: "x" }, b: { url: "http://x" } } });
    assert.deepEqual(s.init.mcp_server_errors.map((e) => [e.name, e.type]), [["a", "unknown_type"], ["b", "url_missing_type"]]);
    assert.ok(s.init.mcp_server_errors.every((e) => e.message));
  });
  t("a local command answers in a line of its own", [], async (c) => {
    const s = await c.all("/cost");
    const [a] = s.type("assistant");
    assert.equal(a.message.model, "<synthetic>");
    assert.ok(text(a.message.content));
    assert.deepEqual([s.result.subtype, s.result.result], ["success", ""]);
  });
  t("what is no frame is passed over, before the handshake too", [say("hello")], async (c) => {
    const lines = ["garbage", "{broken", '{"type":"keep_alive"}', '{"type":"who_knows","x":1}', "[]", "null", "",
      JSON.stringify({ type: "control_request", request_id: "1", request: { subtype: "initialize", systemPrompt: "Be a walrus." } }) + "\r",
      '{"type":"control_response","response":{"subtype":"success","request_id":"zzz","response":{}}}', '{"type":"control_cancel_request","request_id":"q"}', JSON.stringify(user("hi"))];
    const out = await new Promise((done) => {
      const p = spawn(c.program, ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"], { cwd: c.dir, env: c.env });
      let o = "";
      p.stdout.on("data", (d) => { o += d; });
      p.on("close", (code) => done({ code, kinds: o.split("\n").filter(Boolean).map((l) => JSON.parse(l).type) }));
      p.stdin.end(lines.join("\n"));
    });
    assert.deepEqual(out, { code: 0, kinds: ["control_response", "system", "assistant", "result"] });
    assert.match(JSON.stringify((await c.last()).system), /Be a walrus/);
  });
};
