// Resume, fork, continue, the SDK's session functions, mirrors.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  t("resume has the history", [say("one"), say("two")], async (c) => {
    const a = await c.all("first question");
    const b = await c.all("second question", { resume: a.result.session_id });
    assert.equal(b.result.session_id, a.result.session_id);
    const body = JSON.stringify(await c.last());
    assert.ok(body.includes("first question") && body.includes("one") && body.includes("second question"));
    assert.ok(b.result.total_cost_usd > a.result.total_cost_usd);
  });
  t("resume has the tool results", [say(call("Read", { file_path: "a" })), say("one"), say("two")], async (c) => {
    c.file("a", "needle");
    const a = await c.all("read");
    await c.all("and", { resume: a.result.session_id });
    assert.ok(JSON.stringify(await c.last()).includes("needle"));
  });
  t("fork has a new id and leaves the old one alone", [say("one"), say("two"), say("three")], async (c) => {
    const a = await c.all("first");
    const b = await c.all("second", { resume: a.result.session_id, forkSession: true });
    assert.notEqual(b.result.session_id, a.result.session_id);
    await c.all("third", { resume: a.result.session_id });
    assert.ok(!JSON.stringify(await c.last()).includes("second"));
  });
  t("fork with an id of one's own", [say("one"), say("two")], async (c) => {
    const a = await c.all("first");
    const id = "11111111-2222-4333-8444-555555555500";
    const b = await c.all("second", { resume: a.result.session_id, forkSession: true, sessionId: id });
    assert.equal(b.result.session_id, id);
  });
  t("continue takes the newest", [say("one"), say("two"), say("three")], async (c) => {
    await c.all("first");
    const b = await c.all("second");
    const d = await c.all("third", { continue: true });
    assert.equal(d.result.session_id, b.result.session_id);
  });
  t("continue without one begins a new session", [say("one")], async (c) => {
    const a = await c.all("first", { continue: true });
    assert.equal(a.result.result, "one");
  });
  t("sessionId", [say("one")], async (c) => {
    const id = "99999999-2222-4333-8444-555555555501";
    assert.equal((await c.all("first", { sessionId: id })).result.session_id, id);
  });
  t("sessionId with resume is refused", [say("one")], async (c) => {
    const a = await c.all("first");
    await c.all("x", { resume: a.result.session_id, extraArgs: { "session-id": "99999999-2222-4333-8444-555555555502" }, mayThrow: true });
    assert.match(String(c.thrown), /session-id/);
  });
  t("an unknown id", [], async (c) => {
    const s = await c.all("x", { resume: "00000000-0000-4000-8000-000000000000", mayThrow: true });
    assert.equal(s.result.subtype, "error_during_execution");
    assert.match(s.result.errors.join(), /No conversation found with session ID/);
    assert.equal(s.type("system", "init").length, 0);
    assert.match(c.stderr, /No conversation found/);
  });
  t("resumeSessionAt", [say("one"), say("two"), say("three")], async (c) => {
    const a = await c.all("first");
    await c.all("second", { resume: a.result.session_id });
    const at = a.type("assistant").at(-1).uuid;
    await c.all("third", { resume: a.result.session_id, resumeSessionAt: at });
    const body = JSON.stringify(await c.last());
    assert.ok(body.includes("first") && !body.includes("second"));
  });
  t("resumeDropsTurn refuses to drop more", [say("one"), say("two"), say("three")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-444455556601";
    const a = await c.all("first");
    await c.all((async function* () { yield user("second", { uuid }); })(), { resume: a.result.session_id });
    await c.all("third", { resume: a.result.session_id });
    const at = a.type("assistant").at(-1).uuid;
    const s = await c.all("fourth", { resume: a.result.session_id, resumeSessionAt: at, resumeDropsTurn: uuid, mayThrow: true });
    assert.match(s.result.errors[0], /^Resume rejected by --resume-drops-turn:/);
  });
  t("resumeDropsTurn", [say("one"), say("two"), say("three")], async (c) => {
    const uuid = "0a1b2c3d-1111-4222-8333-444455556602";
    const a = await c.all("first");
    await c.all((async function* () { yield user("second", { uuid }); })(), { resume: a.result.session_id });
    const s = await c.all("third", { resume: a.result.session_id, resumeSessionAt: a.type("assistant").at(-1).uuid, resumeDropsTurn: uuid });
    assert.equal(s.result.result, "three");
  });
  t("persistSession false leaves nothing", [say("one")], async (c) => {
    const a = await c.all("first", { persistSession: false });
    assert.equal(await c.sdk.getSessionInfo(a.result.session_id, { dir: c.dir }), undefined);
  });
  t("listSessions and getSessionInfo", [say("one")], async (c) => {
    const a = await c.all("what is the answer");
    const list = await c.sdk.listSessions({ dir: c.dir });
    assert.deepEqual(list.map((s) => s.sessionId), [a.result.session_id]);
    assert.match(list[0].summary + list[0].firstPrompt, /what is the answer/);
    const info = await c.sdk.getSessionInfo(a.result.session_id, { dir: c.dir });
    assert.equal(info.sessionId, a.result.session_id);
    assert.equal(info.cwd, c.dir);
  });
  t("getSessionMessages", [say(call("Glob", { pattern: "*" })), say("one"), say("two")], async (c) => {
    const a = await c.all("first");
    await c.all("second", { resume: a.result.session_id });
    const list = await c.sdk.getSessionMessages(a.result.session_id, { dir: c.dir });
    assert.deepEqual(list.map((m) => m.type), ["user", "assistant", "user", "assistant", "user", "assistant"]);
    const shown = a.type("assistant").map((m) => m.uuid);
    assert.deepEqual(list.filter((m) => m.type === "assistant").map((m) => m.uuid).slice(0, 2), shown);
  });
  t("title from the option", [say("one")], async (c) => {
    const a = await c.all("first", { title: "My session" });
    const info = await c.sdk.getSessionInfo(a.result.session_id, { dir: c.dir });
    assert.equal(info.customTitle, "My session");
  });
  t("renameSession and tagSession, then resume", [say("one"), say("two")], async (c) => {
    const a = await c.all("first");
    await c.sdk.renameSession(a.result.session_id, "renamed", { dir: c.dir });
    await c.sdk.tagSession(a.result.session_id, "tagged", { dir: c.dir });
    const b = await c.all("second", { resume: a.result.session_id });
    assert.equal(b.result.result, "two");
    const info = await c.sdk.getSessionInfo(a.result.session_id, { dir: c.dir });
    assert.equal(info.customTitle, "renamed");
    assert.equal(info.tag, "tagged");
  });
  t("forkSession of the SDK can be resumed", [say("one"), say("two")], async (c) => {
    const a = await c.all("first");
    const f = await c.sdk.forkSession(a.result.session_id, { dir: c.dir, title: "the fork" });
    const b = await c.all("second", { resume: f.sessionId });
    assert.equal(b.result.session_id, f.sessionId);
    assert.ok(JSON.stringify(await c.last()).includes("first"));
  });
  t("deleteSession", [say("one")], async (c) => {
    const a = await c.all("first");
    await c.sdk.deleteSession(a.result.session_id, { dir: c.dir });
    assert.equal((await c.sdk.listSessions({ dir: c.dir })).length, 0);
  });
  t("a store mirrors the transcript", [say("one"), say("two")], async (c) => {
    const kept = new Map();
    const store = {
      async append(key, entries) { const k = JSON.stringify(key); kept.set(k, [...(kept.get(k) ?? []), ...entries]); },
      async load(key) { return kept.get(JSON.stringify(key)) ?? null; },
    };
    const a = await c.all("first", { sessionStore: store });
    assert.equal(kept.size, 1, [...kept.keys()].join());
    const entries = [...kept.values()][0];
    assert.ok(entries.some((e) => e.type === "user") && entries.some((e) => e.type === "assistant"));
    const b = await c.all("second", { sessionStore: store, resume: a.result.session_id });
    assert.equal(b.result.result, "two");
    assert.ok(JSON.stringify(await c.last()).includes("first"));
  });
  t("a killed run can be resumed", [say(call("Bash", { command: "touch started; sleep 60" })), say("two")], async (c) => {
    const abortController = new AbortController();
    let id;
    const run = c.all("first", { abortController, mayThrow: true, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true }, (m) => { id = m.session_id; });
    await c.until("the tool", () => c.has("started"));
    abortController.abort();
    await run;
    const b = await c.all("second", { resume: id });
    assert.equal(b.result.result, "two");
  });
};
