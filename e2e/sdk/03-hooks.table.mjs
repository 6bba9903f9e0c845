// Callbacks of the host for each hook event.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const bash = (command) => call("Bash", { command });
  const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const on = (event, f, matcher, more) => ({ [event]: [{ matcher, hooks: [f], ...more }] });
  const pre = (o) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...o } });

  t("PreToolUse sees the call", [say(bash("touch x")), say("ok")], async (c) => {
    const seen = [];
    const s = await c.all("go", { ...bypass, hooks: on("PreToolUse", async (i, id, o) => { seen.push([i, id, o.signal instanceof AbortSignal]); return {}; }) });
    const [[i, id, signal]] = seen;
    assert.equal(i.hook_event_name, "PreToolUse");
    assert.equal(i.tool_name, "Bash");
    assert.deepEqual(i.tool_input, { command: "touch x" });
    assert.equal(i.tool_use_id, id);
    assert.equal(i.session_id, s.result.session_id);
    assert.equal(i.cwd, c.dir);
    assert.match(i.transcript_path, /\.jsonl$/);
    assert.equal(i.permission_mode, "bypassPermissions");
    assert.ok(signal && c.has("x"));
  });
  t("PreToolUse denies without a question", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => assert.fail("asked"), hooks: on("PreToolUse", async () => pre({ permissionDecision: "deny", permissionDecisionReason: "never" }), "Bash") });
    assert.ok(!c.has("x"));
    assert.match(JSON.stringify(s.toolResults), /never/);
  });
  t("PreToolUse allows without a question", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { canUseTool: async () => assert.fail("asked"), hooks: on("PreToolUse", async () => pre({ permissionDecision: "allow" })) });
    assert.ok(c.has("x"));
  });
  t("PreToolUse asks even for what is allowed", [say(bash("touch x")), say("ok")], async (c) => {
    let asked = 0;
    await c.all("go", { allowedTools: ["Bash"], canUseTool: async (n, i) => { asked++; return { behavior: "allow", updatedInput: i }; }, hooks: on("PreToolUse", async () => pre({ permissionDecision: "ask" })) });
    assert.equal(asked, 1);
  });
  t("PreToolUse changes the input", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => pre({ permissionDecision: "allow", updatedInput: { command: "touch y" } })) });
    assert.ok(c.has("y") && !c.has("x"));
  });
  t("PreToolUse adds context", [say(bash("true")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => pre({ additionalContext: "mind the gap" })) });
    assert.match(JSON.stringify(await c.last()), /mind the gap/);
  });
  t("PreToolUse with the old decision", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => ({ decision: "block", reason: "old" })) });
    assert.ok(!c.has("x"));
  });
  t("PreToolUse defers", [say(bash("touch x"))], async (c) => {
    const s = await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => pre({ permissionDecision: "defer" })) });
    assert.equal(s.result.stop_reason, "tool_deferred");
    assert.equal(s.result.deferred_tool_use.name, "Bash");
    assert.deepEqual(s.result.deferred_tool_use.input, { command: "touch x" });
    assert.ok(!c.has("x"));
  });
  for (const later of ["in a later run", "in the same run"]) {
    t("what PreToolUse defers is decided " + later, [say(bash("touch x")), say("done")], async (c) => {
      let answer = { permissionDecision: "defer" };
      const asked = [];
      const hooks = on("PreToolUse", async (i) => { asked.push(i.tool_use_id); return pre(answer); });
      const go = { permissionDecision: "allow", updatedInput: { command: "touch y" } };
      let s, id, last;
      if (later === "in the same run") {
        const input = feed(user("go"));
        let n = 0;
        s = await c.all(input, { hooks }, (m) => {
          if (m.type !== "result") return;
          n++;
          if (n === 1) { assert.equal(m.stop_reason, "tool_deferred"); id = m.deferred_tool_use.id; input.push(user("too early")); }
          if (n === 2) { assert.equal(m.stop_reason, "tool_deferred"); answer = go; input.push(user("go on")); }
          if (n === 3) input.end();
        });
        assert.ok(s.type("system", "informational").some((m) => /not taken up/.test(m.content)));
      } else {
        const first = await c.all("go", { hooks });
        id = first.result.deferred_tool_use.id;
        s = await c.all("too early", { hooks, resume: first.init.session_id });
        assert.equal(s.result.stop_reason, "tool_deferred");
        answer = go;
        s = await c.all("go on", { hooks, resume: first.init.session_id });
      }
      assert.equal(s.result.result, "done");
      assert.deepEqual(asked, [id, id, id]);
      assert.ok(c.has("y") && !c.has("x"));
      last = (await c.last()).messages.at(-1).content;
      assert.equal(last[0].tool_use_id, id);
      assert.ok(!last[0].is_error);
      assert.match(JSON.stringify(last), /go on/);
      assert.doesNotMatch(JSON.stringify(await c.last()), /too early/);
    });
  }
  t("a deferred call whose tool is gone", [say(bash("touch x"))], async (c) => {
    const hooks = on("PreToolUse", async () => pre({ permissionDecision: "defer" }));
    const first = await c.all("go", { hooks });
    const s = await c.all("go on", { hooks, resume: first.init.session_id, disallowedTools: ["Bash"], mayThrow: true });
    assert.equal(s.result.stop_reason, "tool_deferred_unavailable");
    assert.equal(s.result.is_error, true);
  });
  t("matchers: exact, alternatives, regular expression, all", [say(call("Glob", { pattern: "*" }), bash("true")), say("ok")], async (c) => {
    const seen = [];
    const f = (name) => async (i) => { seen.push(name + " " + i.tool_name); return {}; };
    await c.all("go", { ...bypass, hooks: { PreToolUse: [{ matcher: "Bash", hooks: [f("exact")] }, { matcher: "Glob|Grep", hooks: [f("either")] }, { matcher: "^B.*h$", hooks: [f("regexp")] }, { matcher: "*", hooks: [f("star")] }, { hooks: [f("none")] }] } });
    assert.deepEqual(seen.sort(), ["either Glob", "exact Bash", "none Bash", "none Glob", "regexp Bash", "star Bash", "star Glob"]);
  });
  t("a hook that takes too long", [say(bash("touch x")), say("ok")], async (c) => {
    let aborted = false;
    const s = await c.all("go", { ...bypass, hooks: on("PreToolUse", (i, id, { signal }) => new Promise((res) => signal.addEventListener("abort", () => { aborted = true; res({}); })), undefined, { timeout: 0.3 }) });
    assert.ok(aborted && !c.has("x"));
    assert.equal(s.toolResults[0].is_error, true);
  });
  t("a hook that throws is reported and passed over", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => { throw new Error("boom"); }) });
    assert.ok(c.has("x"));
    assert.equal(s.result.result, "ok");
  });
  t("a hook that throws and guards blocks", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => { throw new Error("boom"); }, undefined, { onFailure: "block" }) });
    assert.ok(!c.has("x"));
  });
  t("continue false ends the turn", [say(bash("touch x"))], async (c) => {
    const s = await c.all("go", { ...bypass, hooks: on("PostToolUse", async () => ({ continue: false, stopReason: "enough" })) });
    assert.ok(c.has("x"));
    assert.equal((await c.requests()).length, 1);
    assert.ok(s.result);
  });
  t("PostToolUse sees the structured result", [say(call("Write", { file_path: "a", content: "one\n" })), say("ok")], async (c) => {
    let seen;
    await c.all("go", { ...bypass, hooks: on("PostToolUse", async (i) => { seen = i; return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "well written" } }; }, "Write") });
    assert.match(seen.tool_response.filePath, /a$/);
    assert.ok(Array.isArray(seen.tool_response.structuredPatch));
    assert.ok(seen.duration_ms >= 0);
    assert.match(JSON.stringify(await c.last()), /well written/);
  });
  t("PostToolUse replaces the output", [say(bash("echo secret")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PostToolUse", async () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: { stdout: "hidden", stderr: "", interrupted: false } } })) });
    const body = JSON.stringify((await c.last()).messages.at(-1));
    assert.ok(body.includes("hidden"), body);
  });
  t("PostToolUse blocks with a reason", [say(bash("true")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PostToolUse", async () => ({ decision: "block", reason: "do it again" })) });
    assert.match(JSON.stringify(await c.last()), /do it again/);
  });
  t("PostToolUseFailure", [say(bash("exit 3")), say("ok")], async (c) => {
    let seen;
    await c.all("go", { ...bypass, hooks: on("PostToolUseFailure", async (i) => { seen = i; return {}; }) });
    assert.match(seen.error, /3/);
  });
  t("PostToolBatch", [say(bash("true"), call("Glob", { pattern: "*" })), say("ok")], async (c) => {
    let seen;
    await c.all("go", { ...bypass, hooks: on("PostToolBatch", async (i) => { seen = i; return {}; }) });
    assert.deepEqual(seen.tool_calls.map((x) => x.tool_name), ["Bash", "Glob"]);
    assert.ok(seen.tool_calls.every((x) => x.tool_use_id && x.tool_input && x.tool_response));
  });
  t("UserPromptSubmit adds context", [say("ok")], async (c) => {
    let seen;
    await c.all("hello", { hooks: on("UserPromptSubmit", async (i) => { seen = i; return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "it rains" } }; }) });
    assert.equal(seen.prompt, "hello");
    assert.match(JSON.stringify(await c.last()), /it rains/);
  });
  t("UserPromptSubmit blocks", [], async (c) => {
    const s = await c.all("hello", { hooks: on("UserPromptSubmit", async () => ({ decision: "block", reason: "not now" })) });
    assert.equal((await c.requests()).length, 0);
    assert.equal(s.result.subtype, "success");
    assert.equal(s.result.num_turns, 0);
    assert.ok(s.type("system", "informational").some((m) => m.content.includes("not now")));
  });
  t("Stop makes it go on, once", [say("one"), say("two")], async (c) => {
    const seen = [];
    const s = await c.all("go", { hooks: on("Stop", async (i) => { seen.push(i); return seen.length === 1 ? { decision: "block", reason: "tell me more" } : {}; }) });
    assert.deepEqual(seen.map((i) => i.stop_hook_active), [false, true]);
    assert.equal(seen[0].last_assistant_message, "one");
    assert.equal(s.results.length, 1);
    assert.equal(s.result.result, "two");
    assert.match(JSON.stringify(await c.last()), /tell me more/);
  });
  t("StopFailure", [{ faults: [{ kind: "status", status: 400 }], times: -1 }], async (c) => {
    let seen;
    await c.all("go", { mayThrow: true, hooks: on("StopFailure", async (i) => { seen = i; return {}; }) });
    assert.equal(seen.error, "invalid_request");
  });
  t("PermissionRequest decides", [say(bash("touch x")), say("ok")], async (c) => {
    let seen;
    await c.all("go", {
      canUseTool: (n, i, { signal }) => new Promise((res) => signal.addEventListener("abort", () => res({ behavior: "deny", message: "late" }))),
      hooks: on("PermissionRequest", async (i) => { seen = i; return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } }; }),
    });
    assert.equal(seen.tool_name, "Bash");
    assert.ok(Array.isArray(seen.permission_suggestions));
    assert.ok(c.has("x"));
  });
  t("PermissionRequest denies without canUseTool", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { hooks: on("PermissionRequest", async () => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "deny", message: "hooks say no" } } })) });
    assert.match(JSON.stringify(s.toolResults), /hooks say no/);
  });
  t("PermissionRequest with permissions", [say(bash("touch a")), say(bash("touch a")), say("ok")], async (c) => {
    let n = 0;
    await c.all("go", { hooks: on("PermissionRequest", async () => { n++; return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow", updatedPermissions: [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "touch a" }], behavior: "allow", destination: "session" }] } } }; }) });
    assert.equal(n, 1);
  });
  t("Notification", [say(bash("touch a")), say("ok")], async (c) => {
    let seen;
    await c.all("go", { canUseTool: (n, i) => new Promise((res) => setTimeout(() => res({ behavior: "allow", updatedInput: i }), 300)), hooks: on("Notification", async (i) => { seen = i; return {}; }) });
    assert.equal(seen?.notification_type, "permission_prompt");
    assert.ok(seen.message);
  });
  t("PreCompact and PostCompact", [say("one"), say("The summary.")], async (c) => {
    const seen = [];
    const input = feed(user("first"));
    let n = 0;
    await c.all(input, { hooks: { PreCompact: [{ hooks: [async (i) => { seen.push(i); return {}; }] }], PostCompact: [{ hooks: [async (i) => { seen.push(i); return {}; }] }] } },
      (m) => { if (m.type === "result") { if (n++ === 0) input.push(user("/compact the important")); else input.end(); } });
    assert.deepEqual(seen.map((i) => [i.hook_event_name, i.trigger]), [["PreCompact", "manual"], ["PostCompact", "manual"]]);
    assert.equal(seen[0].custom_instructions, "the important");
  });
  t("async goes on without it", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => ({ async: true, asyncTimeout: 1 })) });
    assert.ok(c.has("x"));
  });
  t("systemMessage is shown", [say(bash("true")), say("ok")], async (c) => {
    const s = await c.all("go", { ...bypass, hooks: on("PreToolUse", async () => ({ systemMessage: "for your eyes" })) });
    assert.ok(s.type("system", "informational").some((m) => m.content.includes("for your eyes")));
  });
  t("MessageDisplay", [say("hello there")], async (c) => {
    const seen = [];
    await c.all("go", { hooks: on("MessageDisplay", async (i) => { seen.push(i); return {}; }) });
    assert.ok(seen.some((i) => i.delta.includes("hello") && i.turn_id && i.message_id));
  });
  t("MessageDisplay changes what is shown, and nothing else", [say("the word is swordfish"), say("again swordfish")], async (c) => {
    const input = feed(user("a"));
    const s = await c.all(input, { hooks: on("MessageDisplay", async (i) => ({ hookSpecificOutput: { hookEventName: "MessageDisplay", displayContent: i.delta.replace("swordfish", "***") } })) },
      (m) => { if (m.type === "result") { if (m.result === "the word is swordfish") input.push(user("b")); else input.end(); } });
    assert.deepEqual(s.blocks("text").map((b) => b.text), ["the word is ***", "again ***"]);
    assert.match(JSON.stringify((await c.last()).messages), /the word is swordfish/);
    const kept = await c.sdk.getSessionMessages(s.init.session_id, { dir: c.dir });
    assert.match(JSON.stringify(kept), /again swordfish/);
  });
  t("MessageDisplay sees an answer by lines while it comes", [{ ...say("first line\nsecond line\n\nlast words", bash("true")), chunk: 4 }, { ...say("one\n"), chunk: 2 }], async (c) => {
    const seen = [];
    const s = await c.all("go", { ...bypass, includePartialMessages: true, hooks: on("MessageDisplay", async (i) => { seen.push(i); return { hookSpecificOutput: { hookEventName: "MessageDisplay", displayContent: i.delta.toUpperCase() } }; }) });
    const byMessage = seen.reduce((m, i) => m.set(i.message_id, [...(m.get(i.message_id) ?? []), i]), new Map());
    const texts = s.type("assistant").filter((m) => m.message.content[0].type === "text");
    assert.deepEqual([...byMessage.keys()], texts.map((m) => m.uuid));
    assert.deepEqual([...byMessage.values()].map((l) => l.map((i) => i.delta).join("")), ["first line\nsecond line\n\nlast words", "one\n"]);
    for (const l of byMessage.values()) {
      assert.deepEqual(l.map((i) => i.index), l.map((_, n) => n));
      assert.deepEqual(l.map((i) => i.final), l.map((_, n) => n === l.length - 1));
      assert.ok(l.every((i) => i.final || i.delta.endsWith("\n")));
      assert.ok(l.length > 1);
    }
    assert.deepEqual(texts.map((m) => m.message.content[0].text), ["FIRST LINE\nSECOND LINE\n\nLAST WORDS", "ONE\n"]);
    const raw = s.type("stream_event").map((m) => m.event).filter((e) => e.delta?.type === "text_delta").map((e) => e.delta.text).join("");
    assert.equal(raw, "first line\nsecond line\n\nlast wordsone\n"); // raw events stay as they are
    assert.equal(s.result.result, "one\n");
    const kept = await c.sdk.getSessionMessages(s.init.session_id, { dir: c.dir });
    assert.deepEqual(kept.filter((m) => m.type === "assistant" && m.message.content[0].type === "text").map((m) => m.uuid), texts.map((m) => m.uuid));
  });
  t("FileChanged", [say(call("Read", { file_path: "a.txt" })), say("one"), say("two"), say("three")], async (c) => {
    c.file("a.txt", "first");
    const seen = [];
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, { ...bypass, hooks: { FileChanged: [{ matcher: "a.txt|b.txt", hooks: [async (i) => { seen.push([i.event, path.basename(i.file_path)]); return {}; }] }, { matcher: "c.txt", hooks: [async () => { seen.push("no"); return {}; }] }] } }, async (m) => {
      if (m.type !== "result") return;
      n++;
      if (n === 1) { c.file("a.txt", "second"); input.push(user("b")); } else if (n === 2) { await c.until("the change", () => seen.length === 1); fs.rmSync(path.join(c.dir, "a.txt")); input.push(user("c")); } else { await c.until("the hooks", () => seen.length >= 2); input.end(); }
    });
    assert.deepEqual(seen, [["change", "a.txt"], ["unlink", "a.txt"]]);
  });
  t("CwdChanged", [say(bash("mkdir sub && cd sub")), say("ok")], async (c) => {
    let seen;
    await c.all("go", { ...bypass, hooks: on("CwdChanged", async (i) => { seen = i; return {}; }) });
    assert.match(seen.new_cwd, /sub$/);
  });
  t("InstructionsLoaded", [say("ok")], async (c) => {
    c.file("CLAUDE.md", "be nice");
    const seen = [];
    await c.all("go", { settingSources: ["project"], hooks: on("InstructionsLoaded", async (i) => { seen.push(i); return {}; }) });
    assert.ok(seen.some((i) => i.file_path.endsWith("CLAUDE.md")));
  });
  t("UserPromptExpansion", [say("ok")], async (c) => {
    c.file(".claude/commands/greet.md", "Say hello to $ARGUMENTS");
    let seen;
    await c.all("/greet Bob", { settingSources: ["project"], hooks: on("UserPromptExpansion", async (i) => { seen = i; return {}; }) });
    assert.equal(seen.command_name, "greet");
    assert.match(JSON.stringify(await c.last()), /Say hello to Bob/);
  });
  t("model switch hooks", [say("one"), say("two")], async (c) => {
    const seen = [];
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, { hooks: { PreModelSwitch: [{ hooks: [async (i) => { seen.push(i); return {}; }] }], PostModelSwitch: [{ hooks: [async (i) => { seen.push(i); return {}; }] }] } },
      async (m, q) => { if (m.type === "result") { if (n++ === 0) { await q.setModel("haiku"); input.push(user("b")); } else input.end(); } });
    assert.deepEqual(seen.map((i) => [i.hook_event_name, i.source]), [["PreModelSwitch", "sdk"], ["PostModelSwitch", "sdk"]]);
    assert.match(seen[0].to_model, /haiku/);
  });
  t("command hooks of settings run too", [say("ok")], async (c) => {
    c.file(".claude/settings.json", JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "touch ran" }] }], SessionStart: [{ hooks: [{ type: "command", command: "touch began" }] }] } }));
    const s = await c.all("go", { settingSources: ["project"], includeHookEvents: true });
    assert.ok(c.has("ran") && c.has("began"), c.stderr);
    const started = s.type("system", "hook_started");
    assert.ok(started.some((m) => m.hook_event === "SessionStart") && started.some((m) => m.hook_event === "UserPromptSubmit"));
    assert.ok(s.type("system", "hook_response").every((m) => m.outcome === "success" && m.hook_id && m.hook_name));
  });
  t("reinitialize keeps and replaces hooks", [say("one")], async (c) => {
    const input = feed(user("a"));
    await c.all(input, { hooks: on("Stop", async () => ({})) }, async (m, q) => {
      if (m.type === "result") { const r = await q.reinitialize(); assert.ok(r.commands && r.models); input.end(); }
    });
  });
  t("TaskCreated and TaskCompleted", [
    say(call("TodoWrite", { todos: [{ content: "read", status: "pending", activeForm: "reading" }] })),
    say(call("TodoWrite", { todos: [{ content: "read", status: "completed", activeForm: "reading" }] })), say("ok"),
  ], async (c) => {
    const seen = [];
    const f = async (i) => { seen.push([i.hook_event_name, i.task_id, i.task_subject]); return i.hook_event_name === "TaskCompleted" ? { decision: "block", reason: "not yet" } : {}; };
    const s = await c.all("go", { hooks: { TaskCreated: [{ hooks: [f] }], TaskCompleted: [{ hooks: [f] }] } });
    assert.deepEqual(seen, [["TaskCreated", "1", "read"], ["TaskCompleted", "1", "read"]]);
    assert.equal(s.toolResults.at(-1).is_error, true);
    assert.match(JSON.stringify(s.toolResults.at(-1).content), /not yet/);
  });
};
