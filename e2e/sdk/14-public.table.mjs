// What the public pages of the Agent SDK promise, page by page: the loop, costs, permissions, questions, hooks.
import { execSync } from "node:child_process";

export default (add, { assert, call, say, user, text, feed, fs, path }) => {
  const perm = (p) => ({ canUseTool: p });

  // --- quickstart and agent loop
  add("loop: find and fix a bug", [
    say(call("Read", { file_path: "${CWD}/utils.py" })),
    say("I see it.", call("Edit", { file_path: "${CWD}/utils.py", old_string: "return total / len(xs)", new_string: "return total / len(xs) if xs else 0" })),
    say("Fixed."),
  ], async (p) => {
    p.file("utils.py", "def mean(xs):\n    total = sum(xs)\n    return total / len(xs)\n");
    const s = await p.all("Review utils.py for bugs", { allowedTools: ["Read", "Edit", "Glob"], permissionMode: "acceptEdits" });
    assert.match(p.read("utils.py"), /if xs else 0/);
    const kinds = s.map((m) => m.type + (m.subtype ? "/" + m.subtype : ""));
    assert.equal(kinds[0], "system/init");
    assert.equal(kinds.at(-1), "result/success");
    const names = s.blocks("tool_use").map((b) => b.name);
    assert.deepEqual(names, ["Read", "Edit"]);
    assert.equal(s.result.num_turns, 3);
    assert.equal(s.result.result, "Fixed.");
    assert.equal(s.result.stop_reason, "end_turn");
    assert.equal(s.result.is_error, false);
    assert.ok(s.every((m) => m.session_id === s.init.session_id));
  });

  add("loop: parallel reads keep their order and ids", [
    say(call("Read", { file_path: "${CWD}/a" }), call("Read", { file_path: "${CWD}/b" }), call("Bash", { command: "echo third" })),
    say("all"),
  ], async (p) => {
    p.file("a", "AAA"); p.file("b", "BBB");
    const s = await p.all("go", { allowedTools: ["Read", "Bash"] });
    const uses = s.blocks("tool_use").map((b) => b.id);
    assert.equal(new Set(uses).size, 3);
    assert.deepEqual(new Set(s.toolResults.map((r) => r.tool_use_id)), new Set(uses));
    const last = await p.last();
    const results = last.messages.at(-1).content.filter((b) => b.type === "tool_result");
    assert.deepEqual(results.map((r) => r.tool_use_id), uses);
  });

  add("loop: max turns and the session continues after it", [
    say(call("Bash", { command: "echo one" })), say(call("Bash", { command: "echo two" })), say("finished"),
  ], async (p) => {
    const s = await p.all("go", { allowedTools: ["Bash"], maxTurns: 2, mayThrow: true });
    assert.equal(s.result.subtype, "error_max_turns");
    assert.equal(s.result.is_error, true);
    assert.ok(!("result" in s.result));
    assert.ok(Array.isArray(s.result.errors) && s.result.errors.length > 0);
    const more = await p.all("go on", { resume: s.result.session_id, maxTurns: 5 });
    assert.equal(more.result.result, "finished");
    assert.equal(more.result.session_id, s.result.session_id);
  });

  // --- cost tracking
  add("cost: messages of one step share id and usage; result has totals", [
    say("text", call("Bash", { command: "echo 1" }), call("Bash", { command: "echo 2" })), say("end"),
  ], async (p) => {
    const s = await p.all("go", { allowedTools: ["Bash"] });
    const byId = new Map();
    for (const m of s.type("assistant")) byId.set(m.message.id, [...(byId.get(m.message.id) ?? []), m]);
    assert.equal(byId.size, 2);
    const [first] = byId.values();
    assert.equal(first.length, 3);
    assert.equal(new Set(first.map((m) => m.message.usage.cache_creation_input_tokens)).size, 1);
    const whole = [...byId.values()].map((ms) => Math.max(...ms.map((m) => m.message.usage.output_tokens))).reduce((a, b) => a + b);
    assert.equal(whole, s.result.usage.output_tokens); // the highest of each step
    assert.equal(new Set(s.type("assistant").map((m) => m.uuid)).size, 4);
    const r = s.result;
    assert.ok(r.total_cost_usd > 0);
    const models = Object.values(r.modelUsage);
    assert.equal(models.length, 1);
    assert.ok(Math.abs(models[0].costUSD - r.total_cost_usd) < 1e-9);
    assert.equal(models[0].inputTokens, r.usage.input_tokens);
    assert.equal(models[0].outputTokens, r.usage.output_tokens);
    assert.equal(models[0].cacheReadInputTokens, r.usage.cache_read_input_tokens);
    assert.equal(models[0].cacheCreationInputTokens, r.usage.cache_creation_input_tokens);
    assert.ok(["list", "managed", "unknown", undefined].includes(models[0].costBasis));
    assert.ok(models[0].contextWindow >= 200000 && models[0].maxOutputTokens > 0);
  });

  add("cost: usage of a second query is its own when not resumed", [say("one"), say("two")], async (p) => {
    const a = await p.all("x"), b = await p.all("y");
    assert.notEqual(a.init.session_id, b.init.session_id);
    assert.ok(Math.abs(a.result.total_cost_usd - b.result.total_cost_usd) < a.result.total_cost_usd);
  });

  add("cost: failed conversation still tells its cost", [
    say(call("Bash", { command: "echo x" })), { faults: [{ kind: "status", status: 400, message: "bad thing" }], times: -1 },
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], mayThrow: true });
    assert.equal(s.result.is_error, true);
    assert.ok(s.result.total_cost_usd > 0);
    assert.ok(s.result.usage.output_tokens > 0);
  }, { illegal: true });

  add("cost: max budget ends with its own subtype", [
    { ...say(call("Bash", { command: "echo x" })), usage: { input_tokens: 900000, output_tokens: 100000 } }, say("never"),
  ], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], maxBudgetUsd: 0.01, mayThrow: true });
    assert.equal(s.result.subtype, "error_max_budget_usd");
    assert.ok((await p.requests()).length <= 1);
  });

  // --- permissions page
  add("permissions: dontAsk denies what is not listed, without the callback", [
    say(call("Bash", { command: "touch made" }), call("Read", { file_path: "${CWD}/a" })), say("done"),
  ], async (p) => {
    p.file("a", "hello");
    let asked = 0;
    const s = await p.all("x", { permissionMode: "dontAsk", allowedTools: ["Read"], canUseTool: async () => { asked++; return { behavior: "allow" }; } });
    assert.equal(asked, 0);
    assert.ok(!p.has("made"));
    assert.equal(s.result.permission_denials.length, 1);
    assert.equal(s.result.permission_denials[0].tool_name, "Bash");
    assert.deepEqual(s.toolResults.map((r) => !!r.is_error), [true, false]);
  });

  add("permissions: bypass runs everything but a deny rule", [
    say(call("Bash", { command: "touch made" }), call("Bash", { command: "rm made" }), call("Write", { file_path: "${CWD}/w", content: "w" })), say("done"),
  ], async (p) => {
    const s = await p.all("x", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, disallowedTools: ["Bash(rm *)"] });
    assert.ok(p.has("made") && p.has("w"));
    assert.equal(s.result.permission_denials.length, 1);
    assert.equal(s.init.permissionMode, "bypassPermissions");
  });

  add("permissions: acceptEdits also runs mkdir, touch, mv, cp inside", [
    say(call("Bash", { command: "mkdir -p sub && touch sub/x && cp sub/x sub/y && mv sub/y sub/z && rm sub/x" })), say("done"),
  ], async (p) => {
    const s = await p.all("x", { permissionMode: "acceptEdits" });
    assert.ok(p.has("sub/z"));
    assert.equal(s.result.permission_denials.length, 0);
  });

  add("permissions: acceptEdits does not run other commands", [say(call("Bash", { command: "curl http://127.0.0.1:9/" })), say("done")], async (p) => {
    const s = await p.all("x", { permissionMode: "acceptEdits" });
    assert.equal(s.result.permission_denials.length, 1);
  });

  add("permissions: acceptEdits does not write outside", [say(call("Write", { file_path: "${CWD}-out", content: "x" })), say("done")], async (p) => {
    const s = await p.all("x", { permissionMode: "acceptEdits" });
    assert.equal(s.result.permission_denials.length, 1);
    assert.ok(!fs.existsSync(p.dir + "-out"));
  });

  add("permissions: mode changed in the middle of a stream", [
    say(call("Write", { file_path: "${CWD}/one", content: "1" })), say("first"),
    say(call("Write", { file_path: "${CWD}/two", content: "2" })), say("second"),
  ], async (p) => {
    const f = feed(user("one"));
    const seen = await p.all(f, {}, async (m, q) => {
      if (m.type !== "result") return;
      if (m.result === "first") {
        assert.ok(!p.has("one"));
        const r = await q.setPermissionMode("acceptEdits");
        assert.equal(r?.mode ?? "acceptEdits", "acceptEdits");
        f.push(user("two"));
      } else f.end();
    });
    assert.ok(p.has("two"));
    assert.deepEqual(seen.type("system", "init").map((m) => m.permissionMode), ["default", "acceptEdits"]);
    assert.ok(seen.type("system", "status").some((m) => m.permissionMode === "acceptEdits"));
  });

  add("permissions: plan mode reads and refuses edits, plan accepted by the callback", [
    say(call("Read", { file_path: "${CWD}/a" })),
    say(call("Write", { file_path: "${CWD}/b", content: "x" })),
    say(call("ExitPlanMode", { plan: "1. write b" })),
    say(call("Write", { file_path: "${CWD}/b", content: "x" })),
    say("done"),
  ], async (p) => {
    p.file("a", "A");
    const asked = [];
    const s = await p.all("x", { permissionMode: "plan", canUseTool: async (name, input) => { asked.push(name); return { behavior: "allow", updatedInput: input }; } });
    assert.ok(asked.includes("ExitPlanMode"));
    assert.ok(p.has("b"));
    assert.equal(s.result.result, "done");
    assert.equal(s.init.permissionMode, "plan");
  });

  add("permissions: rules with a path, a domain, an agent, an mcp server", [
    say(call("Read", { file_path: "${CWD}/secrets/key" }), call("Read", { file_path: "${CWD}/.env" }), call("Bash", { command: "npm run test unit" }), call("Bash", { command: "npm run lint && rm -rf x" })),
    say("done"),
  ], async (p) => {
    p.file("secrets/key", "k"); p.file(".env", "S=1");
    const s = await p.all("x", { allowedTools: ["Read", "Bash(npm run test:*)", "Bash(npm run lint)"], disallowedTools: ["Read(./secrets/**)", "Read(./.env)"] });
    const denied = s.result.permission_denials.map((d) => d.tool_input.file_path ?? d.tool_input.command);
    assert.equal(denied.length, 3);
    assert.ok(denied.some((d) => d.endsWith("key")) && denied.some((d) => d.endsWith(".env")) && denied.includes("npm run lint && rm -rf x"));
  });

  add("user input: approve with changes", [say(call("Bash", { command: "echo original > out" })), say("done")], async (p) => {
    await p.all("x", perm(async (name, input, o) => {
      assert.equal(name, "Bash");
      assert.ok(o.signal instanceof AbortSignal);
      assert.ok(o.toolUseID);
      return { behavior: "allow", updatedInput: { ...input, command: "echo changed > out" } };
    }));
    assert.equal(p.read("out").trim(), "changed");
  });

  add("user input: deny with a message, the model reads it", [say(call("Bash", { command: "rm -rf /nothing" })), say("ok, not")], async (p) => {
    const s = await p.all("x", perm(async () => ({ behavior: "deny", message: "User rejected this action" })));
    const last = await p.last();
    assert.match(JSON.stringify(last.messages), /User rejected this action/);
    assert.equal(s.result.result, "ok, not");
    assert.equal(s.result.permission_denials[0].tool_name, "Bash");
  });

  add("user input: remember with the suggestions", [
    say(call("Bash", { command: "git status" })), say(call("Bash", { command: "git status" })), say("done"),
  ], async (p) => {
    execSync("git init -q", { cwd: p.dir });
    let n = 0;
    const s = await p.all("x", perm(async (name, input, o) => {
      n++;
      return { behavior: "allow", updatedInput: input, updatedPermissions: o.suggestions };
    }));
    assert.ok(n <= 1);
    assert.equal(s.result.result, "done");
  });

  add("user input: the callback may take long, and several at once", [
    say(call("Bash", { command: "touch one" }), call("Write", { file_path: "${CWD}/two", content: "2" })), say("done"),
  ], async (p) => {
    let open = 0, most = 0;
    await p.all("x", perm(async (name, input) => {
      open++; most = Math.max(most, open);
      await new Promise((r) => setTimeout(r, 150));
      open--;
      return { behavior: "allow", updatedInput: input };
    }));
    assert.ok(p.has("one") && p.has("two"));
    assert.ok(most >= 1);
  });

  add("user input: clarifying questions with a multi select and a free answer", [
    say(call("AskUserQuestion", { questions: [
      { question: "How should I format the output?", header: "Format", options: [{ label: "Summary", description: "Brief" }, { label: "Detailed", description: "Full" }], multiSelect: false },
      { question: "Which sections?", header: "Sections", options: [{ label: "Intro", description: "a" }, { label: "End", description: "b" }], multiSelect: true },
    ] })),
    say("done"),
  ], async (p) => {
    const s = await p.all("x", perm(async (name, input) => {
      assert.equal(name, "AskUserQuestion");
      assert.equal(input.questions.length, 2);
      return { behavior: "allow", updatedInput: { questions: input.questions, answers: { "How should I format the output?": "Summary", "Which sections?": "Intro, End" } } };
    }));
    const body = JSON.stringify((await p.last()).messages.at(-1));
    assert.match(body, /Summary/);
    assert.match(body, /Intro, End/);
    assert.equal(s.result.permission_denials.length, 0);
  });

  add("user input: multi select answered with an array", [
    say(call("AskUserQuestion", { questions: [{ question: "Which?", header: "W", options: [{ label: "A1", description: "a" }, { label: "B2", description: "b" }], multiSelect: true }] })),
    say("done"),
  ], async (p) => {
    const s = await p.all("x", perm(async (name, input) => ({ behavior: "allow", updatedInput: { questions: input.questions, answers: { "Which?": ["A1", "B2"] } } })));
    const body = JSON.stringify((await p.last()).messages.at(-1));
    assert.match(body, /A1/); assert.match(body, /B2/);
    assert.ok(!s.toolResults[0].is_error);
  });

  add("user input: free response", [
    say(call("AskUserQuestion", { questions: [{ question: "Which?", header: "W", options: [{ label: "A1", description: "a" }, { label: "B2", description: "b" }], multiSelect: false }] })),
    say("done"),
  ], async (p) => {
    await p.all("x", perm(async (name, input) => ({ behavior: "allow", updatedInput: { ...input, response: "neither, let us talk first" } })));
    assert.match(JSON.stringify((await p.last()).messages.at(-1)), /neither, let us talk first/);
  });

  add("user input: tools without AskUserQuestion do not offer it", [say("x")], async (p) => {
    await p.all("x", { tools: ["Read"], ...perm(async () => ({ behavior: "allow" })) });
    assert.deepEqual((await p.last()).tools.map((t) => t.name), ["Read"]);
  });

  add("user input: html previews of questions", [
    say(call("AskUserQuestion", { questions: [{ question: "Which?", header: "W", options: [{ label: "A1", description: "a", preview: "<b>a</b>" }, { label: "B2", description: "b", preview: "<i>b</i>" }], multiSelect: false }] })),
    say("done"),
  ], async (p) => {
    let got;
    await p.all("x", { toolConfig: { askUserQuestion: { previewFormat: "html" } }, ...perm(async (name, input) => { got = input; return { behavior: "allow", updatedInput: { ...input, answers: { "Which?": "A1" } } }; }) });
    assert.equal(got.questions[0].options[0].preview, "<b>a</b>");
    const tool = (await p.last()).tools.find((t) => t.name === "AskUserQuestion");
    assert.match(JSON.stringify(tool), /html/i);
  });

  // --- hooks page
  add("hooks: block writes to .env files", [
    say(call("Write", { file_path: "${CWD}/.env", content: "x" }), call("Write", { file_path: "${CWD}/ok", content: "x" })), say("done"),
  ], async (p) => {
    const guard = async (input, id) => {
      assert.equal(input.hook_event_name, "PreToolUse");
      assert.equal(input.tool_use_id, id);
      if (path.basename(input.tool_input.file_path) === ".env")
        return { hookSpecificOutput: { hookEventName: input.hook_event_name, permissionDecision: "deny", permissionDecisionReason: "Cannot modify .env files" } };
      return {};
    };
    const s = await p.all("x", { permissionMode: "acceptEdits", hooks: { PreToolUse: [{ matcher: "Write|Edit", hooks: [guard] }] } });
    assert.ok(!p.has(".env") && p.has("ok"));
    assert.match(text(s.toolResults.find((r) => r.is_error).content), /Cannot modify \.env files/);
  });

  add("hooks: redirect to a sandbox directory with updatedInput and allow", [
    say(call("Write", { file_path: "${CWD}/x.txt", content: "x" })), say("done"),
  ], async (p) => {
    await p.all("x", { hooks: { PreToolUse: [{ matcher: "Write", hooks: [async (i) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { ...i.tool_input, file_path: path.join(p.dir, "sandbox", "x.txt") } } })] }] } });
    assert.ok(p.has("sandbox/x.txt") && !p.has("x.txt"));
  });

  add("hooks: several in one event, each sees the call, deny wins", [say(call("Bash", { command: "touch made" })), say("done")], async (p) => {
    const ran = [];
    const h = (name, d) => async () => { ran.push(name); return d ? { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: d, permissionDecisionReason: name } } : {}; };
    const s = await p.all("x", { hooks: { PreToolUse: [{ hooks: [h("rate"), h("auth", "allow")] }, { matcher: "Bash", hooks: [h("sanitize", "deny")] }, { matcher: "^mcp__", hooks: [h("mcp", "deny")] }] } });
    assert.deepEqual(ran.sort(), ["auth", "rate", "sanitize"]);
    assert.ok(!p.has("made"));
    assert.match(text(s.toolResults[0].content), /sanitize/);
  });

  add("hooks: systemMessage and additionalContext of PostToolUse", [say(call("Bash", { command: "echo hi" })), say("done")], async (p) => {
    await p.all("x", { allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [async (i) => {
      assert.equal(i.tool_response.stdout.trim(), "hi");
      return { systemMessage: "shown to user", hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "seen by the model 4711" } };
    }] }] } });
    assert.match(JSON.stringify((await p.last()).messages), /seen by the model 4711/);
  });

  add("hooks: async output returns at once", [say(call("Bash", { command: "echo hi" })), say("done")], async (p) => {
    let done = false;
    const s = await p.all("x", { allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [async () => { setTimeout(() => { done = true; }, 50); return { async: true, asyncTimeout: 30000 }; }] }] } });
    assert.equal(s.result.result, "done");
    await p.until("the async work", () => done);
  });

  add("hooks: subagent tracking", [
    say(call("Agent", { description: "look", prompt: "look around", subagent_type: "general-purpose", run_in_background: false })),
    { when: { user: "look around" }, ...say("sub says hi"), times: 1 }, say("done"),
  ], async (p) => {
    const events = [];
    await p.all("x", { hooks: {
      SubagentStart: [{ hooks: [async (i) => { events.push(["start", i.agent_id, i.agent_type]); return {}; }] }],
      SubagentStop: [{ hooks: [async (i, id) => { events.push(["stop", i.agent_id, i.agent_transcript_path, i.stop_hook_active, i.last_assistant_message]); return {}; }] }],
    } });
    assert.deepEqual(events.map((e) => e[0]), ["start", "stop"]);
    assert.equal(events[0][1], events[1][1]);
    assert.equal(events[0][2], "general-purpose");
    assert.ok(fs.existsSync(events[1][2]));
    assert.equal(events[1][4], "sub says hi");
  });

  add("hooks: notifications of a permission prompt", [say(call("Bash", { command: "touch made" })), say("done")], async (p) => {
    const got = [];
    await p.all("x", { hooks: { Notification: [{ hooks: [async (i) => { got.push(i.notification_type); return {}; }] }] }, ...perm(async (n, input) => { await p.until("a notification", () => got.length); return { behavior: "allow", updatedInput: input }; }) });
    assert.ok(got.includes("permission_prompt"));
  });

  add("hooks: the matcher does not match on arguments", [say(call("Read", { file_path: "${CWD}/Bash" })), say("done")], async (p) => {
    p.file("Bash", "x");
    let n = 0;
    await p.all("x", { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [async () => { n++; return {}; }] }] } });
    assert.equal(n, 0);
  });

  add("hooks: mcp tools by a regular expression", [say(call("mcp__calc__add", { a: 1, b: 2 })), say("done")], async (p) => {
    const seen = [];
    const calc = p.sdk.createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [p.sdk.tool("add", "adds", { a: p.z.number(), b: p.z.number() }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }))] });
    const s = await p.all("x", { mcpServers: { calc }, allowedTools: ["mcp__calc__*"], hooks: { PreToolUse: [{ matcher: "^mcp__", hooks: [async (i) => { seen.push(i.tool_name); return {}; }] }], PostToolUse: [{ matcher: "mcp__calc__add", hooks: [async (i) => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedMCPToolOutput: [{ type: "text", text: "changed to 33" }] } })] }] } });
    assert.deepEqual(seen, ["mcp__calc__add"]);
    assert.match(text(s.toolResults[0].content), /changed to 33/);
  });

  add("hooks: UserPromptSubmit adds context and a title", [say("done")], async (p) => {
    let got;
    const s = await p.all("hello there", { hooks: { UserPromptSubmit: [{ hooks: [async (i) => { got = i; return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "It is Tuesday 99", sessionTitle: "A good title" } }; }] }] } });
    assert.equal(got.prompt, "hello there");
    assert.match(JSON.stringify((await p.last()).messages), /Tuesday 99/);
    const info = await p.sdk.getSessionInfo(s.init.session_id, { dir: p.dir });
    assert.equal(info.customTitle ?? info.summary, "A good title");
  });

  add("hooks: Stop is called once with what was said; SDK stop block goes on", [say("first"), say("second")], async (p) => {
    const got = [];
    const s = await p.all("x", { hooks: { Stop: [{ hooks: [async (i) => { got.push([i.stop_hook_active, i.last_assistant_message]); return i.stop_hook_active ? {} : { decision: "block", reason: "do more" }; }] }] } });
    assert.deepEqual(got, [[false, "first"], [true, "second"]]);
    assert.equal(s.results.length, 1);
    assert.equal(s.result.result, "second");
  });

  add("hooks: continue false with a stop reason", [say(call("Bash", { command: "echo 1" })), say("never")], async (p) => {
    const s = await p.all("x", { allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: "enough" })] }] }, mayThrow: true });
    assert.equal((await p.requests()).length, 1);
    assert.equal(s.results.length, 1);
    assert.equal(s.result.terminal_reason, "hook_stopped");
  });

  add("hooks: PostToolUseFailure with the error", [say(call("Bash", { command: "exit 3" })), say("done")], async (p) => {
    let got;
    await p.all("x", { allowedTools: ["Bash"], hooks: { PostToolUseFailure: [{ hooks: [async (i) => { got = i; return {}; }] }] } });
    assert.match(got.error, /^Exit code 3/);
    assert.equal(got.tool_name, "Bash");
  });

  add("hooks: PreCompact and PostCompact around /compact", [say("answer one"), { when: { no_tools: true }, text: "summary of it" }, { when: { user: "summar" }, text: "summary of it" }, say("x")], async (p) => {
    const got = [];
    const a = await p.all("hello");
    const s = await p.all("/compact keep the names", { resume: a.result.session_id, hooks: {
      PreCompact: [{ hooks: [async (i) => { got.push(["pre", i.trigger, i.custom_instructions]); return {}; }] }],
      PostCompact: [{ hooks: [async (i) => { got.push(["post", i.trigger, typeof i.compact_summary]); return {}; }] }],
    } });
    assert.deepEqual(got, [["pre", "manual", "keep the names"], ["post", "manual", "string"]]);
    const b = s.type("system", "compact_boundary")[0];
    assert.equal(b.compact_metadata.trigger, "manual");
    assert.ok(b.compact_metadata.pre_tokens > 0);
  });
};
