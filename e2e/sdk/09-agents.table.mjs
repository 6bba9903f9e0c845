import { execFileSync } from "node:child_process";

// Sub-agents as hosts see them, and the rest that needs several parts.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const agent = (prompt, more) => call("Agent", { description: "look", prompt, subagent_type: "general-purpose", run_in_background: false, ...more });

  t("init names the tool as old hosts know it", [say("ok")], async (c) => {
    const s = await c.all("go");
    assert.ok(s.init.tools.includes("Task"), s.init.tools.join());
    assert.ok((await c.last()).tools.some((x) => x.name === "Agent"));
  });
  t("its words only where they are asked for", [say(agent("look")), say("inner words"), say("ok")], async (c) => {
    const s = await c.all("go", free);
    assert.ok(!s.type("assistant").some((m) => m.parent_tool_use_id && m.message.content[0].type === "text"));
  });
  t("forwardSubagentText", [say(agent("look")), say("inner words"), say("ok")], async (c) => {
    const s = await c.all("go", { ...free, forwardSubagentText: true });
    assert.ok(s.type("assistant").some((m) => m.parent_tool_use_id && m.message.content[0].text === "inner words"));
  });
  t("a question from inside names the agent", [say(agent("look")), say(call("Bash", { command: "touch x" })), say("inner"), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { canUseTool: async (n, i, o) => { asked.push([n, o.agentID]); return { behavior: "allow", updatedInput: i }; } });
    assert.ok(asked.some(([n, id]) => n === "Bash" && id), JSON.stringify(asked));
    assert.ok(c.has("x"));
  });
  t("SubagentStart and SubagentStop", [say(agent("look")), say("inner"), say("ok")], async (c) => {
    const seen = [];
    const f = async (i) => { seen.push(i); return {}; };
    await c.all("go", { ...free, hooks: { SubagentStart: [{ hooks: [f] }], SubagentStop: [{ hooks: [f] }] } });
    assert.deepEqual(seen.map((i) => [i.hook_event_name, i.agent_type]), [["SubagentStart", "general-purpose"], ["SubagentStop", "general-purpose"]]);
    assert.ok(seen[0].agent_id && seen[1].agent_transcript_path);
  });
  t("listSubagents and getSubagentMessages", [say(agent("look around")), say("inner"), say("ok")], async (c) => {
    const s = await c.all("go", free);
    const list = await c.sdk.listSubagents(s.result.session_id, { dir: c.dir });
    assert.equal(list.length, 1);
    const messages = await c.sdk.getSubagentMessages(s.result.session_id, list[0].agentId ?? list[0], { dir: c.dir });
    assert.match(JSON.stringify(messages), /look around/);
  });
  t("an unknown type", [say(agent("look", { subagent_type: "nobody" })), say("ok")], async (c) => {
    const s = await c.all("go", free);
    assert.equal(s.toolResults[0].is_error, true);
  });
  t("in the background", [say(agent("look", { run_in_background: true })), { when: { user: "look", no_tools: false }, ...say("inner") }, say("Started."), say("Done.")], async (c) => {
    const input = feed(user("go"));
    const s = await c.all(input, free, (m) => { if (m.type === "result" && m.origin?.kind === "task-notification") input.end(); });
    assert.ok(s.type("system", "task_started").length >= 1);
    assert.ok(s.type("system", "task_notification").length >= 1);
  }, { illegal: true });
  t("SendMessage continues one that has ended, in the background", [
    say(agent("look", { name: "helper" })), { when: { user: "look" }, ...say("first words") },
    { when: { tool_result: "first words" }, ...say(call("SendMessage", { to: "helper", message: "and more of it", summary: "more" })) },
    { when: { user: "and more of it" }, ...say("second words") },
    { when: { tool_result: "goes on with your message" }, ...say("Sent.") }, { when: { user: "task-notification" }, ...say("Done.") },
  ], async (c) => {
    const input = feed(user("go"));
    const s = await c.all(input, free, (m) => { if (m.type === "result" && m.origin?.kind === "task-notification") input.end(); });
    assert.ok(s.init.tools.includes("SendMessage"));
    const [started] = s.type("system", "task_started"), [ended] = s.type("system", "task_notification");
    assert.equal(started.task_type, "local_agent");
    assert.equal(ended.task_id, started.task_id);
    const of = (await c.requests()).filter((r) => JSON.stringify(r.messages).includes("and more of it") && !r.tools.some((x) => x.name === "SendMessage"));
    assert.ok(JSON.stringify(of.at(-1).messages).includes("first words"), "it knows what it said");
    assert.ok(JSON.stringify(await c.last()).includes("second words"));
    const list = await c.sdk.listSubagents(s.result.session_id, { dir: c.dir });
    assert.equal(list.length, 1);
  });
  t("isolation: worktree keeps its changes apart and names them", [
    say(call("Agent", { description: "change", prompt: "change it", subagent_type: "apart", run_in_background: false })),
    { when: { user: "change it" }, ...say(call("Bash", { command: "echo two > a.txt" })) }, say("changed"), say("ok"),
  ], async (c) => {
    c.file("a.txt", "one\n");
    for (const args of ["init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -q -m first"]) execFileSync("git", ["-C", c.dir, ...args.split(" ")]);
    const s = await c.all("go", { ...free, agents: { apart: { description: "works apart", prompt: "You work apart.", isolation: "worktree" } } });
    const out = s.type("user").map((m) => m.tool_use_result).find((o) => o?.worktreePath);
    assert.equal(c.read("a.txt"), "one\n");
    assert.equal(fs.readFileSync(path.join(out.worktreePath, "a.txt"), "utf8"), "two\n");
    assert.match(out.worktreeBranch, /^worktree-agent-/);
  });
  t("agentProgressSummaries", [
    { when: { no_tools: true }, ...say("Waiting for a file") },
    say(agent("look")), say(call("Bash", { command: "while [ ! -e go ]; do sleep 0.02; done" })), say("inner"), say("ok"),
  ], async (c) => {
    const s = await c.all("go", { ...free, agentProgressSummaries: true, env: { LATHE_AGENT_SUMMARY_MS: "20" } }, (m) => {
      if (m.subtype === "task_progress" && m.summary) c.file("go", "");
    });
    const [m] = s.type("system", "task_progress").filter((x) => x.summary);
    assert.equal(m.summary, "Waiting for a file");
    assert.ok(m.task_id && m.usage);
  }, { illegal: true });
  t("initialPrompt of the main agent stands before the first message", [say("one"), say("two")], async (c) => {
    const input = feed(user("and this"));
    let n = 0;
    await c.all(input, { agent: "begins", agents: { begins: { description: "begins", prompt: "You begin.", initialPrompt: "First this." } } }, (m) => {
      if (m.type === "result") ++n === 1 ? input.push(user("more")) : input.end();
    });
    const all = await c.requests();
    assert.match(JSON.stringify(all[0].messages), /First this\..*and this/);
    assert.equal(JSON.stringify(all[1].messages).split("First this.").length, 2);
  });
  t("setMcpPermissionModeOverride asks where the mode would not", [say(call("mcp__calc__add", { a: 1 })), say("ok"), say(call("mcp__calc__add", { a: 1 })), say("ok")], async (c) => {
    let asked = 0, n = 0;
    const calc = c.sdk.createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [c.sdk.tool("add", "Adds", { a: c.z.number() }, async () => ({ content: [{ type: "text", text: "1" }] }))] });
    const input = feed();
    const q = c.query(input, { ...free, mcpServers: { calc }, canUseTool: async (t, i) => { asked++; return { behavior: "allow", updatedInput: i }; } });
    assert.ok((await q.setMcpPermissionModeOverride("nobody", "default")).warning);
    assert.equal((await q.setMcpPermissionModeOverride("calc", "default"))?.warning, undefined);
    await assert.rejects(q.setMcpPermissionModeOverride("calc", "plan"));
    input.push(user("go"));
    for await (const m of q) {
      if (m.type !== "result") continue;
      if (++n === 2) { input.end(); continue; }
      assert.equal(asked, 1);
      await q.setMcpPermissionModeOverride("calc", null);
      input.push(user("again"));
    }
    assert.equal(asked, 1);
  });
  t("compact with nothing to compact", [], async (c) => {
    const s = await c.all("/compact", { mayThrow: true });
    assert.equal(s.results.length, 1);
  });
  t("rewindFiles without checkpoints is an error", [say("one")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-444455557799";
    const input = feed(user("go", { uuid }));
    await c.all(input, {}, async (m, q) => { if (m.type === "result") { await assert.rejects(q.rewindFiles(uuid)); input.end(); } });
  });
  t("a model set while a turn runs counts from the next request", [say(call("Bash", { command: "touch on; while [ ! -e go ]; do sleep 0.02; done" })), say("two")], async (c) => {
    const input = feed(user("go"));
    const q = c.query(input, free);
    c.until("the tool", () => c.has("on")).then(() => q.setModel("haiku")).then(() => c.file("go", ""));
    for await (const m of q) if (m.type === "result") input.end();
    assert.match((await c.last()).model, /haiku/);
  });
  t("questions about calls side by side are open at once", [say(call("Read", { file_path: "${CWD}/../home/a" }), call("Read", { file_path: "${CWD}/../home/b" })), say("ok")], async (c) => {
    for (const n of ["a", "b"]) c.file(path.join(c.home, n), n);
    let open = 0, both;
    const seen = new Promise((r) => { both = r; });
    await c.all("go", { canUseTool: async (n, i) => { if (++open === 2) both(); await seen; return { behavior: "allow", updatedInput: i }; } });
    assert.equal(open, 2);
  });
  t("MCP calls tell their server", [say(call("mcp__calc__add", { a: 1 })), say("ok")], async (c) => {
    const seen = [];
    const calc = c.sdk.createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [c.sdk.tool("add", "Adds", { a: c.z.number() }, async () => ({ content: [{ type: "text", text: "1" }] }))] });
    await c.all("go", { ...free, mcpServers: { calc }, hooks: { PreToolUse: [{ hooks: [async (i) => { seen.push(i.mcp_server); return {}; }] }] } });
    assert.deepEqual(seen, [{ name: "calc", source: "sdk" }]);
  });
};
