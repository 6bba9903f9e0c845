// MCP servers in the host's process, as processes and over HTTP.
import { spawn } from "node:child_process";
import readline from "node:readline";

const script = new URL("server.mjs", import.meta.url).pathname;

export default (t, { assert, call, say, user, feed, fs, path }) => {
  const free = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const server = (c, seen = [], name = "calc") => c.sdk.createSdkMcpServer({ name, version: "1.0.0", tools: [
    c.sdk.tool("add", "Adds two numbers", { a: c.z.number(), b: c.z.number() }, async ({ a, b }, extra) => { seen.push([a, b, extra]); return { content: [{ type: "text", text: `sum ${a + b}` }] }; }),
    c.sdk.tool("boom", "Throws", {}, async () => { throw new Error("kaboom"); }),
    c.sdk.tool("picture", "Gives an image", {}, async () => ({ content: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" }] })),
  ], alwaysLoad: true });
  const stdio = (env) => ({ type: "stdio", command: process.execPath, args: [script], env, alwaysLoad: true });

  t("in-process: a call", [say(call("mcp__calc__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const seen = [];
    const s = await c.all("go", { mcpServers: { calc: server(c, seen) }, allowedTools: ["mcp__calc__add"] });
    assert.deepEqual(seen.map((x) => x.slice(0, 2)), [[2, 3]]);
    assert.match(JSON.stringify(s.toolResults), /sum 5/);
    assert.ok(s.init.tools.includes("mcp__calc__add"));
    assert.deepEqual(s.init.mcp_servers.map((m) => [m.name, m.status, m.source]), [["calc", "connected", "sdk"]]);
    assert.ok((await c.requests())[0].tools.some((x) => x.name === "mcp__calc__add"));
  });
  t("in-process: asked by name, and a rule for the server", [say(call("mcp__calc__add", { a: 2, b: 3 })), say(call("mcp__calc__add", { a: 1, b: 1 })), say("ok")], async (c) => {
    const asked = [];
    await c.all("go", { mcpServers: { calc: server(c) }, canUseTool: async (n, i, o) => { asked.push([n, o.suggestions, o]); return { behavior: "allow", updatedInput: i, updatedPermissions: o.suggestions }; } });
    assert.equal(asked.length, 1);
    assert.equal(asked[0][0], "mcp__calc__add");
    assert.deepEqual(asked[0][2].mcpServer, { name: "calc", source: "sdk" });
    assert.deepEqual(asked[0][1][0].rules, [{ toolName: "mcp__calc__add" }]);
  });
  t("in-process: a rule for all tools of a server", [say(call("mcp__calc__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const seen = [];
    await c.all("go", { mcpServers: { calc: server(c, seen) }, allowedTools: ["mcp__calc"] });
    assert.equal(seen.length, 1);
  });
  t("in-process: a handler that throws", [say(call("mcp__calc__boom", {})), say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { calc: server(c) }, ...free });
    assert.equal(s.toolResults[0].is_error, true);
    assert.match(JSON.stringify(s.toolResults), /kaboom/);
  });
  t("in-process: an image", [say(call("mcp__calc__picture", {})), say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { calc: server(c) }, ...free });
    assert.ok(JSON.stringify(s.toolResults).includes('"type":"image"'));
  });
  t("in-process: denied by a rule", [say(call("mcp__calc__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const seen = [];
    await c.all("go", { mcpServers: { calc: server(c, seen) }, disallowedTools: ["mcp__calc__add"], ...free });
    assert.equal(seen.length, 0);
  });
  t("in-process: hooks see it", [say(call("mcp__calc__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const seen = [];
    await c.all("go", { mcpServers: { calc: server(c) }, ...free, hooks: { PreToolUse: [{ matcher: "mcp__calc__.*", hooks: [async (i) => { seen.push(i.tool_name); return {}; }] }] } });
    assert.deepEqual(seen, ["mcp__calc__add"]);
  });
  t("in-process: two servers, two turns", [say(call("mcp__one__add", { a: 1, b: 1 })), say("x"), say(call("mcp__two__add", { a: 2, b: 2 })), say("y")], async (c) => {
    const one = [], two = [];
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, { mcpServers: { one: server(c, one, "one"), two: server(c, two, "two") }, ...free }, (m) => { if (m.type === "result") { if (n++ === 0) input.push(user("b")); else input.end(); } });
    assert.deepEqual([one.length, two.length], [1, 1]);
  });
  t("stdio", [say(call("mcp__small__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { small: stdio({ LABEL: "total" }) }, ...free });
    assert.match(JSON.stringify(s.toolResults), /total: 5/);
    assert.equal(s.init.mcp_servers[0].status, "connected");
  });
  t("stdio: a tool that fails", [say(call("mcp__small__fail", {})), say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { small: stdio() }, ...free });
    assert.equal(s.toolResults[0].is_error, true);
    assert.match(JSON.stringify(s.toolResults), /it went wrong/);
  });
  t("delivered in the handshake", [say(call("mcp__small__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { small: stdio() }, mcpServersDelivery: "initialize", ...free });
    assert.match(JSON.stringify(s.toolResults), /sum: 5/);
  });
  t("HTTP", [say(call("mcp__small__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const child = spawn(process.execPath, [script, "0"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      const [line] = await new Promise((res) => readline.createInterface({ input: child.stderr }).once("line", (l) => res([l])));
      const url = `http://127.0.0.1:${line.split(" ")[1]}/mcp`;
      const s = await c.all("go", { mcpServers: { small: { type: "http", url, alwaysLoad: true } }, ...free });
      assert.match(JSON.stringify(s.toolResults), /sum: 5/);
    } finally { child.kill(); }
  });
  t("a server that cannot be started does not stop the run", [say("ok")], async (c) => {
    const s = await c.all("go", { mcpServers: { gone: { command: "/nowhere/server" } } });
    assert.equal(s.init.mcp_servers[0].status, "failed");
    assert.equal(s.result.result, "ok");
  });
  t("mcpServerStatus", [say("ok")], async (c) => {
    const input = feed(user("a"));
    await c.all(input, { mcpServers: { small: stdio(), calc: server(c) } }, async (m, q) => {
      if (m.type !== "result") return;
      const list = await q.mcpServerStatus();
      const small = list.find((x) => x.name === "small");
      assert.equal(small.status, "connected");
      assert.deepEqual(small.serverInfo, { name: "small", version: "1.0.0" });
      assert.deepEqual(small.tools.map((x) => x.name).sort(), ["add", "fail"]);
      assert.equal(list.find((x) => x.name === "calc").status, "connected");
      input.end();
    });
  });
  t("reconnect, toggle, resources", [say("ok")], async (c) => {
    const input = feed(user("a"));
    await c.all(input, { mcpServers: { small: stdio() } }, async (m, q) => {
      if (m.type !== "result") return;
      await q.reconnectMcpServer("small");
      await q.toggleMcpServer("small", false);
      assert.equal((await q.mcpServerStatus())[0].status, "disabled");
      await q.toggleMcpServer("small", true);
      await assert.rejects(q.toggleMcpServer("nobody", true));
      if (q.readMcpResource) assert.equal((await q.readMcpResource("small", "mem://note")).contents[0].text, "the note");
      input.end();
    });
  });
  t("setMcpServers", [say("one"), say(call("mcp__calc__add", { a: 2, b: 3 })), say("two")], async (c) => {
    const seen = [];
    const input = feed(user("a"));
    let n = 0;
    await c.all(input, free, async (m, q) => {
      if (m.type !== "result") return;
      if (n++ === 0) {
        const r = await q.setMcpServers({ calc: server(c, seen) });
        assert.deepEqual(r.added, ["calc"]);
        input.push(user("b"));
      } else input.end();
    });
    assert.equal(seen.length, 1);
  });
  t("strictMcpConfig leaves out the project's", [say("ok")], async (c) => {
    c.file(".mcp.json", JSON.stringify({ mcpServers: { other: stdio() } }));
    const s = await c.all("go", { settingSources: ["project"], strictMcpConfig: true, mcpServers: { small: stdio() } });
    assert.deepEqual(s.init.mcp_servers.map((m) => m.name), ["small"]);
  });
  t(".mcp.json of the project", [say(call("mcp__other__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    c.file(".mcp.json", JSON.stringify({ mcpServers: { other: stdio() } }));
    const s = await c.all("go", { settingSources: ["project"], ...free });
    assert.match(JSON.stringify(s.toolResults), /sum: 5/);
  });
  t("a plugin's server", [say(call("mcp__plugin_tidy_db__add", { a: 2, b: 3 })), say("ok")], async (c) => {
    const dir = path.join(c.home, "tidy");
    c.file(path.join(dir, ".mcp.json"), JSON.stringify({ mcpServers: { db: stdio() } }));
    const s = await c.all("go", { plugins: [{ type: "local", path: dir }], ...free });
    assert.match(JSON.stringify(s.toolResults), /sum: 5/);
  });
  t("a tool answers permission questions", [say(call("Bash", { command: "touch x" })), say("ok")], async (c) => {
    const asked = [];
    const judge = c.sdk.createSdkMcpServer({ name: "judge", version: "1.0.0", tools: [c.sdk.tool("decide", "Decides", { tool_name: c.z.string(), input: c.z.any(), tool_use_id: c.z.string().optional() }, async (i) => {
      asked.push(i.tool_name);
      return { content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: i.input }) }] };
    })] });
    await c.all("go", { mcpServers: { judge }, permissionPromptToolName: "mcp__judge__decide" });
    assert.deepEqual(asked, ["Bash"]);
    assert.ok(c.has("x"));
  });
};
