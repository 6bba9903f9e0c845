package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// The published TypeScript library is the editor: it starts the built program, opens a session, answers a permission
// question, serves files, cancels, and loads the session again.
func TestACPPublishedClient(t *testing.T) {
	t.Parallel()
	modules := npmInstall(t, acpSDK, "zod@4.6.7")
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Block{Text: "Looking."}, readFile("a.txt")), answer(bash("touch asked")), answer(change("a.txt", "unsaved", "changed")),
		fakeapi.Text("All done."), answer(bash("sleep 3000")),
	))
	r.file("a.txt", "saved\n")
	script := filepath.Join(modules, "drive.mjs")
	text := `import * as acp from "@agentclientprotocol/sdk";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
const [bin, cwd] = process.argv.slice(2);
const child = spawn(bin, ["acp"], { stdio: ["pipe", "pipe", "inherit"] });
const seen = { updates: [], asked: [], read: [], written: [], stops: [] };
const buffers = { [cwd + "/a.txt"]: "unsaved\n" };
let onTool = () => {};
const client = acp.client({ name: "test" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    seen.asked.push(params.toolCall.title);
    if (params.toolCall.rawInput.command?.startsWith("sleep")) { onTool(); return new Promise(() => {}); }
    return { outcome: { outcome: "selected", optionId: params.options.find(o => o.kind === "allow_once").optionId } };
  })
  .onRequest(acp.methods.client.fs.readTextFile, ({ params }) => {
    if (!(params.path in buffers)) throw new Error("not open");
    seen.read.push(params.path); return { content: buffers[params.path] };
  })
  .onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => {
    seen.written.push(params.path); buffers[params.path] = params.content; return {};
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => { seen.updates.push(params.update.sessionUpdate); });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
await client.connectWith(stream, async ctx => {
  const hello = await ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs: FS } });
  const { sessionId } = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
  const ask = text => ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  seen.stops.push((await ask("change a.txt")).stopReason);
  onTool = () => ctx.notify(acp.methods.agent.session.cancel, { sessionId });
  seen.stops.push((await ask("wait")).stopReason);
  const before = seen.updates.length;
  await ctx.request(acp.methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  seen.replayed = seen.updates.slice(before);
  seen.version = hello.protocolVersion;
});
child.stdin.end();
seen.code = await new Promise(done => child.once("exit", done));
seen.buffer = buffers[cwd + "/a.txt"];
console.log(JSON.stringify(seen));
process.exit(0);
`
	text = strings.ReplaceAll(text, "FS", clientFS)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, binary(t), r.dir)
	cmd.Env = r.command().Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the library: %v\n%s", err, out)
	}
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	var got struct {
		Version                                        int
		Updates, Asked, Read, Written, Stops, Replayed []string
		Code                                           int
		Buffer                                         string
	}
	if err := json.Unmarshal([]byte(all[len(all)-1]), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Version != 1 || strings.Join(got.Stops, " ") != "end_turn cancelled" || got.Code != 0 {
		t.Errorf("the library saw %+v", got)
	}
	if joined := strings.Join(got.Replayed, " "); !strings.Contains(joined, "user_message_chunk") || !strings.Contains(joined, "tool_call_update") {
		t.Errorf("replayed: %v", got.Replayed)
	}
	if got.Buffer != "changed\n" || len(got.Written) != 1 {
		t.Errorf("the editor's buffer holds %q after %v", got.Buffer, got.Written)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "asked")); err != nil {
		t.Error("the allowed call did not run")
	}
	r.legal()
}

// clientFS is what the editor of the test offers for files.
const clientFS = `{ readTextFile: true, writeTextFile: true }`
