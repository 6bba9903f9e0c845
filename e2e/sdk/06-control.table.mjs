// Control requests, while a turn runs, between turns, and before the first one.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  // idle runs f between the first result and the end of the session.
  const idle = async (c, options, f) => {
    const input = feed(user("first"));
    return c.all(input, options, async (m, q) => { if (m.type === "result") { await f(q, m); input.end(); } });
  };
  const ask = (q, request) => q.request?.(request) ?? Promise.reject(new Error("no raw requests"));

  t("getContextUsage", [say("one")], async (c) => {
    await idle(c, {}, async (q) => {
      const u = await q.getContextUsage();
      assert.ok(u.totalTokens > 0 && u.maxTokens > 0 && u.rawMaxTokens > 0 && u.percentage >= 0);
      assert.ok(u.categories.every((k) => k.name && typeof k.tokens === "number" && k.kind && typeof k.color === "string"));
      for (const k of ["gridRows", "memoryFiles", "mcpTools", "agents"]) assert.ok(Array.isArray(u[k]), k);
      assert.ok(u.model && "isAutoCompactEnabled" in u && "apiUsage" in u);
    });
  });
  t("mcpServerStatus without servers", [say("one")], async (c) => {
    await idle(c, {}, async (q) => assert.deepEqual(await q.mcpServerStatus(), []));
  });
  t("setMaxThinkingTokens", [say("one"), say("two"), say("three")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, { model: "claude-haiku-4-5" }, async (m, q) => {
      if (m.type !== "result") return;
      if (++n === 1) { await q.setMaxThinkingTokens(5000); input.push(user("b")); } else if (n === 2) { await q.setMaxThinkingTokens(0); input.push(user("c")); } else input.end();
    });
    const all = await c.requests();
    assert.equal(all[1].thinking.budget_tokens, 5000);
    assert.notEqual(all[2].thinking?.type, "enabled");
  });
  t("applyFlagSettings", [say("one"), say(call("Bash", { command: "touch x" })), say("two")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, {}, async (m, q) => {
      if (m.type !== "result") return;
      if (++n === 1) { await q.applyFlagSettings({ permissions: { allow: ["Bash(touch:*)"] }, model: "haiku" }); input.push(user("b")); } else input.end();
    });
    assert.ok(c.has("x"));
    assert.match((await c.last()).model, /haiku/);
  });
  t("readFile", [say("one")], async (c) => {
    c.file("a.txt", "hello");
    await idle(c, {}, async (q) => {
      const f = await q.readFile("a.txt");
      assert.equal(f.contents, "hello");
      assert.equal(f.absPath, path.join(c.dir, "a.txt"));
      assert.equal((await q.readFile("a.txt", { maxBytes: 2 })).truncated, true);
      assert.equal(await q.readFile("none.txt"), null);
      assert.equal(await q.readFile("/etc/shadow"), null);
    });
  });
  t("seedReadState lets an edit pass", [say("one"), say(call("Edit", { file_path: "a.txt", old_string: "hello", new_string: "bye" })), say("two")], async (c) => {
    const p = c.file("a.txt", "hello");
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, { permissionMode: "acceptEdits" }, async (m, q) => {
      if (m.type !== "result") return;
      if (++n === 1) { await q.seedReadState(p, Math.floor(fs.statSync(p).mtimeMs)); input.push(user("b")); } else input.end();
    });
    assert.equal(c.read("a.txt"), "bye");
  });
  t("rewindFiles", [say(call("Write", { file_path: "a.txt", content: "new" })), say("one")], async (c) => {
    c.file("keep", "");
    const uuid = "0a1b2c3d-1111-4222-8333-444455557701";
    const input = feed(user("go", { uuid }));
    await c.all(input, { permissionMode: "acceptEdits", enableFileCheckpointing: true }, async (m, q) => {
      if (m.type !== "result") return;
      assert.ok(c.has("a.txt"));
      const dry = await q.rewindFiles(uuid, { dryRun: true });
      assert.equal(dry.canRewind, true);
      assert.equal(dry.filesChanged.length, 1);
      assert.ok(c.has("a.txt"));
      await q.rewindFiles(uuid);
      assert.ok(!c.has("a.txt"));
      input.end();
    });
  });
  t("stopTask of an unknown id", [say("one")], async (c) => { await idle(c, {}, async (q) => { await q.stopTask("nothing"); }); });
  t("reloadPlugins, reloadSkills", [say("one")], async (c) => {
    await idle(c, {}, async (q) => {
      const r = await q.reloadPlugins();
      assert.ok(Array.isArray(r.commands) && Array.isArray(r.agents) && Array.isArray(r.plugins) && r.error_count === 0);
      assert.ok(Array.isArray((await q.reloadSkills()).skills));
    });
  });
  t("usage", [say("one")], async (c) => {
    await idle(c, {}, async (q) => {
      const name = Object.getOwnPropertyNames(Object.getPrototypeOf(q)).find((n) => n.startsWith("usage_"));
      if (!name) return;
      const u = await q[name]();
      assert.ok(u.session.total_cost_usd > 0);
    });
  });
  t("a string prompt can be steered as well", [say(call("Bash", { command: "sleep 1" })), say("one")], async (c) => {
    let usage;
    await c.all("go", { allowedTools: ["Bash"] }, async (m, q) => { if (m.type === "assistant" && !usage) usage = await q.getContextUsage(); });
    assert.ok(usage.totalTokens > 0);
  });
  t("control during a turn is answered", [say(call("Bash", { command: "touch on; sleep 1" })), say("one")], async (c) => {
    const input = feed(user("go"));
    const q = c.query(input, { allowedTools: ["Bash"] });
    const done = c.until("the tool", () => c.has("on")).then(() => q.getContextUsage());
    for await (const m of q) if (m.type === "result") input.end();
    assert.ok((await done).maxTokens > 0);
  });
  t("initializationResult", [], async (c) => {
    const input = feed();
    const q = c.query(input, {});
    const r = await q.initializationResult();
    for (const k of ["commands", "agents", "models", "available_output_styles"]) assert.ok(Array.isArray(r[k]), k);
    assert.equal(r.output_style, "default");
    for (const name of ["default", "Concise", "Explanatory"]) assert.ok(r.available_output_styles.includes(name), name);
    assert.ok(r.account);
    input.end();
    for await (const m of q) void m;
  });
  t("queued messages: one more turn, nothing lost", [say(call("Bash", { command: "sleep 0.5" })), { ...say("x"), times: -1 }], async (c) => {
    const input = feed(user("first"));
    let seen = 0;
    const s = await c.all(input, { allowedTools: ["Bash"] }, (m) => {
      if (m.type === "assistant" && seen++ === 0) { input.push(user("second")); input.push(user("third")); }
      if (m.type === "result" && m.queued_turn_count === 0) input.end();
    });
    const body = JSON.stringify(await c.last());
    assert.ok(body.includes("second") && body.includes("third"));
    assert.ok(s.results.length >= 1 && s.results.length <= 3);
  });
  t("startup, then a query", [say("warm")], async (c) => {
    const warm = await c.sdk.startup({ options: c.options() });
    const s = [];
    for await (const m of warm.query("hi")) s.push(m);
    assert.equal(s.at(-1).result, "warm");
  });
};
