// Every built-in tool: what the model is told, and the structured result that hosts read.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const results = (s) => s.type("user").filter((m) => m.tool_use_result !== undefined).map((m) => m.tool_use_result);
  const one = (name, input, check, before, options) => [[say(call(name, input)), say("ok")], async (c) => {
    before?.(c);
    const s = await c.all("go", { ...free, ...options });
    await check(results(s)[0], s, c);
  }];
  const tool = (title, ...rest) => t(title, ...one(...rest));

  tool("Bash", "Bash", { command: "echo out; echo err >&2" }, (r) => {
    assert.match(r.stdout, /out/);
    assert.match(r.stdout + r.stderr, /err/);
    assert.equal(r.interrupted, false);
  });
  tool("Bash that fails", "Bash", { command: "echo no; exit 3" }, (r, s) => {
    assert.equal(s.toolResults[0].is_error, true);
    assert.match(JSON.stringify(s.toolResults[0]), /3/);
  });
  tool("Bash with a time limit", "Bash", { command: "sleep 30", timeout: 200 }, (r, s) => assert.equal(s.toolResults[0].is_error, true));
  tool("Read", "Read", { file_path: "a.txt" }, (r, s, c) => {
    assert.equal(r.type, "text");
    assert.equal(r.file.filePath, path.join(c.dir, "a.txt"));
    assert.deepEqual([r.file.content.trim(), r.file.startLine], ["one\ntwo\nthree", 1]);
    assert.ok(r.file.numLines >= 3 && r.file.totalLines >= 3);
  }, (c) => c.file("a.txt", "one\ntwo\nthree\n"));
  tool("Read a part", "Read", { file_path: "a.txt", offset: 2, limit: 1 }, (r) => {
    assert.equal(r.file.startLine, 2);
    assert.equal(r.file.numLines, 1);
    assert.match(r.file.content, /two/);
  }, (c) => c.file("a.txt", "one\ntwo\nthree\n"));
  tool("Read an image", "Read", { file_path: "a.png" }, (r, s, c) => {
    assert.equal(r.type, "image");
    assert.ok(r.file.base64 && r.file.type === "image/png");
  }, (c) => fs.writeFileSync(path.join(c.dir, "a.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")));
  tool("Read a notebook", "Read", { file_path: "a.ipynb" }, (r) => {
    assert.equal(r.type, "notebook");
    assert.equal(r.file.cells.length, 1);
  }, (c) => c.file("a.ipynb", JSON.stringify({ cells: [{ cell_type: "code", id: "x", source: ["print(1)"], outputs: [], metadata: {}, execution_count: 1 }], metadata: {}, nbformat: 4, nbformat_minor: 5 })));
  tool("Read what is not there", "Read", { file_path: "none" }, (r, s) => assert.equal(s.toolResults[0].is_error, true));
  tool("Write a new file", "Write", { file_path: "a.txt", content: "one\n" }, (r, s, c) => {
    assert.equal(r.type, "create");
    assert.equal(r.filePath, path.join(c.dir, "a.txt"));
    assert.equal(r.content, "one\n");
    assert.ok(Array.isArray(r.structuredPatch));
    assert.equal(r.originalFile ?? null, null);
    assert.equal(c.read("a.txt"), "one\n");
  });
  t("Write over a file that was read", [say(call("Read", { file_path: "a.txt" })), say(call("Write", { file_path: "a.txt", content: "two\n" })), say("ok")], async (c) => {
    c.file("a.txt", "one\n");
    const r = results(await c.all("go", free))[1];
    assert.equal(r.type, "update");
    assert.equal(r.originalFile, "one\n");
    assert.ok(r.structuredPatch[0].lines.includes("+two"));
  });
  t("Edit", [say(call("Read", { file_path: "a.txt" })), say(call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })), say("ok")], async (c) => {
    c.file("a.txt", "one\n");
    const r = results(await c.all("go", free))[1];
    assert.equal(r.filePath, path.join(c.dir, "a.txt"));
    assert.deepEqual([r.oldString, r.newString, r.originalFile, r.replaceAll], ["one", "two", "one\n", false]);
    assert.ok(r.structuredPatch[0].oldStart === 1);
    assert.equal(c.read("a.txt"), "two\n");
  });
  t("Edit without a read is refused", [say(call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })), say("ok")], async (c) => {
    c.file("a.txt", "one\n");
    const s = await c.all("go", free);
    assert.equal(s.toolResults[0].is_error, true);
    assert.equal(c.read("a.txt"), "one\n");
  });
  tool("Glob", "Glob", { pattern: "**/*.txt" }, (r) => {
    assert.equal(r.numFiles, 2);
    assert.equal(r.filenames.length, 2);
    assert.equal(r.truncated, false);
    assert.ok(r.durationMs >= 0);
  }, (c) => { c.file("a.txt", ""); c.file("d/b.txt", ""); c.file("c.md", ""); });
  tool("Grep files", "Grep", { pattern: "needle" }, (r) => {
    assert.equal(r.mode, "files_with_matches");
    assert.equal(r.numFiles, 1);
    assert.equal(r.filenames.length, 1);
  }, (c) => { c.file("a.txt", "a needle"); c.file("b.txt", "hay"); });
  tool("Grep lines", "Grep", { pattern: "needle", output_mode: "content", "-n": true }, (r) => {
    assert.equal(r.mode, "content");
    assert.match(r.content, /needle/);
  }, (c) => c.file("a.txt", "a needle"));
  tool("Grep counts", "Grep", { pattern: "n", output_mode: "count" }, (r) => assert.equal(r.mode, "count"), (c) => c.file("a.txt", "n\nn\n"));
  tool("TodoWrite", "TodoWrite", { todos: [{ content: "do it", status: "pending", activeForm: "Doing it" }] }, (r) => {
    assert.equal(r.newTodos.length, 1);
    assert.ok(Array.isArray(r.oldTodos));
  }, undefined, { allowedTools: ["TodoWrite"] });
  t("NotebookEdit", [say(call("Read", { file_path: "a.ipynb" })), say(call("NotebookEdit", { notebook_path: "a.ipynb", cell_id: "x", new_source: "print(2)" })), say("ok")], async (c) => {
    c.file("a.ipynb", JSON.stringify({ cells: [{ cell_type: "code", id: "x", source: ["print(1)"], outputs: [], metadata: {}, execution_count: 1 }], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const s = await c.all("go", free);
    assert.ok(!s.toolResults[1].is_error, JSON.stringify(s.toolResults));
    assert.match(c.read("a.ipynb"), /print\(2\)/);
  });
  t("a tool that is not there", [say(call("Teleport", { to: "home" })), say("ok")], async (c) => {
    const s = await c.all("go", free);
    assert.equal(s.toolResults[0].is_error, true);
    assert.equal(s.result.result, "ok");
  });
  t("an input that does not fit", [say(call("Read", { path: 7 })), say("ok")], async (c) => {
    const s = await c.all("go", free);
    assert.equal(s.toolResults[0].is_error, true);
  });
  t("calls of one answer run and are answered in order", [say(call("Read", { file_path: "a" }), call("Glob", { pattern: "*" }), call("Read", { file_path: "b" })), say("ok")], async (c) => {
    c.file("a", "A");
    c.file("b", "B");
    const s = await c.all("go");
    assert.deepEqual(s.toolResults.map((r) => r.tool_use_id), s.blocks("tool_use").map((b) => b.id));
    assert.equal((await c.requests()).length, 2);
  });
  t("a background command: its start, its end, a turn of its own", [say(call("Bash", { command: "sleep 0.4; echo done", run_in_background: true })), say("It runs."), say("It is done.")], async (c) => {
    const input = feed(user("go"));
    const s = await c.all(input, free, (m) => { if (m.type === "result" && m.result === "It is done.") input.end(); });
    const r = results(s)[0];
    assert.ok(r.backgroundTaskId);
    assert.equal(s.type("system", "task_started")[0].task_id, r.backgroundTaskId);
    const n = s.type("system", "task_notification")[0];
    assert.equal(n.status, "completed");
    assert.ok(n.output_file && n.summary);
    assert.ok(s.type("system", "background_tasks_changed").length >= 2);
    assert.equal(s.results.at(-1).origin?.kind, "task-notification");
  });
  t("a command that goes on tells so", [say(call("Bash", { command: "for i in 1 2 3; do echo $i; sleep 0.6; done" })), say("ok")], async (c) => {
    const s = await c.all("go", free);
    const id = s.blocks("tool_use")[0].id;
    const told = s.type("tool_progress");
    assert.ok(told.length >= 1 && told.every((p, i) => i === 0 || p.elapsed_time_seconds > told[i - 1].elapsed_time_seconds), JSON.stringify(told));
    for (const p of told) {
      assert.ok(p.tool_use_id === id && p.tool_name === "Bash" && p.parent_tool_use_id === null && p.elapsed_time_seconds >= 1 && p.uuid && p.session_id);
    }
    assert.ok(s.indexOf(told[0]) < s.indexOf(s.type("user")[0]));
  });
  t("stopTask ends a background command", [say(call("Bash", { command: "sleep 60", run_in_background: true })), { ...say("It runs."), times: -1 }], async (c) => {
    const input = feed(user("go"));
    let id;
    const s = await c.all(input, free, async (m, q) => {
      if (m.subtype === "task_started") id = m.task_id;
      if (m.type === "result" && m.result === "It runs." && id) { const stop = id; id = undefined; await q.stopTask(stop); }
      if (m.subtype === "task_notification") input.end();
    });
    assert.equal(s.type("system", "task_notification")[0].status, "stopped");
  });
  t("WebFetch is asked by domain", [say(call("WebFetch", { url: "https://example.com/x", prompt: "what" })), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { canUseTool: async (n, i, o) => { asked.push([n, JSON.stringify(o.suggestions)]); return { behavior: "deny", message: "no" }; } });
    assert.equal(asked[0][0], "WebFetch");
    assert.match(asked[0][1], /domain:example.com/);
  });
  t("an agent in the foreground", [say(call("Agent", { description: "look", prompt: "look around", subagent_type: "general-purpose", run_in_background: false })), say(call("Glob", { pattern: "*" })), say("I saw it."), say("ok")], async (c) => {
    const s = await c.all("go", free);
    const id = s.blocks("tool_use")[0].id;
    const inner = s.filter((m) => m.parent_tool_use_id === id);
    assert.ok(inner.some((m) => m.type === "assistant" && m.message.content[0].type === "tool_use"));
    assert.ok(inner.some((m) => m.type === "user"));
    const r = results(s).at(-1);
    assert.equal(r.status, "completed");
    assert.ok(r.agentId && r.totalTokens > 0 && r.totalToolUseCount === 1 && r.prompt === "look around");
    assert.match(JSON.stringify(r.content), /I saw it/);
    assert.equal(s.result.num_turns, 2);
  });
};
