// Edges: odd directories, stores of whole sessions, servers in the process that change, hang or are cut off, hooks as lines.
const script = new URL("server.mjs", import.meta.url).pathname;

export default (t, { assert, call, say, user, text, feed, fs, path }) => {
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const bash = (command) => call("Bash", { command });
  const agent = (prompt, more) => call("Agent", { description: "look", prompt, subagent_type: "general-purpose", run_in_background: false, ...more });
  const outputs = (s) => s.type("user").filter((m) => m.tool_use_result !== undefined).map((m) => m.tool_use_result);
  // calc is a server in this process with one tool.
  const calc = (c, name, f, more) => c.sdk.createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [c.sdk.tool(name, "Does it", {}, f, more)], alwaysLoad: true });
  const textOf = (s) => text(s.toolResults[0].content);

  for (const [what, below] of [["long", "x".repeat(120) + "/" + "y".repeat(120)], ["with other characters", "dir é 日本_x.y"]]) {
    t("a directory whose name is " + what, [say("one"), say("two")], async (c) => {
      const cwd = path.join(c.dir, below);
      fs.mkdirSync(cwd, { recursive: true });
      const a = await c.all("first", { cwd });
      assert.deepEqual((await c.sdk.listSessions({ dir: cwd })).map((s) => s.sessionId), [a.result.session_id]);
      assert.equal((await c.sdk.getSessionMessages(a.result.session_id, { dir: cwd })).length, 2);
      assert.equal((await c.all("second", { cwd, continue: true })).result.session_id, a.result.session_id);
    });
  }
  t("a directory behind a link", [say("one")], async (c) => {
    fs.mkdirSync(path.join(c.home, "real"));
    const cwd = path.join(c.home, "link");
    fs.symlinkSync(path.join(c.home, "real"), cwd);
    const a = await c.all("first", { cwd });
    assert.deepEqual((await c.sdk.listSessions({ dir: cwd })).map((s) => s.sessionId), [a.result.session_id]);
  });
  t("a store has the transcripts of agents", [say(agent("look around")), say("inner"), say("ok"), say("two")], async (c) => {
    const kept = new Map();
    const sessionStore = {
      async append(key, entries) { const k = JSON.stringify(key); kept.set(k, [...(kept.get(k) ?? []), ...entries]); },
      async load(key) { return kept.get(JSON.stringify(key)) ?? null; },
      async listSubkeys({ sessionId }) { return [...kept.keys()].map((k) => JSON.parse(k)).filter((k) => k.sessionId === sessionId && k.subpath).map((k) => k.subpath); },
    };
    const a = await c.all("first", { ...free, sessionStore });
    const [, sub] = [...kept.keys()].map((k) => JSON.parse(k));
    assert.match(sub.subpath, /^subagents\/agent-\w+$/);
    assert.match(JSON.stringify(kept.get(JSON.stringify(sub))), /look around/);
    const b = await c.all("second", { ...free, sessionStore, resume: a.result.session_id });
    assert.equal(b.result.result, "two");
  });
  t("importSessionToStore", [say("one")], async (c) => {
    const a = await c.all("first");
    const kept = [];
    await c.sdk.importSessionToStore(a.result.session_id, { async append(k, e) { kept.push(...e); }, async load() { return null; } }, { dir: c.dir });
    assert.ok(["user", "assistant"].every((k) => kept.some((e) => e.type === k)));
  });

  t("a server in the process gets another tool", [say("one"), say(call("mcp__calc__mul", { a: 2, b: 3 })), say("two")], async (c) => {
    const server = calc(c, "add", async () => ({ content: [] }));
    const input = feed(user("a"));
    let n = 0;
    const s = await c.all(input, { ...free, mcpServers: { calc: server } }, async (m, q) => {
      if (m.type !== "result") return;
      if (n++ > 0) return input.end();
      const numbers = { a: c.z.number(), b: c.z.number() };
      server.instance.registerTool("mul", { description: "Multiplies", inputSchema: numbers }, async ({ a, b }) => ({ content: [{ type: "text", text: "product " + a * b }] }));
      await c.until("the tool", async () => (await q.mcpServerStatus())[0].tools.some((x) => x.name === "mul"));
      input.push(user("b"));
    });
    assert.match(textOf(s), /product 6/);
    assert.ok(s.type("system", "init").at(-1).tools.includes("mcp__calc__mul"));
  });
  t("an interrupt reaches a tool in the process", [say(call("mcp__calc__slow", {})), say("Fine.")], async (c) => {
    const input = feed(user("go"));
    let q, stopped;
    const aborted = new Promise((r) => { stopped = r; });
    q = c.query(input, { ...free, mcpServers: { calc: calc(c, "slow", (a, { signal }) => new Promise((res) => { signal.addEventListener("abort", () => { stopped(); res({ content: [] }); }); q.interrupt(); })) } });
    const s = [];
    for await (const m of q) if (m.type === "result") { s.push(m); if (m.is_error) input.push(user("on")); else input.end(); }
    assert.deepEqual(s.map((m) => [m.terminal_reason, m.result]), [["aborted_tools", undefined], ["completed", "Fine."]]);
    await aborted;
  });
  t("a tool in the process that hangs", [say(call("mcp__calc__hang", {})), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, mcpServers: { calc: calc(c, "hang", () => new Promise(() => {})) }, env: { MCP_TOOL_TIMEOUT: "300" } });
    assert.equal(s.toolResults[0].is_error, true);
    assert.equal(s.result.result, "ok");
  });
  t("resources, links and structure in a result", [say(call("mcp__calc__r", {})), say("ok")], async (c) => {
    const content = [{ type: "resource", resource: { uri: "mem://x", mimeType: "text/plain", text: "the body" } }, { type: "resource_link", uri: "mem://y", name: "y" }];
    const s = await c.all("go", { ...free, mcpServers: { calc: calc(c, "r", async () => ({ content })) } });
    assert.ok(textOf(s).includes("the body") && textOf(s).includes("mem://y"));
    assert.ok(Array.isArray(outputs(s)[0]));
  });
  t("only structure in a result", [say(call("mcp__calc__r", {})), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, mcpServers: { calc: calc(c, "r", async () => ({ content: [], structuredContent: { x: 1 } })) } });
    assert.deepEqual(JSON.parse(textOf(s)), { x: 1 });
  });
  t("a long result goes to a file", [say(call("mcp__calc__r", {})), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, mcpServers: { calc: calc(c, "r", async () => ({ content: [{ type: "text", text: "line\n".repeat(100_000) }] })) } });
    assert.ok(textOf(s).length < 100_000 && /\/.+\.txt/.test(textOf(s)));
  });
  t("an agent with skills and a server of its own", [say(agent("look", { subagent_type: "w" })), say("inner"), say("ok")], async (c) => {
    c.file(".claude/skills/knit/SKILL.md", "---\nname: knit\ndescription: How to knit\n---\nTake two needles.");
    const w = { description: "W", prompt: "You work.", skills: ["knit"], mcpServers: [{ small: { command: process.execPath, args: [script] } }] };
    await c.all("go", { ...free, settingSources: ["project"], agents: { w } });
    const [first, sub] = await c.requests();
    assert.match(JSON.stringify(sub), /Take two needles/);
    const has = (r) => r.tools.some((x) => x.name === "mcp__small__add");
    assert.deepEqual([has(first), has(sub)], [false, true]);
  });
  t("agents of agents", [say(agent("outer")), say(agent("deeper")), say("deep"), say("outer done"), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, forwardSubagentText: true });
    const [outer, deeper] = s.blocks("tool_use").map((b) => b.id);
    const said = (id) => s.filter((m) => m.type === "assistant" && m.parent_tool_use_id === id).flatMap((m) => m.message.content).filter((b) => b.type === "text").map((b) => b.text);
    assert.deepEqual([said(outer), said(deeper)], [["outer done"], ["deep"]]);
  });

  t("hooks of settings as lines", [say(bash("echo x")), say("ok")], async (c) => {
    const command = (command) => [{ hooks: [{ type: "command", command }] }];
    const hooks = { PreToolUse: command("echo seen"), PostToolUse: command("echo oops >&2; exit 2"), Stop: command("exit 1") };
    const s = await c.all("go", { ...free, settings: { hooks }, includeHookEvents: true });
    assert.deepEqual(s.type("system", "hook_started").map((m) => [m.hook_event, m.hook_name]), [["PreToolUse", "PreToolUse:Bash"], ["PostToolUse", "PostToolUse:Bash"], ["Stop", "Stop"]]);
    assert.deepEqual(s.type("system", "hook_response").map((m) => [m.outcome, m.exit_code, m.stdout, m.stderr]), [["success", 0, "seen\n", ""], ["error", 2, "", "oops\n"], ["error", 1, "", ""]]);
  });
  t("text that was pasted stands behind what was typed", [say("ok")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-4444555566aa";
    c.file("notes.txt", "the needle");
    const s = await c.all((async function* () { yield user("look:", { uuid, pasted_content: ["see @notes.txt", [{ type: "text", text: "and more" }]] }); })());
    const said = JSON.stringify((await c.last()).messages);
    assert.ok(said.includes("look:\\nsee @notes.txt\\nand more") && !said.includes("the needle"), said);
    assert.deepEqual(s.type("assistant").map((m) => m.user_message_uuid), [uuid]);
  });
  t("large and strange texts", [say("héllo 👋 \u2028 日本")], async (c) => {
    const s = await c.all("grüße 👋 \u2028" + "x".repeat(900_000));
    assert.equal(s.result.result, "héllo 👋 \u2028 日本");
    assert.match(JSON.stringify((await c.last()).messages), /grüße 👋/);
  });
  t("the effort changes with the flag settings", [say("one"), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, {}, async (m, q) => { if (m.type === "result") { if (n++ > 0) return input.end(); await q.applyFlagSettings({ effortLevel: "low" }); input.push(user("b")); } });
    const [one, two] = (await c.requests()).map((r) => r.output_config?.effort);
    assert.ok(one !== "low" && two === "low", one + two);
  });
  t("plan mode that was set goes back to the mode before", [say("one"), say(call("ExitPlanMode", { plan: "p" })), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    const s = await c.all(input, { permissionMode: "acceptEdits", canUseTool: async (name, i) => ({ behavior: "allow", updatedInput: i }) }, async (m, q) => {
      if (m.type === "result") { if (n++ > 0) return input.end(); await q.setPermissionMode("plan"); input.push(user("b")); }
    });
    assert.deepEqual(s.type("system", "status").map((m) => m.permissionMode), ["plan", "acceptEdits"]);
  });
  t("a token in the place of a key", [say("ok")], async (c) => {
    const s = await c.all("go", { env: { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "tok" } });
    assert.equal(s.result.result, "ok");
  });
};
