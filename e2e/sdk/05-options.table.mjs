// The other options: prompts, settings sources, commands, skills, agents, plugins, models, thinking.
export default (t, { assert, call, say, user, feed, fs, path }) => {
  const system = async (c) => JSON.stringify((await c.last()).system ?? "");
  t("systemPrompt omitted has no empty block", [say("x")], async (c) => {
    await c.all("hi");
    for (const b of (await c.last()).system ?? []) assert.ok(b.text.trim() !== "");
  });
  t("systemPrompt: a text", [say("x")], async (c) => {
    await c.all("hi", { systemPrompt: "You are a pirate." });
    assert.match(await system(c), /You are a pirate/);
  });
  t("systemPrompt: blocks with a boundary", [say("x")], async (c) => {
    await c.all("hi", { systemPrompt: ["fixed part", c.sdk.SYSTEM_PROMPT_DYNAMIC_BOUNDARY ?? "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "varying part"] });
    const s = await system(c);
    assert.ok(s.includes("fixed part") && s.includes("varying part") && !s.includes("BOUNDARY"));
  });
  t("systemPrompt: the preset with something appended", [say("x")], async (c) => {
    await c.all("hi", { systemPrompt: { type: "preset", preset: "claude_code", append: "Speak French." } });
    const s = await system(c);
    assert.ok(s.includes("Speak French.") && s.includes(c.dir));
  });
  t("systemPrompt: the preset without what varies", [say("x")], async (c) => {
    await c.all("hi", { systemPrompt: { type: "preset", preset: "claude_code", excludeDynamicSections: true } });
    assert.ok(!(await system(c)).includes(c.dir));
    assert.ok(JSON.stringify((await c.last()).messages).includes(c.dir));
  });
  t("the system prompt of a resumed session stays, or is made anew", [say("x"), say("y"), say("z")], async (c) => {
    const append = (text) => ({ systemPrompt: { type: "preset", preset: "claude_code", append: text } });
    const resume = (await c.all("a", append("Speak French."))).init.session_id;
    await c.all("b", { ...append("Speak Dutch."), resume });
    assert.match(await system(c), /French/);
    await c.all("c", { ...append("Speak Dutch."), resume, extraArgs: { "system-prompt-snapshot": "off" } });
    assert.match(await system(c), /Dutch/);
    assert.doesNotMatch(await system(c), /French/);
  });
  const twice = async (c, options, ended) => {
    const input = feed(user("a"));
    let n = 0;
    return c.all(input, options, (m) => { if (m.type === "result") { if (++n === 1) input.push(user("b")); else ended(input); } else if (m.type === "prompt_suggestion") input.end(); });
  };
  t("promptSuggestions", [say("one"), say("two"), say('"Run the tests"')], async (c) => {
    const s = await twice(c, { promptSuggestions: true }, () => {});
    assert.deepEqual(s.type("prompt_suggestion").map((m) => m.suggestion), ["Run the tests"]);
    assert.ok(s.findIndex((m) => m.type === "prompt_suggestion") > s.lastIndexOf(s.result));
    assert.match(JSON.stringify((await c.last()).messages), /user: b/);
  });
  for (const [name, options] of [["unless asked", {}], ["when the settings say no", { promptSuggestions: true, settings: { promptSuggestionEnabled: false } }], ["when the environment says no", { promptSuggestions: true, env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false" } }]]) {
    t("no promptSuggestions " + name, [say("one"), say("two")], async (c) => {
      await twice(c, options, (input) => setTimeout(() => input.end(), 300));
      assert.equal((await c.requests()).length, 2);
    });
  }
  t("settingSources empty loads nothing", [say("x")], async (c) => {
    c.file("CLAUDE.md", "the word is walrus");
    await c.all("hi", { settingSources: [] });
    assert.ok(!JSON.stringify(await c.last()).includes("walrus"));
  });
  t("settingSources project loads CLAUDE.md", [say("x")], async (c) => {
    c.file("CLAUDE.md", "the word is walrus");
    await c.all("hi", { settingSources: ["project"] });
    assert.ok(JSON.stringify(await c.last()).includes("walrus"));
  });
  t("settingSources user", [say(call("Bash", { command: "touch x" })), say("ok")], async (c) => {
    const config = c.ownConfig();
    c.file(path.join(config, "settings.json"), JSON.stringify({ permissions: { allow: ["Bash(touch:*)"] } }));
    await c.all("hi", { settingSources: ["user"] });
    assert.ok(c.has("x"));
  });
  t("settingSources project and local rules", [say(call("Bash", { command: "touch x" })), say(call("Bash", { command: "mkdir y" })), say("ok")], async (c) => {
    c.file(".claude/settings.json", JSON.stringify({ permissions: { allow: ["Bash(touch:*)"] } }));
    c.file(".claude/settings.local.json", JSON.stringify({ permissions: { allow: ["Bash(mkdir:*)"] } }));
    await c.all("hi", { settingSources: ["project", "local"] });
    assert.ok(c.has("x") && c.has("y"));
  });
  t("settings: an object", [say(call("Bash", { command: "touch x" })), say("ok")], async (c) => {
    await c.all("hi", { settings: { permissions: { allow: ["Bash(touch:*)"] } } });
    assert.ok(c.has("x"));
  });
  t("settings: a file", [say(call("Bash", { command: "touch x" })), say("ok")], async (c) => {
    await c.all("hi", { settings: c.file("my.json", JSON.stringify({ permissions: { allow: ["Bash(touch:*)"] } })) });
    assert.ok(c.has("x"));
  });
  t("settings: env and model", [say(call("Bash", { command: "echo $COLOUR" })), say("ok")], async (c) => {
    const s = await c.all("hi", { settings: { env: { COLOUR: "mauve" }, model: "haiku", permissions: { allow: ["Bash"] } } });
    assert.match(JSON.stringify(s.toolResults), /mauve/);
    assert.match((await c.last()).model, /haiku/);
  });
  t("managedSettings deny", [say(call("Bash", { command: "touch x" })), say("ok")], async (c) => {
    await c.all("hi", { managedSettings: { permissions: { deny: ["Bash(touch:*)"] } }, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    assert.ok(!c.has("x"));
  });
  t("a custom command", [say("x")], async (c) => {
    c.file(".claude/commands/greet.md", "---\ndescription: Greets\nargument-hint: <name>\n---\nSay hello to $ARGUMENTS.");
    const s = await c.all("/greet Bob", { settingSources: ["project"] });
    assert.ok(s.init.slash_commands.includes("greet"));
    assert.ok(JSON.stringify(await c.last()).includes("Say hello to Bob."));
  });
  t("supportedCommands, models, agents, account", [say("x")], async (c) => {
    c.file(".claude/commands/greet.md", "---\ndescription: Greets\nargument-hint: <name>\n---\nSay hello.");
    const input = feed();
    const q = c.query(input, { settingSources: ["project"] });
    const commands = await q.supportedCommands();
    const g = commands.find((x) => x.name === "greet");
    assert.equal(g.description, "Greets");
    assert.equal(g.argumentHint, "<name>");
    assert.ok((await q.supportedModels()).every((m) => m.value && m.displayName && m.description));
    assert.ok(Array.isArray(await q.supportedAgents()));
    assert.ok(await q.accountInfo());
    assert.equal((await c.requests()).length, 0);
    input.push(user("go"));
    for await (const m of q) if (m.type === "result") input.end();
  });
  t("skills", [say(call("Skill", { skill: "knit" })), say("ok")], async (c) => {
    c.file(".claude/skills/knit/SKILL.md", "---\nname: knit\ndescription: How to knit\n---\nTake two needles.");
    const s = await c.all("hi", { settingSources: ["project"], skills: "all" });
    assert.ok(s.init.skills.includes("knit"));
    const body = JSON.stringify(await c.last());
    assert.ok(body.includes("How to knit") && body.includes("Take two needles"));
  });
  t("skills: a list", [say("ok")], async (c) => {
    for (const n of ["knit", "sew"]) c.file(`.claude/skills/${n}/SKILL.md`, `---\nname: ${n}\ndescription: How to ${n}\n---\nbody`);
    await c.all("hi", { settingSources: ["project"], skills: ["sew"] });
    const body = JSON.stringify(await c.last());
    assert.ok(body.includes("How to sew") && !body.includes("How to knit"));
  });
  t("a plugin", [say("ok")], async (c) => {
    const dir = path.join(c.home, "tidy");
    c.file(path.join(dir, ".claude-plugin/plugin.json"), JSON.stringify({ name: "tidy", version: "1.0.0" }));
    c.file(path.join(dir, "commands/up.md"), "Tidy up $ARGUMENTS!");
    c.file(path.join(dir, "skills/fold/SKILL.md"), "---\nname: fold\ndescription: How to fold\n---\nbody");
    c.file(path.join(dir, "agents/maid.md"), "---\nname: maid\ndescription: Cleans\n---\nYou clean.");
    c.file(path.join(dir, "hooks/hooks.json"), JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "touch ran" }] }] } }));
    const s = await c.all("/tidy:up the room", { plugins: [{ type: "local", path: dir }] });
    assert.deepEqual(s.init.plugins.map((p) => [p.name, p.version]), [["tidy", "1.0.0"]]);
    assert.ok(s.init.slash_commands.includes("tidy:up"));
    assert.ok(s.init.agents.includes("tidy:maid"));
    assert.ok(JSON.stringify(await c.last()).includes("Tidy up the room!"));
    assert.ok(c.has("ran"));
  });
  t("a plugin delivered in the handshake", [say("ok")], async (c) => {
    const dir = path.join(c.home, "tidy");
    c.file(path.join(dir, "commands/up.md"), "Tidy up!");
    const s = await c.all("hi", { plugins: [{ type: "local", path: dir }], pluginDelivery: "initialize" });
    assert.deepEqual(s.init.plugins.map((p) => p.name), ["tidy"]);
  });
  t("a plugin that is not there is told", [say("ok")], async (c) => {
    const s = await c.all("hi", { plugins: [{ type: "local", path: "/nowhere/plugin" }] });
    assert.equal(s.init.plugin_errors.length, 1);
  });
  t("an agent of the option", [say(call("Agent", { description: "d", prompt: "look around", subagent_type: "scout", run_in_background: false })), say("I looked."), say("ok")], async (c) => {
    const s = await c.all("hi", { agents: { scout: { description: "Looks", prompt: "You are a scout.", tools: ["Read"] } } });
    assert.ok(s.init.agents.includes("scout"));
    const sub = (await c.requests())[1];
    assert.match(JSON.stringify(sub.system), /You are a scout/);
    assert.deepEqual(sub.tools.map((x) => x.name), ["Read"]);
    assert.match(JSON.stringify(s.toolResults), /I looked/);
  });
  t("model", [say("x")], async (c) => {
    const s = await c.all("hi", { model: "claude-haiku-5-5" });
    assert.equal((await c.last()).model, "claude-haiku-5-5");
    assert.equal(s.init.model, "claude-haiku-5-5");
    assert.ok("claude-haiku-5-5" in s.result.modelUsage);
  });
  t("fallbackModel", [{ when: { model: "opus" }, faults: [{ kind: "status", status: 529 }] }, say("from the other")], async (c) => {
    const s = await c.all("hi", { model: "opus", fallbackModel: "haiku" });
    assert.equal(s.result.result, "from the other");
    assert.match((await c.last()).model, /haiku/);
  });
  t("setModel changes the next request", [say("one"), say("two"), say("three")], async (c) => {
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, {}, async (m, q) => {
      if (m.type !== "result") return;
      if (++n === 1) { await q.setModel("haiku"); input.push(user("b")); } else if (n === 2) { await q.setModel(); input.push(user("c")); } else input.end();
    });
    const models = (await c.requests()).map((r) => r.model);
    assert.match(models[1], /haiku/);
    assert.equal(models[2], models[0]);
  });
  t("thinking adaptive", [say("x")], async (c) => {
    await c.all("hi", { thinking: { type: "adaptive" } });
    assert.equal((await c.last()).thinking.type, "adaptive");
  });
  t("thinking disabled", [say("x")], async (c) => {
    await c.all("hi", { model: "claude-haiku-4-5", thinking: { type: "disabled" } });
    assert.ok(!(await c.last()).thinking || (await c.last()).thinking.type === "disabled");
  });
  t("thinking with a budget", [say("x")], async (c) => {
    await c.all("hi", { model: "claude-haiku-4-5", maxThinkingTokens: 4000 });
    assert.equal((await c.last()).thinking.budget_tokens, 4000);
  });
  t("effort", [say("x")], async (c) => {
    await c.all("hi", { effort: "low" });
    assert.match(JSON.stringify((await c.last()).output_config ?? {}), /low/);
  });
  t("betas", { betas: ["context-1m-2025-08-07"], turns: [say("x")] }, async (c) => { await c.all("hi", { betas: ["context-1m-2025-08-07"] }); });
  t("taskBudget", [{ ...say("one"), usage: { output_tokens: 2000 }, times: -1 }], async (c) => {
    const s = await c.all("hi", { taskBudget: { total: 3000 } });
    assert.ok((await c.requests()).length >= 2);
    assert.equal(s.results.length, 1);
  });
  t("executableArgs stand in front", [say("x")], async (c) => { await c.all("hi", { executableArgs: ["--trust"] }); });
  t("debugFile", [say("x")], async (c) => {
    await c.all("hi", { debugFile: path.join(c.home, "debug.log") });
    assert.ok(fs.existsSync(path.join(c.home, "debug.log")));
  });
  t("extraArgs with values", [say("x")], async (c) => {
    await c.all("hi", { extraArgs: { "append-system-prompt": "- a dash at the front" } });
    assert.match(await system(c), /a dash at the front/);
  });
  t("projectConfigRoot", [say("x")], async (c) => {
    const root = path.join(c.home, "trusted");
    c.file(path.join(root, ".claude/commands/greet.md"), "From the root.");
    c.file(".claude/commands/greet.md", "From the worktree.");
    await c.all("/greet", { settingSources: ["project"], projectConfigRoot: root });
    assert.ok(JSON.stringify(await c.last()).includes("From the root."));
  });
  t("@ mentions", [say("x")], async (c) => {
    c.file("notes.txt", "the needle");
    await c.all("look at @notes.txt");
    assert.ok(JSON.stringify(await c.last()).includes("the needle"));
  });
  t("parallel sessions do not mix", [{ ...say("x"), times: -1 }], async (c) => {
    const all = await Promise.all([1, 2, 3, 4, 5].map((i) => c.all("number " + i)));
    assert.equal(new Set(all.map((s) => s.result.session_id)).size, 5);
    const asked = (await c.requests()).map((r) => JSON.stringify(r.messages).match(/number \d/g).join());
    assert.deepEqual(asked.sort(), ["number 1", "number 2", "number 3", "number 4", "number 5"]);
  });
};
