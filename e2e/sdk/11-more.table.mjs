// What an application meets beyond the first steps: exact figures, rules of agents, the shapes of sessions, other answers.
import { execFileSync } from "node:child_process";

const script = new URL("server.mjs", import.meta.url).pathname;

export default (t, { assert, call, say, user, text, feed, fs, path }) => {
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const bash = (command, more) => call("Bash", { command, ...more });
  const agent = (prompt, more) => call("Agent", { description: "look", prompt, subagent_type: "general-purpose", run_in_background: false, ...more });
  const on = (event, f, matcher) => ({ [event]: [{ matcher, hooks: [f] }] });
  const stdio = () => ({ type: "stdio", command: process.execPath, args: [script], alwaysLoad: true });
  const outputs = (s) => s.type("user").filter((m) => m.tool_use_result !== undefined).map((m) => m.tool_use_result);
  // turns says one prompt after the other, each once the one before has its result.
  const turns = (c, options, ...prompts) => {
    const input = feed(user(prompts.shift()));
    return c.all(input, options, (m) => { if (m.type === "result") { if (prompts.length) input.push(user(prompts.shift())); else input.end(); } });
  };

  t("usage is the sum of the turn's calls", [{ ...say(call("Glob", { pattern: "*" })), usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 30, cache_creation_input_tokens: 40 } }, { ...say("ok"), usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 } }], async (c) => {
    const { result } = await c.all("go", { model: "claude-sonnet-4-5" });
    const u = result.usage;
    assert.deepEqual([u.input_tokens, u.output_tokens, u.cache_read_input_tokens, u.cache_creation_input_tokens], [11, 22, 33, 44]);
    assert.deepEqual(u.server_tool_use, { web_search_requests: 0, web_fetch_requests: 0 });
    const m = result.modelUsage["claude-sonnet-4-5"];
    assert.deepEqual([m.inputTokens, m.outputTokens, m.cacheReadInputTokens, m.cacheCreationInputTokens, m.webSearchRequests], [11, 22, 33, 44, 0]);
    assert.ok(Math.abs(m.costUSD - (11 * 3 + 22 * 15 + 33 * 0.3 + 44 * 3.75) / 1e6) < 1e-6);
    assert.equal(result.total_cost_usd, m.costUSD);
  });
  t("an agent's tokens are not the turn's, its cost is", [say(agent("look", { model: "haiku" })), say("inner"), say("ok")], async (c) => {
    const { result } = await c.all("go", free);
    const models = Object.entries(result.modelUsage);
    assert.equal(models.length, 2);
    const own = models.find(([n]) => !n.includes("haiku"))[1];
    assert.equal(result.usage.output_tokens, own.outputTokens);
    assert.ok(Math.abs(result.total_cost_usd - models.reduce((s, [, m]) => s + m.costUSD, 0)) < 1e-9);
    assert.equal(result.num_turns, 2);
  });
  t("an agent's denials are the result's", [say(agent("look")), say(bash("touch x")), say("inner"), say("ok")], async (c) => {
    const s = await c.all("go");
    const [d] = s.type("system", "permission_denied");
    assert.ok(d.agent_id && d.tool_name === "Bash", JSON.stringify(d));
    assert.deepEqual(s.result.permission_denials.map((x) => [x.tool_name, x.tool_input.command, x.tool_use_id]), [["Bash", "touch x", d.tool_use_id]]);
  });
  t("a stop sequence", [{ ...say("stop"), stop_reason: "stop_sequence", stop_sequence: "END" }], async (c) => {
    const { result } = await c.all("go");
    assert.deepEqual([result.stop_reason, result.result], ["stop_sequence", "stop"]);
  }, { illegal: true });
  t("an answer that was cut is gone on with", [{ ...say("cut "), stop_reason: "max_tokens" }, say("off")], async (c) => {
    const { result } = await c.all("go");
    assert.deepEqual([result.subtype, result.is_error, result.result], ["success", false, "cut off"]);
  }, { illegal: true });
  t("a refusal", [{ ...say("no"), stop_reason: "refusal" }], async (c) => {
    const s = await c.all("go", { mayThrow: true });
    assert.equal(s.result.is_error, true);
    assert.ok(s.type("assistant").at(-1).error);
  }, { illegal: true });
  for (const [status, error] of [[403, "unknown"], [404, "model_not_found"], [413, "invalid_request"], [429, "rate_limit"], [500, "server_error"], [529, "overloaded"]]) {
    t(`the API answers ${status}`, [{ faults: [{ kind: "status", status }], times: -1 }], async (c) => {
      const s = await c.all("go", { env: { CLAUDE_CODE_MAX_RETRIES: "1" }, mayThrow: true });
      assert.deepEqual([s.result.subtype, s.result.is_error, s.result.api_error_status], ["success", true, status]);
      const a = s.type("assistant").at(-1);
      assert.deepEqual([a.error, a.message.model, a.message.content[0].text], [error, "<synthetic>", s.result.result]);
      const retries = s.type("system", "api_retry");
      assert.deepEqual(retries.map((r) => [r.error, r.error_status, r.attempt, r.max_retries]), status < 429 ? [] : [[error, status, 1, 1]]);
    });
  }
  t("nobody answers", [], async (c) => {
    const s = await c.all("go", { env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:1", CLAUDE_CODE_MAX_RETRIES: "2" }, mayThrow: true });
    assert.deepEqual(s.type("system", "api_retry").map((r) => [r.attempt, r.error_status]), [[1, null], [2, null]]);
    assert.deepEqual([s.result.is_error, s.result.terminal_reason], [true, "api_error"]);
  });
  t("a stream that breaks off is begun anew", [{ ...say("half an answer"), chunk: 4, faults: [{ kind: "abort", after_events: 4 }] }, say("whole")], async (c) => {
    const s = await c.all("go", { includePartialMessages: true });
    assert.equal(s.result.result, "whole");
    assert.deepEqual(s.blocks("text").map((b) => b.text), ["whole"]);
    assert.equal(s.type("system", "api_retry").length, 1);
  });

  t("partial input of a call", [{ ...say("hm", bash("echo a long command that is streamed")), chunk: 8 }, say("ok")], async (c) => {
    const s = await c.all("go", { ...free, includePartialMessages: true });
    const part = s.type("stream_event").filter((m) => m.event.delta?.type === "input_json_delta").map((m) => m.event.delta.partial_json);
    assert.ok(part.length > 2);
    assert.deepEqual(JSON.parse(part.join("")), { command: "echo a long command that is streamed" });
    assert.deepEqual(s.type("stream_event").filter((m) => m.event.type === "message_stop").length, 2);
    assert.ok(s.type("stream_event").every((m) => m.parent_tool_use_id === null));
  });
  t("interrupt: what is shown, and what is sent next", [say("I run.", bash("touch started; sleep 60"), bash("echo never")), say("Fine.")], async (c) => {
    const input = feed(user("go"));
    const q = c.query(input, free), s = [];
    c.until("the tool", () => c.has("started")).then(() => q.interrupt());
    for await (const m of q) { s.push(m); if (m.type === "result") { if (m.is_error) input.push(user("go on")); else input.end(); } }
    const end = s.findIndex((m) => m.type === "result");
    assert.deepEqual(s.slice(end - 4, end).map((m) => m.type), ["assistant", "user", "user", "user"]);
    assert.ok(s.slice(end - 3, end - 1).every((m) => m.message.content[0].is_error === true));
    assert.deepEqual([s[end].subtype, s[end].is_error], ["error_during_execution", true]);
    const sent = (await c.last()).messages;
    assert.deepEqual(sent.at(-2).content.map((b) => b.type), ["text", "tool_use", "tool_use"]);
    assert.deepEqual(sent.at(-1).content.map((b) => b.type), ["tool_result", "tool_result", "text", "text"]);
  });
  t("what waits when a turn is interrupted comes next", [say(bash("touch started; sleep 60")), say("second answer")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-444455556699";
    const input = feed(user("go"));
    const q = c.query(input, free), s = [];
    c.until("the tool", () => c.has("started")).then(async () => { input.push(user("second", { uuid })); await q.getContextUsage(); await q.interrupt(); });
    for await (const m of q) { if (m.type === "result") { s.push(m); if (!m.is_error) input.end(); } }
    assert.deepEqual(s.map((m) => [m.subtype, m.queued_turn_count]), [["error_during_execution", 1], ["success", 0]]);
    assert.equal(s[1].user_message_uuid, uuid);
  });
  t("abort ends what was started", [bash("touch started; sleep 83.17")].map((b) => say(b)), async (c) => {
    const abortController = new AbortController();
    const run = c.all("first", { ...free, abortController, mayThrow: true });
    await c.until("the tool", () => c.has("started"));
    abortController.abort();
    await run;
    const runs = (d) => { try { return fs.readFileSync(`/proc/${d}/cmdline`, "utf8").startsWith("sleep\u000083.17"); } catch { return false; } };
    await c.until("the end of the command", () => !fs.readdirSync("/proc").some((d) => /^\d+$/.test(d) && runs(d)));
  });

  t("suggestions: a rule for each part", [say(bash("npm run build && git push origin main")), say("ok")], async (c) => {
    let asked;
    await c.all("go", { canUseTool: async (n, i, o) => { asked = o; return { behavior: "deny", message: "no" }; } });
    const [u] = asked.suggestions;
    assert.deepEqual([u.type, u.behavior, u.destination, u.rules.map((r) => r.toolName)], ["addRules", "allow", "localSettings", ["Bash", "Bash"]]);
    assert.deepEqual([asked.decisionReasonType, asked.displayName], ["subcommandResults", "Bash"]);
    assert.ok(asked.title.includes("npm run build"));
  });
  t("suggestions: a directory outside", [say(call("Write", { file_path: "${CWD}/../home/x", content: "" })), say("ok")], async (c) => {
    let asked;
    await c.all("go", { canUseTool: async (n, i, o) => { asked = o; return { behavior: "deny", message: "no" }; } });
    assert.deepEqual(asked.suggestions.map((u) => [u.type, u.mode ?? u.directories]), [["setMode", "acceptEdits"], ["addDirectories", [c.home]]]);
    assert.equal(asked.blockedPath, path.join(c.home, "x"));
  });
  t("a rule for the person is written", [say(bash("touch a")), say("ok")], async (c) => {
    const config = c.ownConfig();
    const updatedPermissions = [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "touch:*" }], behavior: "allow", destination: "userSettings" }];
    await c.all("go", { settingSources: ["user"], canUseTool: async (n, updatedInput) => ({ behavior: "allow", updatedInput, updatedPermissions }) });
    assert.deepEqual(JSON.parse(fs.readFileSync(path.join(config, "settings.json"), "utf8")).permissions.allow, ["Bash(touch:*)"]);
  });
  t("commands that only read are not asked", [say(bash("ls -la && git status | head -3")), say("ok")], async (c) => {
    await c.all("go", { canUseTool: async () => assert.fail("asked") });
  });
  t("a tool of a server says no", [say(bash("touch x")), say("ok")], async (c) => {
    const asked = [];
    const shape = { tool_name: c.z.string(), input: c.z.any(), tool_use_id: c.z.string().optional() };
    const decide = c.sdk.tool("decide", "Decides", shape, async (i) => { asked.push(i); return { content: [{ type: "text", text: '{"behavior":"deny","message":"the judge says no"}' }] }; });
    const s = await c.all("go", { mcpServers: { judge: c.sdk.createSdkMcpServer({ name: "judge", tools: [decide] }) }, permissionPromptToolName: "mcp__judge__decide" });
    assert.match(text(s.toolResults[0].content), /the judge says no/);
    assert.equal(asked[0].tool_use_id, s.blocks("tool_use")[0].id);
    assert.equal(s.result.permission_denials.length, 1);
  });
  const question = (multiSelect) => call("AskUserQuestion", { questions: [{ question: "Which?", header: "W", multiSelect, options: [{ label: "A", description: "a" }, { label: "B", description: "b" }] }] });
  t("a question is asked in bypass too, with several answers", [say(question(true)), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, canUseTool: async (n, i) => ({ behavior: "allow", updatedInput: { ...i, answers: { "Which?": "A, B" } } }) });
    assert.match(text(s.toolResults[0].content), /A, B/);
    assert.deepEqual(outputs(s)[0].answers, { "Which?": "A, B" });
  });
  t("a question that nobody answers", [say(question(false)), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => ({ behavior: "deny", message: "busy" }) });
    assert.match(text(s.toolResults[0].content), /busy/);
    assert.equal(s.result.permission_denials[0].tool_name, "AskUserQuestion");
  });
  t("a plan that is turned down", [say(call("ExitPlanMode", { plan: "1. Do it" })), say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const s = await c.all("go", { permissionMode: "plan", canUseTool: async (n, i) => (n === "ExitPlanMode" ? { behavior: "deny", message: "not good enough" } : { behavior: "allow", updatedInput: i }) });
    assert.ok(!c.has("a"));
    assert.match(text(s.toolResults[0].content), /not good enough/);
    assert.equal(s.type("system", "status").length, 0);
  });
  t("a plan that is approved with a mode", [say(call("ExitPlanMode", { plan: "1. Do it" })), say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const updatedPermissions = [{ type: "setMode", mode: "acceptEdits", destination: "session" }];
    const s = await c.all("go", { permissionMode: "plan", canUseTool: async (n, updatedInput) => (n === "ExitPlanMode" ? { behavior: "allow", updatedInput, updatedPermissions } : { behavior: "deny", message: "asked" }) });
    assert.ok(c.has("a"));
    assert.equal(outputs(s)[0].plan, "1. Do it");
    assert.deepEqual(s.type("system", "status").map((m) => m.permissionMode), ["acceptEdits"]);
  });
  t("the model goes into plan mode", [say(call("EnterPlanMode", {})), say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async (n, i) => ({ behavior: "allow", updatedInput: i }) });
    assert.ok(!c.has("a"));
    assert.deepEqual(s.type("system", "status").map((m) => m.permissionMode), ["plan"]);
  });
  t("planModeInstructions", [say("x")], async (c) => {
    await c.all("go", { permissionMode: "plan", planModeInstructions: "Only think about walruses." });
    assert.match(JSON.stringify(await c.last()), /Only think about walruses/);
  });

  t("SubagentStop makes an agent go on", [say(agent("look")), say("inner"), say("inner two"), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, hooks: on("SubagentStop", async (i) => (i.stop_hook_active ? {} : { decision: "block", reason: "look again" })) });
    assert.match(text(s.toolResults.at(-1).content), /inner two/);
  });
  t("hooks inside an agent name it", [say(agent("look")), say(bash("true")), say("inner"), say("ok")], async (c) => {
    const seen = [];
    await c.all("go", { ...free, hooks: on("PreToolUse", async (i) => { seen.push([i.tool_name, !!i.agent_id, i.agent_type]); return {}; }) });
    assert.deepEqual(seen, [["Agent", false, undefined], ["Bash", true, "general-purpose"]]);
  });
  t("matchers of events without tools", [say(bash("touch a")), say("ok")], async (c) => {
    const seen = [];
    const f = (n) => ({ hooks: [async () => { seen.push(n); return {}; }] });
    await c.all("go", { canUseTool: async (n, i) => ({ behavior: "allow", updatedInput: i }), hooks: {
      SessionStart: [{ matcher: "startup", ...f("start") }, { matcher: "resume", ...f("wrong") }],
      PermissionRequest: [{ matcher: "Bash", ...f("request") }, { matcher: "Write", ...f("wrong") }],
      UserPromptSubmit: [{ matcher: "no such thing", ...f("prompt") }],
    } });
    assert.deepEqual(seen, ["start", "prompt", "request"]);
  });
  t("UserPromptSubmit names the session", [say("ok")], async (c) => {
    const s = await c.all("go", { hooks: on("UserPromptSubmit", async () => ({ hookSpecificOutput: { hookEventName: "UserPromptSubmit", sessionTitle: "A title" } })) });
    assert.equal((await c.sdk.getSessionInfo(s.result.session_id, { dir: c.dir })).customTitle, "A title");
  });
  t("Stop adds context and goes on", [say("one"), say("two")], async (c) => {
    let n = 0;
    const s = await c.all("go", { hooks: on("Stop", async () => (n++ ? {} : { hookSpecificOutput: { hookEventName: "Stop", additionalContext: "more please" } })) });
    assert.equal(s.result.result, "two");
    assert.match(JSON.stringify(await c.last()), /more please/);
  });
  t("PreCompact blocks", [say("one")], async (c) => {
    const s = await turns(c, { mayThrow: true, hooks: on("PreCompact", async () => ({ decision: "block", reason: "not now" })) }, "first", "/compact");
    assert.equal(s.type("system", "compact_boundary").length, 0);
    assert.match(JSON.stringify(s.slice(3)), /not now/);
  });
  for (const [field, value] of [["updatedMCPToolOutput", [{ type: "text", text: "changed" }]], ["updatedToolOutput", [{ type: "text", text: "changed" }]], ["updatedToolOutput", "changed"]]) {
    t(`${field} of an MCP tool: ${typeof value}`, [say(call("mcp__calc__add", { a: 1 })), say("ok")], async (c) => {
      const calc = c.sdk.createSdkMcpServer({ name: "calc", tools: [c.sdk.tool("add", "Adds", { a: c.z.number() }, async () => ({ content: [{ type: "text", text: "plain" }] }))] });
      let seen;
      const s = await c.all("go", { ...free, mcpServers: { calc }, hooks: on("PostToolUse", async (i) => { seen = i; return { hookSpecificOutput: { hookEventName: "PostToolUse", [field]: value } }; }) });
      assert.deepEqual(seen.tool_response, [{ type: "text", text: "plain" }]);
      assert.deepEqual(s.toolResults[0].content, [{ type: "text", text: "changed" }]);
    });
  }
  t("updatedToolOutput of a command is its text, or none", [say(bash("echo secret")), say(bash("echo secret")), say("ok")], async (c) => {
    const answers = ["hidden", ""];
    const s = await c.all("go", { ...free, hooks: on("PostToolUse", async () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: { stdout: answers.shift(), stderr: "", interrupted: false } } })) });
    assert.equal(text(s.toolResults[0].content), "hidden");
    assert.doesNotMatch(JSON.stringify((await c.last()).messages.slice(2)), /"text":"secret/);
    assert.equal(s.result.result, "ok");
  });

  t("lists of sessions and messages in parts", [0, 1, 2, 3].map((i) => say("answer " + i)), async (c) => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await c.all("question " + i)).result.session_id);
    const list = await c.sdk.listSessions({ dir: c.dir, limit: 2 });
    assert.deepEqual(list.map((s) => [s.sessionId, s.firstPrompt]), [[ids[2], "question 2"], [ids[1], "question 1"]]);
    await c.all("again", { resume: ids[0] });
    assert.equal((await c.sdk.listSessions({ dir: c.dir }))[0].sessionId, ids[0]);
    const part = await c.sdk.getSessionMessages(ids[0], { dir: c.dir, limit: 2, offset: 1 });
    assert.deepEqual(part.map((m) => [m.type, text(m.message.content)]), [["assistant", "answer 0"], ["user", "again"]]);
  });
  t("forkSession up to a message", [say("one"), say("two"), say("three")], async (c) => {
    const a = await c.all("first");
    await c.all("second", { resume: a.result.session_id });
    const kept = await c.sdk.getSessionMessages(a.result.session_id, { dir: c.dir });
    const f = await c.sdk.forkSession(a.result.session_id, { dir: c.dir, upToMessageId: kept[1].uuid });
    await c.all("third", { resume: f.sessionId });
    const body = JSON.stringify((await c.last()).messages);
    assert.ok(body.includes("first") && !body.includes("second"));
  });
  t("a session knows its branch", [say("one")], async (c) => {
    execFileSync("git", ["init", "-q", "-b", "topic", c.dir]);
    const a = await c.all("first");
    assert.equal((await c.sdk.getSessionInfo(a.result.session_id, { dir: c.dir })).gitBranch, "topic");
  });
  t("a compacted session is read and resumed", [say("one"), say("The summary."), say("two"), say("three")], async (c) => {
    const s = await turns(c, {}, "first", "/compact", "second");
    const order = s.map((m) => m.subtype + ":" + m.status);
    assert.ok(order.indexOf("status:compacting") < order.indexOf("status:null") && order.indexOf("status:null") < order.indexOf("compact_boundary:undefined"), order.join());
    assert.equal(s.find((m) => m.compact_result)?.compact_result, "success");
    assert.ok(s.type("user").some((m) => m.isSynthetic && text(m.message.content).includes("The summary.")));
    const kept = await c.sdk.getSessionMessages(s.result.session_id, { dir: c.dir });
    assert.deepEqual(kept.slice(-2).map((m) => text(m.message.content)), ["second", "two"]);
    assert.equal((await c.all("third", { resume: s.result.session_id })).result.result, "three");
    assert.match(JSON.stringify((await c.last()).messages), /The summary\./);
  });
  t("clear begins the cost anew", [say("one"), say("two")], async (c) => {
    const s = await turns(c, {}, "first", "/clear", "second");
    assert.equal(s.results[1].result, "");
    assert.equal(s.results[1].total_cost_usd, 0);
    assert.equal(s.type("conversation_reset")[0].new_conversation_id, s.results[2].session_id);
  });

  t("the session works by an agent", [say("x")], async (c) => {
    const s = await c.all("go", { agent: "scout", agents: { scout: { description: "Looks", prompt: "You are a scout.", tools: ["Read"], model: "haiku" } } });
    const r = await c.last();
    assert.match(JSON.stringify(r.system), /You are a scout\./);
    assert.deepEqual([r.tools.map((x) => x.name), s.init.tools], [["Read"], ["Read"]]);
    assert.match(r.model, /haiku/);
  });
  t("an agent is stopped at its limit", [say(agent("look", { subagent_type: "w" })), say(call("Glob", { pattern: "*" })), say(call("Glob", { pattern: "*" })), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, agents: { w: { description: "W", prompt: "You write.", maxTurns: 2 } } });
    assert.match(text(s.toolResults.at(-1).content), /2 model calls/);
    assert.equal(s.result.result, "ok");
  });
  t("agents side by side", [say(agent("one"), agent("two")), { when: { user: "one" }, ...say("inner one") }, { when: { user: "two" }, ...say("inner two") }, say("ok")], async (c) => {
    const s = await c.all("go", free);
    assert.deepEqual(s.toolResults.map((r) => text(r.content).match(/inner \w+/)[0]), ["inner one", "inner two"]);
    assert.equal((await c.requests()).length, 4);
  }, { illegal: true });
  t("an agent runs in the background unless it is told not to", [say(agent("look", { run_in_background: undefined })), { when: { user: "look" }, ...say("inner") }, { ...say("Started."), times: -1 }], async (c) => {
    const s = await c.all("go", free);
    const [launched] = outputs(s);
    assert.equal(launched.status, "async_launched");
    assert.ok(launched.agentId && launched.outputFile && launched.prompt === "look" && launched.description === "look");
    const [began] = s.type("system", "task_started");
    assert.deepEqual([began.task_type, began.subagent_type, began.is_backgrounded, began.tool_use_id], ["local_agent", "general-purpose", true, s.blocks("tool_use")[0].id]);
    assert.equal(s.type("system", "task_notification")[0].status, "completed");
    assert.equal(s.result.origin.kind, "task-notification");
  }, { illegal: true });

  t("settingSources user: instructions, commands, agents", [say("x")], async (c) => {
    const config = c.ownConfig();
    c.file(path.join(config, "CLAUDE.md"), "the beast is a yak");
    c.file(path.join(config, "commands/mine.md"), "Mine.");
    c.file(path.join(config, "agents/helper.md"), "---\nname: helper\ndescription: d\n---\nHelp.");
    const s = await c.all("go", { settingSources: ["user"] });
    assert.ok(s.init.slash_commands.includes("mine") && s.init.agents.includes("helper"));
    assert.match(JSON.stringify(await c.last()), /the beast is a yak/);
  });
  t("a command with tools, a model, a shell line and a mention", [say(bash("touch made")), say("x")], async (c) => {
    c.file(".claude/commands/do.md", "---\ndescription: d\nallowed-tools: Bash(touch:*), Bash(echo:*)\nmodel: haiku\n---\nDo $ARGUMENTS !`echo from-shell` @notes.txt");
    c.file("notes.txt", "the needle");
    await c.all("/do it", { settingSources: ["project"] });
    const [first] = await c.requests();
    const said = JSON.stringify(first.messages);
    assert.ok(said.includes("Do it from-shell") && said.includes("the needle"), said);
    assert.match(first.model, /haiku/);
    assert.ok(c.has("made"));
  });
  t("toolAliases", [say(bash("hello")), say("ok")], async (c) => {
    const seen = [];
    const ws = c.sdk.createSdkMcpServer({ name: "ws", tools: [c.sdk.tool("bash", "Runs", { command: c.z.string() }, async (i) => { seen.push(i.command); return { content: [{ type: "text", text: "ran elsewhere" }] }; })] });
    const s = await c.all("go", { ...free, mcpServers: { ws }, toolAliases: { Bash: "mcp__ws__bash" } });
    assert.deepEqual(seen, ["hello"]);
    assert.match(text(s.toolResults[0].content), /ran elsewhere/);
  });
  t("thinking is shown as asked", [say("x")], async (c) => {
    await c.all("go", { thinking: { type: "adaptive", display: "summarized" } });
    assert.deepEqual((await c.last()).thinking, { type: "adaptive", display: "summarized" });
  });

  t("names of servers and tools with other characters", [say(call("mcp__my_server__do_it", {})), say("ok")], async (c) => {
    let n = 0;
    const my = c.sdk.createSdkMcpServer({ name: "my server", tools: [c.sdk.tool("do.it", "Does", {}, async () => { n++; return { content: [{ type: "text", text: "done" }] }; })], alwaysLoad: true });
    const s = await c.all("go", { ...free, mcpServers: { "my server": my } });
    assert.equal(n, 1);
    assert.deepEqual(s.init.tools.filter((x) => x.startsWith("mcp__")), ["mcp__my_server__do_it"]);
  });
  t("resources of servers", [say(call("ListMcpResourcesTool", {}), call("ReadMcpResourceTool", { server: "small", uri: "mem://note" })), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, mcpServers: { small: stdio() } });
    assert.match(text(s.toolResults[0].content), /mem:\/\/note/);
    assert.match(text(s.toolResults[1].content), /the note/);
    assert.deepEqual(outputs(s)[1].contents, [{ uri: "mem://note", text: "the note" }]);
  });
  t("a server asks the person", [say(call("mcp__ask__go", {})), say("ok")], async (c) => {
    const source = `import readline from "node:readline"; let waiting;
      const out = (o) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\\n");
      for await (const line of readline.createInterface({ input: process.stdin })) { const m = JSON.parse(line);
        if (m.method === "initialize") out({ id: m.id, result: { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "ask", version: "1" } } });
        else if (m.method === "tools/list") out({ id: m.id, result: { tools: [{ name: "go", description: "d", inputSchema: { type: "object" } }] } });
        else if (m.method === "tools/call") { waiting = m.id; out({ id: 900, method: "elicitation/create", params: { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } } }); }
        else if (m.id === 900) out({ id: waiting, result: { content: [{ type: "text", text: JSON.stringify(m.result ?? m.error) }] } }); }`;
    const servers = { ask: { command: process.execPath, args: [c.file(path.join(c.home, "ask.mjs"), source)] } };
    let asked;
    const s = await c.all("go", { ...free, mcpServers: servers, onElicitation: async (r) => { asked = r; return { action: "accept", content: { name: "Bob" } }; } });
    assert.deepEqual([asked.serverName, asked.message, asked.mode], ["ask", "Your name?", "form"]);
    assert.match(text(s.toolResults[0].content), /Bob/);
  });
  t("setMcpServers adds, takes away and tells what fails", [say("one"), say(call("mcp__small__add", { a: 1, b: 2 })), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    const s = await c.all(input, free, async (m, q) => {
      if (m.type !== "result") return;
      if (++n === 1) { assert.deepEqual((await q.setMcpServers({ small: stdio() })).added, ["small"]); return input.push(user("b")); }
      assert.deepEqual((await q.setMcpServers({})).removed, ["small"]);
      assert.ok((await q.setMcpServers({ bad: { command: "/nowhere" } })).errors.bad);
      input.end();
    });
    assert.match(text(s.toolResults[0].content), /3/);
  });
};
