// Who is asked, with what, and what each answer does.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const bash = (command, more) => call("Bash", { command, ...more });
  const allow = (updatedInput, updatedPermissions) => ({ behavior: "allow", updatedInput, updatedPermissions });
  const canUse = (asked, answer) => async (name, input, o) => { asked.push({ name, input, ...o }); return answer(name, input, o); };

  t("allow", [say(bash("touch x")), say("ok")], async (c) => {
    const asked = [];
    const s = await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i)) });
    assert.equal(asked.length, 1);
    assert.equal(asked[0].name, "Bash");
    assert.equal(asked[0].toolUseID, s.blocks("tool_use")[0].id);
    assert.ok(asked[0].suggestions.length > 0);
    assert.ok(c.has("x"));
    assert.deepEqual(s.result.permission_denials, []);
  });
  t("allow without input runs the original", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { canUseTool: async () => ({ behavior: "allow" }) });
    assert.ok(c.has("x"));
  });
  t("allow with a changed input", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { canUseTool: async (n, i) => allow({ ...i, command: "touch y" }) });
    assert.ok(c.has("y") && !c.has("x"));
  });
  t("allow with an input that does not fit", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => allow({ command: 7 }) });
    assert.equal(s.toolResults[0].is_error, true);
    assert.ok(!c.has("x"));
  });
  t("a question says which rule wants it", [say(bash("ls && touch x")), say(bash("touch y")), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { settings: { permissions: { ask: ["Bash(touch:*)"] } }, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, canUseTool: canUse(asked, (n, i) => allow(i)) });
    assert.equal(asked.length, 2);
    for (const a of asked) {
      assert.deepEqual({ toolName: a.matchedAskRule?.toolName, ruleContent: a.matchedAskRule?.ruleContent }, { toolName: "Bash", ruleContent: "touch:*" });
      assert.equal(a.displayName, "Bash");
    }
  });
  t("deny with a message", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => ({ behavior: "deny", message: "not on a Monday" }) });
    assert.equal(s.toolResults[0].is_error, true);
    assert.match(JSON.stringify(s.toolResults[0]), /not on a Monday/);
    const [d] = s.result.permission_denials;
    assert.equal(d.tool_name, "Bash");
    assert.deepEqual(d.tool_input, { command: "touch x" });
    assert.equal(d.tool_use_id, s.blocks("tool_use")[0].id);
  });
  t("deny and interrupt", [say(bash("touch x"))], async (c) => {
    const s = await c.all("go", { mayThrow: true, canUseTool: async () => ({ behavior: "deny", message: "stop", interrupt: true }) });
    assert.equal(s.result.subtype, "error_during_execution");
    assert.equal(s.result.terminal_reason, "aborted_tools");
    assert.equal((await c.requests()).length, 1);
  });
  t("a callback that throws", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => { throw new Error("boom"); } });
    assert.equal(s.toolResults[0].is_error, true);
    assert.ok(!c.has("x"));
    assert.equal(s.result.result, "ok");
  });
  t("an answer of another shape is a no", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async () => ({ yes: true }) });
    assert.equal(s.toolResults[0].is_error, true);
    assert.ok(!c.has("x"));
  });
  t("a rule for the session is remembered", [say(bash("touch a")), say(bash("touch a")), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i, [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "touch:*" }], behavior: "allow", destination: "session" }])) });
    assert.equal(asked.length, 1);
  });
  t("the suggestions can be handed back", [say(bash("touch a")), say(bash("touch a")), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { canUseTool: canUse(asked, (n, i, o) => allow(i, o.suggestions)) });
    assert.equal(asked.length, 1);
    assert.ok(fs.existsSync(path.join(c.dir, ".claude", "settings.local.json")));
  });
  t("a rule for the project is written", [say(bash("touch a")), say("ok")], async (c) => {
    await c.all("go", { settingSources: ["project"], canUseTool: async (n, i) => allow(i, [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "touch a" }], behavior: "allow", destination: "projectSettings" }]) });
    assert.deepEqual(JSON.parse(c.read(".claude/settings.json")).permissions.allow, ["Bash(touch a)"]);
  });
  t("a rule that denies is taken too", [say(bash("touch a")), say(bash("rm -f a")), say("ok")], async (c) => {
    const asked = [];
    const s = await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i, [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "rm:*" }], behavior: "deny", destination: "session" }])) });
    assert.equal(asked.length, 1);
    assert.ok(c.has("a"));
    assert.equal(s.toolResults[1].is_error, true);
  });
  t("setMode comes with an answer", [say(call("Write", { file_path: "a", content: "1" })), say(call("Write", { file_path: "b", content: "1" })), say("ok")], async (c) => {
    const asked = [];
    const s = await c.all("go", { canUseTool: canUse(asked, (n, i, o) => allow(i, [{ type: "setMode", mode: "acceptEdits", destination: "session" }])) });
    assert.equal(asked.length, 1);
    assert.ok(c.has("b"));
    assert.ok(s.type("system", "status").some((m) => m.permissionMode === "acceptEdits"));
  });
  t("Write suggests acceptEdits", [say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i)) });
    assert.ok(asked[0].suggestions.some((u) => u.type === "setMode" && u.mode === "acceptEdits" && u.destination === "session"), JSON.stringify(asked[0].suggestions));
  });
  t("a directory comes with an answer", [say(call("Write", { file_path: "${CWD}/../home/out/a", content: "1" })), say(call("Read", { file_path: "${CWD}/../home/out/a" })), say("ok")], async (c) => {
    const out = path.join(c.home, "out");
    fs.mkdirSync(out);
    const asked = [];
    const s = await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i, [{ type: "addDirectories", directories: [out], destination: "session" }])) });
    assert.equal(asked.length, 1);
    assert.ok(asked[0].blockedPath);
    assert.ok(!s.toolResults[1].is_error);
  });
  t("reads inside are not asked, outside are", [say(call("Read", { file_path: "a" })), say(call("Read", { file_path: "/etc/hostname" })), say("ok")], async (c) => {
    c.file("a", "x");
    const asked = [];
    await c.all("go", { canUseTool: canUse(asked, () => ({ behavior: "deny", message: "no" })) });
    assert.deepEqual(asked.map((a) => a.input.file_path), ["/etc/hostname"]);
  });
  t("additionalDirectories may be read", [say(call("Read", { file_path: "${CWD}/../home/more/a" })), say("ok")], async (c) => {
    fs.mkdirSync(path.join(c.home, "more"));
    c.file(path.join(c.home, "more", "a"), "inside");
    const s = await c.all("go", { additionalDirectories: [path.join(c.home, "more")] });
    assert.match(JSON.stringify(s.toolResults), /inside/);
  });
  t("allowedTools", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { allowedTools: ["Bash(touch:*)"], canUseTool: async () => assert.fail("asked") });
    assert.ok(c.has("x"));
  });
  t("a prefix rule does not cover a second command", [say(bash("touch a && mkdir b")), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { allowedTools: ["Bash(touch:*)"], canUseTool: canUse(asked, () => ({ behavior: "deny", message: "no" })) });
    assert.equal(asked.length, 1);
  });
  t("disallowedTools removes the tool", [say("ok")], async (c) => {
    const s = await c.all("go", { disallowedTools: ["Bash"] });
    assert.ok(!s.init.tools.includes("Bash"));
    assert.ok(!(await c.last()).tools.some((x) => x.name === "Bash"));
  });
  t("a deny rule with content holds against canUseTool", [say(bash("rm x")), say("ok")], async (c) => {
    c.file("x", "");
    const s = await c.all("go", { disallowedTools: ["Bash(rm:*)"], canUseTool: async () => assert.fail("asked") });
    assert.ok(c.has("x") && s.toolResults[0].is_error);
    assert.equal(s.type("system", "permission_denied")[0].tool_name, "Bash");
  });
  t("deny wins over bypass", [say(bash("touch x")), say("ok")], async (c) => {
    await c.all("go", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, disallowedTools: ["Bash(touch:*)"] });
    assert.ok(!c.has("x"));
  });
  t("bypassPermissions", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    assert.ok(c.has("x"));
    assert.equal(s.init.permissionMode, "bypassPermissions");
  });
  t("acceptEdits", [say(call("Write", { file_path: "a", content: "1" })), say(bash("curl http://example.invalid")), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { permissionMode: "acceptEdits", canUseTool: canUse(asked, () => ({ behavior: "deny", message: "no" })) });
    assert.ok(c.has("a"));
    assert.deepEqual(asked.map((a) => a.name), ["Bash"]);
  });
  t("dontAsk denies what is not allowed", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { permissionMode: "dontAsk", canUseTool: async () => assert.fail("asked") });
    assert.ok(!c.has("x"));
    assert.equal(s.result.permission_denials.length, 1);
    assert.equal(s.type("system", "permission_denied").length, 1);
  });
  t("nobody to ask denies and goes on", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go");
    assert.equal(s.result.result, "ok");
    assert.equal(s.result.permission_denials.length, 1);
    const [d] = s.type("system", "permission_denied");
    assert.ok(d.message && d.tool_use_id && d.tool_name === "Bash");
  });
  t("permissionPrompts none", [say(bash("touch x")), say("ok")], async (c) => {
    const s = await c.all("go", { permissionPrompts: "none" });
    assert.equal(s.result.permission_denials.length, 1);
    assert.ok(!s.init.tools.includes("AskUserQuestion"));
  });
  t("plan refuses writes", [say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const s = await c.all("go", { permissionMode: "plan", canUseTool: async (n, i) => allow(i) });
    assert.equal(s.init.permissionMode, "plan");
    assert.ok(!c.has("a"));
  });
  t("tools: a list, none, the preset", [say("ok")], async (c) => {
    const s = await c.all("go", { tools: ["Read", "Glob"] });
    assert.deepEqual((await c.last()).tools.map((x) => x.name).sort(), ["Glob", "Read"]);
    assert.deepEqual(s.init.tools.filter((x) => !x.startsWith("mcp__")).sort(), ["Glob", "Read"]);
  });
  t("tools: none", [say("ok")], async (c) => {
    await c.all("go", { tools: [] });
    assert.equal(((await c.last()).tools ?? []).length, 0);
  });
  t("tools: preset", [say("ok")], async (c) => {
    const s = await c.all("go", { tools: { type: "preset", preset: "claude_code" } });
    assert.ok(s.init.tools.includes("Bash"));
  });
  t("two questions of one answer", [say(bash("touch a"), bash("touch b")), say("ok")], async (c) => {
    const asked = [];
    const s = await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i)) });
    assert.equal(asked.length, 2);
    assert.ok(c.has("a") && c.has("b"));
    assert.deepEqual(s.toolResults.map((r) => r.tool_use_id), s.blocks("tool_use").map((b) => b.id));
  });
  t("change of mode while running", [say("one"), say(bash("touch x")), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    const s = await c.all(input, { allowDangerouslySkipPermissions: true }, async (m, q) => {
      if (m.type !== "result") return;
      if (n++ === 0) { await q.setPermissionMode("bypassPermissions"); input.push(user("b")); } else input.end();
    });
    assert.ok(c.has("x"));
    assert.ok(s.type("system", "status").some((m) => m.permissionMode === "bypassPermissions"));
    assert.equal(s.type("system", "init").at(-1).permissionMode, "bypassPermissions");
  });
  t("bypass is refused without the launch flag", [say("one")], async (c) => {
    const input = feed(user("a"));
    let err;
    await c.all(input, {}, async (m, q) => { if (m.type === "result") { await q.setPermissionMode("bypassPermissions").catch((e) => { err = e; }); input.end(); } });
    assert.ok(err);
  });
  t("a wrong mode is refused", [say("one")], async (c) => {
    const input = feed(user("a"));
    let err;
    await c.all(input, {}, async (m, q) => { if (m.type === "result") { await q.setPermissionMode("nonsense").catch((e) => { err = e; }); input.end(); } });
    assert.ok(err);
  });
  t("questions to the person", [say(call("AskUserQuestion", { questions: [{ question: "Which colour?", header: "Colour", multiSelect: false, options: [{ label: "Red", description: "r" }, { label: "Blue", description: "b" }] }] })), say("ok")], async (c) => {
    const s = await c.all("go", { canUseTool: async (name, input) => {
      assert.equal(name, "AskUserQuestion");
      return allow({ questions: input.questions, answers: { "Which colour?": "Blue" } });
    } });
    assert.match(JSON.stringify(s.toolResults), /Blue/);
    assert.ok(s.init.tools.includes("AskUserQuestion"));
  });
  t("plan, approved, goes back to the mode before", [say(call("ExitPlanMode", { plan: "1. Do it" })), say(call("Write", { file_path: "a", content: "1" })), say("ok")], async (c) => {
    const asked = [];
    const s = await c.all("go", { permissionMode: "plan", canUseTool: canUse(asked, (n, i) => allow(i)) });
    assert.equal(asked[0].name, "ExitPlanMode");
    assert.ok(c.has("a"));
    assert.ok(s.type("system", "status").some((m) => m.permissionMode && m.permissionMode !== "plan"));
  });
  t("rules are replaced and taken back", [say(bash("touch a")), say(bash("touch b")), say(bash("touch c")), say("ok")], async (c) => {
    const rule = (ruleContent) => ({ rules: [{ toolName: "Bash", ruleContent }], behavior: "allow", destination: "session" });
    const asked = [];
    await c.all("go", { canUseTool: canUse(asked, (n, i) => allow(i, asked.length === 1
      ? [{ type: "addRules", ...rule("touch a") }, { type: "replaceRules", ...rule("touch b") }]
      : [{ type: "removeRules", ...rule("touch b") }])) });
    assert.deepEqual(asked.map((a) => a.input.command), ["touch a", "touch c"]);
  });
  t("a directory is taken back", [say(bash("touch a")), say(call("Read", { file_path: "${CWD}/../home/more/x" })), say("ok")], async (c) => {
    const more = path.join(c.home, "more");
    c.file(path.join(more, "x"), "x");
    const asked = [];
    await c.all("go", { additionalDirectories: [more], canUseTool: canUse(asked, (n, i) => allow(i, [{ type: "removeDirectories", directories: [more], destination: "session" }])) });
    assert.deepEqual(asked.map((a) => a.name), ["Bash", "Read"]);
  });
};
