// The process as a host sees it: limits, exit codes, signals, the end of input.
import { spawn } from "node:child_process";
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const bash = (command) => call("Bash", { command });
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const raw = (c, args, input) => new Promise((done) => {
    const p = spawn(c.program, ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", ...args], { cwd: c.dir, env: c.env });
    let out = "", err = "";
    p.stdout.on("data", (d) => out += d); p.stderr.on("data", (d) => err += d);
    p.on("close", (code, signal) => done({ code, signal, err, lines: out.trim().split("\n").filter(Boolean).map((l) => JSON.parse(l)), p }));
    input(p);
  });
  const line = (o) => JSON.stringify(o) + "\n";
  const init = line({ type: "control_request", request_id: "i", request: { subtype: "initialize" } });
  t("backgroundTasks moves one command", [say(bash("touch on; until [ -e go ]; do sleep 0.02; done; echo late")), say("It runs."), say("It is done.")], async (c) => {
    const input = feed(user("go"));
    const answers = [];
    const s = await c.all(input, free, async (m, q) => {
      if (m.type === "assistant" && m.message.content[0].type === "tool_use") {
        const id = m.message.content[0].id;
        c.until("the command", () => c.has("on")).then(async () => {
          answers.push(await q.backgroundTasks("toolu_none"), await q.backgroundTasks(id), await q.backgroundTasks(id));
          c.file("go", "");
        });
      }
      if (m.type === "result" && m.result === "It is done.") { answers.push(await q.backgroundTasks()); input.end(); }
    });
    assert.deepEqual(answers, [false, true, false, true]);
    assert.ok(s.type("system", "task_started").length === 1);
    assert.equal(s.type("system", "task_notification")[0].status, "completed");
    assert.equal(s.type("system", "task_notification")[0].tool_use_id, s.blocks("tool_use")[0].id);
    assert.equal(s.results.at(-1).origin?.kind, "task-notification");
  });
  t("a later handshake is followed by what runs in the background", [], async (c) => {
    const r = await raw(c, [], (p) => p.stdin.end(init + init.replace('"i"', '"j"')));
    const at = r.lines.findIndex((l) => l.response?.request_id === "j");
    assert.ok(at > 0 && r.lines[at].response.subtype === "success", JSON.stringify(r.lines.map((l) => l.type)));
    assert.equal(r.lines[at + 1]?.subtype, "background_tasks_changed");
    assert.deepEqual(r.lines[at + 1].tasks, []);
  });
  t("backgroundTasks where there is no background", [say("x")], async (c) => {
    const input = feed(user("go"));
    await c.all(input, { env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" } }, async (m, q) => { if (m.type === "result") { await assert.rejects(q.backgroundTasks()); input.end(); } });
  });
  t("max turns: the tools run, the error, exit 1", [say(bash("touch x")), say("no")], async (c) => {
    const r = await raw(c, ["--max-turns=1", "--permission-mode=bypassPermissions"], (p) => { p.stdin.end(init + line(user("go"))); });
    const res = r.lines.find((l) => l.type === "result");
    assert.equal(res.subtype, "error_max_turns");
    assert.deepEqual(res.errors, ["Reached maximum number of turns (1)"]);
    assert.ok(res.is_error && c.has("x"));
    assert.equal(r.code, 1);
  });
  t("max budget: exit 1", [{ ...say("one"), usage: { input_tokens: 1000000, output_tokens: 100000 } }], async (c) => {
    const r = await raw(c, ["--max-budget-usd=0.01", "--permission-mode=bypassPermissions"], (p) => { p.stdin.end(init + line(user("go"))); });
    const res = r.lines.find((l) => l.type === "result");
    assert.equal(res.subtype, "error_max_budget_usd");
    assert.ok(res.is_error);
    assert.equal(r.code, 1);
  });
  t("unknown id", [], async (c) => {
    const id = "11111111-2222-4333-8444-555555555555";
    const r = await raw(c, ["--resume=" + id], (p) => { p.stdin.on("error", () => {}); p.stdin.end(init + line(user("go"))); });
    assert.deepEqual(r.lines.map((l) => l.type), ["result"]);
    assert.ok(r.lines[0].errors[0].startsWith("No conversation found with session ID: " + id), r.lines[0].errors[0]);
    assert.ok(r.err.includes("No conversation found with session ID: " + id), r.err);
    assert.equal(r.lines[0].subtype, "error_during_execution");
    assert.equal(r.code, 1);
  });
  t("session id with continue", [say("one")], async (c) => {
    const r = await raw(c, ["--continue", "--session-id=11111111-2222-4333-8444-555555555556"], (p) => { p.stdin.on("error", () => {}); p.stdin.end(init + line(user("go"))); });
    assert.equal(r.code, 1);
  });
  t("an unknown flag", [], async (c) => {
    const r = await raw(c, ["--no-such-flag"], (p) => { p.stdin.on("error", () => {}); p.stdin.end(init); });
    assert.equal(r.code, 1); assert.ok(r.err.trim()); assert.deepEqual(r.lines, []);
  });
  t("SIGTERM ends it and its children", [say(bash("touch started; sleep 77.31"))], async (c) => {
    const r = await raw(c, ["--permission-mode=bypassPermissions"], async (p) => { p.stdin.write(init + line(user("go"))); await c.until("the command", () => c.has("started")); p.kill("SIGTERM"); });
    assert.ok(r.code === 143 || r.signal === "SIGTERM", `${r.code} ${r.signal}`);
    const ps = fs.readdirSync("/proc").filter((d) => /^\d+$/.test(d)).map((d) => { try { return fs.readFileSync(`/proc/${d}/cmdline`, "utf8"); } catch { return ""; } });
    assert.ok(!ps.some((x) => x.includes("77.31") && x.startsWith("sleep")));
  });
  t("an error result does not end it; the last result decides", [{ faults: [{ kind: "status", status: 403 }] }, say("fine")], async (c) => {
    const r = await raw(c, ["--max-turns=5"], async (p) => {
      let n = 0;
      p.stdout.on("data", (d) => { for (const l of String(d).split("\n")) if (l.includes('"type":"result"') && n++ === 0) p.stdin.end(line(user("again"))); });
      p.stdin.write(init + line(user("go")));
    });
    const results = r.lines.filter((l) => l.type === "result");
    assert.deepEqual(results.map((x) => x.is_error), [true, false], JSON.stringify(results));
    assert.equal(r.code, 0);
  });
  t("EOF finishes queued turns", [{ ...say("a"), times: -1 }], async (c) => {
    const r = await raw(c, [], (p) => p.stdin.end(init + line(user("1")) + line(user("2")) + line(user("3"))));
    assert.equal(r.code, 0);
    const last = JSON.stringify((await c.last()).messages);
    for (const x of ["1", "2", "3"]) assert.ok(last.includes(`"${x}"`) || last.includes(x));
    assert.equal(r.lines.at(-1).type === "system" ? r.lines.at(-2).type : r.lines.at(-1).type, "result");
  });
  t("no persistence", [say("one")], async (c) => {
    const config = c.ownConfig();
    await raw(c, ["--no-session-persistence"], (p) => p.stdin.end(init + line(user("1"))));
    assert.ok(!fs.existsSync(path.join(config, "projects")), "something was written");
  });
};
