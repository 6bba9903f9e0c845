// One text turn, results and usage, streaming input, interrupts, partial messages, errors, the end of the process.
export default (t, { assert, call, say, user, text, feed }) => {
  t("one turn", [say("Hello.")], async (c) => {
    const s = await c.all("hi");
    assert.equal(s.result.result, "Hello.");
    assert.equal(s.result.subtype, "success");
    assert.equal(s.result.is_error, false);
    assert.equal(s.result.num_turns, 1);
    assert.equal(s.result.stop_reason, "end_turn");
    assert.equal(s.result.terminal_reason, "completed");
    assert.equal(s.result.queued_turn_count, 0);
    assert.equal(s.result.result_index, 0);
    assert.deepEqual(s.result.permission_denials, []);
    assert.ok(s.result.usage.output_tokens > 0 && s.result.total_cost_usd > 0);
    const [model] = Object.values(s.result.modelUsage);
    assert.ok(model.contextWindow > 0 && model.maxOutputTokens > 0 && model.costUSD > 0);
    assert.ok(s.result.session_id && s.result.uuid && s.result.duration_ms >= 0);
  });
  t("init", [say("x")], async (c) => {
    const s = await c.all("hi");
    const i = s.init;
    assert.equal(i.cwd, c.dir);
    for (const k of ["tools", "mcp_servers", "slash_commands", "agents", "skills", "plugins", "capabilities"]) assert.ok(Array.isArray(i[k]), k);
    for (const name of ["Bash", "Read", "Edit", "Write"]) assert.ok(i.tools.includes(name), name);
    assert.equal(i.permissionMode, "default");
    assert.equal(i.apiKeySource, "ANTHROPIC_API_KEY");
    assert.match(i.claude_code_version, /^\d+\.\d+\.\d+/);
    assert.equal(i.output_style, "default");
    assert.equal(i.session_id, s.result.session_id);
    assert.equal(s.findIndex((m) => m.subtype === "init"), 0, "init comes first");
  });
  t("every line has its ids", [say("a", call("Read", { file_path: "x" })), say("b")], async (c) => {
    const s = await c.all("hi");
    const ids = s.map((m) => m.uuid);
    assert.ok(s.every((m) => m.session_id === s.init.session_id && /^[0-9a-f-]{36}$/.test(m.uuid)));
    assert.equal(new Set(ids).size, ids.length);
  });
  t("one message a block", [say({ thinking: "hm" }, "I look.", call("Read", { file_path: "none" })), say("Done.")], async (c) => {
    const s = await c.all("hi", { thinking: { type: "adaptive" } });
    const a = s.type("assistant");
    assert.ok(a.every((m) => m.message.content.length === 1 && m.parent_tool_use_id === null && m.message.role === "assistant"));
    assert.equal(new Set(a.map((m) => m.message.id)).size, 2);
    assert.deepEqual(s.toolResults.map((b) => b.is_error), [true]);
    assert.equal(s.result.num_turns, 2);
  });
  t("usage is the turn's, cost the session's", [say("one"), say("two")], async (c) => {
    const input = feed(user("a"));
    let first;
    const s = await c.all(input, {}, (m) => { if (m.type === "result") { if (first) input.end(); else { first = m; input.push(user("b")); } } });
    assert.equal(s.results.length, 2);
    assert.equal(s.result.result, "two");
    assert.ok(s.result.total_cost_usd > first.total_cost_usd);
    assert.ok(s.result.usage.output_tokens < 2 * first.usage.output_tokens + 5);
    assert.equal(s.type("system", "init").length, 2);
    assert.equal(s.result.result_index, 1);
    assert.equal(new Set(s.map((m) => m.session_id)).size, 1);
  });
  t("several messages at once all arrive", [{ ...say("one"), times: -1 }], async (c) => {
    async function* three() { for (const x of ["first", "second", "third"]) yield user(x); }
    const s = await c.all(three());
    assert.ok(s.results.length >= 1);
    const body = JSON.stringify(await c.last());
    for (const x of ["first", "second", "third"]) assert.ok(body.includes(x), x);
  });
  t("content blocks and an image", [say("A dot.")], async (c) => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const s = await c.all((async function* () {
      yield user([{ type: "text", text: "what is this" }, { type: "image", source: { type: "base64", media_type: "image/png", data: png } }]);
    })());
    assert.equal(s.result.result, "A dot.");
    assert.ok(JSON.stringify(await c.last()).includes('"type":"image"'));
  });
  t("a document block", [say("Read.")], async (c) => {
    await c.all((async function* () {
      yield user([{ type: "document", source: { type: "text", media_type: "text/plain", data: "the secret is 42" } }, { type: "text", text: "read" }]);
    })());
    assert.ok(JSON.stringify(await c.last()).includes("the secret is 42"));
  });
  t("shouldQuery false waits for the next message", [say("both")], async (c) => {
    const input = feed(user("note this", { shouldQuery: false }), user("and answer"));
    const s = await c.all(input, {}, (m) => { if (m.type === "result" && m.result === "both") input.end(); });
    assert.equal((await c.requests()).length, 1);
    assert.ok(JSON.stringify(await c.last()).includes("note this"));
    assert.equal(s.result.result, "both");
  });
  t("the message's uuid is kept", [say("x")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-444455556666";
    const s = await c.all((async function* () { yield user("hi", { uuid }); })(), { extraArgs: { "replay-user-messages": null } });
    const replay = s.type("user").find((m) => m.isReplay);
    assert.equal(replay.uuid, uuid);
    assert.equal(s.result.user_message_uuid, uuid);
    const kept = await c.sdk.getSessionMessages(s.result.session_id, { dir: c.dir });
    assert.equal(kept[0].uuid, uuid);
    assert.deepEqual(kept.map((m) => m.type), ["user", "assistant"]);
  });
  t("partial messages come live and in order", [{ ...say({ thinking: "let me see" }, "one two three four five"), chunk: 4 }], async (c) => {
    const s = await c.all("hi", { includePartialMessages: true, thinking: { type: "adaptive" } });
    const ev = s.type("stream_event").map((m) => m.event.type);
    assert.equal(ev[0], "message_start");
    assert.equal(ev.at(-1), "message_stop");
    const joined = s.type("stream_event").filter((m) => m.event.delta?.type === "text_delta").map((m) => m.event.delta.text).join("");
    assert.equal(joined, "one two three four five");
    const i = s.findIndex((m) => m.type === "assistant" && m.message.content[0].type === "text");
    assert.equal(s[i + 1].event?.type, "content_block_stop", "the whole block stands just before its stop");
    assert.ok(s.type("stream_event")[0].ttft_ms >= 0);
    assert.ok(s.some((m) => m.subtype === "status" && m.status === "requesting"));
  });
  t("interrupt in the middle of an answer", [{ ...say("This is a long answer that never ends"), chunk: 5, faults: [{ kind: "stall", after_events: 5 }] }, say("Fine.")], async (c) => {
    const input = feed(user("go"));
    let stopped = false;
    const s = await c.all(input, { includePartialMessages: true }, async (m, q) => {
      if (!stopped && m.type === "stream_event" && m.event.type === "content_block_delta") { stopped = true; await q.interrupt(); }
      if (m.type === "result") { if (m.is_error) input.push(user("go on")); else input.end(); }
    });
    const [a, b] = s.results;
    assert.equal(a.subtype, "error_during_execution");
    assert.equal(a.terminal_reason, "aborted_streaming");
    assert.ok(s.type("assistant").some((m) => m.aborted === true));
    assert.equal(b.result, "Fine.");
    assert.ok(JSON.stringify(await c.last()).includes("This"));
  }, { slow: true });
  t("interrupt in the middle of a tool", [say(call("Bash", { command: "touch started; sleep 600" })), say("Fine.")], async (c) => {
    const input = feed(user("go"));
    const q = c.query(input, { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    const seen = [];
    c.until("the tool", () => c.has("started")).then(() => q.interrupt());
    for await (const m of q) {
      seen.push(m);
      if (m.type === "result") { if (m.is_error) input.push(user("go on")); else input.end(); }
    }
    const results = seen.filter((m) => m.type === "result");
    assert.equal(results[0].terminal_reason, "aborted_tools");
    assert.equal(results[1].result, "Fine.");
    assert.ok(seen.some((m) => m.type === "user" && text(m.message.content).includes("interrupted")));
  });
  t("interrupt while the host is asked", [say(call("Bash", { command: "touch x" })), say("Fine.")], async (c) => {
    const input = feed(user("go"));
    let aborted = false;
    let q;
    const s = [];
    q = c.query(input, { canUseTool: (name, inp, { signal }) => new Promise((res) => {
      signal.addEventListener("abort", () => { aborted = true; res({ behavior: "deny", message: "late" }); });
      q.interrupt();
    }) });
    for await (const m of q) { s.push(m); if (m.type === "result") { if (m.is_error) input.push(user("on")); else input.end(); } }
    assert.ok(aborted);
    assert.ok(!c.has("x"));
    assert.equal(s.filter((m) => m.type === "result").at(-1).result, "Fine.");
  });
  t("interrupt with nothing running does nothing", [say("one"), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    const s = await c.all(input, {}, async (m, q) => { if (m.type === "result") { if (n++ === 0) { await q.interrupt(); input.push(user("b")); } else input.end(); } });
    assert.deepEqual(s.results.map((r) => r.result), ["one", "two"]);
  });
  t("abort ends with an AbortError", [{ ...say("long"), faults: [{ kind: "stall", after_events: 1 }] }], async (c) => {
    const abortController = new AbortController();
    setTimeout(() => abortController.abort(), 400);
    await c.all("hi", { abortController, mayThrow: true });
    assert.ok(c.thrown instanceof c.sdk.AbortError, String(c.thrown));
  });
  t("leaving the loop ends the program", [say("a"), say("b")], async (c) => {
    for await (const m of c.query("hi")) if (m.type === "system") break;
  });
  t("an API error that is final", [{ faults: [{ kind: "status", status: 400 }], times: -1 }], async (c) => {
    const s = await c.all("hi", { mayThrow: true });
    assert.equal(s.result.subtype, "success");
    assert.equal(s.result.is_error, true);
    assert.equal(s.result.api_error_status, 400);
    const synthetic = s.type("assistant").at(-1);
    assert.equal(synthetic.message.model, "<synthetic>");
    assert.equal(synthetic.error, "invalid_request");
    assert.match(String(c.thrown), /error result/);
  });
  t("an authentication error", [{ faults: [{ kind: "status", status: 401 }], times: -1 }], async (c) => {
    const s = await c.all("hi", { mayThrow: true, env: { CLAUDE_CODE_MAX_RETRIES: "1" } });
    assert.equal(s.result.is_error, true);
    assert.equal(s.type("assistant").at(-1).error, "authentication_failed");
  });
  t("retries are told", [{ faults: [{ kind: "status", status: 529 }] }, { faults: [{ kind: "status", status: 500 }] }, say("At last.")], async (c) => {
    const s = await c.all("hi");
    const r = s.type("system", "api_retry");
    assert.equal(r.length, 2);
    assert.equal(r[0].error_status, 529);
    assert.equal(r[0].attempt, 1);
    assert.ok(r[0].max_retries > 0 && r[0].retry_delay_ms >= 0 && r[0].error);
    assert.equal(s.result.result, "At last.");
  });
  t("max turns", [{ ...say(call("Glob", { pattern: "*" })), times: -1 }], async (c) => {
    const s = await c.all("hi", { maxTurns: 2, mayThrow: true });
    assert.equal(s.result.subtype, "error_max_turns");
    assert.deepEqual(s.result.errors, ["Reached maximum number of turns (2)"]);
    assert.equal((await c.requests()).length, 2);
    assert.equal(s.toolResults.length, 2);
    assert.match(String(c.thrown), /error result/);
  });
  t("max budget", [{ ...say(call("Glob", { pattern: "*" })), usage: { output_tokens: 100000 }, times: -1 }], async (c) => {
    const s = await c.all("hi", { maxBudgetUsd: 0.5, mayThrow: true });
    assert.equal(s.result.subtype, "error_max_budget_usd");
    assert.equal(s.result.terminal_reason, "budget_exhausted");
  });
  t("structured output", [say(call("StructuredOutput", { answer: "x" })), say(call("StructuredOutput", { answer: 42 }))], async (c) => {
    const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const s = await c.all("hi", { outputFormat: { type: "json_schema", schema } });
    assert.deepEqual(s.result.structured_output, { answer: 42 });
    assert.deepEqual(JSON.parse(s.result.result), { answer: 42 });
    assert.equal(s.result.stop_reason, "tool_use");
    assert.equal((await c.requests()).length, 2);
  });
  t("structured output after tools", [say(call("Glob", { pattern: "*" })), say("It is 42."), say(call("StructuredOutput", { a: 1 }))], async (c) => {
    const s = await c.all("hi", { outputFormat: { type: "json_schema", schema: { type: "object", properties: { a: { type: "integer" } } } } });
    assert.deepEqual(s.result.structured_output, { a: 1 });
  });
  t("structured output that never fits", [{ ...say("no"), times: -1 }], async (c) => {
    const s = await c.all("hi", { mayThrow: true, outputFormat: { type: "json_schema", schema: { type: "object" } } });
    assert.equal(s.result.subtype, "error_max_structured_output_retries");
  });
  t("a program that is not there", [], async (c) => {
    await c.all("hi", { pathToClaudeCodeExecutable: "/nowhere/lathe", mayThrow: true });
    assert.ok(c.thrown);
  });
  t("an unknown flag fails fast", [], async (c) => {
    await c.all("hi", { extraArgs: { "no-such-flag": null }, mayThrow: true });
    assert.match(String(c.thrown), /no-such-flag/);
  });
  t("environment: key, token, headers, model", [say("x")], async (c) => {
    await c.all("hi", { env: { ANTHROPIC_CUSTOM_HEADERS: "X-One: 1\nX-Two: 2", ANTHROPIC_MODEL: "claude-haiku-5-5", CLAUDE_AGENT_SDK_CLIENT_APP: "app/1" } });
    assert.match((await c.last()).model, /haiku/);
  });
  t("a prompt that is a slash of a path is text", [say("x")], async (c) => {
    const s = await c.all("/etc/hosts is what?");
    assert.equal(s.result.result, "x");
  });
  t("an unknown command is text", [say("plain")], async (c) => {
    const s = await c.all("/nosuchcommand hello");
    assert.equal(s.result.result, "plain");
    assert.ok(JSON.stringify(await c.last()).includes("/nosuchcommand hello"));
  });
  t("a local command", [], async (c) => {
    const s = await c.all("/cost");
    assert.equal(s.result.subtype, "success");
    assert.equal((await c.requests()).length, 0);
    assert.equal(s.result.num_turns, 0);
  });
  t("compact", [say("one"), say("The summary."), say("two")], async (c) => {
    const input = feed(user("first"));
    let n = 0;
    const s = await c.all(input, {}, (m) => { if (m.type === "result") { n++; if (n === 1) input.push(user("/compact")); else if (n === 2) input.push(user("second")); else input.end(); } });
    const b = s.type("system", "compact_boundary");
    assert.equal(b.length, 1);
    assert.equal(b[0].compact_metadata.trigger, "manual");
    assert.ok(b[0].compact_metadata.pre_tokens > 0);
    const st = s.type("system", "status").map((m) => m.status);
    assert.ok(st.includes("compacting") && st.includes(null));
    assert.equal(s.results[1].result, "");
    assert.equal(s.results[2].result, "two");
  });
  t("clear", [say("one"), say("two")], async (c) => {
    const input = feed(user("remember the word banana"));
    let n = 0;
    const s = await c.all(input, {}, (m) => { if (m.type === "result") { n++; if (n === 1) input.push(user("/clear")); else if (n === 2) input.push(user("second")); else input.end(); } });
    assert.equal(s.type("conversation_reset").length, 1);
    const ids = s.type("system", "init").map((m) => m.session_id);
    assert.notEqual(ids[0], ids.at(-1));
    assert.ok(!JSON.stringify(await c.last()).includes("banana"));
  });
  t("state lines are swallowed and complete", [say("x")], async (c) => {
    const s = await c.all("hi");
    assert.equal(s.type("system", "session_state_changed").length, 0);
  });
  t("verbatim prompts are not expanded", [say("x")], async (c) => {
    const s = await c.all("/cost", { verbatimPrompts: true });
    assert.equal((await c.requests()).length, 1);
    assert.equal(s.result.result, "x");
  });
};
